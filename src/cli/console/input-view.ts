/** The live lines at the bottom: what is going on, what waits, the text being typed or a question, and the menu below it. */

import { layEditor } from "./editor-view.ts";
import type { InputState } from "./input-state.ts";
import { MAX_MENU_ROWS, menuLines } from "./menu.ts";
import type { Paint } from "./paint.ts";
import { type Question, questionLines } from "./question.ts";
import { sanitiseLine } from "./sanitise.ts";
import type { Live } from "./screen-frame.ts";
import { cut } from "./wrap.ts";

export interface InputPicture {
  state: InputState;
  question: Question | null;
  /** Lines above, such as the spinner; ready to show. */
  status: readonly string[];
  /** Sent while something else was going on. */
  queued: readonly string[];
  /** A note below, such as that another Ctrl-C leaves. */
  hint: string;
  /** Shown in place of an empty text. */
  placeholder: string;
}

/** Before the first line of what is typed, and before its others. */
export const PROMPT = "> ";
export const INDENT = "  ";

/** Of what waits, the newest are shown. */
const MAX_QUEUED = 3;

export function viewInput(picture: InputPicture, size: { columns: number; rows: number }, paint: Paint): Live {
  const { columns } = size;
  // A row of output stays in sight.
  const rows = Math.max(2, size.rows - 1);
  const above = [
    ...picture.status,
    ...picture.queued.slice(-MAX_QUEUED).map((text) => paint.dim(cut(`  waits: ${sanitiseLine(text)}`, columns))),
  ].slice(-Math.max(0, rows - 3));
  if (picture.question) {
    const lines = questionLines(picture.question, rows - above.length, columns, paint);
    return { lines: [...above, ...lines], cursor: null };
  }
  const { state } = picture;
  const room = rows - above.length;
  const below = linesBelow(picture, Math.max(0, room - 1), columns, paint);
  const laid = layEditor(state.editor, {
    columns,
    prompt: PROMPT,
    indent: INDENT,
    maxRows: room - below.length,
    dim: paint.dim,
  });
  if (state.editor.text === "" && picture.placeholder !== "") {
    laid.lines[0] = cut(`${laid.lines[0] ?? ""}${paint.dim(picture.placeholder)}`, columns);
  }
  const cursor = { row: above.length + laid.cursor.row, column: laid.cursor.column };
  return { lines: [...above, ...laid.lines, ...below], cursor };
}

function linesBelow({ state, hint }: InputPicture, rows: number, columns: number, paint: Paint): string[] {
  if (rows === 0) return [];
  if (state.search) {
    const { words, index } = state.search;
    const found = words !== "" && index === null ? " (nothing found)" : "";
    return [cut(`${paint.dim("search:")} ${sanitiseLine(words)}${paint.dim(found)}`, columns)];
  }
  if (state.menu) return menuLines(state.menu, Math.min(rows, MAX_MENU_ROWS), columns, paint);
  return hint === "" ? [] : [cut(paint.dim(hint), columns)];
}
