/** One pass of sync: what it carries along, what it fetches and writes here, and what it sends. */

import { MemdirError } from "../errors.ts";
import { findBytes, type Store } from "../store/store.ts";
import { sha256 } from "../text/hash.ts";
import { findSecrets as findSecretsIn } from "../text/secrets.ts";
import { findTextProblem, LIMITS, type RemoteEntry } from "./protocol.ts";
import type { Remote, RemoteChange, RemoteOutcome } from "./remote.ts";
import { type BaseTexts, placeOf, type SyncState } from "./sync-local.ts";
import { describeSecrets } from "./travel.ts";

export interface SyncOptions {
  directory: Store;
  remote: Remote;
  /** The name under which this machine's user writes to the remote. */
  who: string;
  signal?: AbortSignal | undefined;
  onProgress?: ((done: number, total: number, phase: SyncPhase) => void) | undefined;
  /** Why a memory of this directory may not be shared, or null. */
  mayTravel?: ((path: string, text: string) => string | null) | undefined;
  /** Only says what would happen. What the remote itself would refuse is not known before it is asked. */
  dryRun?: boolean | undefined;
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
      const isOther = sha256(text) !== entry.hash ? "it is not the one that the remote lists" : null;
      const problem = isOther ?? findTextProblem(text) ?? describeSecrets(findSecrets(text));
      if (problem === null) texts.set(entry.path, text);
      else pass.refuse(entry.path, "there", entry.hash, `the remote's text is not written here: ${problem}`);
    }
  }
  return texts;
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
  if (pass.options.dryRun) return [...groups];
  const written: T[] = [];
  for (let from = 0; from < groups.length; from += WRITE_BATCH) {
    pass.progress("write", from, groups.length);
    if (pass.options.signal?.aborted)
      throw new MemdirError(
        "network",
        "stopped before everything was written; the next `memdir sync` continues from here",
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
  const { mayTravel, findSecrets = findSecretsIn } = pass.options;
  const fit = outgoing.filter(({ path, text, local }) => {
    const problem = findTextProblem(text) ?? mayTravel?.(path, text) ?? describeSecrets(findSecrets(text));
    if (problem !== null) pass.refuse(path, "here", local, problem);
    return problem === null;
  });
  const toChange = ({ path, text, expected }: T): RemoteChange => ({ kind: "put", path, text, expected });
  // What may be accepted the next time is only reported: a right that was given should take effect at once.
  return send(pass, "push", fit, toChange, ({ path, local }, { reason, isPassing = false }) =>
    isPassing ? pass.result.refused.push({ path, reason }) : pass.refuse(path, "here", local, reason),
  );
}

/** Tombstones for files that are still missing right now. */
export async function removeThere(
  pass: Pass,
  removals: readonly { path: string; expected: string }[],
  isStillMissing: (path: string) => boolean,
): Promise<string[]> {
  const gone = await send(
    pass,
    "remove",
    removals,
    ({ path, expected }) => (isStillMissing(path) ? { kind: "remove", path, expected } : null),
    ({ path }, { reason }) => pass.notice(`${path} stays on the remote: ${reason}`),
  );
  return gone.map(({ sent }) => sent.path);
}

async function send<T>(
  pass: Pass,
  phase: "push" | "remove",
  all: readonly T[],
  toChange: (item: T) => RemoteChange | null,
  onRefused: (item: T, outcome: Extract<RemoteOutcome, { kind: "refused" }>) => void,
): Promise<{ sent: T; revision: string }[]> {
  const { remote, signal, dryRun } = pass.options;
  const done: { sent: T; revision: string }[] = [];
  for (let from = 0; from < all.length; from += PUSH_BATCH) {
    pass.progress(phase, from, all.length);
    const some = all.slice(from, from + PUSH_BATCH).flatMap((sent) => {
      const change = toChange(sent);
      return change ? [{ sent, change }] : [];
    });
    const changes = some.map(({ change }) => change);
    const pretended = changes.map(({ path }): RemoteOutcome => ({ kind: "done", path, revision: "" }));
    const outcomes = dryRun || changes.length === 0 ? pretended : await remote.apply(changes, signal);
    for (const [i, { sent }] of some.entries()) {
      const outcome = outcomes[i];
      if (outcome?.kind === "done") done.push({ sent, revision: outcome.revision });
      else if (outcome?.kind === "refused") onRefused(sent, outcome);
      else pass.again = true;
    }
  }
  return done;
}
