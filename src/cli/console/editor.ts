/** The line editor as a value: a text with a cursor, what a key makes of it, and how it is laid out in columns. Knows no terminal. */

import { cut, graphemes, graphemeWidth } from "../../text/wrap.ts";
import type { Key, KeyName } from "./keys.ts";

export interface Editor {
  /** A large paste stands in it as one character (see editor-paste.ts): moved over and deleted as a whole. */
  text: string;
  /** In units of `text`, always between two graphemes. */
  cursor: number;
  /** What Ctrl-Y puts back. */
  killed: string;
  pastes: Pastes;
}

export type Effect =
  | "submit"
  | "complete"
  | "complete-back"
  | "history-up"
  | "history-down"
  | "interrupt"
  | "end"
  | "search"
  | "redraw"
  | "escape"
  | "suspend";

interface Pressed {
  editor: Editor;
  /** What the caller has to do; null when the text is all there was to change. */
  effect: Effect | null;
}

export const EMPTY: Editor = { text: "", cursor: 0, killed: "", pastes: [] };

export function press(editor: Editor, key: Key): Pressed {
  if (key.type === "text") return { editor: insert(editor, hideMarks(key.text)), effect: null };
  if (key.type === "paste") return { editor: insertPaste(editor, key.text), effect: null };
  const edit = EDITS[key.name];
  if (edit) return { editor: edit(editor), effect: null };
  return decide(editor, key.name);
}

/** Another text in place of what was there, with the cursor at its end. */
export function withText(editor: Editor, text: string): Editor {
  return insertPaste({ ...editor, text: "", cursor: 0 }, text);
}

/** As it begins again once its text was sent: pastes are let go, and so is a kill that held one. */
export function withoutText(editor: Editor): Editor {
  return { ...EMPTY, killed: MARKS.test(editor.killed) ? "" : editor.killed };
}

/** Replaces what lies between `from` and the cursor. */
export function replaceBefore(editor: Editor, from: number, text: string): Editor {
  return insert(remove(editor, from, editor.cursor), hideMarks(text));
}

/** What the editor's owner gets: pastes in full. */
export function submittedText(editor: Editor): string {
  return showPastes(editor.text, editor.pastes, (content) => content);
}

function decide(editor: Editor, name: KeyName): Pressed {
  const { text, cursor } = editor;
  // A backslash before Enter asks for a line break where a terminal has no key for it.
  if (name === "enter" && text[cursor - 1] === "\\")
    return { editor: replaceBefore(editor, cursor - 1, "\n"), effect: null };
  if (name === "up" || name === "ctrl-p") {
    const moved = moveLine(editor, -1);
    return { editor: moved ?? editor, effect: moved ? null : "history-up" };
  }
  if (name === "down" || name === "ctrl-n") {
    const moved = moveLine(editor, 1);
    return { editor: moved ?? editor, effect: moved ? null : "history-down" };
  }
  if (name === "ctrl-d") {
    if (text === "") return { editor, effect: "end" };
    return { editor: remove(editor, cursor, nextGrapheme(editor)), effect: null };
  }
  return { editor, effect: EFFECTS[name] ?? null };
}

const EFFECTS: Partial<Record<KeyName, Effect>> = {
  enter: "submit",
  tab: "complete",
  "shift-tab": "complete-back",
  escape: "escape",
  "ctrl-c": "interrupt",
  "ctrl-r": "search",
  "ctrl-l": "redraw",
  "ctrl-z": "suspend",
};

const EDITS: Partial<Record<KeyName, (editor: Editor) => Editor>> = {
  newline: (editor) => insert(editor, "\n"),
  backspace: (editor) => remove(editor, previousGrapheme(editor), editor.cursor),
  delete: (editor) => remove(editor, editor.cursor, nextGrapheme(editor)),
  left: (editor) => ({ ...editor, cursor: previousGrapheme(editor) }),
  right: (editor) => ({ ...editor, cursor: nextGrapheme(editor) }),
  "ctrl-b": (editor) => ({ ...editor, cursor: previousGrapheme(editor) }),
  "ctrl-f": (editor) => ({ ...editor, cursor: nextGrapheme(editor) }),
  "word-left": (editor) => ({ ...editor, cursor: wordBefore(editor, WORD) }),
  "word-right": (editor) => ({ ...editor, cursor: wordAfter(editor) }),
  home: (editor) => ({ ...editor, cursor: lineStart(editor) }),
  end: (editor) => ({ ...editor, cursor: lineEnd(editor) }),
  "ctrl-a": (editor) => ({ ...editor, cursor: lineStart(editor) }),
  "ctrl-e": (editor) => ({ ...editor, cursor: lineEnd(editor) }),
  // At the end of a line its break is what is left to kill.
  "ctrl-k": (editor) => kill(editor, editor.cursor, Math.max(lineEnd(editor), nextIfBreak(editor))),
  "ctrl-u": (editor) => kill(editor, lineStart(editor), editor.cursor),
  "ctrl-w": (editor) => kill(editor, wordBefore(editor, NOT_SPACE), editor.cursor),
  "alt-backspace": (editor) => kill(editor, wordBefore(editor, WORD), editor.cursor),
  "alt-d": (editor) => kill(editor, editor.cursor, wordAfter(editor)),
  "ctrl-y": (editor) => insert(editor, editor.killed),
};

