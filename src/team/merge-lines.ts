/** The smallest step of a merge: three values, or three texts line by line. */

import { diff3Merge } from "node-diff3";
import { splitLines } from "../store/store.ts";

/** The side that changed, when only one did or both did the same; null when both differ. */
export function pickChanged<T>(base: T, ours: T, theirs: T): T | null {
  if (ours === theirs || ours === base) return theirs;
  return theirs === base ? ours : null;
}

/** Line by line; null where both changed the same place. Changes that touch count as the same place. */
export function mergeLines(base: string, ours: string, theirs: string): string | null {
  const simple = pickChanged(base, ours, theirs);
  if (simple !== null) return simple;
  const regions = diff3Merge(splitLines(ours), splitLines(base), splitLines(theirs), {
    excludeFalseConflicts: true,
  }) as { ok?: string[] }[];
  const lines: string[] = [];
  for (const { ok } of regions) {
    if (!ok) return null;
    lines.push(...ok);
  }
  // A last line without its break may have come to stand in the middle.
  const eol = theirs.includes("\r\n") ? "\r\n" : "\n";
  return lines.map((line, i) => (i < lines.length - 1 && !line.endsWith("\n") ? line + eol : line)).join("");
}
