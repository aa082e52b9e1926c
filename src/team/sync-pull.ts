/** From the remote to the directory: texts are fetched, looked through for secrets, and written as journalled changes. */

import { MemdirError } from "../errors.ts";
import { applyChange, type Directory, findBytes, withDirectory } from "../store/store.ts";
import { sha256 } from "../text/hash.ts";
import { LIMITS } from "./protocol.ts";
import type { RemoteEntry } from "./remote.ts";
import { placeOf } from "./sync-local.ts";
import type { Pass } from "./sync-pass.ts";

/** Texts of these entries that may be written here. What changed meanwhile is for the next round. */
export async function fetchTexts(pass: Pass, entries: readonly RemoteEntry[]): Promise<Map<string, string>> {
  const { remote, signal, findSecrets } = pass.options;
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
export function describeSecrets(found: readonly { rule: string; line: number }[]): string | null {
  if (found.length === 0) return null;
  const places = found.map(({ rule, line }) => `${rule} in line ${line}`);
  return `it holds what looks like a secret (${[...new Set(places)].join(", ")}): take it out`;
}

export interface LocalWrite {
  path: string;
  /** The hash of what must still lie there; null for nothing. */
  expected: string | null;
  /** Null removes it. */
  text: string | null;
}

/** One journal entry for so many files: small enough to be undone with a purpose, large enough for a first sync. */
const BATCH = 100;

/**
 * Writes groups of files, each group whole or not at all. Returns the groups that were written; those whose files changed
 * since they were read are left for the next round.
 */
export async function writeHere<T extends { writes: readonly LocalWrite[] }>(
  pass: Pass,
  groups: readonly T[],
): Promise<T[]> {
  const written: T[] = [];
  for (let from = 0; from < groups.length; from += BATCH) {
    pass.progress("write", from, groups.length);
    if (pass.options.signal?.aborted)
      throw new MemdirError(
        "network",
        "stopped before everything was written; the next `memdir sync` goes on from here",
      );
    written.push(...(await writeBatch(pass, groups.slice(from, from + BATCH))));
  }
  return written;
}

async function writeBatch<T extends { writes: readonly LocalWrite[] }>(pass: Pass, groups: readonly T[]): Promise<T[]> {
  try {
    return await withDirectory(pass.options.directory, (pinned) => {
      const fit = groups.filter(({ writes }) => writes.every((write) => isAsPlanned(pinned, write)));
      if (fit.length < groups.length) pass.again = true;
      const writes = fit.flatMap((group) => group.writes);
      if (writes.length === 0) return fit;
      const applied = applyChange(pinned, {
        action: "sync",
        reason: `from ${pass.options.remote.name}`,
        writes: new Map(writes.map(({ path, text }) => [path, text === null ? null : Buffer.from(text)])),
      });
      for (const notice of applied.notices) pass.notice(notice);
      return fit;
    });
  } catch (error) {
    // Somebody wrote between the look and the move: nothing of this batch has happened.
    if (!(error instanceof MemdirError) || error.code !== "conflict") throw error;
    pass.again = true;
    return [];
  }
}

function isAsPlanned(directory: Directory, { path, expected }: LocalWrite): boolean {
  try {
    if (placeOf(directory, path) === "odd") return false;
    const bytes = findBytes(directory, path);
    return (bytes ? sha256(bytes) : null) === expected;
  } catch {
    return false;
  }
}
