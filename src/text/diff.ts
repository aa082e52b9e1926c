/** Two lists of lines compared: what both begin and end with, and what stays, comes and goes between. */

import { diffComm } from "node-diff3";

interface LineChange {
  kind: "same" | "removed" | "added";
  text: string;
}

/** Beyond this many lines that differ, finding the shortest way between them takes longer than anybody waits. */
const MAX_COMPARED = 3_000;

/** How many items both begin with, and how many both end with behind these. */
export function commonEnds(before: readonly string[], after: readonly string[]): { head: number; tail: number } {
  const least = Math.min(before.length, after.length);
  let head = 0;
  while (head < least && before[head] === after[head]) head++;
  let tail = 0;
  while (tail < least - head && before.at(-1 - tail) === after.at(-1 - tail)) tail++;
  return { head, tail };
}

/** Every line of both, in order; what goes stands before what comes in its place. */
export function diffLines(before: readonly string[], after: readonly string[]): LineChange[] {
  const { head, tail } = commonEnds(before, after);
  const [old, fresh] = [before.slice(head, before.length - tail), after.slice(head, after.length - tail)];
  const isLong = old.length * fresh.length === 0 || old.length + fresh.length > MAX_COMPARED;
  // The package's types know no common lines.
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
