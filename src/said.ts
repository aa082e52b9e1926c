/** What verbs say as text: in colours, wrapped to a screen, and made harmless; for terminals, and plainly for the page. */

import { inspect } from "node:util";
import { commonEnds } from "./text/diff.ts";
import { sanitise, sanitiseLine } from "./text/sanitise.ts";
import { SGR, widthOf, wrapText } from "./text/wrap.ts";
import { count, type Diff, type Line, type Said, type Span, type Tone } from "./verb.ts";

/** Colours and weights: every function leaves the text as it is when colour is off. */
export type Paint = Record<(typeof STYLES)[number], (text: string) => string> & {
  /** Whether anything is painted: without it, texts say with characters what colour would have said. */
  on: boolean;
};

const STYLES = ["bold", "dim", "italic", "underline", "strikethrough", "red", "green", "yellow", "cyan"] as const;

export function openPaint(on: boolean): Paint {
  const paintAs = (name: string) => {
    const [open, close] = inspect.colors[name] as [number, number];
    return (text: string) => (on && text !== "" ? `\x1b[${open}m${text}\x1b[${close}m` : text);
  };
  return { ...(Object.fromEntries(STYLES.map((name) => [name, paintAs(name)])) as Omit<Paint, "on">), on };
}

const PAINTS: Readonly<Record<Tone, keyof Omit<Paint, "on">>> = {
  bold: "bold",
  dim: "dim",
  warn: "yellow",
  good: "green",
  bad: "red",
};

/** As it stands in a pipe; where there is nothing else, notes need not say whose they are. */
export function plainOf(said: Said): string {
  const lines = said.map((line) => render(line, openPaint(false), undefined));
  return lines.map(({ out, err }) => out ?? err?.replace(/^memdir: /, "")).join("\n");
}

/** `err` is for beside the answer. */
export function render(line: Line, color: Paint, columns: number | undefined): { out?: string; err?: string } {
  if (typeof line === "string") return { out: fold(clean(line), columns, 0) };
  if (isSpans(line)) return { out: fold(line.map((span) => paint(span, color)).join(""), columns, HANG) };
  if ("text" in line) return { out: fold(paint(line, color), columns, 0) };
  if ("block" in line) return { out: sanitise(line.block) };
  if ("raw" in line) return { out: columns === undefined ? line.raw : sanitise(line.raw) };
  if ("diff" in line) return { out: renderDiff(line.diff, color, columns) };
  if ("note" in line) return { err: fold(`memdir: note: ${sanitiseLine(line.note)}`, columns, HANG) };
  if ("warning" in line) return { err: fold(`memdir: warning: ${sanitiseLine(line.warning)}`, columns, HANG) };
  if ("aside" in line) return { err: fold(paint(line.aside, color), columns, 0) };
  return { out: renderRows(line.rows, line.right ?? [], color, columns) };
}

function isSpans(line: Line): line is readonly Span[] {
  return Array.isArray(line);
}

function paint(span: Span, color: Paint): string {
  return typeof span === "string" ? clean(span) : color[PAINTS[span.tone]](clean(span.text));
}

/** One line, with the spaces at its ends. */
function clean(text: string): string {
  return sanitise(text).replace(/\s*\n\s*/g, " ");
}

/** Lines made of several pieces are easier to tell apart when what is wrapped stands further in. */
const HANG = 4;

/** Colours may begin before the spaces. */
const LEAD = new RegExp(`^((?:${SGR.source})*)( *)`);

/** Broken at words; what follows a break stands under the line's own beginning. */
export function fold(text: string, columns: number | undefined, hang: number): string {
  if (columns === undefined || widthOf(text) <= columns) return text;
  const [lead = "", style = "", margin = ""] = LEAD.exec(text) ?? [];
  const room = columns - margin.length - hang;
  if (room < 20) return wrapText(text, columns).join("\n");
  return wrapText(style + text.slice(lead.length), room)
    .map((line, at) => (at === 0 ? margin : " ".repeat(margin.length + hang)) + line)
    .join("\n");
}

function renderDiff(diff: Diff, paint: Paint, columns: number | undefined): string {
  return diffLines(diff, paint)
    .map((line) => fold(`${" ".repeat(diff.indent ?? 4)}${line}`, columns, SIGN_WIDTH))
    .join("\n");
}

/** Whoever decides on a change sees all of it, and every line to its end: seven hooks are about eighty lines, a memory is a page. */
const MAX_LINES = 200;
/** Unchanged lines kept on each side of a change, to see where it is. */
const CONTEXT = 2;

/** Lines that both texts begin or end with are context; what is between is removed (`-`) and added (`+`). */
export function diffLines({ before, after }: Diff, paint: Paint, maxLines = MAX_LINES): string[] {
  const [old, fresh] = [linesOf(before ?? ""), linesOf(after)];
  const { head, tail } = commonEnds(old, fresh);
  const removed = old.slice(head, old.length - tail);
  const added = fresh.slice(head, fresh.length - tail);
  if (removed.length + added.length === 0) return [paint.dim("  (no change)")];
  const show = (sign: string, lines: string[], colour: (text: string) => string, max = lines.length) => [
    ...lines.slice(0, max).map((line) => colour(`${sign}${line}`)),
    ...(lines.length > max ? [paint.dim(`${sign}… ${count(lines.length - max, "more line")}`)] : []),
  ];
  // When there is no room for all of it, what is removed may use half.
  return [
    ...show("  ", old.slice(Math.max(0, head - CONTEXT), head), paint.dim),
    ...show("- ", removed, paint.red, Math.max(maxLines - added.length, Math.floor(maxLines / 2))),
    ...show("+ ", added, paint.green, Math.max(maxLines - removed.length, Math.ceil(maxLines / 2))),
    ...show("  ", fresh.slice(fresh.length - tail).slice(0, CONTEXT), paint.dim),
  ];
}

/** A break at the end belongs to the last line. */
function linesOf(text: string): string[] {
  return sanitise(text)
    .replace(/\n$/, "")
    .split("\n")
    .slice(text === "" ? 1 : 0);
}

/** What goes on stands below the words, not below the sign. */
const SIGN_WIDTH = 2;

/** A last column that is narrower than this is put under its row instead. */
const MIN_LAST = 20;
const BELOW = 6;

/** Cells in columns, two spaces apart; the last one wraps inside its own column. */
function renderRows(
  rows: readonly (readonly Span[])[],
  right: readonly number[],
  color: Paint,
  columns: number | undefined,
): string {
  const cells = rows.map((row) => row.map((span) => paint(span, color)));
  const widths = (cells[0] ?? []).map((_, at) => Math.max(...cells.map((row) => widthOf(row[at] ?? ""))));
  const lead = widths.slice(0, -1).reduce((sum, width) => sum + width + 2, 0);
  return cells
    .map((row) => {
      const head = row.slice(0, -1).map((cell, at) => {
        const space = " ".repeat((widths[at] ?? 0) - widthOf(cell));
        return `${right.includes(at) ? space + cell : cell + space}  `;
      });
      const last = row.at(-1) ?? "";
      if (columns !== undefined && columns - lead < MIN_LAST && columns < lead + widthOf(last))
        return [
          head.join("").trimEnd(),
          ...wrapText(last, Math.max(1, columns - BELOW)).map((line) => " ".repeat(BELOW) + line),
        ].join("\n");
      const [first = "", ...rest] = columns === undefined ? [last] : wrapText(last, columns - lead);
      return [head.join("") + first, ...rest.map((line) => " ".repeat(lead) + line)].join("\n").trimEnd();
    })
    .join("\n");
}
