/** At every opening: repairs what a killed writer or a stale editor left, if there is anything and no one else is writing. */

import { existsSync } from "node:fs";
import { tryLock } from "../disk/lock.ts";
import { loadNative } from "../disk/native.ts";
import { checkState, type Directory, statePath, withPins } from "./directory.ts";
import { needsRecovery, recover, restoreIndex } from "./recover.ts";

/** Never throws and never waits: whoever holds the lock does the same first, and reading works without it. */
export async function repairDirectory(directory: Directory): Promise<void> {
  if (directory.readOnly) return;
  try {
    if (!existsSync(statePath(directory))) return;
    // Before anything is read or swept there: a link may lead to somebody else's files.
    checkState(directory);
    if (!needsRecovery(directory)) return;
    await withPins(directory, (pinned) => {
      const lock = tryLock(statePath(pinned, "lock"), loadNative());
      if (!lock) return;
      try {
        recover(pinned);
        restoreIndex(pinned);
      } finally {
        lock.release();
      }
    });
  } catch (error) {
    directory.log(`${directory.path} was not repaired: ${(error as Error).message}`);
  }
}
