/** One pass of sync: what it carries along, what it fetches and writes here, and what it sends. */

import { MemdirError } from "../errors.ts";
import { findBytes, type Store } from "../store/store.ts";
import { sha256 } from "../text/hash.ts";
import { findSecrets as findSecretsIn } from "../text/secrets.ts";
import type { RemoteEntry } from "./protocol.ts";
import { LIMITS } from "./protocol.ts";
import type { Remote, RemoteChange, RemoteOutcome } from "./remote.ts";
import { type BaseTexts, placeOf, type SyncState } from "./sync-local.ts";

export interface SyncOptions {
  directory: Store;
  remote: Remote;
  /** The name under which this machine's user writes to the remote. */
  who: string;
  signal?: AbortSignal | undefined;
  onProgress?: ((done: number, total: number, phase: SyncPhase) => void) | undefined;
  /** Why a memory of this directory may not be shared, or null. */
  mayTravel?: ((path: string, text: string) => string | null) | undefined;
  findSecrets?: ((text: string) => readonly { rule: string; line: number }[]) | undefined;
}

export type SyncPhase = "list" | "fetch" | "write" | "push" | "remove" | "save";

export interface SyncResult {
  pulled: string[];
  pushed: string[];
  removed: { here: string[]; there: string[] };
  merged: string[];
  conflicts: { path: string; copy: string }[];
  refused: { path: string; reason: string }[];
  waiting: { path: string; until: string }[];
  notices: string[];
}

export interface Pass {
  options: SyncOptions;
  state: SyncState;
  /** The state as it is on disk. */
  saved: string;
  texts: BaseTexts;
  result: SyncResult;
  /** Something was overtaken: another round may settle it. */
  again: boolean;
  progress(phase: SyncPhase, done: number, total: number): void;
  notice(text: string): void;
  /** Writes the state down, if it is another one. */
  save(): void;
  /** Holds a text back until it is another one. */
  refuse(path: string, side: "here" | "there", hash: string, reason: string): void;
}

export function emptyResult(): SyncResult {
  return {
    pulled: [],
    pushed: [],
    removed: { here: [], there: [] },
    merged: [],
    conflicts: [],
    refused: [],
    waiting: [],
    notices: [],
  };
}

/** Texts of these entries that may be written here. What changed meanwhile is for the next round. */
export async function fetchTexts(pass: Pass, entries: readonly RemoteEntry[]): Promise<Map<string, string>> {
  const { remote, signal, findSecrets = findSecretsIn } = pass.options;
  const texts = new Map<string, string>();
  for (let from = 0; from < entries.length; from += LIMITS.fetchPaths) {
    pass.progress("fetch", from, entries.length);
    const some = entries.slice(from, from + LIMITS.fetchPaths);
    const fetched = await remote.fetch(some, signal);
    for (const entry of some) {
      const text = fetched.get(entry.path);
      if (text === undefined) {
        pass.again = true;
        continue;
      }
      const problem = findTextProblem(entry, text) ?? describeSecrets(findSecrets(text));
      if (problem === null) texts.set(entry.path, text);
      else pass.refuse(entry.path, "there", entry.hash, `the remote's text is not written here: ${problem}`);
    }
  }
  return texts;
}

function findTextProblem(entry: RemoteEntry, text: string): string | null {
  if (sha256(text) !== entry.hash) return "it is not the one that the remote lists";
  if (Buffer.byteLength(text) > LIMITS.memoryBytes) return `it is larger than ${LIMITS.memoryBytes} bytes`;
  return text.includes("\0") ? "it is not text" : null;
}

/** Rules and lines, never a value; null when nothing was found. */
function describeSecrets(found: readonly { rule: string; line: number }[]): string | null {
  if (found.length === 0) return null;
  const places = found.map(({ rule, line }) => `${rule} in line ${line}`);
  return `it holds what looks like a secret (${[...new Set(places)].join(", ")}): remove it`;
}

export interface LocalWrite {
  path: string;
  /** The hash of what must still be there; null for nothing. */
  expected: string | null;
  /** Null removes it. */
  text: string | null;
}

/** One journal entry for so many files: small enough to be undone with a purpose, large enough for a first sync. */
const WRITE_BATCH = 100;

/**
 * Writes groups of files, each group whole or not at all. Returns the groups that were written; those whose files changed
 * since they were read are left for the next round.
 */
export async function writeHere<T extends { writes: readonly LocalWrite[] }>(
  pass: Pass,
  groups: readonly T[],
): Promise<T[]> {
  const written: T[] = [];
  for (let from = 0; from < groups.length; from += WRITE_BATCH) {
    pass.progress("write", from, groups.length);
    if (pass.options.signal?.aborted)
      throw new MemdirError(
        "network",
        "stopped before everything was written; the next `memdir sync` goes on from here",
      );
    written.push(...(await writeBatch(pass, groups.slice(from, from + WRITE_BATCH))));
  }
  return written;
}

