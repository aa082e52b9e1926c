/** Forgetting a memory. It never looks at the body: a poisoned memory must be removable unread. */

import { lstatSync, unlinkSync } from "node:fs";
import { join } from "node:path";
import { removeQuietly } from "../disk/atomic.ts";
import { MemdirError } from "../errors.ts";
import {
  applyChange,
  type Directory,
  findLines,
  imagePath,
  parseIndexLine,
  ROWS_FILE,
  readBase,
  readJournal,
  rewriteCache,
  statePath,
  withDirectory,
  writeBase,
} from "../store/store.ts";
import { findSecrets, redactSecrets } from "../text/secrets.ts";

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
  // A forget is never refused: a secret in its reason is masked.
  const reason = redactSecrets(options.reason ?? "", await findSecrets(options.reason ?? ""));
  return withDirectory(directory, (directory) => {
    const path = join(directory.path, file);
    const stat = lstatSync(path, { throwIfNoEntry: false });
    if (!stat) throw new MemdirError("not-found", `${file} is gone already`);
    // A link is not a memory of this directory: only the link goes.
    if (stat.isSymbolicLink()) unlinkSync(path);
    const removed = findLines(directory, file);
    const applied = applyChange(directory, {
      action: "forget",
      reason,
      writes: new Map(stat.isSymbolicLink() ? [] : [[file, null]]),
      ...(removed.length > 0 && !options.purge ? { lines: { [file]: removed } } : {}),
      ...(options.purge ? { purge: true } : {}),
      index: { edits: [{ kind: "drop", file }] },
    });
    if (options.purge) {
      purgeImages(directory, file);
      purgeTraces(directory, file);
    }
    return { file, action: "removed", undo: options.purge || stat.isSymbolicLink() ? null : applied.entry.id };
  });
}

/** Before-images that only this file needs, and whole pages of the index, which may tell of it: undo then goes line by line. */
function purgeImages(directory: Directory, file: string): void {
  const entries = readJournal(directory);
  const hashes = (mine: boolean) =>
    new Set(
      entries.flatMap((e) =>
        e.files.filter((f) => (f.file === file) === mine).flatMap((f) => (f.before ? [f.before] : [])),
      ),
    );
  const others = hashes(false);
  const pages = entries.flatMap((e) => (e.pages ? [e.pages.before.index, e.pages.before.more] : []));
  for (const hash of new Set([...hashes(true), ...pages])) {
    if (others.has(hash)) continue;
    try {
      unlinkSync(imagePath(directory, hash));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
    }
  }
}

/** Its row in the cache, its line among those that are remembered. */
function purgeTraces(directory: Directory, file: string): void {
  if (!rewriteCache(directory, [], null)) removeQuietly(statePath(directory, ROWS_FILE));
  const base = readBase(directory);
  const retired = base.retired.filter((line) => parseIndexLine(line)?.file !== file.normalize("NFC"));
  writeBase(directory, { ...base, retired });
}
