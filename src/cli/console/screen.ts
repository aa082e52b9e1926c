/**
 * The terminal as the console draws on it: output that scrolls away above as it always does, and below it a few live lines
 * that are redrawn in place. No alternate screen, so that scrolling back, selecting and copying work.
 */

import { cut, SGR, widthOf, wrapText } from "../../text/wrap.ts";

interface ScreenOut {
  write(text: string): void;
  columns(): number;
  rows(): number;
  isColour: boolean;
  /** A terminal that knows no escape sequences: everything is printed, nothing redrawn. */
  isDumb?: boolean;
}

export interface Screen {
  /** Lines above the live ones; a break at the end is added when it lacks. */
  print(text: string): void;
  /** A piece of output that may stop in the middle of a line. */
  stream(delta: string): void;
  /** Ends a line that was left open. */
  endStream(): void;
  /** What stands below the output from now on, and where the cursor is in it (null: hidden). Lines too long are cut. */
  live(lines: readonly string[], cursor: Position | null): void;
  /** Wipes the terminal and draws what is live again at its top. */
  clear(): void;
  /** Gives the terminal to another program until `resume`: nothing is drawn, what is printed meanwhile comes then. */
  pause(): void;
  resume(): void;
  /** Takes the live lines away and gives the terminal back as it was; what is printed later comes plainly. May be called twice. */
  close(): void;
  columns(): number;
  rows(): number;
  isDumb: boolean;
}

const HIDE_CURSOR = "\x1b[?25l";
const SHOW_CURSOR = "\x1b[?25h";
const PASTE_ON = "\x1b[?2004h";
const PASTE_OFF = "\x1b[?2004l";
/** Terminals that know it show the frame in between whole; the others pass over it. */
const FRAME_START = "\x1b[?2026h";
const FRAME_END = "\x1b[?2026l";

const WRAP_OFF = "\x1b[?7l";
const WRAP_ON = "\x1b[?7h";

/** What gives a terminal back as it was, whatever state a crash left it in: plain text, no paste marks, a cursor. */
export const RESET_SEQUENCES: readonly string[] = ["\x1b[0m", PASTE_OFF, WRAP_ON, FRAME_END, SHOW_CURSOR];

/** A terminal that does not say its size, or says nonsense. */
const FALLBACK = { columns: 80, rows: 24 };

export function openScreen(out: ScreenOut): Screen {
  return out.isDumb ? openPlainScreen(out) : openLiveScreen(out);
}

/** Nothing but text: what is live is not shown, its owner prints a prompt instead. */
function openPlainScreen(out: ScreenOut): Screen {
  let open = false;
  const write = (text: string) => {
    const plain = text.replace(SGR, "");
    if (plain !== "") open = !plain.endsWith("\n");
    out.write(plain);
  };
  const endStream = () => {
    if (open) write("\n");
  };
  return {
    print(text) {
      endStream();
      write(`${text.replace(/\n$/, "")}\n`);
    },
    stream: write,
    endStream,
    live() {},
    clear() {},
    pause() {},
    resume() {},
    close: endStream,
    columns: () => sane(out.columns(), FALLBACK.columns),
    rows: () => sane(out.rows(), FALLBACK.rows),
    isDumb: true,
  };
}

function openLiveScreen(out: ScreenOut): Screen {
  const pen = openPen(out);
  out.write(PASTE_ON);
  return {
    print(text) {
      const open = takeTail(pen);
      draw(pen, finished(pen, `${open === "" ? "" : `${open}\n`}${text.replace(/\n$/, "")}`));
    },
    stream: (delta) => streamText(pen, delta),
    endStream() {
      if (pen.tail !== "") draw(pen, finished(pen, takeTail(pen)));
    },
    live(lines, cursor) {
      pen.wanted = { lines, cursor };
      draw(pen);
    },
    clear() {
      if (pen.closed || pen.delayed !== null) return;
      pen.drawn = null;
      out.write("\x1b[H\x1b[2J");
      draw(pen);
    },
    pause() {
      if (pen.closed || pen.delayed !== null) return;
      out.write(`${erase(pen)}${RESET_SEQUENCES.join("")}`);
      pen.delayed = "";
    },
    resume() {
      const text = pen.delayed;
      if (pen.closed || text === null) return;
      pen.delayed = null;
      out.write(PASTE_ON);
      draw(pen, text);
    },
    close() {
      if (pen.closed) return;
      const rest = pen.tail === "" ? "" : finished(pen, takeTail(pen));
      out.write(`${erase(pen)}${pen.delayed ?? ""}${rest}${RESET_SEQUENCES.join("")}`);
      pen.closed = true;
    },
    columns: pen.columns,
    rows: pen.rows,
    isDumb: false,
  };
}