async function writeBatch<T extends { writes: readonly LocalWrite[] }>(pass: Pass, groups: readonly T[]): Promise<T[]> {
  try {
    return await pass.options.directory.change((pinned) => {
      const fit = groups.filter(({ writes }) => writes.every((write) => isAsPlanned(pinned, write)));
      if (fit.length < groups.length) pass.again = true;
      const writes = fit.flatMap((group) => group.writes);
      if (writes.length === 0) return fit;
      const applied = pinned.apply({
        action: "sync",
        reason: `from ${pass.options.remote.name}`,
        writes: new Map(writes.map(({ path, text }) => [path, text === null ? null : Buffer.from(text)])),
      });
      for (const notice of applied.notices) pass.notice(notice);
      return fit;
    });
  } catch (error) {
    // Another program wrote between the check and the move: nothing of this batch has happened.
    if (!(error instanceof MemdirError) || error.code !== "conflict") throw error;
    pass.again = true;
    return [];
  }
}

function isAsPlanned(directory: Store, { path, expected }: LocalWrite): boolean {
  try {
    if (placeOf(directory, path) === "odd") return false;
    const bytes = findBytes(directory, path);
    return (bytes ? sha256(bytes) : null) === expected;
  } catch {
    return false;
  }
}

export interface Outgoing {
  path: string;
  text: string;
  hash: string;
  expected: string | null;
  /** The hash of the file here that this comes of: what is not tried again while it stays. */
  local: string;
}

/** Small enough for a request, large enough that a first sync is not a thousand of them. */
const PUSH_BATCH = 20;

/** Those that the remote has taken, with their new revisions. Stale ones are for the next round. */
export async function pushTexts<T extends Outgoing>(
  pass: Pass,
  outgoing: readonly T[],
): Promise<{ sent: T; revision: string }[]> {
  const fit: T[] = [];
  for (const each of outgoing) {
    const problem = findProblem(pass, each);
    if (problem === null) fit.push(each);
    else pass.refuse(each.path, "here", each.local, problem);
  }
  const done: { sent: T; revision: string }[] = [];
  for (let from = 0; from < fit.length; from += PUSH_BATCH) {
    pass.progress("push", from, fit.length);
    const some = fit.slice(from, from + PUSH_BATCH);
    const outcomes = await applyChanges(
      pass,
      some.map(({ path, text, expected }) => ({ kind: "put", path, text, expected })),
    );
    for (const [i, sent] of some.entries()) {
      const outcome = outcomes[i];
      if (outcome?.kind === "done") done.push({ sent, revision: outcome.revision });
      else if (outcome?.kind === "refused") refuse(pass, sent, outcome);
      else pass.again = true;
    }
  }
  return done;
}

/** What may be accepted the next time is only reported: a right that was given should take effect at once. */
function refuse(pass: Pass, { path, local }: Outgoing, outcome: Extract<RemoteOutcome, { kind: "refused" }>): void {
  const { reason, isPassing = false } = outcome;
  if (isPassing) pass.result.refused.push({ path, reason });
  else pass.refuse(path, "here", local, reason);
}

/** Tombstones for files that are still missing right now. */
export async function removeThere(
  pass: Pass,
  removals: readonly { path: string; expected: string }[],
  isStillMissing: (path: string) => boolean,
): Promise<string[]> {
  const gone: string[] = [];
  for (let from = 0; from < removals.length; from += PUSH_BATCH) {
    pass.progress("remove", from, removals.length);
    const some = removals.slice(from, from + PUSH_BATCH).filter(({ path }) => isStillMissing(path));
    const outcomes = await applyChanges(
      pass,
      some.map(({ path, expected }) => ({ kind: "remove", path, expected })),
    );
    for (const [i, { path }] of some.entries()) {
      const outcome = outcomes[i];
      if (outcome?.kind === "done") gone.push(path);
      else if (outcome?.kind === "refused") pass.notice(`${path} stays in the remote: ${outcome.reason}`);
      else pass.again = true;
    }
  }
  return gone;
}

function findProblem(pass: Pass, { path, text }: Outgoing): string | null {
  if (Buffer.byteLength(text) > LIMITS.memoryBytes) return `it is larger than ${LIMITS.memoryBytes} bytes`;
  const { mayTravel, findSecrets = findSecretsIn } = pass.options;
  return mayTravel?.(path, text) ?? describeSecrets(findSecrets(text));
}

async function applyChanges(pass: Pass, changes: readonly RemoteChange[]): Promise<RemoteOutcome[]> {
  return changes.length === 0 ? [] : pass.options.remote.apply(changes, pass.options.signal);
}
