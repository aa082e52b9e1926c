/** Carries out what was planned: backups first, then the receipt, then the files, each of them whole or not at all. */

import { dirname } from "node:path";
import { conflict } from "./conflict.ts";
import type { Change } from "./plan.ts";
import { type Entry, noteEntry, withLock, writeBackup, writeReceipt } from "./receipt.ts";
import { makeFolders, readUserFile, replaceUserFile } from "./user-file.ts";
import type { WiringWorld } from "./world.ts";

/**
 * Throws `conflict` when a file is no longer what the plan was made for, before anything is changed if it can be seen then. A run
 * that is stopped at any point can be run again, or taken back.
 */
export async function applyChanges(world: WiringWorld, changes: readonly Change[]): Promise<void> {
  if (changes.length === 0) return;
  await withLock(world, (before) => {
    for (const change of changes) if (readUserFile(change.file).text !== change.before) throw conflict(change.file);
    let receipt = before;
    for (const change of changes) {
      const earlier = receipt.entries.find(({ file }) => file === change.file);
      receipt = noteEntry(receipt, buildEntry(world, change, earlier));
    }
    writeReceipt(world, receipt);
    world.log(`receipt written for ${changes.length} files`);
    for (const change of changes) {
      replaceUserFile(change, change.after);
      world.log(`wrote ${change.file}`);
    }
  });
}

/** Folders are made here, so that they are in the receipt before anything is in them. */
function buildEntry(world: WiringWorld, change: Change, earlier: Entry | undefined): Entry {
  const backup = change.original === null ? null : writeBackup(world, change.file, change.original);
  const folders = [...(earlier?.folders ?? []), ...makeFolders(dirname(change.target))];
  return { ...change.entry, at: world.now().toISOString(), backup, folders: [...new Set(folders)] };
}
