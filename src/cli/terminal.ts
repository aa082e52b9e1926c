/** The real terminal, the only place of the package that uses the standard streams: output, colours, progress, questions, and what verbs say. */

import { readGiven } from "../store/store.ts";
import { cut } from "../text/wrap.ts";
import { barOf, type Choice, openPaint, render, type Said } from "../verb.ts";
import type { Env } from "../world.ts";

export type Terminal = ReturnType<typeof openTerminal>;

export function openTerminal(env: Env) {
  const isPlain = Boolean(env.NO_COLOR) || isDumb(env);
  return {
    /** A line, or several, on standard output. */
    print: (text: string): void => void process.stdout.write(`${text}\n`),
    /** On standard error: for notices that must not disturb a reader of the output. */
    warn: (text: string): void => void process.stderr.write(`${text}\n`),
    /** The `--json` answer. */
    json: (value: unknown) => void process.stdout.write(`${JSON.stringify(value, null, 2)}\n`),
    readInput: readStandardInput,
    /** Whether somebody can be asked. Read late: merely looking at standard input loads half of Node's streams. */
    get interactive(): boolean {
      return process.stdin.isTTY === true && process.stdout.isTTY === true;
    },
    /** Undefined where the output is no terminal. */
    get columns(): number | undefined {
      return process.stdout.columns;
    },
    color: openPaint(process.stdout.isTTY === true && !isPlain),
    ...openBar(() => process.stderr.isTTY === true && !isPlain),
    ...openQuestions(readLine),
  };
}

/** A terminal that knows no escape sequences. */
export function isDumb({ TERM }: Env): boolean {
  return TERM === "dumb";
}

/** On standard error, so that it never mixes with the output. */
function openBar(isWanted: () => boolean) {
  let isShown = false;
  return {
    /** For long work: a bar on a terminal, nothing elsewhere. */
    progress: (what: string) => (done: number, total: number) => {
      if (!isWanted()) return;
      const bar = `${what} ${barOf(done / Math.max(1, total))} ${done}/${total}`;
      // A line that wraps could not be cleared.
      process.stderr.write(`\r${cut(bar, (process.stderr.columns || bar.length + 1) - 1)}`);
      isShown = true;
    },
    /** Clears the bar. */
    endProgress() {
      if (isShown) process.stderr.write("\r\x1b[K");
      isShown = false;
    },
  };
}

/** Far more than any command takes; what goes on behind it is not read. */
const MAX_INPUT_BYTES = 8 * 1024 * 1024;

/** The whole of it; refused when it is more than `maxBytes`. */
async function readStandardInput(options: { signal?: AbortSignal; maxBytes?: number } = {}): Promise<string> {
  const { signal, maxBytes = MAX_INPUT_BYTES } = options;
  const chunks: Buffer[] = [];
  let bytes = 0;
  const stop = () => process.stdin.destroy(signal?.reason);
  signal?.throwIfAborted();
  signal?.addEventListener("abort", stop);
  try {
    for await (const chunk of process.stdin) {
      chunks.push(chunk);
      bytes += chunk.length;
      if (bytes > MAX_INPUT_BYTES) break;
    }
  } finally {
    signal?.removeEventListener("abort", stop);
  }
  return readGiven(Buffer.concat(chunks), "standard input", maxBytes);
}

type ReadLine = (question: string) => Promise<string | null>;

export function openQuestions(read: ReadLine) {
  return {
    /** Anything but a clear yes is a no. Null when the person leaves: Escape, Ctrl-C, or an input that ends. */
    async ask(question: string) {
      const answer = await read(`${question} [y/N] `);
      return answer === null ? null : /^y(es)?$/i.test(answer.trim());
    },
    /** Asks until it is one of the keys. Null when the person leaves. */
    async choose(question: string, choices: readonly Choice[]) {
      const offered = choices.map(({ key, label }) => `[${key}] ${label}`).join("  ");
      for (;;) {
        const answer = await read(`${question}  ${offered} `);
        if (answer === null) return null;
        const typed = answer.trim().toLowerCase();
        const chosen = choices.find(({ key, label }) => typed !== "" && (typed === key || label.startsWith(typed)));
        if (chosen) return chosen.key;
      }
    },
  };
}

async function readLine(question: string): ReturnType<ReadLine> {
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

/** What verbs say, with the colours of the terminal and wrapped to its screen. */
export function print(terminal: Terminal, said: Said, columns = terminal.columns || undefined): void {
  for (const line of said) {
    const { out, err } = render(line, terminal.color, columns);
    if (err !== undefined) terminal.warn(err);
    else terminal.print(out ?? "");
  }
}
