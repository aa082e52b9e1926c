/** The Grep tool: searches file contents with a regular expression that cannot block us. */

import { on } from "node:events";
import { join, relative, sep } from "node:path";
import { Worker } from "node:worker_threads";
import ignore from "ignore";
import { isWithin, lstatOrNull } from "../disk/fence.ts";
import { choice, flag, type Input, number, required, text } from "../input.ts";
import type { Tool } from "../model/tool.ts";
import { decodeText, isBinary, isPseudo, tryReadFileAt } from "./file.ts";
import { compilePattern, newestFirst, SKIPPED, stopIfAborted, timeOf, WALK_LIMITS, walkFiles } from "./glob.ts";
import { missing, readTarget } from "./read.ts";
import { defineTool, findTarget, permitRead, showPath, type Target, type Workbench } from "./workbench.ts";

/** Longer than any sensible search takes, and shorter than people are willing to wait. */
const MAX_MS = 20_000;
/** A search needs little memory; an expression that needs more is broken. */
const MAX_HEAP_MB = 512;
/** Larger files were not written by hand. */
const MAX_FILE_BYTES = 10_000_000;
/** One message to the thread: large enough to be cheap, small enough to keep memory low. */
const BATCH_CHARS = 1_000_000;
const BATCH_FILES = 200;
const DEFAULT_LIMIT = 250;
/** People do not write larger .gitignore files. */
const MAX_IGNORE_BYTES = 256 * 1024;
/** Each `**` is tried at every folder and multiplies the time, so many of them and very deep folders are not matched. */
const MAX_GLOBSTARS = 3;
const MAX_DEPTH = 64;
const MAX_WILDCARDS = 32;

const FIELDS = {
  pattern: required(text()),
  path: text(),
  glob: text(),
  output_mode: choice(["content", "files_with_matches", "count"]),
  "-i": flag(),
  "-n": flag(),
  "-A": number(),
  "-B": number(),
  "-C": number(),
  head_limit: number(),
  multiline: flag(),
};

type Wanted = Input<typeof FIELDS>;

interface Job {
  bench: Workbench;
  target: Target;
  wanted: Wanted;
  signal: AbortSignal;
  /** What the model is told besides what was found. */
  notes: string[];
}

interface SearchAnswer {
  /** Lines with a match. */
  count: number;
  /** Number, whether it matches, and its text, cut around the match. */
  lines: [number: number, isMatch: boolean, text: string][];
}

type Hit = SearchAnswer & Pick<Searched, "path">;

export function openGrep(bench: Workbench, limits: { maxMs: number } = { maxMs: MAX_MS }): Tool {
  return defineTool("Grep", FIELDS, async (wanted, call) => {
    const { source, flags } = parseExpression(wanted.pattern, wanted["-i"] ?? false);
    const target = findTarget(bench, wanted.path || ".");
    await permitRead(bench, call, target);
    const max = wanted.head_limit || DEFAULT_LIMIT;
    const isContent = wanted.output_mode === "content";
    const question = {
      source,
      flags,
      multiline: wanted.multiline ?? false,
      // Whether lines are wanted, or only how many there are.
      lines: isContent,
      before: wanted["-B"] ?? wanted["-C"] ?? 0,
      after: wanted["-A"] ?? wanted["-C"] ?? 0,
      // For one text.
      maxLines: max + 1,
    };
    const job: Job = { bench, target, wanted, signal: call.signal, notes: [] };
    const hits: Hit[] = [];
    let lines = 0;
    for await (const found of searchFiles(job, question, limits.maxMs)) {
      hits.push(found);
      lines += found.lines.length;
      if (isContent && lines > max) break;
    }
    return report(job, hits, max);
  });
}

/**
 * The files with a match. The expression runs in its own thread: some take practically forever, and nothing in JavaScript can interrupt
 * them, but a thread can be terminated. Ends early, with a note, when the time is up.
 */
async function* searchFiles(job: Job, question: object, maxMs: number): AsyncGenerator<Hit> {
  const { bench, signal, notes } = job;
  const worker = new Worker(WORKER, {
    eval: true,
    workerData: question,
    env: {},
    execArgv: [],
    resourceLimits: { maxOldGenerationSizeMb: MAX_HEAP_MB },
  });
  // Its errors end the answers below; one that comes while it is being ended is of no interest.
  worker.on("error", () => {});
  const late = AbortSignal.timeout(maxMs);
  let at = "";
  try {
    const answers = on(worker, "message", { signal: AbortSignal.any([signal, late]), close: ["exit"] });
    for await (const batch of batchesOf(filesOf(job))) {
      at = batch[0]?.path ?? at;
      worker.postMessage(batch.map(({ text }) => text));
      for (const { path } of batch) {
        at = path;
        const { value, done } = await answers.next();
        if (done) throw new Error("the search ended too early");
        const [{ answer, problem }] = value as [{ answer?: SearchAnswer; problem?: string }];
        if (!answer) throw new Error(`the pattern cannot be used: ${problem}`);
        if (answer.count > 0) yield { ...answer, path };
      }
    }
  } catch (error) {
    stopIfAborted(signal);
    if (!late.aborted) throw error;
    const shown = showPath(bench, at);
    notes.push(`The search took too long and ended at ${shown}; use a simpler pattern or a smaller folder`);
  } finally {
    void worker.terminate();
  }
}

interface Searched {
  path: string;
  text: string;
}

async function* batchesOf(files: AsyncIterable<Searched>): AsyncGenerator<Searched[]> {
  let batch: Searched[] = [];
  let chars = 0;
  for await (const file of files) {
    batch.push(file);
    chars += file.text.length;
    if (chars < BATCH_CHARS && batch.length < BATCH_FILES) continue;
    yield batch;
    batch = [];
    chars = 0;
  }
  if (batch.length > 0) yield batch;
}

