/** What a directory remembers of its last sync: `.memdir/sync.json`, and the texts both sides agreed on in `.memdir/sync-base/`. */

import { basename } from "node:path";
import { type Directory, openState, quietly, type StateText } from "../store/store.ts";
import { sha256 } from "../text/hash.ts";

/** What both sides had when they last agreed. */
export interface Agreed {
  hash: string;
  revision: string;
  /** Who wrote it last and when, for listings (`store/authorship.ts`). */
  author?: string;
  at?: string;
}

/** A text that does not travel, by its hash: it is not tried again before it is another one. */
export interface Refusal {
  /** Which side's text it is. */
  side: "here" | "there";
  hash: string;
  reason: string;
  at: string;
}

export interface SyncState {
  /** The remote that all of it is about; null before the first sync. */
  remote: string | null;
  agreed: Map<string, Agreed>;
  /** Since when a file has been missing here, ISO. */
  absent: Map<string, string>;
  refused: Map<string, Refusal>;
  /**
   * Hashes of texts that were on their way when a pass was killed or cut off. Where the remote has such a text, it came from here,
   * and what is here now comes of it.
   */
  sent: Map<string, string>;
}

export function emptyState(remote: string | null = null): SyncState {
  return { remote, agreed: new Map(), absent: new Map(), refused: new Map(), sent: new Map() };
}

/** Empty when there is none or it cannot be read: then nothing is agreed on, and nothing can be taken for a deletion. */
export function readState({ path }: Directory): SyncState {
  return openState(path).record("sync", parseState).read() ?? emptyState();
}

function parseState(value: unknown): SyncState | null {
  const { store: remote, agreed, absent, refused, sent } = value as Record<string, unknown>;
  if (typeof remote !== "string") return null;
  return {
    remote,
    agreed: mapOf(agreed, isAgreed),
    absent: mapOf(absent, isText),
    refused: mapOf(refused, isRefusal),
    sent: mapOf(sent, isText),
  };
}

/** The state as it is written; an equal text need not be written again. */
export function formatState({ remote, agreed, absent, refused, sent }: SyncState): string {
  const maps = { agreed, absent, refused, ...(sent.size > 0 ? { sent } : {}) };
  const sorted = Object.entries(maps).map(([key, map]) => [key, Object.fromEntries([...map].sort(byPath))]);
  return `${JSON.stringify({ store: remote, ...Object.fromEntries(sorted) })}\n`;
}

function byPath([a]: [string, unknown], [b]: [string, unknown]): number {
  return a < b ? -1 : 1;
}

/** Being behind what has happened is harmless. */
export function saveState(directory: Directory, text: string): void {
  syncFile(directory).write(text);
}

/** Its time is that of the last pass, also of one that changed nothing: that is what people are told. */
export function markSynced(directory: Directory, at: Date): void {
  syncFile(directory).touch(at);
}

function syncFile({ path }: Directory): StateText {
  return openState(path).text("sync.json", { flush: true });
}

export interface BaseTexts {
  /** Null when it was lost: then there is nothing to merge with. */
  find(hash: string): string | null;
  /** Before the state that names it is saved. */
  keep(hash: string, text: () => string | null): void;
  /** Takes away those that neither an agreement nor anything on its way names. */
  sweep(state: SyncState): void;
}

export function openBaseTexts({ path }: Directory): BaseTexts {
  const state = openState(path);
  const fileOf = (hash: string) => state.text(`${FOLDER}/${hash}`);
  const names = new Set(state.keys(FOLDER, "").map((key) => basename(key)));
  return {
    find: (hash) => {
      const text = names.has(hash) ? fileOf(hash).read() : null;
      return text !== null && sha256(text) === hash ? text : null;
    },
    keep: (hash, text) => {
      const value = names.has(hash) ? null : text();
      if (value === null) return;
      fileOf(hash).write(value);
      names.add(hash);
    },
    sweep: ({ agreed, sent }) => {
      const needed = new Set([...[...agreed.values()].map(({ hash }) => hash), ...sent.values()]);
      for (const name of names) {
        if (needed.has(name)) continue;
        quietly(fileOf(name).remove);
        names.delete(name);
      }
    },
  };
}

const FOLDER = "sync-base";

function mapOf<T>(value: unknown, fits: (value: unknown) => value is T): Map<string, T> {
  const entries = typeof value === "object" && value !== null ? Object.entries(value) : [];
  return new Map(entries.flatMap(([key, one]): [string, T][] => (fits(one) ? [[key, one]] : [])));
}

function isText(value: unknown): value is string {
  return typeof value === "string";
}

function isAgreed(value: unknown): value is Agreed {
  const { hash, revision } = (value ?? {}) as Partial<Agreed>;
  return typeof hash === "string" && typeof revision === "string";
}

function isRefusal(value: unknown): value is Refusal {
  const { side, hash, reason, at } = (value ?? {}) as Partial<Refusal>;
  return (side === "here" || side === "there") && [hash, reason, at].every((part) => typeof part === "string");
}
