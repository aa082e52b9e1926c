/** What the input knows while somebody types, and what it offers to its owner. */

import type { Paint } from "../terminal.ts";
import type { Editor } from "./editor.ts";
import type { Screen } from "./screen.ts";

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

export interface Choice {
  /** What is typed to choose it; one character, or only the arrows reach it. */
  key: string;
  label: string;
}

export interface Input {
  /** The next line that was sent, also one sent before it was asked for; null when the person leaves. One at a time. */
  read(): Promise<string | null>;
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
