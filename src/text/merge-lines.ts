/** The smallest step of a merge: three values, or three texts line by line. */

import { diff3Merge } from "node-diff3";
import { splitLines } from "./lines.ts";

/** The side that changed, when only one did or both did the same; null when both differ. */
export function pickChanged<T>(base: T, ours: T, theirs: T): T | null {
  if (ours === theirs || ours === base) return theirs;
  return theirs === base ? ours : null;
}

/** Line by line; null where both changed the same place. Changes that touch count as the same place. */
export function mergeLines(base: string, ours: string, theirs: string): string | null {
  const simple = pickChanged(base, ours, theirs);
  if (simple !== null) return simple;
  const regions = diff(base, ours, theirs);
  return regions.every(({ ok }) => ok)
    ? join(
        regions.flatMap(({ ok }) => ok ?? []),
        theirs,
      )
    : null;
}

/** The same, and it always succeeds: of two additions in one place both stay, and where both changed the same lines, ours. */
export function mergeKeeping(base: string, ours: string, theirs: string): string {
  const simple = pickChanged(base, ours, theirs);
  if (simple !== null) return simple;
  const regions = diff(base, ours, theirs).map(({ ok, conflict }, at) => {
    if (!conflict) return ok ?? [];
    const { a, o, b } = conflict;
    if (o.length === 0) return at === 0 ? [...a, ...b] : [...b, ...a];
    // One side changed lines, the other only wrote something beside them.
    return replaceWithin(a, o, b) ?? replaceWithin(b, o, a) ?? a;
  });
  return join(regions.flat(), ours);
}

function replaceWithin(lines: readonly string[], old: readonly string[], next: readonly string[]): string[] | null {
  const at = lines.findIndex((_, i) => old.every((line, j) => lines[i + j] === line));
  return at < 0 ? null : lines.toSpliced(at, old.length, ...next);
}

interface Region {
  ok?: string[];
  /** Ours, the base, theirs. */
  conflict?: { a: string[]; o: string[]; b: string[] };
}

function diff(base: string, ours: string, theirs: string): Region[] {
  return diff3Merge(splitLines(ours), splitLines(base), splitLines(theirs), {
    excludeFalseConflicts: true,
  }) as Region[];
}

/** A last line without its break may have come to stand in the middle. */
function join(lines: readonly string[], like: string): string {
  const eol = like.includes("\r\n") ? "\r\n" : "\n";
  return lines.map((line, i) => (i < lines.length - 1 && !line.endsWith("\n") ? line + eol : line)).join("");
}
