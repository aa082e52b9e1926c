/**
 * Runs a regular expression over texts in its own thread. Some expressions take practically forever, and nothing in
 * JavaScript can interrupt them, but a thread can be terminated.
 */

import { Worker } from "node:worker_threads";

interface SearchQuestion {
  source: string;
  flags: string;
  multiline: boolean;
  /** Whether lines are wanted, or only how many there are. */
  lines: boolean;
  before: number;
  after: number;
  /** The most lines reported for one text. */
  maxLines: number;
}

export interface SearchAnswer {
  /** Lines with a match. */
  count: number;
  /** Number, whether it matches, and its text, cut around the match. */
  lines: [number: number, isMatch: boolean, text: string][];
}

export type LineSearch = ReturnType<typeof openLineSearch>;

/** A search needs little memory; an expression that needs more is broken. */
const MAX_HEAP_MB = 512;

interface Round {
  answers: SearchAnswer[];
  wanted: number;
  resolve: (answers: SearchAnswer[]) => void;
  reject: (error: Error) => void;
}

export function openLineSearch(question: SearchQuestion, maxMs: number, signal: AbortSignal) {
  const worker = new Worker(WORKER, {
    eval: true,
    workerData: question,
    env: {},
    execArgv: [],
    resourceLimits: { maxOldGenerationSizeMb: MAX_HEAP_MB },
  });
  let round: Round | null = null;
  /** Why the search stopped; null means that the time ran out. */
  let ended: Error | null | undefined;
  const settle = () => {
    if (!round || ended === undefined) return;
    if (ended) round.reject(ended);
    else round.resolve(round.answers);
  };
  const end = (why: Error | null) => {
    if (ended === undefined) ended = why;
    settle();
    void worker.terminate();
  };
  const stop = () => end(new Error("stopped by the user before it was done"));
  const timer = setTimeout(() => end(null), maxMs);
  signal.addEventListener("abort", stop, { once: true });
  worker.on("message", ({ answer, problem }: { answer?: SearchAnswer; problem?: string }) => {
    if (!answer) return end(new Error(`the pattern cannot be used: ${problem}`));
    round?.answers.push(answer);
    if (round?.answers.length === round?.wanted) round?.resolve(round.answers);
  });
  worker.on("error", (error) => end(new Error(`the search failed: ${error.message}`)));
  worker.on("exit", () => end(new Error("the search ended too early")));
  if (signal.aborted) stop();
  return {
    /** An answer for each text; for fewer when the time ran out. Rejects when the signal aborts or the expression fails. */
    search: (texts: readonly string[]) =>
      new Promise<SearchAnswer[]>((resolve, reject) => {
        round = { answers: [], wanted: texts.length, resolve, reject };
        settle();
        if (ended === undefined) worker.postMessage(texts);
      }),
    close() {
      clearTimeout(timer);
      signal.removeEventListener("abort", stop);
      void worker.terminate();
    },
  };
}

/** Source text, because the product is one file and has no other to start a thread from. Plain CommonJS. */
const WORKER = String.raw`
"use strict";
const { parentPort, workerData: q } = require("node:worker_threads");
const WIDTH = 500;
const LEAD = 100;

function cut(line, at) {
  if (line.length <= WIDTH) return line;
  const from = Math.max(0, Math.min(at - LEAD, line.length - WIDTH));
  const text = line.slice(from, from + WIDTH).toWellFormed();
  return (from > 0 ? "…" : "") + text + (from + WIDTH < line.length ? "…" : "");
}

/** The index of the match in each line that has one. */
function matchLines(lines) {
  const found = new Map();
  const expression = new RegExp(q.source, q.flags);
  for (let i = 0; i < lines.length; i++) {
    const match = expression.exec(lines[i]);
    if (match) found.set(i, match.index);
  }
  return found;
}

function matchText(text, lines) {
  const found = new Map();
  const expression = new RegExp(q.source, q.flags + "gms");
  let line = 0;
  let start = 0;
  for (let match = expression.exec(text); match; match = expression.exec(text)) {
    while (line < lines.length && start + lines[line].length < match.index) start += lines[line++].length + 1;
    const end = match.index + match[0].length;
    for (let i = line, from = start; i < lines.length && (i === line || from < end); from += lines[i++].length + 1) {
      if (!found.has(i)) found.set(i, Math.max(0, match.index - from));
    }
    if (match[0] === "") expression.lastIndex++;
  }
  return found;
}

function search(original) {
  const text = original.replaceAll("\r\n", "\n");
  const lines = text.split("\n");
  if (lines[lines.length - 1] === "") lines.pop();
  const found = q.multiline ? matchText(text, lines) : matchLines(lines);
  const shown = [];
  let next = 0;
  if (q.lines) {
    for (const at of [...found.keys()].sort((a, b) => a - b)) {
      const to = Math.min(lines.length - 1, at + q.after);
      for (let i = Math.max(next, at - q.before); i <= to && shown.length < q.maxLines; i++) {
        shown.push([i + 1, found.has(i), cut(lines[i], found.get(i) ?? 0)]);
      }
      next = Math.max(next, to + 1);
      if (shown.length >= q.maxLines) break;
    }
  }
  return { count: found.size, lines: shown };
}

parentPort.on("message", (texts) => {
  try {
    // One by one: those before a text that takes forever are reported.
    for (const text of texts) parentPort.postMessage({ answer: search(text) });
  } catch (error) {
    parentPort.postMessage({ problem: error.message });
  }
});
`;
