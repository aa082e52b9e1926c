/** Forgetting a memory. It never looks at the body: a poisoned memory must be removable unread. */

import { lstatSync, unlinkSync } from "node:fs";
import { join } from "node:path";
import { removeQuietly } from "../disk/atomic.ts";
import { MemdirError } from "../errors.ts";
import { redactSecrets } from "../text/secrets.ts";
import { applyChange, withDirectory } from "./change.ts";
import { type Directory, statePath } from "./directory.ts";
import { indexPath, readBase, writeBase } from "./index-base.ts";
import { peekIndex } from "./index-file.ts";
import { parseIndexLine } from "./index-line.ts";
import { readOverflow } from "./index-sync.ts";
import { type RemovedLine, splitLines } from "./index-text.ts";
import { imagePath, readJournal } from "./journal.ts";

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
  const reason = redactSecrets(options.reason ?? "");
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

/** Its lines in the index, else on the overflow page, for undo. */
export function findLines(directory: Directory, file: string): RemovedLine[] {
  return openLines(directory)(file);
}

/** The same for many files: both pages are read once. */
export function openLines(directory: Directory): (file: string) => RemovedLine[] {
  const group = (lines: readonly string[], keep: (text: string, at: number) => RemovedLine) => {
    const groups = new Map<string, RemovedLine[]>();
    for (const [at, text] of lines.entries()) {
      const file = parseIndexLine(text)?.file;
      if (file !== undefined) groups.set(file, [...(groups.get(file) ?? []), keep(text, at)]);
    }
    return groups;
  };
  const lines = splitLines(peekIndex(indexPath(directory)));
  const inIndex = group(lines, (text, at) => ({
    text,
    at,
    after: at === 0 ? null : (lines[at - 1] as string).trimEnd(),
  }));
  let inMore: Map<string, RemovedLine[]> | null = null;
  return (file) => {
    const name = file.normalize("NFC");
    const found = inIndex.get(name);
    if (found) return found;
    inMore ??= group(splitLines(readOverflow(directory)), (text) => ({ text, at: -1, after: "" }));
    return inMore.get(name) ?? [];
  };
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

/** Its header in the cache, its line among those that are remembered. */
function purgeTraces(directory: Directory, file: string): void {
  removeQuietly(statePath(directory, "headers.json"));
  const base = readBase(directory);
  const retired = base.retired.filter((line) => parseIndexLine(line)?.file !== file.normalize("NFC"));
  writeBase(directory, { ...base, retired });
}
