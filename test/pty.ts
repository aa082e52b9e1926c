/** A program on a pseudo-terminal, as a person would see it: what is typed goes in, and a small terminal shows what comes out. */

import { type IPty, spawn } from "@lydell/node-pty";
import { onTestFinished } from "vitest";
import { graphemes, graphemeWidth } from "../src/text/wrap.ts";
import { PATIENCE_MS } from "./until.ts";

export interface PtyOptions {
  cwd?: string;
  env?: Record<string, string | undefined>;
  cols?: number;
  rows?: number;
}

export interface Pty {
  write(text: string): void;
  /** A key by name: enter, up, ctrl-c, alt-enter, … */
  press(...names: PressName[]): void;
  /** As a terminal pastes, in brackets; large texts go in pieces. */
  paste(text: string): void;
  /** What is visible now, a line per row, spaces at the ends gone. */
  screen(): string[];
  cursor(): { row: number; column: number; visible: boolean };
  /** All rows that ever were, with those that scrolled away. */
  history(): string[];
  /** All output, without sequences. */
  text(): string;
  /** All output, as it came. */
  raw(): string;
  /** Fails after `ms` and says what the screen shows. A pattern is looked for on the screen, its rows joined by line breaks. */
  waitFor(what: RegExp | ((screen: string[]) => boolean), ms?: number): Promise<void>;
  resize(cols: number, rows: number): void;
  kill(signal?: string): void;
  exit: Promise<number>;
}

export type PressName = keyof typeof KEYS;

const KEYS = {
  enter: "\r",
  "alt-enter": "\x1b\r",
  "shift-enter": "\x1b[13;2u",
  escape: "\x1b",
  tab: "\t",
  "shift-tab": "\x1b[Z",
  backspace: "\x7f",
  delete: "\x1b[3~",
  up: "\x1b[A",
  down: "\x1b[B",
  right: "\x1b[C",
  left: "\x1b[D",
  home: "\x1b[H",
  end: "\x1b[F",
  "ctrl-a": "\x01",
  "ctrl-c": "\x03",
  "ctrl-d": "\x04",
  "ctrl-e": "\x05",
  "ctrl-j": "\n",
  "ctrl-k": "\x0b",
  "ctrl-l": "\x0c",
  "ctrl-r": "\x12",
  "ctrl-u": "\x15",
  "ctrl-w": "\x17",
  "ctrl-y": "\x19",
  "ctrl-z": "\x1a",
} as const;

/** The kernel's buffer of a terminal is small: more at once would wait for the program, or be lost. */
const PASTE_PIECE = 1024;

/** Output may come a little later than the news that the program ended. */
const LAST_OUTPUT_MS = 10_000;

/** To be called inside a test: the program is ended with it, if it has not ended by then. */
export function openPty(program: string, args: string[], options: PtyOptions = {}): Pty {
  const { cols = 80, rows = 24 } = options;
  const env = { TERM: "xterm-256color", LANG: "C.UTF-8", ...options.env };
  const child: IPty = spawn(program, args, { name: env.TERM, cols, rows, cwd: options.cwd ?? process.cwd(), env });
  const grid = openGrid(cols, rows);
  let raw = "";
  let endedAt: number | null = null;
  child.onData((data) => {
    raw += data;
    grid.write(data);
  });
  const exit = new Promise<number>((resolve) => {
    child.onExit(({ exitCode, signal }) => {
      endedAt = performance.now();
      resolve(signal ? 128 + signal : exitCode);
    });
  });
  onTestFinished(() => {
    if (endedAt === null) child.kill("SIGKILL");
  });
  const text = () => raw.replace(SEQUENCE, "").replace(/\r+\n/g, "\n");
  return {
    write: (data) => child.write(data),
    press: (...names) => {
      for (const name of names) child.write(KEYS[name]);
    },
    paste(pasted) {
      const all = `\x1b[200~${pasted.replaceAll("\n", "\r")}\x1b[201~`;
      for (let at = 0; at < all.length; at += PASTE_PIECE) child.write(all.slice(at, at + PASTE_PIECE));
    },
    screen: grid.screen,
    cursor: grid.cursor,
    history: grid.history,
    text,
    raw: () => raw,
    async waitFor(what, ms = PATIENCE_MS) {
      const until = performance.now() + ms;
      const holds = () => (what instanceof RegExp ? what.test(grid.screen().join("\n")) : what(grid.screen()));
      while (!holds()) {
        const now = performance.now();
        if (now > until || now > (endedAt ?? now) + LAST_OUTPUT_MS)
          throw new Error(`${endedAt ? "the program ended" : `after ${ms} ms`}, not seen: ${what}\n${grid.picture()}`);
        await new Promise((resolve) => setTimeout(resolve, 10));
      }
    },
    resize(newCols, newRows) {
      grid.resize(newCols, newRows);
      child.resize(newCols, newRows);
    },
    kill: (signal = "SIGTERM") => child.kill(signal),
    exit,
  };
}

