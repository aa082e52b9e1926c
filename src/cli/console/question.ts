/** A question with a few answers, in place of the input: a value, what a key answers, and its lines. */

import type { Key } from "./key-names.ts";
import type { Paint } from "./paint.ts";
import { sanitise, sanitiseLine } from "./sanitise.ts";
import { cut, wrapText } from "./wrap.ts";

export interface Choice {
  /** What is typed to choose it; one character, or the arrows have to. */
  key: string;
  label: string;
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
export function questionLines(
  { text, choices, selected }: Question,
  rows: number,
  columns: number,
  paint: Paint,
): string[] {
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
