/** What a prompt's hook does with files that the row cache does not know as they are (`dist/hook-stale.cjs`): rare, and much code. */

import { existsSync } from "node:fs";
import { join } from "node:path";
import type { News } from "../recall/resident.ts";
import { appendEntries, type Directory, digestFile, noteInHead, type RowEntry, rewriteCache } from "../store/store.ts";

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