/** The terminal's part: rows of cells, a cursor, what scrolled away. */
export interface Grid {
  write(data: string): void;
  screen(): string[];
  history(): string[];
  cursor(): { row: number; column: number; visible: boolean };
  /** Modes that were switched on and not off again, such as 2004 (paste in brackets). */
  modes(): string[];
  /** As most terminals do: rows that were one line are joined and broken anew. */
  resize(columns: number, rows: number): void;
  /** For a failure's message. */
  picture(): string;
}

interface Row {
  /** A wide character has an empty cell behind it. */
  cells: string[];
  /** It goes on in the next row because it was too long, not because of a line break. */
  wraps: boolean;
}

const ESC = "\\x1b";
const CSI = `${ESC}\\[[0-?]*[ -/]*[@-~]`;
const OSC = `${ESC}\\][^\\x07${ESC}]*(?:\\x07|${ESC}\\\\)`;
const SEQUENCE = new RegExp(`${CSI}|${OSC}|${ESC}[=>78cM]`, "g");
const PARTS = new RegExp(`(${CSI}|${OSC}|[\\r\\n\\x07\\x08])`);
const CONTROL = new RegExp(`^${ESC}\\[([0-?]*)[ -/]*([@-~])$`);
/** A sequence or a character cut by the chunk's end. */
const UNFINISHED = new RegExp(`${ESC}(?:\\[[0-?]*[ -/]*|\\][^\\x07${ESC}]*)?$|[\\ud800-\\udbff]$`);

