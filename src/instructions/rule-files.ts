/** The rule files of a `.claude/rules` folder, at any depth, sorted by path so that the text is stable. */

import { type Dirent, readdirSync } from "node:fs";
import { join } from "node:path";
import { realPath } from "../disk/real-path.ts";
import { statOrNull } from "../disk/stat.ts";

/** Deep enough for any real tree; a loop of links is cut by the folders seen. */
const MAX_DEPTH = 16;

/** More than anybody has rules; a link to a whole disk ends here. */
const MAX_ENTRIES = 5000;

interface RuleFiles {
  /** Paths as found, except for links: a linked rule is known by where it really lies. */
  files: string[];
  /** Every folder that was looked into. */
  folders: string[];
  /** Linked folders that were not entered. */
  closed: string[];
}

/** `mayEnter` is asked with the real path of every folder before it is listed. */
export function listRuleFiles(folder: string, mayEnter: (real: string) => boolean, ending = ".md"): RuleFiles {
  const found = new Set<string>();
  const seen = new Set<string>();
  const closed: string[] = [];
  let left = MAX_ENTRIES;

  const visit = (at: string, depth: number): void => {
    const real = realPath(at);
    if (seen.has(real) || depth > MAX_DEPTH || !statOrNull(at)?.isDirectory()) return;
    if (!mayEnter(real)) return void closed.push(at);
    seen.add(real);
    for (const entry of entriesOf(real)) {
      if (left-- <= 0) return;
      const path = join(real, entry.name);
      const stat = entry.isSymbolicLink() ? statOrNull(path) : entry;
      if (stat?.isDirectory()) visit(path, depth + 1);
      else if (stat?.isFile() && entry.name.endsWith(ending)) found.add(entry.isSymbolicLink() ? realPath(path) : path);
    }
  };
  visit(folder, 0);
  return { files: [...found].sort(), folders: [folder, ...seen], closed };
}

function entriesOf(folder: string): Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch {
    return [];
  }
}
