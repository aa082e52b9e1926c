/** What a command is and what it is called with; and what commands have in common: reading words, answers, notes, cancelling. */

import { once } from "node:events";
import { parseArgs } from "node:util";
import { MemdirError } from "../errors.ts";
import type { Memdir } from "../memdir.ts";
import type { OpenOptions } from "../open.ts";
import { type Fields, flag, positionsOf, text, type Verb } from "../verb.ts";
import type { Row } from "../verbs/table.ts";
import type { World } from "../world.ts";
import type { Terminal } from "./terminal.ts";

/** A command that is not a verb: it has a conversation, a server or a life of its own. */
export interface Program extends Pick<Verb, "args" | "input" | "usage" | "about" | "examples"> {
  start: Run;
}

export type CommandRow = Omit<Row, "on" | "load"> & { load(): Promise<Verb | Program> };

/** Without what is given by position. */
export function ownOptions(definition: Verb | Program): Fields {
  const positions = new Set(positionsOf(definition).map(({ name }) => name));
  return Object.fromEntries(Object.entries(definition.input).filter(([name]) => !positions.has(name)));
}

/** Returns the exit code. */
export type Run = (call: Call) => Promise<number>;

/** What was typed, by position and by name. */
export interface Words {
  args: string[];
  flag(name: string): boolean;
  value(name: string): string | undefined;
  values(name: string): string[];
}

export interface Call extends Words, Pick<World, "env" | "now" | "log"> {
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

/** Throws `usage`, with `hint` behind what is wrong. */
export function readWords(fields: Fields, words: string[], hint = ""): Words {
  const options = Object.entries(fields).map(([name, { value, isList = false, short }]) => [
    name,
    { type: value === undefined ? "boolean" : "string", multiple: isList, ...(short && { short }) } as const,
  ]);
  try {
    const read = parseArgs({ args: words, options: Object.fromEntries(options), allowPositionals: true });
    const values: Record<string, unknown> = read.values;
    return {
      args: read.positionals,
      flag: (name) => values[name] === true,
      value: (name) => (typeof values[name] === "string" ? values[name] : undefined),
      values: (name) => (Array.isArray(values[name]) ? (values[name] as string[]) : []),
    };
  } catch (error) {
    const message = (error as Error).message.split(/\.(?:\s|$)/)[0];
    throw new MemdirError("usage", `${message}${hint}`, { cause: error });
  }
}

/** The name of the argument that is missing, or the word that is one too many. */
export function findArity(definition: Pick<Verb, "args">, args: readonly string[]) {
  const positions = positionsOf(definition);
  const missing = positions.filter(({ isOptional }) => !isOptional)[args.length]?.name;
  const isTooMany = args.length > positions.length && !positions.at(-1)?.isRest;
  return { missing, extra: isTooMany ? args.at(-1) : undefined };
}

/** The `--json` answer, or the same in words. Returns the exit code. */
export function answer(
  { json, terminal }: Pick<Call, "json" | "terminal">,
  value: unknown,
  say: () => string | readonly string[],
  code = 0,
): number {
  if (json) terminal.json(value);
  else for (const line of [say()].flat()) terminal.print(line);
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

/** Work that Ctrl-C cancels instead of killing it. A second signal finds no listener, and ends the process at once. */
export async function cancellable<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const stop = new AbortController();
  const onSignal = () => stop.abort();
  process.once("SIGINT", onSignal);
  try {
    return await work(stop.signal);
  } finally {
    process.off("SIGINT", onSignal);
  }
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
