/** The input as a value: editor, menu of completions, walk through the history, search; and what a key makes of it. */

import { sanitiseLine } from "../../text/sanitise.ts";
import { cut, graphemes, pad, widthOf } from "../../text/wrap.ts";
import type { Paint } from "../terminal.ts";
import {
  type Editor,
  type Effect,
  EMPTY,
  press,
  replaceBefore,
  submittedText,
  withoutText,
  withText,
} from "./editor.ts";
import type { Key } from "./keys.ts";
import { findPrompt, searchPrompts } from "./prompt-history.ts";
import type { Screen } from "./screen.ts";

export interface InputOptions {
  stdin: NodeJS.ReadableStream & { setRawMode?(raw: boolean): unknown };
  screen: Screen;
  paint: Paint;
  /** What may stand in place of the text before the cursor; asked on Tab, and at every key behind a `/`. */
  completions(text: string, cursor: number): readonly Completion[];
  /** Earlier prompts, oldest first. Adding is the owner's affair. */
  history: { prompts(): readonly string[] };
  /** Shown in an empty input. */
  placeholder: string;
  /** Milliseconds of a clock that never goes back. */
  now(): number;
  /** Returns what cancels it. */
  setTimer(run: () => void, ms: number): () => void;
  /** Return what ends the listening. */
  onResize?(listener: () => void): () => void;
  /** An interrupt that did not come as a key: a signal from outside, or Ctrl-C where there is no raw mode. */
  onSignal?(listener: () => void): () => void;
  /** Ctrl-Z: stops the process and resolves when it goes on. Without it the key does nothing. */
  suspend?(): Promise<void>;
}

export interface Choice {
  /** What is typed to choose it; one character, or the arrows have to. */
  key: string;
  label: string;
}

export type ReadLine = { type: "line"; text: string } | { type: "end" };

export interface Input {
  /** The next line that was sent, also one sent before it was asked for; "end" when the person leaves. One at a time. */
  read(): Promise<ReadLine>;
  /** The key of the answer; null when the person wants none of them. Questions asked at once are shown one after the other. */
  question(text: string, choices: readonly Choice[]): Promise<string | null>;
  /** Called on Ctrl-C while no line is asked for. Returns what ends the listening. */
  onInterrupt(listener: () => void): () => void;
  /** Lines above the input, such as the spinner; each is cut to the width. */
  status(lines: readonly string[]): void;
  /** Puts words into the input, to be changed and sent. */
  suggest(text: string): void;
  /** Gives the terminal to another program, such as an editor, until the work is done. */
  release<T>(work: () => Promise<T>): Promise<T>;
  /** Takes the input from the screen and ends raw mode; what is asked for ends. The screen stays open. */
  close(): void;
}

export interface InputState {
  editor: Editor;
  menu: Menu | null;
  /** Where the arrows are in the history, and what stood here before they went. */
  walk: { index: number; prefix: string; draft: Editor } | null;
  search: { words: string; index: number | null; draft: Editor } | null;
}

type InputSources = Pick<InputOptions, "completions" | "history">;

/** What the owner of the input has to see to. */
export type Outcome = "submit" | "interrupt" | "end" | "redraw" | "suspend" | null;

export const START: InputState = { editor: EMPTY, menu: null, walk: null, search: null };

export function pressInput(
  state: InputState,
  key: Key,
  sources: InputSources,
): { state: InputState; outcome: Outcome } {
  if (state.search) return { state: pressSearch(state, key, sources), outcome: null };
  if (state.menu) {
    const moved = pressMenu(state, state.menu, key);
    if (moved) return { state: moved, outcome: null };
  }
  const { editor, effect } = press(state.editor, key);
  if (effect === null) {
    const edited = editor.text !== state.editor.text;
    const walk = edited ? null : state.walk;
    return { state: { ...state, editor, walk, menu: menuFor(editor, state, edited, sources) }, outcome: null };
  }
  return act(state, effect, sources);
}

/** Empty again after its text was taken. */
export function clearInput(state: InputState): InputState {
  return { ...START, editor: withoutText(state.editor) };
}

export function fillInput(state: InputState, text: string): InputState {
  return { ...START, editor: withText(withoutText(state.editor), text) };
}

function act(state: InputState, effect: Effect, sources: InputSources): { state: InputState; outcome: Outcome } {
  switch (effect) {
    case "submit":
      return {
        state: { ...state, menu: null, walk: null },
        outcome: submittedText(state.editor).trim() === "" ? null : "submit",
      };
    case "complete":
      return { state: complete(state, sources), outcome: null };
    case "history-up":
      return { state: walk(state, -1, sources), outcome: null };
    case "history-down":
      return { state: walk(state, 1, sources), outcome: null };
    case "search":
      return {
        state: { ...state, menu: null, search: { words: "", index: null, draft: state.editor } },
        outcome: null,
      };
    case "escape":
    case "complete-back":
      return { state: { ...state, menu: null }, outcome: null };
    default:
      return { state, outcome: effect };
  }
}

