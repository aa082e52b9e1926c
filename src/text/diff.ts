/** Compares two lists of lines: the common start and end, and what is kept, added and removed between them. */

import { diff3Merge, diffComm } from "node-diff3";
import { splitLines } from "./lines.ts";

interface LineChange {
  kind: "same" | "removed" | "added";
  text: string;
}

/** With more differing lines than this, finding the shortest diff takes too long. */
const MAX_COMPARED = 3_000;

/** How many items the two share at the start, and how many of the rest at the end. */
export function commonEnds(before: readonly string[], after: readonly string[]): { head: number; tail: number } {
  const least = Math.min(before.length, after.length);
  let head = 0;
  while (head < least && before[head] === after[head]) head++;
  let tail = 0;
  while (tail < least - head && before.at(-1 - tail) === after.at(-1 - tail)) tail++;
  return { head, tail };
}

/** Every line of both, in order; removed lines come before the lines that replace them. */
export function diffLines(before: readonly string[], after: readonly string[]): LineChange[] {
  const { head, tail } = commonEnds(before, after);
  const [old, fresh] = [before.slice(head, before.length - tail), after.slice(head, after.length - tail)];
  const isLong = old.length * fresh.length === 0 || old.length + fresh.length > MAX_COMPARED;
  // The package's types lack common lines.
  const middle = (isLong ? [{ buffer1: old, buffer2: fresh }] : diffComm(old, fresh)) as Part[];
  return [
    ...mark("same", before.slice(0, head)),
    ...middle.flatMap(({ common, buffer1, buffer2 }) => [
      ...mark("same", common),
      ...mark("removed", buffer1),
      ...mark("added", buffer2),
    ]),
    ...mark("same", before.slice(before.length - tail)),
  ];
}

interface Part {
  common?: string[];
  buffer1?: string[];
  buffer2?: string[];
}

function mark(kind: LineChange["kind"], lines: readonly string[] = []): LineChange[] {
  return lines.map((text) => ({ kind, text }));
}

// --- The smallest step of a merge: three values, or three texts line by line.

/** The side that changed, if only one did or both made the same change; null if they differ. */
export function pickChanged<T>(base: T, ours: T, theirs: T): T | null {
  if (ours === theirs || ours === base) return theirs;
  return theirs === base ? ours : null;
}

/** Merges line by line; null if both changed the same place. Adjacent changes count as the same place. */
export function mergeLines(base: string, ours: string, theirs: string): string | null {
  const simple = pickChanged(base, ours, theirs);
  if (simple !== null) return simple;
  const { lines, conflicts } = merge3(splitLines(base), splitLines(ours), splitLines(theirs));
  return conflicts === 0 ? join(lines, theirs) : null;
}

/**
 * The same, but always succeeds: two additions in one place are both kept, and where both changed the same lines, ours
 * win.
 */
export function mergeKeeping(base: string, ours: string, theirs: string): string {
  const simple = pickChanged(base, ours, theirs);
  if (simple !== null) return simple;
  const regions = diff3(splitLines(base), splitLines(ours), splitLines(theirs)).map(({ ok, conflict }, at) => {
    if (!conflict) return ok ?? [];
    const { a, o, b } = conflict;
    if (o.length === 0) return at === 0 ? [...a, ...b] : [...b, ...a];
    // One side changed lines, the other only added some next to them.
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

function diff3(base: readonly string[], ours: readonly string[], theirs: readonly string[]): Region[] {
  return diff3Merge([...ours], [...base], [...theirs], { excludeFalseConflicts: true }) as Region[];
}

/** A last line without a line break may now be in the middle. */
function join(lines: readonly string[], like: string): string {
  const eol = like.includes("\r\n") ? "\r\n" : "\n";
  return lines.map((line, i) => (i < lines.length - 1 && !line.endsWith("\n") ? line + eol : line)).join("");
}

/** `conflicts`: places that both changed, or adjacent changes: ours win. */
export function merge3(base: readonly string[], ours: readonly string[], theirs: readonly string[]) {
  const regions = diff3(base, ours, theirs);
  return {
    lines: regions.flatMap(({ ok, conflict }) => ok ?? conflict?.a ?? []),
    conflicts: regions.filter(({ conflict }) => conflict).length,
  };
}
