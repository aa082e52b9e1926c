/** The files that a shell command names: touching one this way counts as reading it. */

import { resolve } from "node:path";
import { statOrNull } from "../disk/fence.ts";

/** More words than this are data, not file names. */
const MAX_WORDS = 200;

/** Existing files among the command's words, in order; quotes and escapes are undone, nothing is run or expanded. */
export function filesInCommand(command: string, cwd: string): string[] {
  const words = command.match(/(?:"(?:\\.|[^"\\])*"|'[^']*'|\\.|[^\s"'|&;<>()\\])+/gs) ?? [];
  const files = words.slice(0, MAX_WORDS).flatMap((word) => {
    const bare = word.replace(PART, (part) => bareOf(part));
    if (bare === "" || bare.startsWith("-") || bare.includes("\0")) return [];
    const path = resolve(cwd, bare);
    return statOrNull(path)?.isFile() ? [path] : [];
  });
  return [...new Set(files)];
}

const PART = /"(?:\\.|[^"\\])*"|'[^']*'|\\./gs;

/** A part of a word without its quotes; in double quotes a backslash only escapes what is special there. */
function bareOf(part: string): string {
  if (part.startsWith("'")) return part.slice(1, -1);
  return part.startsWith('"') ? part.slice(1, -1).replace(/\\(["\\$`])/g, "$1") : part.slice(1);
}
