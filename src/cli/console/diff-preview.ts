/** What an edit would change, as lines to look at before it is allowed. */

import { commonEnds } from "../../text/diff.ts";
import { sanitise } from "../../text/sanitise.ts";
import { cut, wrapText } from "../../text/wrap.ts";
import type { Paint } from "../terminal.ts";

interface DiffOptions {
  columns: number;
  /** Lines shown at most; the rest is counted. */
  maxLines: number;
  paint: Paint;
}

/** Unchanged lines kept on each side of a change, to see where it is. */
const CONTEXT = 2;

/**
 * Lines that both texts begin or end with are context; what lies between is taken out (`-`) and put in (`+`). `before` is
 * null for a new file.
 */
export function diffPreview(before: string | null, after: string, { columns, maxLines, paint }: DiffOptions): string[] {
  const old = before === null ? [] : linesOf(before);
  const fresh = linesOf(after);
  const { head, tail } = commonEnds(old, fresh);
  const removed = old.slice(head, old.length - tail);
  const added = fresh.slice(head, fresh.length - tail);
  if (removed.length === 0 && added.length === 0) return [cut(paint.dim("  (no change)"), columns)];
  // When there is no room for all of it, what is taken out may use half.
  const room = Math.max(2, maxLines);
  const forRemoved = Math.max(room - added.length, Math.floor(room / 2));
  const forAdded = Math.max(room - removed.length, Math.ceil(room / 2));
  return [
    ...old.slice(Math.max(0, head - CONTEXT), head).map((line) => show("  ", line, columns, paint.dim)),
    ...showSome("- ", removed, forRemoved, columns, paint, paint.red),
    ...showSome("+ ", added, forAdded, columns, paint, paint.green),
    ...fresh
      .slice(fresh.length - tail, fresh.length - tail + CONTEXT)
      .map((line) => show("  ", line, columns, paint.dim)),
  ];
}

function showSome(
  sign: string,
  lines: readonly string[],
  max: number,
  columns: number,
  paint: Paint,
  color: (text: string) => string,
): string[] {
  const shown = lines.slice(0, max).map((line) => show(sign, line, columns, color));
  const more = lines.length - shown.length;
  return more > 0 ? [...shown, cut(paint.dim(`${sign}… ${more} more lines`), columns)] : shown;
}

function show(sign: string, line: string, columns: number, color: (text: string) => string): string {
  return color(cut(`${sign}${line}`, columns));
}

/** A break at the end belongs to the last line. */
function linesOf(text: string): string[] {
  if (text === "") return [];
  const lines = sanitise(text).split("\n");
  if (lines.at(-1) === "") lines.pop();
  return lines;
}

/** The sign of a diff's line and a space: what goes on stands below the words. */
const INDENT = "  ";

/** With infinite columns every line stays as it is. */
export function foldLines(lines: readonly string[], columns: number): string[] {
  const room = columns - INDENT.length;
  return lines.flatMap((line) => wrapText(line, room).map((part, at) => (at === 0 ? part : `${INDENT}${part}`)));
}
