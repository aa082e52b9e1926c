/** How many memories a directory holds, without opening one. */

import fs from "node:fs";
import path from "node:path";

/** A store has a few folders one or two levels deep; more than this is not worth a look before a command starts. */
const MAX_DEPTH = 4;
const MAX_ENTRIES = 20_000;

/** The index and its overflow page list memories, they are none. */
const NOT_MEMORIES: ReadonlySet<string> = new Set(["MEMORY.md", "MEMORY.more.md"]);

/** Skips links, hidden entries and what cannot be read. Stops counting at `limit`. */
export function countMemories(dir: string, options: { recursive: boolean; limit?: number }): number {
  const { recursive, limit = MAX_ENTRIES } = options;
  let left = MAX_ENTRIES;
  let count = 0;
  const visit = (folder: string, depth: number): void => {
    for (const entry of listEntries(folder)) {
      if (count >= limit || left-- <= 0) return;
      if (entry.name.startsWith(".")) continue;
      if (entry.isFile() && entry.name.endsWith(".md") && !NOT_MEMORIES.has(entry.name)) count++;
      else if (recursive && depth < MAX_DEPTH && entry.isDirectory() && !isLogs(folder, entry.name))
        visit(path.join(folder, entry.name), depth + 1);
    }
  };
  visit(dir, 1);
  return count;
}

/** A year of daily logs, which are no memories. */
function isLogs(folder: string, name: string): boolean {
  return path.basename(folder) === "logs" && /^\d{4}$/.test(name);
}

/** The entries of a folder in a fixed order; none if it cannot be read. */
export function listEntries(folder: string): fs.Dirent[] {
  try {
    if (!fs.statSync(folder, { throwIfNoEntry: false })) return [];
    return fs.readdirSync(folder, { withFileTypes: true }).sort((a, b) => (a.name < b.name ? -1 : 1));
  } catch {
    return [];
  }
}
