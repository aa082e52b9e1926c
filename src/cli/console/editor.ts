/** The line editor as a value: a text with a cursor, what a key makes of it, and how it is laid out in columns. Knows no terminal. */

import { cut, graphemes, graphemeWidth, widthOf } from "../../text/wrap.ts";
import type { Key, KeyName } from "./keys.ts";
import { type Live, rowsAround } from "./screen.ts";

export type Editor = typeof EMPTY;

type Table<T> = Partial<Record<KeyName, T>>;

export const EMPTY = {
  /** A large paste is one private character in it: moved over and deleted as a whole. */
  text: "",
  /** In units of `text`, always between two graphemes. */
  cursor: 0,
  /** What Ctrl-Y puts back. */
  killed: "",
  /** What was pasted, by number; a paste that was deleted keeps its place, so that a kill can be put back. */
  pastes: [] as readonly string[],
};

/** Null for a key that does not concern the text, or has nothing to do in it. */
export function press(editor: Editor, key: Key): Editor | null {
  if (key.type === "text") return type(editor, key.text);
  if (key.type === "paste") return paste(editor, key.text);
  const { text, cursor } = editor;
  const { name } = key;
  if (name === "newline") return insert(editor, "\n");
  if (name === "ctrl-y") return insert(editor, editor.killed);
  // A backslash before Enter asks for a line break where a terminal has no key for it.
  if (name === "enter" && text[cursor - 1] === "\\") return replaceBefore(editor, cursor - 1, "\n");
  const to = MOVES[name]?.(editor);
  if (to !== undefined) return to === null ? null : { ...editor, cursor: to };
  const other = (DELETES[name] ?? KILLS[name])?.(editor);
  if (other === undefined || (name === "ctrl-d" && text === "")) return null;
  const [from, end] = other < cursor ? [other, cursor] : [cursor, other];
  const killed = KILLS[name] && from < end ? text.slice(from, end) : editor.killed;
  return { ...editor, text: text.slice(0, from) + text.slice(end), cursor: from, killed };
}

type Place = (editor: Editor) => number;

const lineStart: Place = ({ text, cursor }) => (cursor === 0 ? 0 : text.lastIndexOf("\n", cursor - 1) + 1);
const lineEnd: Place = ({ text, cursor }) => cursor + text.slice(cursor).search(/\n|$/);
// Only the line matters: a grapheme never goes over a line break.
const before: Place = (editor) => {
  const grapheme = graphemes(editor.text.slice(lineStart(editor), editor.cursor)).at(-1);
  return Math.max(0, editor.cursor - (grapheme?.length ?? 1));
};
const after: Place = (editor) => {
  const [grapheme] = graphemes(editor.text.slice(editor.cursor, lineEnd(editor)));
  return Math.min(editor.text.length, editor.cursor + (grapheme?.length ?? 1));
};
const wordBefore: Place = ({ text, cursor }) => [...text.slice(0, cursor).matchAll(WORDS)].at(-1)?.index ?? 0;
const wordAfter: Place = ({ text, cursor }) => {
  const [word] = text.slice(cursor).matchAll(WORDS);
  return word ? cursor + word.index + word[0].length : text.length;
};
/** One line up or down at the same place in it; null when there is none. */
const lineBeside = (by: 1 | -1) => (editor: Editor) => {
  const { text, cursor } = editor;
  const start = lineStart(editor);
  const edge = by < 0 ? start - 1 : lineEnd(editor) + 1;
  if (edge < 0 || edge > text.length) return null;
  const target = lineStart({ ...editor, cursor: edge });
  const line = graphemes(text.slice(target, lineEnd({ ...editor, cursor: target })));
  return target + line.slice(0, graphemes(text.slice(start, cursor)).length).join("").length;
};

const MOVES: Table<(editor: Editor) => number | null> = {
  ...{
    left: before,
    right: after,
    "ctrl-b": before,
    "ctrl-f": after,
    "word-left": wordBefore,
    "word-right": wordAfter,
  },
  ...{ home: lineStart, end: lineEnd, "ctrl-a": lineStart, "ctrl-e": lineEnd },
  ...{ up: lineBeside(-1), "ctrl-p": lineBeside(-1), down: lineBeside(1), "ctrl-n": lineBeside(1) },
};
/** From the cursor to there. */
const DELETES: Table<Place> = { backspace: before, delete: after, "ctrl-d": after };
const KILLS: Table<Place> = {
  // At the end of a line its break is what is left to kill.
  "ctrl-k": (editor) => Math.max(lineEnd(editor), editor.text[editor.cursor] === "\n" ? editor.cursor + 1 : 0),
  "ctrl-u": lineStart,
  "ctrl-w": ({ text, cursor }) => [...text.slice(0, cursor).matchAll(BLANK_SEPARATED)].at(-1)?.index ?? 0,
  "alt-backspace": wordBefore,
  "alt-d": wordAfter,
};

