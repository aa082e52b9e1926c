/** A directory as sync sees it: the texts that may travel, and what it remembers of the last sync. */

import { isUtf8 } from "node:buffer";
import { lstatSync } from "node:fs";
import { basename, join } from "node:path";
import { readRegular, resolveInside } from "../disk/fence.ts";
import { isMemoryFile, openState, quietly, type StateText, type Store, walk } from "../store/store.ts";
import { sha256 } from "../text/hash.ts";
import { findEntryProblem, LIMITS } from "./protocol.ts";

export interface LocalTexts {
  files: Map<string, { hash: string; text: string }>;
  /** Why a path is left alone; "" where that is nobody's concern. */
  held: Map<string, string>;
}

/** `asked`: paths that the remote or the last agreement know, which must not be taken for missing when they are merely odd. */
export function readLocal(
  directory: Store,
  asked: Iterable<string>,
  mayTravel: (path: string, text: string) => string | null = () => null,
): LocalTexts {
  const local: LocalTexts = { files: new Map(), held: new Map() };
  for (const path of walk(directory.path, directory.recursive).files.filter(isMemoryFile)) {
    const read = readText(directory, path);
    if (read === null) continue;
    const problem = "problem" in read ? read.problem : mayTravel(path, read.text);
    if (problem !== null) local.held.set(path, problem);
    else if ("text" in read) local.files.set(path, { hash: sha256(read.text), text: read.text });
  }
  const isOwned = openOwnership(directory);
  for (const path of asked) {
    if (local.files.has(path) || local.held.has(path)) continue;
    if (!isOwned(path)) local.held.set(path, "");
    else if (placeOf(directory, path) !== "free")
      local.held.set(path, "something that is not an ordinary file is in its place");
  }
  return local;
}

type Read = { text: string } | { problem: string };

/** Null when it is gone by now. */
function readText(directory: Store, path: string): Read | null {
  const problem = findEntryProblem(path);
  if (problem) return { problem };
  let bytes: Buffer | null;
  try {
    const file = resolveInside(directory.path, path);
    const stat = lstatSync(file, { throwIfNoEntry: false });
    if (!stat) return null;
    if (stat.size > LIMITS.memoryBytes) return { problem: `it is larger than ${LIMITS.memoryBytes} bytes` };
    bytes = readRegular(file, { maxBytes: LIMITS.memoryBytes });
  } catch {
    return { problem: "it cannot be read" };
  }
  if (!bytes) return null;
  return isUtf8(bytes) && !bytes.includes(0)
    ? { text: bytes.toString("utf8") }
    : { problem: "it is not valid UTF-8 text" };
}

/** "free" also when its folder is missing; "odd" for whatever cannot be read or followed. */
export function placeOf(directory: Store, path: string): "free" | "file" | "odd" {
  try {
    const stat = lstatSync(resolveInside(directory.path, path), { throwIfNoEntry: false });
    return stat ? (stat.isFile() ? "file" : "odd") : "free";
  } catch {
    return "odd";
  }
}

/** Whether a path belongs to this directory: a folder with a state folder of its own is another one. */
function openOwnership(directory: Store): (path: string) => boolean {
  const folders = new Map<string, boolean>([["", true]]);
  const owns = (folder: string): boolean => {
    const known = folders.get(folder);
    if (known !== undefined) return known;
    const above = folder.includes("/") ? folder.slice(0, folder.lastIndexOf("/")) : "";
    const state = join(directory.path, folder, ".memdir");
    const owned = directory.recursive && owns(above) && !lstatQuietly(state);
    folders.set(folder, owned);
    return owned;
  };
  return (path) => owns(path.includes("/") ? path.slice(0, path.lastIndexOf("/")) : "");
}

function lstatQuietly(path: string): boolean {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
  } catch {
    return false;
  }
}

const ON_PURPOSE: ReadonlySet<string> = new Set(["forget", "rename", "prune", "dream", "undo"]);

/** Which of these files the journal says were removed on purpose, with nothing later that brought them back. */
export function findIntended(directory: Store, missing: ReadonlySet<string>): Set<string> {
  const intended = new Set<string>();
  if (missing.size === 0) return intended;
  for (const { action, files } of directory.history()) {
    for (const { file, after } of files) {
      if (!missing.has(file)) continue;
      if (after === null && ON_PURPOSE.has(action)) intended.add(file);
      else intended.delete(file);
    }
  }
  return intended;
}

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
export function readState({ path }: Store): SyncState {
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
export function saveState(directory: Store, text: string): void {
  syncFile(directory).write(text);
}

/** Its time is that of the last pass, also of one that changed nothing: that is what people are shown. */
export function markSynced(directory: Store, at: Date): void {
  syncFile(directory).touch(at);
}

function syncFile({ path }: Store): StateText {
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

export function openBaseTexts({ path }: Store): BaseTexts {
  const state = openState(path);
  const fileOf = (hash: string) => state.text(`${BASE_FOLDER}/${hash}`);
  const names = new Set(state.keys(BASE_FOLDER, "").map((key) => basename(key)));
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

const BASE_FOLDER = "sync-base";

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
