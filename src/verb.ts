/** A verb: what can be asked of memdir, as one value. Every adapter (command line, console, MCP, page, library) is derived from it. */

import * as v from "valibot";
import { MemdirError } from "./errors.ts";
import type { Memdir } from "./memdir.ts";
import { count } from "./text/count.ts";
import type { World } from "./world.ts";

export type Adapter = "cli" | "console" | "mcp" | "web" | "library";

export interface Verb<F extends Fields = Fields, R = unknown> {
  /** Inputs that the command line takes by position: `name?` may be left out, `words…` takes the rest of the line. */
  args: readonly string[];
  input: F;
  on: readonly Adapter[];
  /** For the help: what the summary has no room for. */
  about?: string;
  /** Worked calls for the help, without `memdir`. */
  examples: readonly string[];
  /** Whether it changes anything; read-only adapters refuse it then. */
  writes?: boolean | ((input: Input<F>) => boolean);
  run(memdir: Memdir, input: Input<F>, context: Context): Promise<R>;
  /** The result as people read it. */
  say(result: R, reader: Reader<F>): Said;
  /** The result as programs read it, where it is not the result itself; undefined where all of it was shown on the way. */
  json?(result: R): unknown;
  /** 1 for a check that found problems; 0 unless stated. */
  exitCode?(result: R): number;
}

/** What a verb gets besides its input. */
export interface Context extends Pick<World, "env" | "now" | "log"> {
  cwd: string;
  /** The scope that the call names, if it names one. */
  scope?: string | undefined;
  signal: AbortSignal;
  /** For long work: shows how far it is, where there is somewhere to show it. */
  progress(what: string): (done: number, total: number) => void;
  /** Null where there is no one to ask. */
  ask: ((question: string) => Promise<boolean>) | null;
  /** Shows something before the result: what a question is about; `value` is the same for programs, on a line of its own. */
  show(said: Said, value?: unknown): void;
  /** The whole of standard input; null where there is none, or a person is typing. */
  readInput: (() => Promise<string>) | null;
  /** Another store than the one the verb was called on, for verbs that work on two. */
  open(options: {
    scope?: string;
    memoryDir?: string;
    settingSources?: ("user" | "project" | "local")[];
  }): Promise<Memdir>;
}

/** For whom a result is put in words. */
export interface Reader<F extends Fields = Fields> {
  input: Input<F>;
  /** Another verb's call as this reader would type it: `memdir undo 17`, `/undo 17`. */
  call(words: string): string;
  now: Date;
}

export function verb<const F extends Fields, R>(value: Verb<F, R>): Verb<F, R> {
  return value;
}

export function writes<F extends Fields>({ writes }: Pick<Verb<F>, "writes">, input: Input<F>): boolean {
  return typeof writes === "function" ? writes(input) : writes === true;
}

// --- Inputs: a schema that checks the value, and the words that the help has for it.

export interface Field<S extends v.GenericSchema = v.GenericSchema> {
  schema: S;
  help: string;
  /** The word for its value in the help; none for a switch. */
  value?: string;
  short?: string;
  isList?: boolean;
  isNumber?: boolean;
  /** Only the named adapters take it. */
  only?: readonly Adapter[];
}

export type Fields = Readonly<Record<string, Field>>;

export type Input<F extends Fields> = { [K in keyof F]?: v.InferOutput<F[K]["schema"]> | undefined };

export function text(help: string, value = "TEXT", more: { short?: string } = {}) {
  return {
    schema: v.pipe(
      v.string(),
      v.check((given) => given.isWellFormed(), "contains half a character: remove it"),
    ),
    help,
    value,
    ...more,
  };
}

export function list(help: string, value = "TEXT") {
  return { schema: v.pipe(v.array(text("").schema), v.maxLength(1000)), help, value, isList: true };
}

export function flag(help: string, more: { short?: string; only?: readonly Adapter[] } = {}) {
  return { schema: v.boolean(), help, ...more };
}

