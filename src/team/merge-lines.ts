/** The smallest step of a merge: three values, or three texts line by line. */

import { splitLines } from "../store/store.ts";
import { merge3 } from "../text/merge3.ts";

/** The side that changed, when only one did or both did the same; null when both differ. */
export function pickChanged<T>(base: T, ours: T, theirs: T): T | null {
  if (ours === theirs || ours === base) return theirs;
  return theirs === base ? ours : null;
}

/** Line by line; null where both changed the same place. Changes that touch count as the same place. */
export function mergeLines(base: string, ours: string, theirs: string): string | null {
  const simple = pickChanged(base, ours, theirs);
  if (simple !== null) return simple;
  const { lines, conflicts } = merge3(splitLines(base), splitLines(ours), splitLines(theirs));
  if (conflicts > 0) return null;
  // A last line without its break may have come to stand in the middle.
  const eol = theirs.includes("\r\n") ? "\r\n" : "\n";
  return lines.map((line, i) => (i < lines.length - 1 && !line.endsWith("\n") ? line + eol : line)).join("");
}