export function openGrid(columns: number, rows: number): Grid {
  let all: Row[] = [newRow()];
  /** Row of `all` that is the first on the screen. */
  let top = 0;
  let row = 0;
  let column = 0;
  let pending = "";
  const modes = new Set(["25", "7"]);

  const at = (index: number): Row => {
    while (all.length <= index) all.push(newRow());
    return all[index] as Row;
  };
  const lineFeed = () => {
    row++;
    at(row);
    if (row - top >= rows) top = row - rows + 1;
  };
  const put = (grapheme: string) => {
    const width = graphemeWidth(grapheme);
    const cells = at(row).cells;
    if (width === 0) {
      const before = cells[column - 1] === "" ? column - 2 : column - 1;
      if (before >= 0) cells[before] = (cells[before] ?? " ") + grapheme;
      return;
    }
    if (column + width > columns && !modes.has("7")) column = columns - width;
    if (column + width > columns) {
      at(row).wraps = true;
      lineFeed();
      column = 0;
    }
    const target = at(row).cells;
    while (target.length < column) target.push(" ");
    // Half of a wide character that is written over becomes a space.
    if (target[column] === "" && column > 0) target[column - 1] = " ";
    target[column] = grapheme;
    if (width === 2) target[column + 1] = "";
    if (target[column + width] === "") target[column + width] = " ";
    column += width;
  };
  const control = (final: string, parameters: string) => {
    const count = Math.max(1, Number.parseInt(parameters, 10) || 1);
    const current = at(row);
    if (final === "A") row = Math.max(top, row - count);
    else if (final === "B") row = Math.min(top + rows - 1, row + count);
    else if (final === "C") column = Math.min(columns - 1, column + count);
    else if (final === "D") column = Math.max(0, Math.min(column, columns - 1) - count);
    else if (final === "G") column = Math.min(columns, count) - 1;
    else if (final === "H") {
      const [line = "1", place = "1"] = parameters.split(";");
      row = top + Math.min(rows, Math.max(1, Number(line) || 1)) - 1;
      column = Math.min(columns, Math.max(1, Number(place) || 1)) - 1;
    } else if (final === "K") {
      if (parameters === "" || parameters === "0") current.cells.length = Math.min(current.cells.length, column);
      else if (parameters === "2") current.cells = [];
      current.wraps = false;
    } else if (final === "J") {
      if (parameters === "" || parameters === "0") {
        current.cells.length = Math.min(current.cells.length, column);
        current.wraps = false;
        all.length = row + 1;
      } else for (let index = top; index < top + rows; index++) all[index] = newRow();
    } else if (final === "h" && parameters.startsWith("?")) modes.add(parameters.slice(1));
    else if (final === "l" && parameters.startsWith("?")) modes.delete(parameters.slice(1));
    else if (final !== "m") throw new Error(`the test's terminal does not know ESC [ ${parameters} ${final}`);
    at(row);
  };
  const screen = () => Array.from({ length: rows }, (_, index) => lineOf(all[top + index]));
  const picture = () => {
    const rule = "-".repeat(columns);
    return `+${rule}+\n${screen()
      .map((line, index) => `|${line}${top + index === row ? `   <- cursor at ${column}` : ""}`)
      .join("\n")}\n+${rule}+`;
  };

  return {
    write(data) {
      const text = pending + data;
      const end = UNFINISHED.exec(text)?.index ?? text.length;
      pending = text.slice(end);
      for (const part of text.slice(0, end).split(PARTS)) {
        const sequence = CONTROL.exec(part);
        if (sequence) control(sequence[2] ?? "", sequence[1] ?? "");
        else if (part === "\r") column = 0;
        else if (part === "\n") lineFeed();
        else if (part === "\b") column = Math.max(0, column - 1);
        else if (part !== "\x07" && !part.startsWith("\x1b]")) for (const grapheme of graphemes(part)) put(grapheme);
      }
    },
    screen,
    history: () => all.map(lineOf),
    cursor: () => ({ row: row - top, column: Math.min(column, columns - 1), visible: modes.has("25") }),
    modes: () => [...modes].filter((mode) => mode !== "25" && mode !== "7"),
    resize(newColumns, newRows) {
      const joined: { cells: string[]; cursor: number | null }[] = [];
      let goesOn = false;
      for (const [index, each] of all.entries()) {
        if (!goesOn) joined.push({ cells: [], cursor: null });
        const last = joined.at(-1) as { cells: string[]; cursor: number | null };
        if (index === row) last.cursor = last.cells.length + column;
        last.cells.push(...each.cells);
        goesOn = each.wraps;
      }
      all = [];
      for (const { cells, cursor } of joined) {
        const first = all.length;
        for (const [index, line] of breakCells(cells, newColumns).entries()) {
          if (index > 0) (all.at(-1) as Row).wraps = true;
          all.push({ cells: line, wraps: false });
        }
        if (cursor === null) continue;
        row = Math.min(first + Math.floor(cursor / newColumns), Math.max(first, all.length - 1));
        column = cursor % newColumns;
      }
      columns = newColumns;
      rows = newRows;
      top = Math.max(0, Math.min(all.length - rows, row));
      if (row - top >= rows) top = row - rows + 1;
    },
    picture,
  };
}

function newRow(): Row {
  return { cells: [], wraps: false };
}

function lineOf(row: Row | undefined): string {
  return (row?.cells.join("") ?? "").trimEnd();
}

function breakCells(cells: string[], columns: number): string[][] {
  const lines: string[][] = [];
  for (let from = 0; from < cells.length; ) {
    // A wide character stays whole.
    const to = cells[from + columns] === "" ? from + columns - 1 : from + columns;
    lines.push(cells.slice(from, to));
    from = to;
  }
  return lines.length > 0 ? lines : [[]];
}
