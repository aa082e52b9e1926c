/** The live lines as drawn once: which they were, where the cursor stood, and the sequences that change or erase them. */

import { widthOf } from "./width.ts";
import { cut, wrapText } from "./wrap.ts";

export interface Position {
  row: number;
  column: number;
}

export interface Frame {
  lines: string[];
  /** Where the terminal's cursor stands among them. */
  row: number;
  column: number;
  /** Columns it was laid for: after a change of size its lines may take more rows. */
  columns: number;
}

export interface Live {
  lines: readonly string[];
  cursor: Position | null;
}

/** `tail` is a line of output that is not finished: it stands above the live lines until it is. */
export function layFrame(tail: string, { lines, cursor }: Live, columns: number, rows: number): Frame {
  const above = tail === "" ? [] : wrapText(tail, columns);
  const all = [...above, ...lines.map((line) => cut(line.replaceAll("\n", " "), columns))];
  const target = cursor ? above.length + Math.min(cursor.row, lines.length - 1) : all.length - 1;
  // What does not fit cannot be redrawn: the rows around the cursor are kept.
  const first = all.length <= rows ? 0 : Math.min(Math.max(0, target - rows + 1), all.length - rows);
  const shown = all.slice(first, first + rows);
  const row = Math.max(0, target - first);
  const column = cursor ? cursor.column : widthOf(shown[row] ?? "");
  return { lines: shown, row, column: Math.min(column, columns - 1), columns };
}

/** From the beginning of an empty line. */
export function drawFrame({ lines, row, column }: Frame): string {
  if (lines.length === 0) return "";
  return `${lines.join("\r\n")}\r${vertical(row - (lines.length - 1))}${forward(column)}`;
}

/** Only the lines that changed; null when it has to be drawn anew. */
export function redrawFrame(before: Frame, next: Frame): string | null {
  if (before.lines.length !== next.lines.length || before.columns !== next.columns) return null;
  let text = "";
  let row = before.row;
  for (const [index, line] of next.lines.entries()) {
    if (line === before.lines[index]) continue;
    text += `\r${vertical(index - row)}${line}${widthOf(line) < next.columns ? "\x1b[K" : ""}`;
    row = index;
  }
  if (text === "" && before.row === next.row && before.column === next.column) return "";
  return `${text}\r${vertical(next.row - row)}${forward(next.column)}`;
}

/**
 * Leaves the cursor where the first line began. What follows is erased from the second column on: from the first, tmux takes
 * it for clearing the screen and keeps a copy of what was there.
 */
export function eraseFrame(frame: Frame, columns: number): string {
  return `\r${vertical(-rowsAbove(frame, columns))}\x1b[K\x1b[C\x1b[J\r`;
}

/**
 * Rows from the cursor up to the first line. A terminal that became narrower has wrapped the lines that no longer fit; one
 * that became wider leaves them, as each ends with a break.
 */
function rowsAbove({ lines, row, column, columns: before }: Frame, columns: number): number {
  if (columns >= before) return row;
  const taken = (line: string) => Math.max(1, Math.ceil(widthOf(line) / columns));
  const above = lines.slice(0, row).reduce((sum, line) => sum + taken(line), 0);
  return above + Math.floor(column / columns);
}

function vertical(by: number): string {
  if (by === 0) return "";
  return by < 0 ? `\x1b[${-by}A` : `\x1b[${by}B`;
}

function forward(column: number): string {
  return column === 0 ? "" : `\x1b[${column}C`;
}
