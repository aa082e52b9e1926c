/** The rule files of a `.claude/rules` folder, at any depth, sorted by path so that the text is stable. */

import { type Dirent, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { realPath } from "../disk/real-path.ts";

/** Deep enough for any real tree; a loop of links is cut by the folders seen. */
const MAX_DEPTH = 16;

/** Paths as found, except for links: a linked rule is known by where it really lies. */
export function listRuleFiles(folder: string, ending = ".md"): string[] {
  const found = new Set<string>();
  visit(folder, ending, 0, new Set(), found);
  return [...found].sort();
}

function visit(folder: string, ending: string, depth: number, seen: Set<string>, found: Set<string>): void {
  const real = realPath(folder);
  if (seen.has(real) || depth > MAX_DEPTH) return;
  seen.add(real);
  let entries: Dirent[];
  try {
    entries = readdirSync(folder, { withFileTypes: true });
  } catch {
    return;
  }
  for (const entry of entries) {
    const path = join(real, entry.name);
    const stat = entry.isSymbolicLink() ? statSync(path, { throwIfNoEntry: false }) : entry;
    if (stat?.isDirectory()) visit(path, ending, depth + 1, seen, found);
    else if (stat?.isFile() && entry.name.endsWith(ending)) found.add(entry.isSymbolicLink() ? realPath(path) : path);
  }
}
