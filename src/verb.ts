/** A verb: what can be asked of memdir, as one value. Every adapter (command line, console, MCP, page, library) is derived from it. */

import { type Adapter, type Field, type Fields, type Input, required } from "./input.ts";
import type { LearningModel } from "./learn/model-extractor.ts";
import type { Memdir } from "./memdir.ts";
import { count } from "./text/sanitise.ts";
import type { World } from "./world.ts";

export type { Adapter, Field, Fields, Input } from "./input.ts";
export { choice, date, flag, list, number, readInput, text } from "./input.ts";

export interface Verb<F extends Fields = Fields, R = unknown> {
  /** Inputs that the command line takes by position: `name?` may be left out, `words…` takes the rest of the line. */
  args: readonly string[];
  input: F;
  /** Its arguments as the help shows them, where their names do not say enough. */
  usage?: string;
  /** For the help: what the summary has no room for. */
  about?: string;
  /** Worked calls for the help, without `memdir`. */
  examples: readonly string[];
  /** Its answer has the warnings of the store: they are not shown beside it. */
  hasWarnings?: true;
  /** Whether it changes anything; read-only adapters refuse it then. */
  writes?: boolean | ((input: Input<F>) => boolean);
  run(memdir: Memdir, input: Input<F>, context: Context): Promise<R>;
  /** What the answer need not wait for: a command does it once the answer is printed. Others live on and need it not. */
  after?(memdir: Memdir, input: Input<F>, context: Pick<Context, "progress" | "signal">): Promise<void>;
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
  /** Null where there is no one to ask. The answer is null when the person leaves the question: Escape, Ctrl-C. */
  ask: ((question: string) => Promise<boolean | null>) | null;
  /** The key of one of several answers, null when the person leaves. Missing where there is no one to ask. */
  choose?: ((question: string, choices: readonly Choice[]) => Promise<string | null>) | undefined;
  /** The conversation that it is called in, with the model that answers there. */
  conversation?: { session: string; model: LearningModel | null } | undefined;
  /** Shows something before the result: what a question is about; `value` is the same for programs, on a line of its own. */
  show(said: Said, value?: unknown): void;
  /** The whole of standard input; null where there is none, or a person is typing. */
  readInput: (() => Promise<string>) | null;
  /** What a person who saved a rule should know about the agents that are to obey it. Missing in a program, whose bundle has no wiring. */
  ruleNotices?: (() => Promise<string[]>) | undefined;
  /** Another store than the one the verb was called on, for verbs that work on two. */
  open(options: {
    scope?: string;
    memoryDir?: string;
    settingSources?: ("user" | "project" | "local")[];
  }): Promise<Memdir>;
}

/** One of the answers to a question: the key to press (with more than one character only arrows reach it), and what it means. */
export interface Choice {
  key: string;
  label: string;
}

/** For adapters that show nothing while they work, and cannot ask. */
export function silent(context: Pick<Context, "cwd" | "env" | "now" | "log" | "signal" | "open">): Context {
  return { ...context, progress: () => () => {}, ask: null, show: () => {}, readInput: null };
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

/** Its inputs for an adapter without positions: what stands in `args` without a question mark must be given. */
export function fieldsOf({ args, input }: Pick<Verb, "args" | "input">, adapter: Adapter): Fields {
  const taken = Object.entries(input).filter(([, { only }]) => only?.includes(adapter) ?? true);
  const needed = positionsOf({ args }).filter(({ isOptional }) => !isOptional);
  const entries = needed.map(({ name }) => [name, required(input[name] as Field)]);
  return { ...Object.fromEntries(taken), ...Object.fromEntries(entries) };
}

/** The positions of the command line: name, whether it may be left out, whether it takes the rest. */
export function positionsOf({ args }: Pick<Verb, "args">): { name: string; isOptional: boolean; isRest: boolean }[] {
  return args.map((arg) => ({
    name: arg.replace(/[?…]/g, ""),
    isOptional: arg.includes("?"),
    isRest: arg.includes("…"),
  }));
}

// --- Words for people. Text from memories and repositories is made harmless where it is rendered, not here.

export type Tone = "bold" | "dim" | "warn" | "good" | "bad";
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
  /** How far in it stands; four columns unless stated. */
  readonly indent?: number;
}

export const bold = (text: string): Span => ({ text, tone: "bold" });
export const dim = (text: string): Span => ({ text, tone: "dim" });
export const warn = (text: string): Span => ({ text, tone: "warn" });
export const good = (text: string): Span => ({ text, tone: "good" });
export const bad = (text: string): Span => ({ text, tone: "bad" });
/** Several lines that keep their breaks. */
export const block = (text: string): Line => ({ block: text });
/** As much as a last column needs: a bar is never broken (`cli/terminal.ts`). */
const BAR_WIDTH = 20;

/** A share of one, as a bar; the smallest is one block: a bar that cannot be seen says that there is nothing. */
export function barOf(share: number): string {
  const filled = share > 0 ? Math.max(1, Math.round(Math.min(1, share) * BAR_WIDTH)) : 0;
  return "█".repeat(filled) + "░".repeat(BAR_WIDTH - filled);
}

export const notes = (texts: readonly string[]): Line[] => texts.map((note) => ({ note }));

export { count };

export function countMemories(number: number): string {
  return count(number, "memory", "memories");
}
