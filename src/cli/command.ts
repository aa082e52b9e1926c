/** What a command is and what it is called with; and what commands have in common: answers, notes, cancelling. */

import { once } from "node:events";
import { MemdirError } from "../errors.ts";
import type { Memdir } from "../memdir.ts";
import type { OpenOptions } from "../open.ts";
import { type Fields, flag, positionsOf, text, type Verb } from "../verb.ts";
import type { Row } from "../verbs/table.ts";
import type { World } from "../world.ts";
import type { Terminal } from "./terminal.ts";

/** A command that is not a verb: it has a conversation, a server or a life of its own. */
export interface Program {
  args: readonly string[];
  input: Fields;
  /** Its arguments as the help shows them, where their names do not say enough. */
  usage?: string;
  about?: string;
  examples: readonly string[];
  start: Run;
}

export interface ProgramRow extends Pick<Row, "name" | "group" | "summary">, Partial<Omit<Program, "start">> {
  /** Its code, loaded only when it is called. */
  load(): Promise<Run>;
}

export type CommandRow = Omit<Row, "load"> & { load(): Promise<Verb | Program> };

/** Without what is given by position. */
export function ownOptions(definition: Verb | Program): Fields {
  const positions = new Set(positionsOf(definition).map(({ name }) => name));
  return Object.fromEntries(Object.entries(definition.input).filter(([name]) => !positions.has(name)));
}

/** Returns the exit code. */
export type Run = (call: Call) => Promise<number>;

export interface Call extends Pick<World, "env" | "now" | "log"> {
  args: string[];
  flag(name: string): boolean;
  value(name: string): string | undefined;
  values(name: string): string[];
  json: boolean;
  cwd: string;
  terminal: Terminal;
  /** Opens the project's memory as the call asks for it, and shows each of its warnings once unless `quiet`. */
  open(options?: Partial<OpenOptions> & { quiet?: boolean }): Promise<Memdir>;
}

/** They are taken before and after the command. */
export const COMMON = {
  cwd: text("the project to work on (default: here)", "DIR"),
  "memory-dir": text("use this memory directory instead of the project's", "DIR"),
  scope: text("user, project, team or agent:NAME (default: all for reading, project for writing)", "SCOPE"),
  json: flag("one JSON value on standard output, nothing else"),
  help: flag("this text", { short: "h" }),
};

/** The `--json` answer, or the same in words: lines, or whatever `say` prints itself. Returns the exit code. */
export function answer(
  { json, terminal }: Pick<Call, "json" | "terminal">,
  value: unknown,
  // biome-ignore lint/suspicious/noConfusingVoidType: a function that prints by itself returns nothing
  say: () => string | readonly string[] | void,
  code = 0,
): number {
  if (json) terminal.json(value);
  else for (const line of [say() ?? []].flat()) terminal.print(line);
  return code;
}

export function note({ terminal }: Pick<Call, "terminal">, notices: readonly string[]): void {
  for (const notice of notices) terminal.warn(`memdir: note: ${notice}`);
}

export function warning({ terminal }: Pick<Call, "terminal">, warnings: readonly string[]): void {
  for (const one of warnings) terminal.warn(`memdir: warning: ${one}`);
}

/** As a shell says it of a program that Ctrl-C ended. */
export const INTERRUPTED = 130;

/** A run that Ctrl-C cancels instead of killing it. A second signal finds no listener, and ends the process at once. */
export function cancellable(run: (call: Call, stop: AbortController) => Promise<number>): Run {
  return async (call) => {
    const stop = new AbortController();
    const onSignal = () => stop.abort();
    process.once("SIGINT", onSignal);
    try {
      return await run(call, stop);
    } finally {
      process.off("SIGINT", onSignal);
    }
  };
}

/** For what runs until it is told to end; a second signal ends the process at once here, too. */
export function untilSignal(...more: NodeJS.Signals[]): Promise<unknown> {
  return Promise.race(["SIGINT", "SIGTERM", ...more].map((name) => once(process, name)));
}

export function portOf(call: Call): number | undefined {
  const text = call.value("port");
  if (text === undefined) return undefined;
  if (/^\d{1,5}$/.test(text) && Number(text) <= 65_535) return Number(text);
  throw new MemdirError("usage", `--port takes a whole number from 0 to 65535, not ${JSON.stringify(text)}`);
}
