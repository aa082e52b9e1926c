/** The real terminal: the only place of the package that writes to the standard streams. */

import type { Env } from "../config.ts";
import { readGiven } from "../store/store.ts";
import type { Color, Progress, Terminal } from "./command.ts";

export function openTerminal(env: Env): Terminal {
  const colored = process.stdout.isTTY === true && !env.NO_COLOR;
  return {
    print: (text) => void process.stdout.write(`${text}\n`),
    warn: (text) => void process.stderr.write(`${text}\n`),
    json: (value) => void process.stdout.write(`${JSON.stringify(value, null, 2)}\n`),
    readInput: readStandardInput,
    // Asked late: merely looking at standard input loads half of Node's streams.
    get interactive() {
      return process.stdin.isTTY === true && process.stdout.isTTY === true;
    },
    colored,
    color: colored ? ANSI : PLAIN,
    progress: (what) => (process.stderr.isTTY === true && !env.NO_COLOR ? openBar(what) : NO_BAR),
  };
}

const NO_BAR: Progress = { show: () => {}, end: () => {} };
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

const paint = (open: number, close: number) => (text: string) => `\x1b[${open}m${text}\x1b[${close}m`;
const same = (text: string) => text;
const ANSI: Color = { bold: paint(1, 22), dim: paint(2, 22), yellow: paint(33, 39), green: paint(32, 39) };
const PLAIN: Color = { bold: same, dim: same, yellow: same, green: same };
