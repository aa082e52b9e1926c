/** Results of several directories that were synced with parts of one remote, as one. */

import type { SyncResult } from "./sync.ts";

/** Paths as they are in the remote: those of two directories may be the same. */
export function moveResult(result: SyncResult, prefix: string): SyncResult {
  const all = (paths: readonly string[]) => paths.map((path) => prefix + path);
  return {
    ...result,
    pulled: all(result.pulled),
    pushed: all(result.pushed),
    removed: { here: all(result.removed.here), there: all(result.removed.there) },
    merged: all(result.merged),
    conflicts: result.conflicts.map(({ path, copy }) => ({ path: prefix + path, copy: prefix + copy })),
    refused: result.refused.map(({ path, reason }) => ({ path: prefix + path, reason })),
    waiting: result.waiting.map(({ path, until }) => ({ path: prefix + path, until })),
  };
}

export function joinResults(a: SyncResult, b: SyncResult): SyncResult {
  return {
    pulled: [...a.pulled, ...b.pulled],
    pushed: [...a.pushed, ...b.pushed],
    removed: { here: [...a.removed.here, ...b.removed.here], there: [...a.removed.there, ...b.removed.there] },
    merged: [...a.merged, ...b.merged],
    conflicts: [...a.conflicts, ...b.conflicts],
    refused: [...a.refused, ...b.refused],
    waiting: [...a.waiting, ...b.waiting],
    notices: [...a.notices, ...b.notices],
  };
}
