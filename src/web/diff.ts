/** Two texts as lines that stay, come and go, with a little of what surrounds them. */

import { diffLines } from "../text/diff.ts";
import type { DiffLine } from "./api.ts";

/** As most tools show. */
const CONTEXT = 3;
/** More than a person reads; what is left out is said. */
const MAX_LINES = 1_000;
const MAX_LINE_CHARS = 2_000;

export function diffTexts(before: string, after: string): DiffLine[] {
  if (before === after) return [];
  return bound(fold(diffLines(linesOf(before), linesOf(after))).map(clip));
}

function linesOf(text: string): string[] {
  return text === "" ? [] : text.replaceAll("\r\n", "\n").replace(/\n$/, "").split("\n");
}

const skipped = (count: number): DiffLine => ({
  kind: "skipped",
  text: count === 1 ? "1 line" : `${count} lines`,
});

/** Runs of lines that stay, shortened to what is near a change. */
function fold(lines: readonly DiffLine[]): DiffLine[] {
  const folded: DiffLine[] = [];
  for (let at = 0; at < lines.length; ) {
    let to = at;
    while (to < lines.length && lines[to]?.kind === "same") to++;
    if (to === at) {
      folded.push(lines[at++] as DiffLine);
      continue;
    }
    const run = lines.slice(at, to);
    const head = at === 0 ? 0 : CONTEXT;
    const tail = to === lines.length ? 0 : CONTEXT;
    // In place of a single line it can stand there itself.
    if (run.length <= head + tail + 1) folded.push(...run);
    else folded.push(...run.slice(0, head), skipped(run.length - head - tail), ...run.slice(run.length - tail));
    at = to;
  }
  return folded;
}

function bound(lines: DiffLine[]): DiffLine[] {
  return lines.length <= MAX_LINES ? lines : [...lines.slice(0, MAX_LINES), skipped(lines.length - MAX_LINES)];
}

function clip(line: DiffLine): DiffLine {
  if (line.text.length <= MAX_LINE_CHARS) return line;
  return { ...line, text: `${line.text.slice(0, MAX_LINE_CHARS).toWellFormed()}…` };
}
