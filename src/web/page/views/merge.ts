/** One person's changes laid over another's: line by line, against the text that both began with. */

import { merge3 } from "../../../text/diff.ts";

export interface Layered {
  text: string;
  /** Places that both have changed: there mine stand, and the review shows what of theirs went. */
  overlaps: number;
}

/** Comparing takes lines times lines: a memory is a page, and for what is far longer mine stand as a whole. */
const MOST_CELLS = 4_000_000;

/** All three with "\n" at the ends of lines only. */
export function layOver(base: string, theirs: string, mine: string): Layered {
  const [from, left, right] = [base, theirs, mine].map((text) => text.split("\n")) as [string[], string[], string[]];
  if (from.length * Math.max(left.length, right.length) > MOST_CELLS) return { text: mine, overlaps: 1 };
  const { lines, conflicts } = merge3(from, right, left);
  return { text: lines.join("\n"), overlaps: conflicts };
}