interface Pen {
  out: ScreenOut;
  columns(): number;
  rows(): number;
  /** The live lines on the terminal, and those that should be there. */
  drawn: Frame | null;
  wanted: Live;
  /** A streamed line that is not finished: redrawn with the live lines until it is. */
  tail: string;
  /** What was printed while another program has the terminal; null while it is ours. */
  delayed: string | null;
  closed: boolean;
}

function openPen(out: ScreenOut): Pen {
  return {
    out,
    columns: () => sane(out.columns(), FALLBACK.columns),
    rows: () => sane(out.rows(), FALLBACK.rows),
    drawn: null,
    wanted: { lines: [], cursor: null },
    tail: "",
    delayed: null,
    closed: false,
  };
}

/** Puts finished lines above the live ones, or only brings these up to date. */
function draw(pen: Pen, permanent = ""): void {
  const { out, wanted, drawn } = pen;
  if (pen.delayed !== null) pen.delayed += permanent;
  else if (pen.closed) out.write(permanent);
  if (pen.closed || pen.delayed !== null) return;
  const lines = wanted.lines.map((line) => colour(pen, line));
  const next = layFrame(colour(pen, pen.tail), { lines, cursor: wanted.cursor }, pen.columns(), pen.rows());
  const change = drawn && permanent === "" ? redrawFrame(drawn, next) : null;
  const text = change === null ? `${erase(pen)}${permanent}${unwrapped(drawFrame(next))}` : unwrapped(change);
  pen.drawn = next.lines.length > 0 ? next : null;
  // Only live lines without a place for the cursor hide it.
  const cursor = wanted.lines.length > 0 && wanted.cursor === null ? "" : SHOW_CURSOR;
  if (text !== "") out.write(`${FRAME_START}${HIDE_CURSOR}${text}${cursor}${FRAME_END}`);
}

function streamText(pen: Pen, delta: string): void {
  const all = takeTail(pen) + delta;
  const end = all.lastIndexOf("\n");
  pen.tail = all.slice(end + 1);
  draw(pen, end >= 0 ? finished(pen, all.slice(0, end)) : takeOverflow(pen));
}

/** A line without end must not outgrow the screen: its upper rows are as good as finished. */
function takeOverflow(pen: Pen): string {
  const wrapped = pen.tail.length > pen.columns() ? wrapText(pen.tail, pen.columns()) : [];
  if (wrapped.length <= pen.rows() / 2) return "";
  pen.tail = wrapped.at(-1) ?? "";
  return finished(pen, wrapped.slice(0, -1).join("\n"));
}

function erase(pen: Pen): string {
  const { drawn } = pen;
  pen.drawn = null;
  return drawn ? eraseFrame(drawn, pen.columns()) : "";
}

function takeTail(pen: Pen): string {
  const { tail } = pen;
  pen.tail = "";
  return tail;
}

function finished(pen: Pen, text: string): string {
  return `${colour(pen, text).replace(/\r?\n/g, "\r\n")}\r\n`;
}

function colour({ out }: Pen, text: string): string {
  return out.isColour ? text : text.replace(SGR, "");
}

/** Where a terminal thinks a character wider than we do, a live line is cut by it instead of taking a second row. */
function unwrapped(text: string): string {
  return text === "" ? "" : `${WRAP_OFF}${text}${WRAP_ON}`;
}

function sane(value: number, fallback: number): number {
  return Number.isInteger(value) && value > 0 ? value : fallback;
}

interface Position {
  row: number;
  column: number;
}

interface Frame {
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
function layFrame(tail: string, { lines, cursor }: Live, columns: number, rows: number): Frame {
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
function drawFrame({ lines, row, column }: Frame): string {
  if (lines.length === 0) return "";
  return `${lines.join("\r\n")}\r${vertical(row - (lines.length - 1))}${forward(column)}`;
}

/** Only the lines that changed; null when it has to be drawn anew. */
function redrawFrame(before: Frame, next: Frame): string | null {
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
function eraseFrame(frame: Frame, columns: number): string {
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
