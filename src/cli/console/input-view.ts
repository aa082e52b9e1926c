/** The live lines at the bottom: status, queue, the text being typed or a question with its answers, and the menu below it. */

import { sanitise, sanitiseLine } from "../../text/sanitise.ts";
import { cut, wrapText } from "../../text/wrap.ts";
import type { Paint } from "../terminal.ts";
import { layEditor } from "./editor.ts";
import { type Choice, type InputState, MAX_MENU_ROWS, menuLines } from "./input-state.ts";
import type { Key } from "./keys.ts";
import type { Live } from "./screen.ts";

interface InputPicture {
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

export interface Question {
  text: string;
  choices: readonly Choice[];
  /** Null until the arrows choose: Enter alone, perhaps meant for something else, answers nothing. */
  selected: number | null;
}

/** `answer` is undefined while there is none, null when the question was put aside. */
export function pressQuestion(question: Question, key: Key): { question: Question; answer?: string | null } {
  const { choices, selected } = question;
  if (key.type === "text") {
    const typed =
      choices.find((choice) => choice.key === key.text) ?? choices.find((choice) => isSame(choice, key.text));
    return typed ? { question, answer: typed.key } : { question };
  }
  if (key.type !== "press") return { question };
  if (key.name === "escape" || key.name === "ctrl-c" || key.name === "ctrl-d") return { question, answer: null };
  if (key.name === "enter" && selected !== null) return { question, answer: choices[selected]?.key ?? null };
  const by = STEPS[key.name];
  if (!by || choices.length === 0) return { question };
  const from = selected ?? (by > 0 ? -1 : choices.length);
  return { question: { ...question, selected: (from + by + choices.length) % choices.length } };
}

/** At most `rows` lines: the choices around the selected one, and as much of the text as there is room for. */
function questionLines({ text, choices, selected }: Question, rows: number, columns: number, paint: Paint): string[] {
  const room = Math.max(3, rows);
  const count = Math.max(1, Math.min(choices.length, room - 2));
  const first = Math.max(0, Math.min((selected ?? 0) - Math.floor(count / 2), choices.length - count));
  const answers = choices.slice(first, first + count).map(({ key, label }, index) => {
    const isSelected = first + index === selected;
    const line = `${isSelected ? "›" : " "} ${paint.bold(sanitiseLine(key))}  ${sanitiseLine(label)}`;
    return cut(isSelected ? paint.cyan(line) : line, columns);
  });
  const said = wrapText(sanitise(text), columns).slice(0, Math.max(1, room - count - 1));
  return [...said, ...answers, cut(paint.dim("a key, or arrows and Enter · Esc: none of these"), columns)];
}

function isSame({ key }: Choice, typed: string): boolean {
  return key.toLowerCase() === typed.toLowerCase();
}

const STEPS: Record<string, 1 | -1> = { up: -1, down: 1, tab: 1, "shift-tab": -1, "ctrl-p": -1, "ctrl-n": 1 };
