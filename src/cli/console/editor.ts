/** The line editor as a value: a text with a cursor, and what a key makes of it. Knows no terminal. */

import { hideMarks, isLarge, MARKS, markOf, type Pastes, showPastes } from "./editor-paste.ts";
import type { Key, KeyName } from "./key-names.ts";
import { graphemes } from "./width.ts";

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

export interface Pressed {
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
