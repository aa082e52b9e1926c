/** What an input is, and the world it listens in. */

import type { Completion } from "./menu.ts";
import type { Paint } from "./paint.ts";
import type { Choice } from "./question.ts";
import type { Screen } from "./screen.ts";

export interface InputWorld {
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
  redraw(): void;
  /** Takes the input from the screen and ends raw mode; what is asked for ends. The screen stays open. */
  close(): void;
}
