/** Two texts as lines that stay, come and go, with a little of what surrounds them. */

import { diffComm } from "node-diff3";
import type { DiffLine } from "./api.ts";

/** As most tools show. */
const CONTEXT = 3;
/** More than a person reads; what is left out is said. */
const MAX_LINES = 1_000;
const MAX_LINE_CHARS = 2_000;
/** Beyond this many lines that differ, finding the shortest way between them takes longer than anybody waits. */
const MAX_COMPARED = 3_000;

export function diffTexts(before: string, after: string): DiffLine[] {
  if (before === after) return [];
  const [old, fresh] = [linesOf(before), linesOf(after)];
  let start = 0;
  while (start < old.length && start < fresh.length && old[start] === fresh[start]) start++;
  let end = 0;
  const room = Math.min(old.length, fresh.length) - start;
  while (end < room && old[old.length - 1 - end] === fresh[fresh.length - 1 - end]) end++;
  const middle = compare(old.slice(start, old.length - end), fresh.slice(start, fresh.length - end));
  return bound(fold([...old.slice(0, start).map(same), ...middle, ...old.slice(old.length - end).map(same)]).map(clip));
}

function linesOf(text: string): string[] {
  return text === "" ? [] : text.replaceAll("\r\n", "\n").replace(/\n$/, "").split("\n");
}

function compare(old: string[], fresh: string[]): DiffLine[] {
  if (old.length * fresh.length === 0 || old.length + fresh.length > MAX_COMPARED) {
    return [...old.map(removed), ...fresh.map(added)];
  }
  return diffComm(old, fresh).flatMap((part) =>
    "common" in part && part.common
      ? part.common.map(same)
      : [...(part.buffer1 ?? []).map(removed), ...(part.buffer2 ?? []).map(added)],
  );
}

const same = (text: string): DiffLine => ({ kind: "same", text });
const added = (text: string): DiffLine => ({ kind: "added", text });
const removed = (text: string): DiffLine => ({ kind: "removed", text });
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