export function number(help: string, { min = 0, max = 999_999_999, value = "N" } = {}) {
  const range = max < 999_999_999 ? ` from ${min} to ${max}` : min > 0 ? ` from ${min}` : "";
  const words = `takes a whole number${range}`;
  const schema = v.pipe(v.number(words), v.integer(words), v.minValue(min, words), v.maxValue(max, words));
  return { schema, help, value, isNumber: true };
}

export function choice<const T extends readonly string[]>(options: T, help: string, value: string) {
  return { schema: v.picklist(options, `is none of ${options.join(", ")}`), help, value };
}

/** Throws `usage` for the first input that does not fit, named as the adapter's user knows it. */
export function readInput<F extends Fields>(
  fields: F,
  given: Readonly<Record<string, unknown>>,
  nameOf: (field: string) => string = (field) => `"${field}"`,
): Input<F> {
  const input: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(given)) {
    if (value === undefined || value === null) continue;
    const field = Object.hasOwn(fields, name) ? fields[name] : undefined;
    if (!field) throw new MemdirError("usage", `there is no ${nameOf(name)} here`);
    const { success, output, issues } = v.safeParse(field.schema, value);
    if (!success) throw new MemdirError("usage", `${nameOf(name)} ${complain(issues[0], value)}`);
    input[name] = output;
  }
  return input as Input<F>;
}

function complain(issue: v.BaseIssue<unknown>, value: unknown): string {
  // Valibot's own words name types; ours, given with a schema, say what to do.
  const isOurs = !issue.message.startsWith("Invalid ");
  const wanted = isOurs ? issue.message : `must be ${WORDS[issue.expected ?? ""] ?? issue.expected}`;
  if (!isOurs || typeof value !== "string") return wanted;
  const shown = JSON.stringify(value.slice(0, 100));
  return wanted.startsWith("is none of") ? `${shown} ${wanted}` : `${wanted}, not ${shown}`;
}

const WORDS: Readonly<Record<string, string>> = { string: "a text", boolean: "true or false", Array: "a list" };

/** The positions of the command line: name, whether it may be left out, whether it takes the rest. */
export function positionsOf({ args }: Pick<Verb, "args">): { name: string; isOptional: boolean; isRest: boolean }[] {
  return args.map((arg) => ({
    name: arg.replace(/[?…]/g, ""),
    isOptional: arg.includes("?"),
    isRest: arg.includes("…"),
  }));
}

// --- Words for people. Text from memories and repositories is made harmless where it is rendered, not here.

export type Tone = "bold" | "dim" | "warn" | "good";
export type Span = string | { readonly text: string; readonly tone: Tone };

/**
 * A line, wrapped at words where there is a screen; or text that keeps its lines; or `raw` text, which a pipe gets byte for byte;
 * or what changes between two texts; or a remark beside the answer.
 */
export type Line =
  | Span
  | readonly Span[]
  | { readonly block: string }
  | { readonly raw: string }
  | { readonly diff: Diff }
  | { readonly note: string }
  | { readonly warning: string }
  | { readonly aside: Span }
  | { readonly rows: readonly (readonly Span[])[]; readonly right?: readonly number[] };

export type Said = readonly Line[];

/** What changes from one text to another; `before` is null for a new one. */
export interface Diff {
  readonly before: string | null;
  readonly after: string;
}

export const bold = (text: string): Span => ({ text, tone: "bold" });
export const dim = (text: string): Span => ({ text, tone: "dim" });
export const warn = (text: string): Span => ({ text, tone: "warn" });
export const good = (text: string): Span => ({ text, tone: "good" });
/** Several lines that keep their breaks. */
export const block = (text: string): Line => ({ block: text });
export const notes = (texts: readonly string[]): Line[] => texts.map((note) => ({ note }));

export { count };

export function countMemories(number: number): string {
  return count(number, "memory", "memories");
}
