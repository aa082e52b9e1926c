/** What changes between two texts, for a person who is asked about it: the lines that go and come, and a few around them. */

import { diffLines as compareLines } from "../text/diff.ts";

/** Enough to decide; people read no more than that in a question. */
const MAX_LINES = 200;
const CONTEXT = 3;

const SIGNS = { same: " ", removed: "-", added: "+" };

/** `…` stands for unchanged lines between two changes. */
export function diffLines(before: string, after: string): string {
  const linesOf = (text: string) => (text === "" ? [] : text.split("\n"));
  const lines = compareLines(linesOf(before), linesOf(after));
  const changed = lines.flatMap(({ kind }, at) => (kind === "same" ? [] : [at]));
  const near = new Set(changed.flatMap((at) => Array.from({ length: 2 * CONTEXT + 1 }, (_, i) => at - CONTEXT + i)));
  const rows: string[] = [];
  for (const [at, { kind, text }] of lines.entries()) {
    if (near.has(at)) rows.push(`${SIGNS[kind]}${text.replace(/\r$/, "")}`);
    else if (rows.length > 0 && near.has(at - 1) && at < (changed.at(-1) ?? 0)) rows.push("…");
  }
  if (rows.length <= MAX_LINES) return rows.join("\n");
  return `${rows.slice(0, MAX_LINES).join("\n")}\n… and ${rows.length - MAX_LINES} more lines`;
}
