/** The files that a shell command names: touching one this way counts as reading it. */

import { statSync } from "node:fs";
import { resolve } from "node:path";

/** More words than this are data, not file names. */
const MAX_WORDS = 200;

/** Existing files among the command's words, in order; quotes and escapes are undone, nothing is run or expanded. */
export function filesInCommand(command: string, cwd: string): string[] {
  const words = command.match(/"(?:\\.|[^"\\])*"|'[^']*'|(?:\\.|[^\s"'|&;<>()\\])+/g) ?? [];
  const files = words.slice(0, MAX_WORDS).flatMap((word) => {
    const bare = /^(["']).*\1$/s.test(word) ? word.slice(1, -1) : word.replace(/\\(.)/g, "$1");
    if (bare === "" || bare.startsWith("-") || bare.includes("\0")) return [];
    const path = resolve(cwd, bare);
    return isFile(path) ? [path] : [];
  });
  return [...new Set(files)];
}

function isFile(path: string): boolean {
  try {
    return statSync(path, { throwIfNoEntry: false })?.isFile() === true;
  } catch {
    // A word too long for a name is none.
    return false;
  }
}
