/** What the input knows while somebody types, and the live lines at the bottom that show it: status, queue, text or question, menu. */

import { sanitise, sanitiseLine } from "../../text/sanitise.ts";
import { cut, pad, widthOf, wrapText } from "../../text/wrap.ts";
import type { Choice, Paint } from "../../verb.ts";
import { type Editor, layEditor } from "./editor.ts";
import { type Live, rowsAround, type Screen } from "./screen.ts";

export interface InputOptions {
  stdin: NodeJS.ReadableStream & { setRawMode?(raw: boolean): unknown };
  screen: Screen;
  paint: Paint;
  /** What may replace the text before the cursor; asked on Tab, and at every key behind a `/`. */
  completions(text: string, cursor: number): readonly Completion[];
  /** Earlier prompts, oldest first. The owner adds to them. */
  history: { prompts(): readonly string[] };
  /** Shown in an empty input. */
  placeholder: string;
  /** Milliseconds of a clock that never goes back. */
  now(): number;
  /** Returns what cancels it. */
  setTimer(run: () => void, ms: number): () => void;
  /** Returns what ends the listening. */
  onResize?(listener: () => void): () => void;
  /** An interrupt that did not come as a key: a signal from outside, or Ctrl-C where there is no raw mode. */
  onSignal?(listener: () => void): () => void;
  /** Ctrl-Z: stops the process and resolves when it goes on. Without it the key does nothing. */
  suspend?(): Promise<void>;
}

export interface Completion {
  /** As the list shows it. */
  label: string;
  description: string;
  /** What it puts in place of the text between `from` and the cursor. */
  insert: string;
  from: number;
}

export interface Typing {
  options: InputOptions;
  editor: Editor;
  /** `isChosen` once the arrows chose: until then Enter may still mean the text as typed. */
  menu: { items: readonly Completion[]; selected: number; isChosen: boolean } | null;
  /** Where the arrows are in the history, and what was here before they went. */
  walk: { index: number; prefix: string; draft: Editor } | null;
  search: { words: string; index: number | null; draft: Editor } | null;
  /** The first is on the screen, the others wait for its answer. `selected` is -1 until the arrows choose. */
  asked: { text: string; choices: readonly Choice[]; selected: number; resolve(key: string | null): void }[];
  status: readonly string[];
  /** What was sent before it was asked for: the text, and how it is shown. */
  queued: { text: string; shown: string }[];
  /** After a first Ctrl-C, until a second one no longer leaves: what cancels the timer. */
  leaving: (() => void) | null;
  reading: ((line: string | null) => void) | null;
  listeners: Set<() => void>;
  lastKeyAt: number;
  /** The person left, or the keyboard is gone. */
  ended: boolean;
  /** Another program has the terminal. */
  released: boolean;
}

/** Before the first line of what is typed. */
export const PROMPT = "> ";
/** Of what waits, the newest are shown. */
const MAX_QUEUED = 3;
/** More completions than this push the conversation off a small screen. */
const MAX_MENU_ROWS = 8;

export function viewInput(typing: Typing): Live {
  const { options, editor, asked, reading } = typing;
  const { screen, paint } = options;
  const columns = screen.columns();
  // A row of output stays in sight.
  const rows = Math.max(2, screen.rows() - 1);
  const waiting = typing.queued.slice(-MAX_QUEUED).map(({ shown }) => `  waits: ${sanitiseLine(shown)}`);
  const all = [...typing.status, ...waiting.map((line) => paint.dim(cut(line, columns)))];
  const above = all.slice(Math.max(0, all.length - Math.max(0, rows - 3)));
  const room = rows - above.length;
  if (asked[0]) return { lines: [...above, ...questionLines(asked[0], room, columns, paint)], cursor: null };
  const below = room < 2 ? [] : linesBelow(typing, Math.min(room - 1, MAX_MENU_ROWS), columns);
  const laid = layEditor(editor, { columns, prompt: PROMPT, maxRows: room - below.length, dim: paint.dim });
  const hint = editor.text === "" && reading ? paint.dim(options.placeholder) : "";
  const lines = laid.lines.map((line, row) => (row === 0 && hint !== "" ? cut(`${line}${hint}`, columns) : line));
  return { lines: [...above, ...lines, ...below], cursor: { ...laid.cursor, row: above.length + laid.cursor.row } };
}

function linesBelow({ search, menu, leaving, options: { paint } }: Typing, rows: number, columns: number): string[] {
  if (search) {
    const found = search.words !== "" && search.index === null ? " (nothing found)" : "";
    return [cut(`${paint.dim("search:")} ${sanitiseLine(search.words)}${paint.dim(found)}`, columns)];
  }
  if (!menu) return leaving ? [cut(paint.dim("Ctrl-C again leaves"), columns)] : [];
  const items = menu.items.map(({ label, description }) => [label, paint.dim(sanitiseLine(description))] as const);
  return listLines(items, menu.selected, rows, columns, paint);
}

/** At most `rows` lines: the choices around the selected one, and as much of the text as there is room for. */
function questionLines(
  { text, choices, selected }: Typing["asked"][number],
  rows: number,
  columns: number,
  paint: Paint,
) {
  const items = choices.map(({ key, label }) => [key, sanitiseLine(label)] as const);
  const answers = listLines(items, selected, Math.max(1, rows - 2), columns, paint);
  const said = wrapText(sanitise(text), columns).slice(0, Math.max(1, rows - answers.length - 1));
  return [...said, ...answers, cut(paint.dim("a key, or arrows and Enter · Esc: none of these"), columns)];
}

function listLines(
  items: readonly (readonly [string, string])[],
  selected: number,
  rows: number,
  columns: number,
  paint: Paint,
) {
  const { first, shown } = rowsAround(items, selected, rows);
  const labels = shown.map(([label]) => sanitiseLine(label));
  const width = Math.min(Math.max(...labels.map(widthOf)), Math.floor(columns / 2));
  return shown.map(([, description], index) => {
    const isSelected = first + index === selected;
    const line = `${isSelected ? "›" : " "} ${pad(cut(labels[index] ?? "", width), width)}  `;
    return cut(`${isSelected ? paint.cyan(line) : line}${description}`, columns);
  });
}
