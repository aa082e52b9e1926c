/** What fills the model's window, as a chart for the terminal: one stacked bar, and a row for each part. */

import type { Paint } from "./paint.ts";
import { sanitiseLine } from "./sanitise.ts";
import { formatBytes, formatTokens } from "./spinner.ts";
import { widthOf } from "./width.ts";
import { cut, pad } from "./wrap.ts";

export interface ChartPart {
  name: string;
  bytes: number;
  tokens: number;
}

export interface ChartView {
  /** As they are to be shown. */
  parts: readonly ChartPart[];
  windowTokens: number;
  /** Whether the provider counted the tokens; else they are approximate, and marked so. */
  isCounted?: boolean;
}

export interface ChartOptions {
  columns: number;
  color: ChartColor;
}

/** The more colours there are, the easier parts are told apart. */
export type ChartColor = Pick<Paint, "bold" | "dim" | "green" | "yellow"> &
  Partial<Pick<Paint, "blue" | "magenta" | "cyan">>;

/** Below, nothing can be told from a bar; above, eyes get lost between a name and its number. */
const MIN_COLUMNS = 20;
const MAX_COLUMNS = 120;
const MAX_NAME = 28;
const MIN_BAR = 4;
const MAX_BAR = 40;
const FREE = "·";
/** Told apart by shape, so that it works without colour; the parts after the last begin again. */
const FILLS = ["█", "▓", "▒", "░", "▚", "▤", "▥", "▨", "▦", "▧", "▩", "▞"] as const;

/** Lines joined by breaks, none wider than `columns`. */
export function drawWindow({ parts, windowTokens, isCounted = false }: ChartView, options: ChartOptions): string {
  const columns = Math.max(MIN_COLUMNS, Math.min(options.columns, MAX_COLUMNS));
  const { color } = options;
  const used = parts.reduce((sum, part) => sum + count(part.tokens), 0);
  const whole = Math.max(1, count(windowTokens));
  const percent = (tokens: number) => `${((count(tokens) / whole) * 100).toFixed(1)}%`;
  const summary = `${formatTokens(used)} of ${formatTokens(whole)} tokens (${percent(used)})`;
  const lines = [cut(color.bold(summary), columns), stackedBar(parts, Math.max(whole, used), columns, color)];
  const rows = [...parts, { name: "free", bytes: -1, tokens: Math.max(0, whole - used) }].map((part, index) => ({
    fill: index < parts.length ? fillOf(index) : FREE,
    tint: index < parts.length ? tintOf(index, color) : color.dim,
    name: cut(sanitiseLine(part.name) || "?", MAX_NAME),
    share: count(part.tokens) / whole,
    cells: [
      part.bytes < 0 ? "" : formatBytes(count(part.bytes)),
      `${isCounted ? "" : "~"}${formatTokens(count(part.tokens))}`,
      percent(part.tokens),
    ],
  }));
  const cellWidths = [0, 1, 2].map((cell) => Math.max(...rows.map((row) => widthOf(row.cells[cell] ?? ""))));
  const numbers = cellWidths.reduce((sum, width) => sum + width + 1, 0);
  const longest = Math.max(...rows.map((row) => widthOf(row.name)));
  const nameWidth = Math.max(4, Math.min(longest, columns - numbers - 2 - MIN_BAR - 1));
  const barWidth = Math.max(0, Math.min(MAX_BAR, columns - numbers - 2 - nameWidth - 1));
  // The largest fills its bar: in a narrow terminal shares of the window could not be told apart.
  const largest = Math.max(...rows.map((row) => row.share));
  for (const row of rows) {
    const filled = row.share > 0 ? Math.min(barWidth, Math.max(1, Math.round((row.share / largest) * barWidth))) : 0;
    const cells = row.cells.map((cell, index) => ` ${pad(cell, cellWidths[index] ?? 0, "right")}`).join("");
    const bar = `${row.tint(row.fill.repeat(filled))}${" ".repeat(barWidth - filled)}`;
    lines.push(cut(`${row.tint(row.fill)} ${pad(cut(row.name, nameWidth), nameWidth)} ${bar}${cells}`, columns));
  }
  return lines.join("\n");
}

/** Every part that is not empty has at least one cell, as long as there are enough; the last cells are what is free. */
function stackedBar(parts: readonly ChartPart[], whole: number, columns: number, color: ChartColor): string {
  let bar = "";
  let left = columns;
  let later = parts.filter((part) => count(part.tokens) > 0).length;
  for (const [index, part] of parts.entries()) {
    if (count(part.tokens) === 0) continue;
    later--;
    const wanted = Math.max(1, Math.round((count(part.tokens) / whole) * columns));
    const width = Math.max(0, Math.min(wanted, left - later));
    bar += tintOf(index, color)(fillOf(index).repeat(width));
    left -= width;
  }
  return `${bar}${color.dim(FREE.repeat(Math.max(0, left)))}`;
}

function fillOf(index: number): string {
  return FILLS[index % FILLS.length] ?? FILLS[0];
}

function tintOf(index: number, color: ChartColor): (text: string) => string {
  const tints = [color.blue, color.green, color.yellow, color.magenta, color.cyan].filter((tint) => tint !== undefined);
  return tints[index % tints.length] ?? color.green;
}

function count(value: number): number {
  return Number.isFinite(value) && value > 0 ? value : 0;
}
