/** What changes between two texts, for a person who is asked about it: everything between the first and the last difference. */

import { commonEnds } from "../text/diff.ts";

/** Enough to decide; people read no more than that in a question. */
const MAX_LINES = 200;
const CONTEXT = 3;

export function diffLines(before: string, after: string): string {
  const old = before === "" ? [] : before.split("\n");
  const fresh = after === "" ? [] : after.split("\n");
  const { head: start, tail: end } = commonEnds(old, fresh);
  const rows = [
    ...old.slice(Math.max(0, start - CONTEXT), start).map((line) => ` ${line}`),
    ...old.slice(start, old.length - end).map((line) => `-${line}`),
    ...fresh.slice(start, fresh.length - end).map((line) => `+${line}`),
    ...fresh.slice(fresh.length - end, fresh.length - end + CONTEXT).map((line) => ` ${line}`),
  ].map((row) => row.replace(/\r$/, ""));
  if (rows.length <= MAX_LINES) return rows.join("\n");
  return `${rows.slice(0, MAX_LINES).join("\n")}\n… and ${rows.length - MAX_LINES} more lines`;
}