function insert(editor: Editor, added: string): Editor {
  const { text, cursor } = editor;
  return { ...editor, text: text.slice(0, cursor) + added + text.slice(cursor), cursor: cursor + added.length };
}

function insertPaste(editor: Editor, content: string): Editor {
  const mark = isLarge(content) ? markOf(editor.pastes.length) : null;
  if (mark === null) return insert(editor, hideMarks(content));
  return insert({ ...editor, pastes: [...editor.pastes, content] }, mark);
}

function remove(editor: Editor, from: number, to: number): Editor {
  return { ...editor, text: editor.text.slice(0, from) + editor.text.slice(to), cursor: from };
}

function kill(editor: Editor, from: number, to: number): Editor {
  if (from === to) return editor;
  return { ...remove(editor, from, to), killed: editor.text.slice(from, to) };
}

/** Only the line matters: a grapheme never goes over a line break. */
function previousGrapheme(editor: Editor): number {
  const start = lineStart(editor);
  if (editor.cursor === start) return Math.max(0, start - 1);
  return editor.cursor - (graphemes(editor.text.slice(start, editor.cursor)).at(-1)?.length ?? 0);
}

function nextGrapheme(editor: Editor): number {
  const end = lineEnd(editor);
  if (editor.cursor === end) return Math.min(editor.text.length, end + 1);
  return editor.cursor + (graphemes(editor.text.slice(editor.cursor, end))[0]?.length ?? 0);
}

function nextIfBreak(editor: Editor): number {
  return editor.text[editor.cursor] === "\n" ? editor.cursor + 1 : editor.cursor;
}

function lineStart({ text, cursor }: Editor): number {
  return cursor === 0 ? 0 : text.lastIndexOf("\n", cursor - 1) + 1;
}

function lineEnd({ text, cursor }: Editor): number {
  const end = text.indexOf("\n", cursor);
  return end < 0 ? text.length : end;
}

const WORD = /[\p{L}\p{N}\p{M}_]/u;
const NOT_SPACE = /\S/;

function wordBefore({ text, cursor }: Editor, inWord: RegExp): number {
  const before = graphemes(text.slice(0, cursor));
  let at = cursor;
  const back = () => {
    at -= before.pop()?.length ?? 0;
  };
  while (before.length > 0 && !isPart(before.at(-1), inWord)) back();
  if (MARKS.test(before.at(-1) ?? "")) back();
  else while (before.length > 0 && isPart(before.at(-1), inWord) && !MARKS.test(before.at(-1) ?? "")) back();
  return at;
}

function wordAfter({ text, cursor }: Editor): number {
  const after = graphemes(text.slice(cursor));
  let index = 0;
  while (index < after.length && !isPart(after[index], WORD)) index++;
  if (MARKS.test(after[index] ?? "")) index++;
  else while (index < after.length && isPart(after[index], WORD) && !MARKS.test(after[index] ?? "")) index++;
  return cursor + after.slice(0, index).join("").length;
}

/** A paste is a word of its own. */
function isPart(grapheme: string | undefined, inWord: RegExp): boolean {
  return grapheme !== undefined && (inWord.test(grapheme) || MARKS.test(grapheme));
}

/** One line up or down at the same place in it; null when there is none. */
function moveLine(editor: Editor, by: 1 | -1): Editor | null {
  const start = lineStart(editor);
  const place = graphemes(editor.text.slice(start, editor.cursor)).length;
  if (by < 0 && start === 0) return null;
  const end = lineEnd(editor);
  if (by > 0 && end === editor.text.length) return null;
  const target = lineStart({ ...editor, cursor: by < 0 ? start - 1 : end + 1 });
  const line = graphemes(editor.text.slice(target, lineEnd({ ...editor, cursor: target })));
  return { ...editor, cursor: target + line.slice(0, place).join("").length };
}

/** What was pasted, by number; a paste that was deleted keeps its place, so that a kill can be put back. */
type Pastes = readonly string[];

