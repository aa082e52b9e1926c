/**
 * The terminal as the console draws on it: output scrolls away above as usual, and below it a few live lines are redrawn in
 * place. No alternate screen, so that scrolling back, selecting and copying work.
 */

import { cut, SGR, widthOf } from "../../text/wrap.ts";

interface ScreenOut {
  write(text: string): void;
  columns(): number;
  rows(): number;
  isColour: boolean;
}

export type Screen = ReturnType<typeof openScreen>;

export interface Live {
  lines: readonly string[];
  cursor: { row: number; column: number } | null;
}

/** Live lines as they are on the terminal: where its cursor is among them, and the columns that they were laid out for. */
interface Frame {
  lines: string[];
  row: number;
  column: number;
  columns: number;
}

const HIDE_CURSOR = "\x1b[?25l";
const SHOW_CURSOR = "\x1b[?25h";
const PASTE_ON = "\x1b[?2004h";
/** Terminals that know it show the frame in between whole; the others pass over it. */
const FRAME_START = "\x1b[?2026h";
const FRAME_END = "\x1b[?2026l";
/** Where a terminal takes a character for wider than we do, a live line is cut by it instead of taking a second row. */
const WRAP_OFF = "\x1b[?7l";
const WRAP_ON = "\x1b[?7h";

/** What gives a terminal back as it was, whatever state a crash left it in: plain text, no paste marks, a cursor. */
export const RESET = `\x1b[0m\x1b[?2004l${WRAP_ON}${FRAME_END}${SHOW_CURSOR}`;

export function openScreen(out: ScreenOut) {
  // Some terminals do not say their size, or say nonsense.
  const sane = (value: number, fallback: number) => (Number.isInteger(value) && value > 0 ? value : fallback);
  const size = { columns: () => sane(out.columns(), 80), rows: () => sane(out.rows(), 24) };
  return { ...openLive(out, size), ...size };
}

/** At most `rows` of them, those around one, and which is the first. */
export function rowsAround<T>(all: readonly T[], at: number, rows: number): { first: number; shown: T[] } {
  const count = Math.max(1, rows);
  const first = Math.max(0, Math.min(at - Math.floor(count / 2), all.length - count));
  return { first, shown: all.slice(first, first + count) };
}

function openLive(out: ScreenOut, size: Pick<ScreenOut, "columns" | "rows">) {
  let drawn: Frame | null = null;
  let wanted: Live = { lines: [], cursor: null };
  /** What was printed while another program has the terminal; null while it is ours. */
  let delayed: string | null = null;
  let closed = false;
  const colour = (text: string) => (out.isColour ? text : text.replace(SGR, ""));
  const erase = () => {
    const text = drawn ? eraseFrame(drawn, size.columns()) : "";
    drawn = null;
    return text;
  };
  /** Puts finished lines above the live ones, or only brings these up to date. */
  const draw = (permanent = "") => {
    if (delayed !== null) delayed += permanent;
    else if (closed) out.write(permanent);
    if (closed || delayed !== null) return;
    const next = layFrame({ ...wanted, lines: wanted.lines.map(colour) }, size.columns(), size.rows());
    const isAnew = permanent !== "" || drawn?.lines.length !== next.lines.length || drawn.columns !== next.columns;
    const above = isAnew ? `${erase()}${permanent}` : "";
    const below = drawFrame(drawn, next);
    drawn = next.lines.length > 0 ? next : null;
    // Only live lines without a place for the cursor hide it.
    const cursor = wanted.lines.length > 0 && wanted.cursor === null ? "" : SHOW_CURSOR;
    if (above + below === "") return;
    out.write(`${FRAME_START}${HIDE_CURSOR}${above}${WRAP_OFF}${below}${WRAP_ON}${cursor}${FRAME_END}`);
  };
  out.write(PASTE_ON);
  return {
    /** Lines above the live ones; a missing break at the end is added. */
    print: (text: string) => draw(`${colour(text).replace(/\n$/, "").replace(/\r?\n/g, "\r\n")}\r\n`),
    /** What is below the output from now on, and where the cursor is in it (null: hidden). Lines too long are cut. */
    live(lines: Live["lines"], cursor: Live["cursor"]) {
      wanted = { lines, cursor };
      draw();
    },
    /** Clears the terminal and draws what is live again at its top. */
    clear() {
      if (closed || delayed !== null) return;
      drawn = null;
      out.write("\x1b[H\x1b[2J");
      draw();
    },
    /** Gives the terminal to another program until `resume`: nothing is drawn, what is printed meanwhile comes then. */
    pause() {
      if (closed || delayed !== null) return;
      out.write(`${erase()}${RESET}`);
      delayed = "";
    },
    resume() {
      if (closed || delayed === null) return;
      const text = delayed;
      delayed = null;
      out.write(PASTE_ON);
      draw(text);
    },
    /** Takes the live lines away and gives the terminal back as it was; what is printed later comes plainly. May be called twice. */
    close() {
      if (!closed) out.write(`${erase()}${delayed ?? ""}${RESET}`);
      delayed = null;
      closed = true;
    },
  };
}

/** What does not fit cannot be redrawn: the rows around the cursor are kept. */
function layFrame({ lines, cursor }: Live, columns: number, rows: number): Frame {
  const target = cursor ? Math.min(cursor.row, lines.length - 1) : lines.length - 1;
  const { first, shown } = rowsAround(lines, target, rows);
  const fitting = shown.map((line) => cut(line.replaceAll("\n", " "), columns));
  const row = Math.max(0, target - first);
  const column = cursor ? cursor.column : widthOf(fitting[row] ?? "");
  return { lines: fitting, row, column: Math.min(column, columns - 1), columns };
}

/** The lines that changed; without a frame before, all of them from the beginning of an empty line. */
function drawFrame(before: Frame | null, next: Frame): string {
  let text = "";
  let row = before?.row ?? 0;
  for (const [index, line] of next.lines.entries()) {
    if (line === before?.lines[index]) continue;
    const go = before ? move(index - row, 0) : index > 0 ? "\r\n" : "";
    text += `${go}${line}${before && widthOf(line) < next.columns ? "\x1b[K" : ""}`;
    row = index;
  }
  const isSame = text === "" && (before?.row ?? 0) === next.row && (before?.column ?? 0) === next.column;
  return isSame ? "" : `${text}${move(next.row - row, next.column)}`;
}

/**
 * Leaves the cursor where the first line began. A terminal that became narrower has wrapped the lines that no longer fit; one
 * that became wider leaves them, as each ends with a break. What follows is erased from the second column on: from the first,
 * tmux takes it for clearing the screen and keeps a copy of what was there.
 */
function eraseFrame({ lines, row, column, columns: before }: Frame, columns: number): string {
  const taken = (line: string) => Math.max(1, Math.ceil(widthOf(line) / columns));
  const wrapped = lines.slice(0, row).reduce((sum, line) => sum + taken(line), Math.floor(column / columns));
  return `${move(columns < before ? -wrapped : -row, 0)}\x1b[K\x1b[C\x1b[J\r`;
}

/** To a column, so many rows below. */
function move(rows: number, column: number): string {
  const vertical = rows === 0 ? "" : `\x1b[${Math.abs(rows)}${rows < 0 ? "A" : "B"}`;
  return `\r${vertical}${column === 0 ? "" : `\x1b[${column}C`}`;
}
