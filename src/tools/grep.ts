/** The Grep tool: searches file contents with a regular expression that cannot block us. */

import { join, relative, sep } from "node:path";
import ignore from "ignore";
import { isWithin, lstatOrNull } from "../disk/fence.ts";
import { choice, flag, type Input, number, required, text } from "../input.ts";
import type { Tool } from "../model/tool.ts";
import { decodeText, isBinary, isPseudo, tryReadFileAt } from "./file.ts";
import { compilePattern, newestFirst, SKIPPED, stopIfAborted, timeOf, WALK_LIMITS, walkFiles } from "./glob.ts";
import { type LineSearch, openLineSearch, type SearchAnswer } from "./line-search.ts";
import { missing, readTarget } from "./read.ts";
import { defineTool, findTarget, permitRead, showPath, type Target, type Workbench } from "./workbench.ts";

/** Longer than any sensible search takes, and shorter than people are willing to wait. */
const MAX_MS = 20_000;
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

interface Hit extends SearchAnswer {
  path: string;
}

export function openGrep(bench: Workbench, limits: { maxMs: number } = { maxMs: MAX_MS }): Tool {
  return defineTool("Grep", FIELDS, async (wanted, call) => {
    const { source, flags } = parseExpression(wanted.pattern, wanted["-i"] ?? false);
    const target = findTarget(bench, wanted.path || ".");
    await permitRead(bench, call, target);
    const max = wanted.head_limit || DEFAULT_LIMIT;
    const isContent = wanted.output_mode === "content";
    const search = openLineSearch(
      {
        source,
        flags,
        multiline: wanted.multiline ?? false,
        lines: isContent,
        before: wanted["-B"] ?? wanted["-C"] ?? 0,
        after: wanted["-A"] ?? wanted["-C"] ?? 0,
        maxLines: max + 1,
      },
      limits.maxMs,
      call.signal,
    );
    const hits: Hit[] = [];
    const job: Job = { bench, target, wanted, signal: call.signal, notes: [] };
    try {
      let lines = 0;
      for await (const found of searchFiles(job, search)) {
        hits.push(found);
        lines += found.lines.length;
        if (isContent && lines > max) break;
      }
    } finally {
      search.close();
    }
    return report(job, hits, max);
  });
}

/** The files with a match. Ends early, with a note, when the time is up. */
async function* searchFiles(job: Job, search: LineSearch): AsyncGenerator<Hit> {
  for await (const batch of batchesOf(filesOf(job))) {
    const answers = await search.search(batch.map(({ text }) => text));
    for (const [i, answer] of answers.entries()) {
      if (answer.count > 0) yield { ...answer, path: batch[i]?.path ?? "" };
    }
    const late = batch[answers.length];
    if (!late) continue;
    const shown = showPath(job.bench, late.path);
    job.notes.push(`The search took too long and ended at ${shown}; use a simpler pattern or a smaller folder`);
    return;
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
