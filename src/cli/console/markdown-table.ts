/** A table of Markdown fitted to the columns there are: cells wrapped, or each row as a list where that is too narrow. */

import type { Tokens } from "marked";
import { renderInline } from "./markdown-inline.ts";
import type { Paint } from "./paint.ts";
import { widthOf } from "./width.ts";
import { pad, wrapText } from "./wrap.ts";

/** Narrower cells break every word. */
const MIN_CELL = 6;
const GAP = " │ ";

export function renderTable(table: Tokens.Table, { columns, paint }: { columns: number; paint: Paint }): string[] {
  const header = table.header.map(({ tokens }) => renderInline(tokens, paint));
  const rows = table.rows.map((row) => row.map(({ tokens }) => renderInline(tokens, paint)));
  const widths = fitWidths(naturalWidths([header, ...rows]), columns - GAP.length * (header.length - 1));
  if (!widths) return renderRecords(header, rows, columns, paint);
  const line = (cells: readonly string[], weight: (text: string) => string) => {
    const wrapped = widths.map((width, index) => wrapText(cells[index] ?? "", width));
    const height = Math.max(...wrapped.map((lines) => lines.length));
    return Array.from({ length: height }, (_, row) =>
      widths
        .map((width, index) => pad(weight(wrapped[index]?.[row] ?? ""), width, table.align[index]))
        .join(paint.dim(GAP))
        .trimEnd(),
    );
  };
  const rule = paint.dim(widths.map((width) => "─".repeat(width)).join("─┼─"));
  return [...line(header, paint.bold), rule, ...rows.flatMap((row) => line(row, (text) => text))];
}

function naturalWidths(rows: readonly (readonly string[])[]): number[] {
  const first = rows[0] ?? [];
  return first.map((_, index) =>
    Math.max(1, ...rows.map((row) => Math.max(...(row[index] ?? "").split("\n").map(widthOf)))),
  );
}

/** Takes from the widest until it fits; null when cells would become too narrow to read. */
function fitWidths(natural: readonly number[], room: number): number[] | null {
  const sum = natural.reduce((total, width) => total + width, 0);
  if (sum <= room) return [...natural];
  const least = natural.reduce((total, width) => total + Math.min(width, MIN_CELL), 0);
  if (least > room) return null;
  // The largest limit under which all fit; then one column more for those that want it, as long as there are any.
  let limit = MIN_CELL;
  const under = (max: number) => natural.reduce((total, width) => total + Math.min(width, max), 0);
  while (under(limit + 1) <= room) limit++;
  let left = room - under(limit);
  return natural.map((width) => {
    if (width <= limit || left === 0) return Math.min(width, limit);
    left--;
    return limit + 1;
  });
}

function renderRecords(
  header: readonly string[],
  rows: readonly (readonly string[])[],
  columns: number,
  paint: Paint,
): string[] {
  if (rows.length === 0) return header.flatMap((name) => wrapText(paint.bold(name), columns));
  return rows.flatMap((row, index) => [
    ...(index > 0 ? [""] : []),
    ...header.flatMap((name, cell) => wrapText(`${paint.bold(name)}: ${row[cell] ?? ""}`, columns)),
  ]);
}
