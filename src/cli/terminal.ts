/** The real terminal, the only place of the package that uses the standard streams: output, colours, progress, questions. */

import { readGiven } from "../store/store.ts";
import type { Choice } from "../verb.ts";
import type { Env } from "../world.ts";

export interface Terminal {
  /** A line, or several, on standard output. */
  print(text: string): void;
  /** On standard error: for notices that must not disturb a reader of the output. */
  warn(text: string): void;
  /** The `--json` answer. */
  json(value: unknown): void;
  readInput(): Promise<string>;
  /** Whether somebody can be asked. */
  interactive: boolean;
  /** Undefined where the output is no terminal. */
  columns: number | undefined;
  color: Paint;
  /** For long work: a bar on a terminal, nothing elsewhere. */
  progress(what: string): Progress;
  /** Anything but a clear yes is a no. Null when the person leaves: Escape, Ctrl-C, or an input that ends. */
  ask(question: string): Promise<boolean | null>;
  /** Asks until it is one of the keys. Null when the person leaves. */
  choose(question: string, choices: readonly Choice[]): Promise<string | null>;
}

export interface Progress {
  show(done: number, total: number): void;
  /** Clears the line. */
  end(): void;
}

/** Colours and weights: every function leaves the text as it is when colour is off. */
export type Paint = Record<keyof typeof STYLES, (text: string) => string> & {
  /** Whether anything is painted: without it, texts say with characters what colour would have said. */
  on: boolean;
};

/** The codes that begin and end each. */
const STYLES = {
  bold: [1, 22],
  dim: [2, 22],
  italic: [3, 23],
  underline: [4, 24],
  strike: [9, 29],
  red: [31, 39],
  green: [32, 39],
  yellow: [33, 39],
  blue: [34, 39],
  magenta: [35, 39],
  cyan: [36, 39],
} as const;

export function openTerminal(env: Env): Terminal {
  return {
    print: (text) => void process.stdout.write(`${text}\n`),
    warn: (text) => void process.stderr.write(`${text}\n`),
    json: (value) => void process.stdout.write(`${JSON.stringify(value, null, 2)}\n`),
    readInput: readStandardInput,
    // Asked late: merely looking at standard input loads half of Node's streams.
    get interactive() {
      return process.stdin.isTTY === true && process.stdout.isTTY === true;
    },
    get columns() {
      return process.stdout.columns;
    },
    color: openPaint(process.stdout.isTTY === true && !env.NO_COLOR),
    progress: (what) => (process.stderr.isTTY === true && !env.NO_COLOR ? openBar(what) : NO_PROGRESS),
    ask,
    choose,
  };
}

export function openPaint(on: boolean): Paint {
  const styles = Object.entries(STYLES).map(([name, [open, close]]) => [
    name,
    (text: string) => (on && text !== "" ? `\x1b[${open}m${text}\x1b[${close}m` : text),
  ]);
  return { ...Object.fromEntries(styles), on };
}

export const NO_PROGRESS: Progress = { show: () => {}, end: () => {} };
const BAR_WIDTH = 24;

/** On standard error, so that it never mixes with the output. */
function openBar(what: string): Progress {
  let shown = false;
  return {
    show(done, total) {
      const filled = Math.round((done / Math.max(1, total)) * BAR_WIDTH);
      process.stderr.write(`\r${what} ${"█".repeat(filled)}${"░".repeat(BAR_WIDTH - filled)} ${done}/${total}`);
      shown = true;
    },
    end() {
      if (shown) process.stderr.write("\r\x1b[K");
    },
  };
}

async function readStandardInput(): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of process.stdin) chunks.push(chunk as Buffer);
  return readGiven(Buffer.concat(chunks), "standard input", Number.POSITIVE_INFINITY);
}

async function ask(question: string): Promise<boolean | null> {
  const answer = await readLine(`${question} [y/N] `);
  return answer === null ? null : /^y(es)?$/i.test(answer.trim());
}

async function choose(question: string, choices: readonly Choice[]): Promise<string | null> {
  const offered = choices.map(({ key, label }) => `[${key}] ${label}`).join("  ");
  for (;;) {
    const answer = await readLine(`${question}  ${offered} `);
    if (answer === null) return null;
    const typed = answer.trim().toLowerCase();
    const chosen = choices.find(({ key, label }) => typed !== "" && (typed === key || label.startsWith(typed)));
    if (chosen) return chosen.key;
  }
}

async function readLine(question: string): Promise<string | null> {
  const { createInterface } = await import("node:readline");
  const lines = createInterface({ input: process.stdin, output: process.stdout });
  const leave = (_: string | undefined, { name }: { name?: string }) => void (name === "escape" && lines.close());
  process.stdin.on("keypress", leave);
  return new Promise((done) => {
    lines.on("close", () => {
      process.stdin.off("keypress", leave);
      done(null);
    });
    lines.question(question, (answer) => {
      done(answer);
      lines.close();
    });
  });
}