/** Null when the key is none of the menu's. */
function pressMenu(state: InputState, menu: Menu, key: Key): InputState | null {
  if (key.type !== "press") return null;
  if (key.name === "up" || key.name === "shift-tab") return { ...state, menu: moveMenu(menu, -1) };
  if (key.name === "down") return { ...state, menu: moveMenu(menu, 1) };
  if (key.name === "tab") return accept(state, menu);
  if (key.name !== "enter") return null;
  return menu.isChosen || !isComplete(state.editor, menu) ? accept(state, menu) : null;
}

/** Nothing is left to complete: a word typed in full, or none begun. Enter sends it then. */
function isComplete({ text, cursor }: Editor, { items }: Menu): boolean {
  return items.some(({ insert, from }) => from >= cursor || insert.trimEnd() === text.slice(from, cursor).trimEnd());
}

function accept(state: InputState, { items, selected }: Menu): InputState {
  const item = items[selected];
  if (!item) return { ...state, menu: null };
  return { ...state, menu: null, walk: null, editor: replaceBefore(state.editor, item.from, item.insert) };
}

/** Open by itself while a command is typed, and as long as Tab opened it; moving the cursor or Esc closes it. */
function menuFor(editor: Editor, before: InputState, edited: boolean, sources: InputSources): Menu | null {
  if (!edited) return editor.cursor === before.editor.cursor ? before.menu : null;
  if (!editor.text.startsWith("/") && before.menu === null) return null;
  return openMenu(sources.completions(editor.text, editor.cursor));
}

/** One completion is taken at once, several are offered. */
function complete(state: InputState, sources: InputSources): InputState {
  const menu = openMenu(sources.completions(state.editor.text, state.editor.cursor));
  return menu?.items.length === 1 ? accept(state, menu) : { ...state, menu };
}

function walk(state: InputState, by: 1 | -1, sources: InputSources): InputState {
  const prompts = sources.history.prompts();
  const from = state.walk ?? { index: prompts.length, prefix: state.editor.text, draft: state.editor };
  const index = findPrompt(prompts, from.index, by, from.prefix);
  if (index !== null) {
    return { ...state, menu: null, walk: { ...from, index }, editor: withText(state.editor, prompts[index] ?? "") };
  }
  // Past the newest one lies what had been typed.
  return by > 0 && state.walk ? { ...state, menu: null, walk: null, editor: from.draft } : state;
}

function pressSearch(state: InputState, key: Key, sources: InputSources): InputState {
  const search = state.search;
  if (!search) return state;
  const prompts = sources.history.prompts();
  const look = (words: string, from: number, otherwise: number | null): InputState => {
    const index = (words === "" ? null : searchPrompts(prompts, from, words)) ?? otherwise;
    const editor = index === null ? state.editor : withText(state.editor, prompts[index] ?? "");
    return { ...state, editor, search: { ...search, words, index } };
  };
  if (key.type !== "press") return look(search.words + key.text.replaceAll("\n", " "), prompts.length, null);
  if (key.name === "backspace") return look(graphemes(search.words).slice(0, -1).join(""), prompts.length, null);
  // The oldest one stays when there is none before it.
  if (key.name === "ctrl-r") return look(search.words, search.index ?? prompts.length, search.index);
  const isGivenUp = key.name === "escape" || key.name === "ctrl-c";
  return { ...state, search: null, editor: isGivenUp ? search.draft : state.editor };
}

export interface Completion {
  /** As the list shows it. */
  label: string;
  description: string;
  /** What it puts in place of the text between `from` and the cursor. */
  insert: string;
  from: number;
}

export interface Menu {
  items: readonly Completion[];
  selected: number;
  /** Whether the arrows chose: until then Enter may still mean the text as typed. */
  isChosen: boolean;
}

/** More than this pushes the conversation off a small screen. */
export const MAX_MENU_ROWS = 8;

function openMenu(items: readonly Completion[]): Menu | null {
  return items.length === 0 ? null : { items, selected: 0, isChosen: false };
}

function moveMenu(menu: Menu, by: 1 | -1): Menu {
  const count = menu.items.length;
  return { ...menu, selected: (menu.selected + by + count) % count, isChosen: true };
}

/** At most `rows` lines, those around the selected one. */
export function menuLines({ items, selected }: Menu, rows: number, columns: number, paint: Paint): string[] {
  const count = Math.max(1, Math.min(rows, MAX_MENU_ROWS));
  const first = Math.max(0, Math.min(selected - Math.floor(count / 2), items.length - count));
  const shown = items.slice(first, first + count);
  const labels = shown.map(({ label }) => sanitiseLine(label));
  const width = Math.min(Math.max(...labels.map(widthOf)), Math.floor(columns / 2));
  return shown.map(({ description }, index) => {
    const isSelected = first + index === selected;
    const label = pad(cut(labels[index] ?? "", width), width);
    const line = `${isSelected ? "›" : " "} ${label}  `;
    const rest = cut(sanitiseLine(description), columns - widthOf(line));
    return cut(`${isSelected ? paint.cyan(line) : line}${paint.dim(rest)}`, columns);
  });
}
