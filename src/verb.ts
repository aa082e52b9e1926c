/** A verb: what can be asked of memdir, as one value from which every adapter is derived; and what it says, as text in colours, wrapped and made harmless. */

import { inspect } from "node:util";
import { type Adapter, type Field, type Fields, type Input, required } from "./input.ts";
import type { LearningModel } from "./learn/model-extractor.ts";
import type { Memdir } from "./memdir.ts";
import { commonEnds } from "./text/diff.ts";
import { count, sanitise, sanitiseLine } from "./text/sanitise.ts";
import { SGR, widthOf, wrapText } from "./text/wrap.ts";
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

// --- As text: in colours, wrapped to a screen, and made harmless; for terminals, and plainly for the page.

/** Colours and weights: every function leaves the text as it is when colour is off. */
export type Paint = Record<(typeof STYLES)[number], (text: string) => string> & {
  /** Whether anything is painted: without it, texts say with characters what colour would have said. */
  on: boolean;
};

const STYLES = ["bold", "dim", "italic", "underline", "strikethrough", "red", "green", "yellow", "cyan"] as const;

export function openPaint(on: boolean): Paint {
  const paintAs = (name: string) => {
    const [open, close] = inspect.colors[name] as [number, number];
    return (text: string) => (on && text !== "" ? `\x1b[${open}m${text}\x1b[${close}m` : text);
  };
  return { ...(Object.fromEntries(STYLES.map((name) => [name, paintAs(name)])) as Omit<Paint, "on">), on };
}

const PAINTS: Readonly<Record<Tone, keyof Omit<Paint, "on">>> = {
  bold: "bold",
  dim: "dim",
  warn: "yellow",
  good: "green",
  bad: "red",
};

/** As it stands in a pipe; where there is nothing else, notes need not say whose they are. */
export function plainOf(said: Said): string {
  const lines = said.map((line) => render(line, openPaint(false), undefined));
  return lines.map(({ out, err }) => out ?? err?.replace(/^memdir: /, "")).join("\n");
}

/** `err` is for beside the answer. */
export function render(line: Line, color: Paint, columns: number | undefined): { out?: string; err?: string } {
  if (typeof line === "string") return { out: fold(clean(line), columns, 0) };
  if (isSpans(line)) return { out: fold(line.map((span) => paint(span, color)).join(""), columns, HANG) };
  if ("text" in line) return { out: fold(paint(line, color), columns, 0) };
  if ("block" in line) return { out: sanitise(line.block) };
  if ("raw" in line) return { out: columns === undefined ? line.raw : sanitise(line.raw) };
  if ("diff" in line) return { out: renderDiff(line.diff, color, columns) };
  if ("note" in line) return { err: fold(`memdir: note: ${sanitiseLine(line.note)}`, columns, HANG) };
  if ("warning" in line) return { err: fold(`memdir: warning: ${sanitiseLine(line.warning)}`, columns, HANG) };
  if ("aside" in line) return { err: fold(paint(line.aside, color), columns, 0) };
  return { out: renderRows(line.rows, line.right ?? [], color, columns) };
}

function isSpans(line: Line): line is readonly Span[] {
  return Array.isArray(line);
}

function paint(span: Span, color: Paint): string {
  return typeof span === "string" ? clean(span) : color[PAINTS[span.tone]](clean(span.text));
}

/** One line, with the spaces at its ends. */
function clean(text: string): string {
  return sanitise(text).replace(/\s*\n\s*/g, " ");
}

/** Lines made of several pieces are easier to tell apart when what is wrapped stands further in. */
const HANG = 4;

/** Colours may begin before the spaces. */
const LEAD = new RegExp(`^((?:${SGR.source})*)( *)`);