/** From here on a paste would push the conversation off the screen. */
const LARGE_LINES = 10;
const LARGE_CHARS = 1000;

/** The last private plane's end: no font has icons there, unlike the planes before it. */
const FIRST_MARK = 0x10f000;
const LAST_MARK = 0x10fffd;

/** Any of the private characters. */
const MARKS = /[\u{10f000}-\u{10fffd}]/u;
const ALL_MARKS = new RegExp(MARKS.source, "gu");

function isLarge(content: string): boolean {
  return content.length > LARGE_CHARS || countLines(content) > LARGE_LINES;
}

/** The character that stands for a paste; null when all are used up. */
function markOf(number: number): string | null {
  return FIRST_MARK + number <= LAST_MARK ? String.fromCodePoint(FIRST_MARK + number) : null;
}

/** Typed or pasted text cannot pose as a paste. */
function hideMarks(text: string): string {
  return MARKS.test(text) ? text.replace(ALL_MARKS, "\ufffd") : text;
}

/** The text with every paste shown: in full, or as a note. */
function showPastes(text: string, pastes: Pastes, show: (content: string, number: number) => string): string {
  if (!MARKS.test(text)) return text;
  return text.replace(ALL_MARKS, (mark) => {
    const number = (mark.codePointAt(0) ?? 0) - FIRST_MARK;
    return show(pastes[number] ?? "", number + 1);
  });
}

function pasteNote(content: string, number: number): string {
  const lines = countLines(content);
  return `[pasted text #${number}, ${lines > 1 ? `${lines} lines` : `${content.length} characters`}]`;
}

/** A break at the very end begins no further line. */
function countLines(content: string): number {
  let lines = 1;
  for (let at = content.indexOf("\n"); at >= 0 && at < content.length - 1; at = content.indexOf("\n", at + 1)) lines++;
  return lines;
}

interface Laid {
  lines: string[];
  cursor: { row: number; column: number };
}

interface LayoutOptions {
  columns: number;
  /** Of the same width both: before the first line and before all others. */
  prompt: string;
  indent: string;
  /** At most so many rows, those around the cursor. */
  maxRows: number;
  /** Around the note that stands for a paste. */
  dim(text: string): string;
}

export function layEditor(editor: Editor, options: LayoutOptions): Laid {
  const { columns, prompt, indent, maxRows } = options;
  // In a terminal too narrow for both, the text is more use than the prompt.
  const lead = columns > 8 ? prompt : "";
  const rest = columns > 8 ? indent : "";
  // One column stays free: there the cursor stands behind a full row.
  const room = Math.max(2, columns - lead.length - 1);
  const rows: string[] = [];
  let row = "";
  let width = 0;
  let cursor: Laid["cursor"] | null = null;
  const breakRow = () => {
    rows.push(row);
    row = "";
    width = 0;
  };
  let at = 0;
  for (const grapheme of graphemes(editor.text)) {
    const { shown, size } = showGrapheme(grapheme, editor, options, room);
    if (grapheme !== "\n" && width + size > room) breakRow();
    // Not "equal": a mark that came late may have grown into the grapheme the cursor stood behind.
    if (at >= editor.cursor) cursor ??= { row: rows.length, column: width };
    at += grapheme.length;
    if (grapheme === "\n") breakRow();
    else {
      row += shown;
      width += size;
    }
  }
  cursor ??= { row: rows.length, column: width };
  rows.push(row);
  const lines = rows.map((each, index) => `${index === 0 ? lead : rest}${each}`);
  return windowAround(lines, { row: cursor.row, column: cursor.column + lead.length }, maxRows);
}

/** As it is echoed once it was sent: pastes as notes. */
export function echoOf(editor: Editor): string {
  return showPastes(editor.text, editor.pastes, pasteNote);
}

function showGrapheme(grapheme: string, editor: Editor, { dim }: LayoutOptions, room: number) {
  if (grapheme === "\t") return { shown: "    ", size: 4 };
  if (!MARKS.test(grapheme)) return { shown: grapheme, size: graphemeWidth(grapheme) };
  const note = cut(showPastes(grapheme, editor.pastes, pasteNote), room);
  return { shown: dim(note), size: note.length };
}

function windowAround(lines: string[], cursor: Laid["cursor"], maxRows: number): Laid {
  const rows = Math.max(1, maxRows);
  if (lines.length <= rows) return { lines, cursor };
  const first = Math.min(Math.max(0, cursor.row - rows + 1), lines.length - rows);
  return { lines: lines.slice(first, first + rows), cursor: { row: cursor.row - first, column: cursor.column } };
}
