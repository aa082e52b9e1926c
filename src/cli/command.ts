/** What a command of the binary is, and the world it runs in. */

import type { Memdir } from "../memdir.ts";

export interface Option {
  /** `name`, the word for its value in the help (none for a switch), and what it does. */
  value?: string;
  multiple?: boolean;
  short?: string;
  help: string;
}

export interface Command {
  name: string;
  /** Positional arguments as the help shows them. */
  usage: string;
  summary: string;
  options: Record<string, Option>;
  /** How many positional arguments it takes. */
  arguments: { min: number; max: number };
  /** A worked call for the help. */
  example: string;
}

export type Run = (call: Call) => Promise<number>;

export interface Call {
  args: string[];
  flag(name: string): boolean;
  value(name: string): string | undefined;
  values(name: string): string[];
  json: boolean;
  cwd: string;
  terminal: Terminal;
  /** Opens the project's memory and shows its warnings. `by` stands in the journal beside every change; "cli" unless told. */
  open(by?: string): Promise<Memdir>;
}

/** Standard streams as commands see them. */
export interface Progress {
  show(done: number, total: number): void;
  /** Clears the line. */
  end(): void;
}

export interface Terminal {
  /** A line, or several, on standard output. */
  print(text: string): void;
  /** On standard error: for notices that must not disturb a reader of the output. */
  warn(text: string): void;
  /** The `--json` answer. */
  json(value: unknown): void;
  readInput(): Promise<string>;
  interactive: boolean;
  colored: boolean;
  color: Color;
  /** For long work: a bar on a terminal, nothing elsewhere. */
  progress(what: string): Progress;
}

export interface Color {
  bold(text: string): string;
  dim(text: string): string;
  yellow(text: string): string;
  green(text: string): string;
}