/** The end of the last private plane, where no font has icons: each stands for a paste, which is a word of its own. */
const FIRST_MARK = 0x10f000;
const LAST_MARK = 0x10fffd;
const MARKS = /[\u{10f000}-\u{10fffd}]/gu;
const WORDS = /[\u{10f000}-\u{10fffd}]|[\p{L}\p{N}_](?:[\p{L}\p{N}\p{M}_]|[\u200c\u200d](?=\p{L}))*/gu;
const BLANK_SEPARATED = /[\u{10f000}-\u{10fffd}]|[^\s\u{10f000}-\u{10fffd}]+/gu;
/** From here on a paste would push the conversation off the screen. */
const LARGE_LINES = 10;
const LARGE_CHARS = 1000;

function insert(editor: Editor, added: string): Editor {
  const { text, cursor } = editor;
  return { ...editor, text: text.slice(0, cursor) + added + text.slice(cursor), cursor: cursor + added.length };
}

/** Nothing that is typed can pose as a paste. */
function type(editor: Editor, text: string): Editor {
  return insert(editor, text.replace(MARKS, "\ufffd"));
}

function paste(editor: Editor, content: string): Editor {
  const mark = FIRST_MARK + editor.pastes.length;
  const isLarge = content.length > LARGE_CHARS || countLines(content) > LARGE_LINES;
  if (!isLarge || mark > LAST_MARK) return type(editor, content);
  return insert({ ...editor, pastes: [...editor.pastes, content] }, String.fromCodePoint(mark));
}

/** Another text in place of what was there, with the cursor at its end. */
export function withText(editor: Editor, text: string): Editor {
  return paste({ ...editor, text: "", cursor: 0 }, text);
}

/** As it begins again once its text was sent: pastes are let go, and so is a kill that held one. */
export function withoutText({ killed }: Editor): Editor {
  return { ...EMPTY, killed: killed.search(MARKS) < 0 ? killed : "" };
}

/** Replaces what is between `from` and the cursor. */
export function replaceBefore(editor: Editor, from: number, text: string): Editor {
  const { text: all, cursor } = editor;
  return type({ ...editor, text: all.slice(0, from) + all.slice(cursor), cursor: from }, text);
}

/** What the editor's owner gets: pastes in full. */
export function submittedText({ text, pastes }: Editor): string {
  return text.replace(MARKS, (mark) => pastes[numberOf(mark)] ?? "");
}

/** As it is echoed once it was sent: pastes as notes. */
export function echoOf({ text, pastes }: Editor): string {
  return text.replace(MARKS, (mark) => {
    const content = pastes[numberOf(mark)] ?? "";
    const lines = countLines(content);
    return `[pasted text #${numberOf(mark) + 1}, ${lines > 1 ? `${lines} lines` : `${content.length} characters`}]`;
  });
}

function numberOf(mark: string): number {
  return (mark.codePointAt(0) ?? 0) - FIRST_MARK;
}

/** A break at the very end begins no further line. */
function countLines(content: string): number {
  return content.replace(/\n$/, "").split("\n").length;
}

interface LayoutOptions {
  columns: number;
  /** Before the first line; the others are indented as much. */
  prompt: string;
  /** At most so many rows, those around the cursor. */
  maxRows: number;
  /** Paints the note that stands for a paste. */
  dim(text: string): string;
}

export function layEditor(editor: Editor, { columns, prompt, maxRows, dim }: LayoutOptions) {
  // In a terminal too narrow for both, the text is more use than the prompt.
  const lead = columns > 8 ? prompt : "";
  // One column stays free: there the cursor stands behind a full row.
  const room = Math.max(2, columns - lead.length - 1);
  const rows = [lead];
  let [width, at] = [0, 0];
  let cursor: { row: number; column: number } | null = null;
  const breakRow = () => {
    rows.push(" ".repeat(lead.length));
    width = 0;
  };
  for (const grapheme of graphemes(editor.text)) {
    const isPaste = grapheme.search(MARKS) >= 0;
    const shown = isPaste ? cut(echoOf({ ...editor, text: grapheme }), room) : grapheme.replace("\t", "    ");
    const size = isPaste || grapheme === "\t" ? widthOf(shown) : graphemeWidth(grapheme);
    if (grapheme !== "\n" && width + size > room) breakRow();
    // Not "equal": a mark that came late may have grown into the grapheme that the cursor stood behind.
    if (at >= editor.cursor) cursor ??= { row: rows.length - 1, column: lead.length + width };
    at += grapheme.length;
    if (grapheme === "\n") breakRow();
    else {
      rows[rows.length - 1] += isPaste ? dim(shown) : shown;
      width += size;
    }
  }
  const { row, column } = cursor ?? { row: rows.length - 1, column: lead.length + width };
  const { first, shown } = rowsAround(rows, row, maxRows);
  return { lines: shown, cursor: { row: row - first, column } } satisfies Live;
}
