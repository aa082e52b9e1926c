/** Memories that hooks look for, read from as little of the row cache as possible; and what the cache does not know yet, put into it. */

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
  /** Of the memory's file. */
  path: string;
  scope: string;
}

/** `isLate` ends the reading of files; what was found by then counts. Must not throw. */
export function readRules(directories: readonly Directory[], isLate: () => boolean = () => false): Rule[] {
  return directories.flatMap((directory) =>
    readForHooks(directory, isLate).flatMap(({ file, details: { rule } }): Rule[] =>
      rule ? [{ ...rule, path: join(directory.path, file), scope: directory.scope }] : [],
    ),
  );
}

/**
 * Memories with a rule or a day, from the beginning of the cache while no file came or went. Files that are known to have one are
 * always compared with it. `windowAt`: a part of the others too, for whoever has the time. Must not throw.
 */
export function readForHooks(directory: Directory, isLate: () => boolean, windowAt: number | null = null): RowEntry[] {
  try {
    const peeked = peekForHooks(directory, windowAt);
    if (!peeked) return scanForHooks(directory, isLate);
    const changed = peeked.stale.flatMap((known): RowEntry[] => {
      // A rule as it was is better than none.
      const found = isLate() ? "same" : digestFile(directory, known.file, known);
      return found === "same" ? [known] : found ? [found] : [];
    });
    const fresh = changed.filter((entry) => !peeked.stale.includes(entry));
    if (fresh.length > 0) keepNews(directory, { entries: fresh, folders: null });
    return [...peeked.entries, ...changed.filter(({ isForHooks }) => isForHooks)];
  } catch {
    return []; // not readable: `memdir doctor` says so
  }
}

/** Compares one memory that the cache knows. New ones change the folder's time, and are found by it. */
export function refreshEntry(directory: Directory, file: string): void {
  const known = readRowCache(directory, "rows").entries.get(file);
  const found = known ? digestFile(directory, file, known) : null;
  if (found && found !== "same") keepNews(directory, { entries: [found], folders: null });
}

/** Null for what is gone, no ordinary file, or cannot be read. */
export function digestStale(directory: Directory, file: string, known: RowEntry | null): RowEntry | "same" | null {
  try {
    return digestFile(directory, file, known);
  } catch {
    return null;
  }
}

/** The next prompt finds it in the cache. Whoever only looks at a repository leaves no new folder in it. */
export function keepNews(directory: Directory, { entries, folders }: Pick<News, "entries" | "folders">): void {
  if (directory.readOnly || (directory.inRepository && !existsSync(join(directory.path, ".memdir")))) return;
  if (entries.length > 0 && appendEntries(directory, entries) === 0) rewriteCache(directory, entries, null);
  if (folders) noteInHead(directory, { folders });
}
