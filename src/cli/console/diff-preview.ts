/** What an edit would change, as lines to look at before it is allowed. */

import { commonEnds } from "../../text/diff.ts";
import { sanitise } from "../../text/sanitise.ts";
import { cut } from "../../text/wrap.ts";
import { count } from "../../verb.ts";
import type { Paint } from "../terminal.ts";

interface DiffOptions {
  columns: number;
  /** Lines shown at most; the rest is counted. */
  maxLines: number;
  paint: Paint;
}

/** Unchanged lines kept on each side of a change, to see where it is. */
const CONTEXT = 2;

/** Lines that both texts begin or end with are context; what is between is removed (`-`) and added (`+`). `before` is null for a new file. */
export function diffPreview(before: string | null, after: string, { columns, maxLines, paint }: DiffOptions): string[] {
  const [old, fresh] = [linesOf(before ?? ""), linesOf(after)];
  const { head, tail } = commonEnds(old, fresh);
  const removed = old.slice(head, old.length - tail);
  const added = fresh.slice(head, fresh.length - tail);
  if (removed.length + added.length === 0) return [cut(paint.dim("  (no change)"), columns)];
  const show = (sign: string, lines: string[], colour: (text: string) => string, max = lines.length) => [
    ...lines.slice(0, max).map((line) => colour(cut(`${sign}${line}`, columns))),
    ...(lines.length > max ? [cut(paint.dim(`${sign}… ${count(lines.length - max, "more line")}`), columns)] : []),
  ];
  // When there is no room for all of it, what is removed may use half.
  const room = Math.max(2, maxLines);
  return [
    ...show("  ", old.slice(Math.max(0, head - CONTEXT), head), paint.dim),
    ...show("- ", removed, paint.red, Math.max(room - added.length, Math.floor(room / 2))),
    ...show("+ ", added, paint.green, Math.max(room - removed.length, Math.ceil(room / 2))),
    ...show("  ", fresh.slice(fresh.length - tail).slice(0, CONTEXT), paint.dim),
  ];
}

/** A break at the end belongs to the last line. */
function linesOf(text: string): string[] {
  const lines = sanitise(text).split("\n");
  return lines.at(-1) === "" ? lines.slice(0, -1) : lines;
}
