/** Memories that hooks need, read from as little of the row cache as possible; and updates of that cache. */

import { existsSync } from "node:fs";
import { join } from "node:path";
import type { News } from "../recall/resident.ts";
import {
  appendEntries,
  type Directory,
  digestFile,
  type Enforced,
  noteInHead,
  peekForHooks,
  type RowEntry,
  readRowCache,
  rewriteCache,
  scanForHooks,
} from "../store/store.ts";

export interface Rule extends Enforced {
  /** The path of the memory's file. */
  path: string;
  scope: string;
}

/** When `isLate`, no more files are read, and what was found by then counts. Must not throw. */
export function readRules(directories: readonly Directory[], isLate: () => boolean = () => false): Rule[] {
  return directories.flatMap((directory) =>
    readForHooks(directory, isLate).flatMap(({ file, details: { rule } }): Rule[] =>
      rule ? [{ ...rule, path: join(directory.path, file), scope: directory.scope }] : [],
    ),
  );
}

/**
 * Memories with a rule or a date, from the start of the cache as long as no file was added or removed. Files that are known to have
 * one are always compared with the disk. `windowAt`: compares some of the others too, for callers with time. Must not throw.
 */
export function readForHooks(directory: Directory, isLate: () => boolean, windowAt: number | null = null): RowEntry[] {
  try {
    const peeked = peekForHooks(directory, windowAt);
    if (!peeked) return scanForHooks(directory, isLate);
    const changed = peeked.stale.flatMap((known): RowEntry[] => {
      // An outdated rule is better than none.
      const found = isLate() ? "same" : digestFile(directory, known.file, known);
      return found === "same" ? [known] : found ? [found] : [];
    });
    const fresh = changed.filter((entry) => !peeked.stale.includes(entry));
    if (fresh.length > 0) keepNews(directory, { entries: fresh, folders: null });
    return [...peeked.entries, ...changed.filter(({ isForHooks }) => isForHooks)];
  } catch {
    return []; // not readable, which `memdir doctor` reports
  }
}

/** Compares one cached memory with the disk. New ones change the folder's time and are found that way. */
export function refreshEntry(directory: Directory, file: string): void {
  const known = readRowCache(directory, "rows").entries.get(file);
  const found = known ? digestFile(directory, file, known) : null;
  if (found && found !== "same") keepNews(directory, { entries: [found], folders: null });
}

/** Null if it is deleted, not a regular file, or not readable. */
export function digestStale(directory: Directory, file: string, known: RowEntry | null): RowEntry | "same" | null {
  try {
    return digestFile(directory, file, known);
  } catch {
    return null;
  }
}

/** For the next prompt. Reading a repository creates no new folder in it. */
export function keepNews(directory: Directory, { entries, folders }: Pick<News, "entries" | "folders">): void {
  if (directory.readOnly || (directory.inRepository && !existsSync(join(directory.path, ".memdir")))) return;
  if (entries.length > 0 && appendEntries(directory, entries) === 0) rewriteCache(directory, entries, null);
  if (folders) noteInHead(directory, { folders });
}
