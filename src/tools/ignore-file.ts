/** What a .gitignore names, as far as a search needs it: patterns from the top down, the last that matches decides. */

import { join } from "node:path";
import { tryReadFileAt } from "./file.ts";
import { compilePattern, type Pattern } from "./glob-pattern.ts";

/** `parts` lead from the folder of the file. */
export type Ignores = (parts: readonly string[], isFolder: boolean) => boolean;

/** Larger ones are not written by people. */
const MAX_BYTES = 256 * 1024;

/** A missing or broken file names nothing. */
export function readIgnoreFile(folder: string): Ignores {
  const rules = (tryReadFileAt(join(folder, ".gitignore"), MAX_BYTES)?.toString() ?? "")
    .split(/\r?\n/)
    .flatMap(parseRule);
  return (parts, isFolder) => {
    let isIgnored = false;
    for (const rule of rules) {
      if (rule.keeps === isIgnored && (isFolder || !rule.folderOnly) && rule.pattern.matches(parts)) {
        isIgnored = !rule.keeps;
      }
    }
    return isIgnored;
  };
}

interface Rule {
  pattern: Pattern;
  /** `!x` takes back what an earlier rule named. */
  keeps: boolean;
  folderOnly: boolean;
}

function parseRule(line: string): Rule[] {
  const keeps = line.startsWith("!");
  const text = (keeps ? line.slice(1) : line).replace(/(?<!\\)\s+$/, "");
  if (text === "" || text.startsWith("#")) return [];
  const folderOnly = text.endsWith("/");
  const body = folderOnly ? text.slice(0, -1) : text;
  // A slash anywhere but at the end binds it to this folder.
  const anchored = body.includes("/") ? body : `**/${body}`;
  // Braces have no meaning in these files.
  const pattern = compilePattern(anchored.replace(/[{}]/g, "\\$&"));
  return [{ pattern, keeps, folderOnly }];
}
