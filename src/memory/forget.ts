/** Forgetting a memory. It never looks at the body: a poisoned memory must be removable unread. */

import { lstatSync, unlinkSync } from "node:fs";
import { join } from "node:path";
import { MemdirError } from "../errors.ts";
import { applyChange, withDirectory } from "./change.ts";
import { type Directory, INDEX_FILE } from "./directory.ts";
import { removeLines } from "./index-text.ts";
import { imagePath, readJournal } from "./journal.ts";
import { findBytes } from "./read.ts";

export interface ForgetResult {
  file: string;
  action: "removed";
  /** The entry that brings it back; null after a purge. */
  undo: string | null;
}

/** `purge` also removes every before-image of the file: for content that must not stay anywhere. */
export async function forgetMemory(
  directory: Directory,
  file: string,
  options: { reason?: string; purge?: boolean } = {},
): Promise<ForgetResult> {
  return withDirectory(directory, () => {
    const path = join(directory.path, file);
    const stat = lstatSync(path, { throwIfNoEntry: false });
    if (!stat) throw new MemdirError("not-found", `${file} is gone already`);
    // A link is not a memory of this directory: only the link goes.
    if (stat.isSymbolicLink()) unlinkSync(path);
    const removed = removeLines(findBytes(directory, INDEX_FILE)?.toString("utf8") ?? "", file).removed;
    const applied = applyChange(directory, {
      action: "forget",
      reason: options.reason ?? "",
      writes: new Map(stat.isSymbolicLink() ? [] : [[file, null]]),
      ...(removed.length > 0 && !options.purge ? { lines: { [file]: removed } } : {}),
      ...(options.purge ? { purge: true } : {}),
      index: { edits: [{ kind: "drop", file }] },
    });
    if (options.purge) purgeImages(directory, file);
    return { file, action: "removed", undo: options.purge || stat.isSymbolicLink() ? null : applied.entry.id };
  });
}

/** Before-images that only this file needs. */
function purgeImages(directory: Directory, file: string): void {
  const entries = readJournal(directory);
  const hashes = (mine: boolean) =>
    new Set(
      entries.flatMap((e) =>
        e.files.filter((f) => (f.file === file) === mine).flatMap((f) => (f.before ? [f.before] : [])),
      ),
    );
  const others = hashes(false);
  for (const hash of hashes(true)) {
    if (others.has(hash)) continue;
    try {
      unlinkSync(imagePath(directory, hash));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
    }
  }
}
