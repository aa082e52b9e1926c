/** A directory and a memory for going through a hook's code once, so that its compiled form can be kept: nothing is written. */

import type { Directory, RowEntry } from "../store/store.ts";

export function rehearsedDirectory(path: string): Directory {
  return {
    path,
    scope: "user",
    inRepository: false,
    readOnly: true,
    recursive: false,
    limits: { maxLines: 200, maxChars: 25_000 },
    ageDays: { recent: 2, stale: 8, old: 31 },
    now: () => new Date(0),
    by: "hook",
    log: () => {},
  };
}

/** `file` exists in the directory; the hashes are of terms that the prompt has. */
export function rehearsedEntry(file: string, hashes: readonly number[]): RowEntry {
  const terms = Uint32Array.from(hashes).sort();
  const weights = new Uint16Array(terms.length).fill(8);
  const vectors = [false, true].map((isCue) => ({ hash: 1, isCue, scale: 0.01, values: new Int8Array(384).fill(1) }));
  return {
    ...{ file, name: "one", type: "project", links: ["two"], isInferred: true, isPlain: false, isForHooks: false },
    ...{ mtimeMs: 0, ctimeMs: 0, size: 0, ino: 0, hash: 0, isSettled: false, saidMs: 0, createdMs: 0, commitMs: 0 },
    details: { header: {} as RowEntry["details"]["header"], rule: null, day: null },
    ranking: { terms, weights, length: 8 * terms.length, vectors },
  };
}
