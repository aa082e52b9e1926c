/** The Read tool: a file's lines with their numbers, and a record of what the model has now seen. */

import { readdirSync } from "node:fs";
import { basename, dirname, extname } from "node:path";
import { attempt } from "../errors.ts";
import { filled, number, required, text } from "../input.ts";
import { MAX_RESULT_CHARS, type Tool } from "../model/tool.ts";
import { distance } from "../text/likeness.ts";
import {
  countOf,
  decodeText,
  type FileContent,
  isBinary,
  linesOf,
  numberLines,
  readFileAt,
  reasonOf,
  usesCrlf,
  withFolder,
} from "./file.ts";
import { defineTool, findTarget, permitRead, type Target, type Workbench } from "./workbench.ts";

/** Larger files are logs and data, which are searched rather than read. */
export const MAX_FILE_BYTES = 50_000_000;
/** As many as Claude Code shows, which models expect. */
const MAX_LINES = 2000;
const MAX_LINE_CHARS = 2000;

/** Leaves room for notes: the agent loop would cut a longer result, and more would count as seen than was shown. */
const MAX_SHOWN_CHARS = MAX_RESULT_CHARS - 4000;

const FIELDS = { file_path: required(filled(text())), offset: number(), limit: number("", { min: 1 }) };

export function openRead(bench: Workbench): Tool {
  return defineTool("Read", FIELDS, async ({ file_path, offset, limit }, call) => {
    const target = findTarget(bench, file_path);
    await permitRead(bench, call, target);
    const { bytes } = readExisting(target);
    const view = viewOf(target, bytes, Math.max(1, offset ?? 1), limit ?? MAX_LINES);
    bench.files.note(target.real, { bytes, lines: view.seen });
    bench.onTouch({ path: target.path });
    const remark = bench.store?.owns(target.real) ? bench.store.remark(target.real) : null;
    return remark ? `${remark}\n${view.shown}` : view.shown;
  });
}

/** Null when nothing is there; throws, with the reason, for what cannot be `done`. */
export function readTarget(target: Target, done: string, maxBytes = MAX_FILE_BYTES): FileContent | null {
  try {
    return readFileAt(target.real, maxBytes);
  } catch (error) {
    throw new Error(`${target.shown} cannot be ${done}: ${reasonOf(error)}`);
  }
}

/** Throws for missing files, suggesting similar names, and for files that cannot be read. */
export function readExisting(target: Target): FileContent {
  const content = readTarget(target, "read");
  if (!content) throw missing(target);
  if (!isBinary(content.bytes)) return content;
  const [first, second] = content.bytes;
  const isWide = (first === 0xff && second === 0xfe) || (first === 0xfe && second === 0xff);
  const what = isWide ? "it is UTF-16; convert it to UTF-8 first" : "it is a binary file";
  throw new Error(`${target.shown} cannot be read as text: ${what}`);
}

/** `seen` is null for everything, uncut. */
function viewOf(target: Target, bytes: Buffer, from: number, limit: number) {
  if (bytes.length === 0) return { shown: `${target.shown} is empty`, seen: null };
  const { text, exact } = decodeText(bytes);
  const all = linesOf(text);
  if (all.length === 0) return { shown: `${target.shown} contains nothing but a byte order mark`, seen: null };
  if (from > all.length) {
    throw new Error(`${target.shown} has only ${countOf(all.length, "line")}; offset ${from} is past its end`);
  }
  const { lines, cut } = take(all, from, limit);
  const to = from + lines.length - 1;
  const notes: string[] = [];
  if (from > 1 || to < all.length) {
    const next = to < all.length ? `; go on with offset ${to + 1}` : "";
    notes.push(`lines ${from}-${to} of ${all.length.toLocaleString("en-US")}${next}`);
  }
  if (cut > 0) notes.push(`${countOf(cut, "line")} cut at ${MAX_LINE_CHARS} characters`);
  if (usesCrlf(text)) notes.push("lines end with CRLF; Edit keeps that");
  if (!exact) notes.push("some bytes are not UTF-8 and shown as \ufffd; it cannot be edited without losing them");
  const tail = notes.length > 0 ? `\n\n[${notes.join(". ")}.]` : "";
  const isWhole = from === 1 && to === all.length && cut === 0;
  return { shown: numberLines(lines, from) + tail, seen: isWhole ? null : { from, to } };
}

/** As many lines as were asked for and fit, at least one. */
function take(all: readonly string[], from: number, limit: number): { lines: string[]; cut: number } {
  const lines: string[] = [];
  let cut = 0;
  let chars = 0;
  for (const line of all.slice(from - 1, from - 1 + limit)) {
    // Not in the middle of a character.
    const start = line.slice(0, MAX_LINE_CHARS).replace(/[\ud800-\udbff]$/, "");
    const shown = line.length > MAX_LINE_CHARS ? `${start}…` : line;
    chars += shown.length + 7;
    if (lines.length > 0 && chars > MAX_SHOWN_CHARS) break;
    if (shown !== line) cut++;
    lines.push(shown);
  }
  return { lines, cut };
}

export function missing(target: Target): Error {
  const near = findNearNames(target.real);
  if (near === null) return new Error(`${target.shown} does not exist, nor does its folder; use Glob to find the file`);
  const meant = near.length > 0 ? `; did you mean ${near.join(" or ")} in the same folder?` : "";
  return new Error(`${target.shown} does not exist${meant}`);
}

/** The most suggestions for a wrong name. */
const MAX_NAMES = 3;

/** More entries are not compared: such a folder is full of similar names anyway. */
const MAX_ENTRIES = 5000;

/** Best first; null when the folder does not exist. */
function findNearNames(real: string): string[] | null {
  const entries = attempt(() => withFolder(dirname(real), (folder) => readdirSync(folder)), null);
  if (!entries) return null;
  const wanted = basename(real).toLowerCase();
  return entries
    .slice(0, MAX_ENTRIES)
    .map((name) => ({ name, far: stepsBetween(name.toLowerCase(), wanted) }))
    .filter(({ far }) => far <= Math.max(2, Math.floor(wanted.length / 4)))
    .sort((a, b) => a.far - b.far || (a.name < b.name ? -1 : 1))
    .slice(0, MAX_NAMES)
    .map(({ name }) => name);
}

/** A different extension alone counts as one letter. */
function stepsBetween(a: string, b: string): number {
  const stem = (name: string) => name.slice(0, name.length - extname(name).length);
  if (a !== b && stem(a) === stem(b)) return 1;
  // Names that differ this much in length were not meant, and comparing long ones is slow.
  return Math.abs(a.length - b.length) > 8 ? Number.POSITIVE_INFINITY : distance(a, b);
}