async function* filesOf({ bench, target, wanted, signal, notes }: Job): AsyncGenerator<Searched> {
  const stat = isPseudo(target.real) ? null : lstatOrNull(target.real);
  if (!stat?.isDirectory()) {
    yield { path: target.path, text: readOne(target) };
    return;
  }
  const isWanted = parseGlobs(wanted.glob);
  // Patterns in the working directory's .gitignore start there; elsewhere the searched folder has its own.
  const top = isWithin(bench.cwd, target.real) && bench.fence === null ? bench.cwd : target.real;
  const ignores = readIgnoreFile(top);
  const way = relative(top, target.real)
    .split(sep)
    .filter((part) => part !== "");
  // Someone who names an ignored folder wants to see what is in it.
  const lead = way.length > 0 && ignores(way, true) ? [] : way;
  const files = walkFiles(target.real, {
    signal,
    limits: WALK_LIMITS,
    enter: (parts) => !SKIPPED.includes(parts.at(-1) ?? "") && !ignores([...lead, ...parts], true),
    onCut: (reason) => notes.push(`Not all files were searched: the walk ended ${reason}`),
  });
  for await (const { path, parts, isLink } of files) {
    if (isLink || !isWanted(parts) || ignores([...lead, ...parts], false)) continue;
    const bytes = tryReadFileAt(path, MAX_FILE_BYTES);
    stopIfAborted(signal);
    if (bytes && !isBinary(bytes)) yield { path: join(target.path, ...parts), text: decodeText(bytes).text };
  }
}

/** What the folder's .gitignore ignores; `parts` start there. A missing or broken file ignores nothing. */
function readIgnoreFile(folder: string): (parts: readonly string[], isFolder: boolean) => boolean {
  const lines = (tryReadFileAt(join(folder, ".gitignore"), MAX_IGNORE_BYTES)?.toString() ?? "").split(/\r?\n/);
  const rules = ignore({ ignoreCase: false }).add(
    lines.filter(
      (line) => line.split("**").length - 1 <= MAX_GLOBSTARS && (line.match(/\*+|[?[]/g)?.length ?? 0) <= MAX_WILDCARDS,
    ),
  );
  return (parts, isFolder) => parts.length <= MAX_DEPTH && rules.ignores(parts.join("/") + (isFolder ? "/" : ""));
}

function readOne(target: Target): string {
  const bytes = readTarget(target, "searched", MAX_FILE_BYTES)?.bytes;
  if (!bytes) throw missing(target);
  if (isBinary(bytes)) throw new Error(`${target.shown} cannot be searched: it is a binary file`);
  return decodeText(bytes).text;
}

/** Also accepts what other programs do: a leading `(?i)`, and escapes that JavaScript's strict syntax refuses. */
function parseExpression(pattern: string, ignoreCase: boolean): { source: string; flags: string } {
  const inline = pattern.startsWith("(?i)");
  const source = inline ? pattern.slice(4) : pattern;
  const flags = ignoreCase || inline ? "i" : "";
  let problem = "";
  for (const strict of ["u", ""]) {
    try {
      new RegExp(source, flags + strict);
      return { source, flags: flags + strict };
    } catch (error) {
      problem = (error as Error).message;
    }
  }
  throw new Error(`the pattern is not a valid regular expression: ${problem}`);
}

/** A pattern without a slash is matched against the name, in any folder. */
function parseGlobs(glob: string | undefined): (parts: readonly string[]) => boolean {
  if (!glob?.trim()) return () => true;
  const negated = glob.startsWith("!");
  const text = negated ? glob.slice(1) : glob;
  const pattern = compilePattern(text.includes("/") ? text : `**/${text}`);
  return (parts) => pattern.matches(parts) !== negated;
}

function report({ bench, wanted, notes }: Job, hits: readonly Hit[], max: number): string {
  const rows = wanted.output_mode === "content" ? contentRows(bench, wanted, hits) : fileRows(bench, wanted, hits);
  const shown = rows.slice(0, max);
  if (rows.length > max)
    notes.push(`There is more; only the first ${max} are shown. Narrow the search or raise head_limit`);
  const tail = notes.length > 0 ? `\n[${notes.join(". ")}.]` : "";
  return (shown.length > 0 ? shown.join("\n") : "no matches") + tail;
}

function fileRows(bench: Workbench, wanted: Wanted, hits: readonly Hit[]): string[] {
  if (wanted.output_mode === "count") return hits.map(({ path, count }) => `${showPath(bench, path)}:${count}`);
  return newestFirst(hits.map(({ path }) => ({ path, time: timeOf(path) }))).map((path) => showPath(bench, path));
}

/** As grep prints them: `:` after the path of a match, `-` after that of a context line, `--` between groups. */
function contentRows(bench: Workbench, wanted: Wanted, hits: readonly Hit[]): string[] {
  const rows: string[] = [];
  const hasContext = Boolean(wanted["-A"] ?? wanted["-B"] ?? wanted["-C"]);
  for (const { path, lines } of hits) {
    const shown = showPath(bench, path);
    let last = 0;
    for (const [number, isMatch, text] of lines) {
      if (hasContext && rows.length > 0 && number !== last + 1) rows.push("--");
      last = number;
      const mark = isMatch ? ":" : "-";
      rows.push(`${shown}${mark}${wanted["-n"] === false ? "" : `${number}${mark}`}${text}`);
    }
  }
  return rows;
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
