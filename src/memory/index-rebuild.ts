/** Brings MEMORY.md back from the memories: every memory a line, hand-written lines kept, dead pointers out. */

import { lstatSync } from "node:fs";
import { join } from "node:path";
import { withDirectory } from "./change.ts";
import { type Directory, OVERFLOW_FILE } from "./directory.ts";
import { parseIndexLine } from "./index-line.ts";
import { type IndexSync, readOverflow, recountOverflow, syncIndex, writeOverflow } from "./index-sync.ts";
import { splitLines } from "./index-text.ts";

export async function rebuildIndex(directory: Directory): Promise<IndexSync> {
  return withDirectory(directory, () => {
    const overflow = readOverflow(directory);
    const kept = withoutDead(directory, overflow);
    if (kept !== overflow) writeOverflow(directory, kept);
    return syncIndex(directory, {
      everything: true,
      change: (text) => recountOverflow(directory, withoutDead(directory, text)),
    });
  });
}

/** Without lines that point to a memory that is not there, and without a line that stands twice. */
function withoutDead(directory: Directory, text: string): string {
  const seen = new Set<string>();
  return splitLines(text)
    .filter((line) => {
      const file = parseIndexLine(line)?.file;
      if (file === undefined || file === OVERFLOW_FILE) return true;
      if (!lstatSync(join(directory.path, file), { throwIfNoEntry: false })) return false;
      const twice = seen.has(line.trimEnd());
      seen.add(line.trimEnd());
      return !twice;
    })
    .join("");
}