/** Broken at words; what follows a break stands under the line's own beginning. */
export function fold(text: string, columns: number | undefined, hang: number): string {
  if (columns === undefined || widthOf(text) <= columns) return text;
  const [lead = "", style = "", margin = ""] = LEAD.exec(text) ?? [];
  const room = columns - margin.length - hang;
  if (room < 20) return wrapText(text, columns).join("\n");
  return wrapText(style + text.slice(lead.length), room)
    .map((line, at) => (at === 0 ? margin : " ".repeat(margin.length + hang)) + line)
    .join("\n");
}

function renderDiff(diff: Diff, paint: Paint, columns: number | undefined): string {
  return diffLines(diff, paint)
    .map((line) => fold(`${" ".repeat(diff.indent ?? 4)}${line}`, columns, SIGN_WIDTH))
    .join("\n");
}

/** Whoever decides on a change sees all of it, and every line to its end: seven hooks are about eighty lines, a memory is a page. */
const MAX_LINES = 200;
/** Unchanged lines kept on each side of a change, to see where it is. */
const CONTEXT = 2;

/** Lines that both texts begin or end with are context; what is between is removed (`-`) and added (`+`). */
export function diffLines({ before, after }: Diff, paint: Paint, maxLines = MAX_LINES): string[] {
  const [old, fresh] = [linesOf(before ?? ""), linesOf(after)];
  const { head, tail } = commonEnds(old, fresh);
  const removed = old.slice(head, old.length - tail);
  const added = fresh.slice(head, fresh.length - tail);
  if (removed.length + added.length === 0) return [paint.dim("  (no change)")];
  const show = (sign: string, lines: string[], colour: (text: string) => string, max = lines.length) => [
    ...lines.slice(0, max).map((line) => colour(`${sign}${line}`)),
    ...(lines.length > max ? [paint.dim(`${sign}… ${count(lines.length - max, "more line")}`)] : []),
  ];
  // When there is no room for all of it, what is removed may use half.
  return [
    ...show("  ", old.slice(Math.max(0, head - CONTEXT), head), paint.dim),
    ...show("- ", removed, paint.red, Math.max(maxLines - added.length, Math.floor(maxLines / 2))),
    ...show("+ ", added, paint.green, Math.max(maxLines - removed.length, Math.ceil(maxLines / 2))),
    ...show("  ", fresh.slice(fresh.length - tail).slice(0, CONTEXT), paint.dim),
  ];
}

/** A break at the end belongs to the last line. */
function linesOf(text: string): string[] {
  return sanitise(text)
    .replace(/\n$/, "")
    .split("\n")
    .slice(text === "" ? 1 : 0);
}

/** What goes on stands below the words, not below the sign. */
const SIGN_WIDTH = 2;

/** A last column that is narrower than this is put under its row instead. */
const MIN_LAST = 20;
const BELOW = 6;

/** Cells in columns, two spaces apart; the last one wraps inside its own column. */
function renderRows(
  rows: readonly (readonly Span[])[],
  right: readonly number[],
  color: Paint,
  columns: number | undefined,
): string {
  const cells = rows.map((row) => row.map((span) => paint(span, color)));
  const widths = (cells[0] ?? []).map((_, at) => Math.max(...cells.map((row) => widthOf(row[at] ?? ""))));
  const lead = widths.slice(0, -1).reduce((sum, width) => sum + width + 2, 0);
  return cells
    .map((row) => {
      const head = row.slice(0, -1).map((cell, at) => {
        const space = " ".repeat((widths[at] ?? 0) - widthOf(cell));
        return `${right.includes(at) ? space + cell : cell + space}  `;
      });
      const last = row.at(-1) ?? "";
      if (columns !== undefined && columns - lead < MIN_LAST && columns < lead + widthOf(last))
        return [
          head.join("").trimEnd(),
          ...wrapText(last, Math.max(1, columns - BELOW)).map((line) => " ".repeat(BELOW) + line),
        ].join("\n");
      const [first = "", ...rest] = columns === undefined ? [last] : wrapText(last, columns - lead);
      return [head.join("") + first, ...rest.map((line) => " ".repeat(lead) + line)].join("\n").trimEnd();
    })
    .join("\n");
}
