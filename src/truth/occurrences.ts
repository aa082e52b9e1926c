/** Where wanted words are in the files of a project: every file is read once, for all of them. */

import { readRegular } from "../disk/fence.ts";
import { attempt } from "../errors.ts";
import { statedValue } from "./claims-phrases.ts";
import type { Tree } from "./tree.ts";
import { isProse, isSource, judgeUsage } from "./usage.ts";

export type Occurrence = { file: string; line: number } & ReturnType<typeof judgeLine>;

/** The best places of a word, one or a few for each file. */
export type Occurrences = ReadonlyMap<string, readonly Occurrence[]>;

export interface Search {
  found: Occurrences;
  /** Left out: of a search in source what is generated, minified, vendored or prose. */
  others: string[];
  notes: string[];
}

/** Programs in one file of a megabyte exist; anything much larger is data. */
export const MAX_FILE_BYTES = 4 << 20;
/** More of one word in one file adds nothing. */
const MAX_PER_FILE = 4;
const MAX_PLACES = 400;
/** How large all files together may be before searching takes too long. */
const MAX_TOTAL_BYTES = 1 << 30;
const MAX_LINE = 1_000;
/** Lines of made code are much longer than those that people write. */
const MINIFIED_LINE = 500;

/** `made`: only what programs wrote or others brought, among these files. */
export async function searchTree(
  tree: Tree,
  words: Iterable<string>,
  { made, onFile }: { made?: readonly string[]; onFile?: (done: number) => void } = {},
): Promise<Search> {
  const found = new Map<string, Occurrence[]>();
  for (const word of words) found.set(word, []);
  const search: Search = { found, others: [], notes: [] };
  if (found.size === 0) return search;
  const scan = openScan(found.keys());
  let total = 0;
  let done = 0;
  for (const file of made ?? tree.files) {
    // Git waits until its output is read.
    if (++done % 32 === 0) {
      onFile?.(done);
      await new Promise((next) => setImmediate(next));
    }
    if (total > MAX_TOTAL_BYTES || (made ? isProse(file) : !isSource(file))) {
      search.others.push(file);
      continue;
    }
    const text = attempt(() => readRegular(`${tree.root}/${file}`, { maxBytes: MAX_FILE_BYTES }), null);
    if (text === null || text.length === 0) continue;
    if (made ? isSource(file) && !isMade(text) : isMade(text)) {
      search.others.push(file);
      continue;
    }
    total += text.length;
    if (total <= MAX_TOTAL_BYTES) searchFile(file, text, scan, found);
  }
  if (total > MAX_TOTAL_BYTES)
    search.notes.push("the project is too large to read completely, so names may be in files that were not read");
  return search;
}

/** Binary, or written by a program. */
function isMade(text: Buffer): boolean {
  const head = text.subarray(0, 8_000);
  if (head.includes(0)) return true;
  if (head.length <= 4_000) return false;
  const most = head.length / MINIFIED_LINE;
  let lines = 1;
  for (let at = head.indexOf(10); at >= 0 && lines < most; at = head.indexOf(10, at + 1)) lines++;
  return lines < most;
}

function searchFile(file: string, text: Buffer, scan: Scan, found: Map<string, Occurrence[]>): void {
  const seen = new Map<string, number>();
  let counted = { at: 0, line: 1 };
  scan(text, 0, text.length, (word, at, end) => {
    const places = found.get(word) as Occurrence[];
    const times = seen.get(word) ?? 0;
    if (times >= MAX_PER_FILE || places.length >= MAX_PLACES) return;
    seen.set(word, times + 1);
    if (at < counted.at) counted = { at: 0, line: 1 };
    for (let next = text.indexOf(10, counted.at); next >= 0 && next < at; next = text.indexOf(10, next + 1)) {
      counted = { at: next + 1, line: counted.line + 1 };
    }
    const start = Math.max(counted.at, at - MAX_LINE);
    const newline = text.indexOf(10, end);
    const stop = Math.min(newline < 0 ? text.length : newline, end + MAX_LINE);
    const line = text.toString("latin1", start, stop);
    places.push({ file, line: counted.line, ...judgeLine(file, line, at - start, end - at) });
  });
}

export function judgeLine(file: string, line: string, column: number, length: number) {
  const before = line.slice(Math.max(0, column - 2), column);
  const usage = judgeUsage(file, line, column, length);
  return {
    usage,
    /** It comes after `--` or right after a quote: an option's name. */
    isOption: before === "--" || /["'`]$/.test(before),
    /** The literal that the line gives to it, where it does so plainly. */
    value: usage === "definition" ? statedValue(line, column + length) : null,
  };
}

/** Calls `tell` for each whole wanted word between `from` and `to`; not in the order of the text. */
export type Scan = (text: Buffer, from: number, to: number, tell: OnWord) => void;

type OnWord = (word: string, at: number, end: number) => void;

/** By their length and their bytes as Latin-1: thousands may begin alike. */
type Wanted = Map<number, Map<string, string>>;

/** Letters, digits, `_`, `$` and everything beyond ASCII. */
const IS_WORD = Uint8Array.from({ length: 256 }, (_, c) =>
  c >= 128 || c === 36 || /\w/.test(String.fromCharCode(c)) ? 1 : 0,
);
const HYPHEN = 45;
/** Shorter words would leave nothing to skip. */
const SHORT = 4;
/** A quarter of a million triples of bytes, of which thousands of words have few. */
const TRIPLES = 1 << 18;

/** Most of a text is skipped: three bytes tell how far away the next word is at least (the method of Wu and Manber). */
export function openScan(words: Iterable<string>): Scan {
  const all = [...words].map((word) => ({ word, bytes: Buffer.from(word) }));
  const wanted = all.filter(({ bytes }) => IS_WORD[bytes.at(-1) ?? 0] === 1);
  const short = wanted.filter(({ bytes }) => bytes.length < SHORT);
  const long = wanted.filter(({ bytes }) => bytes.length >= SHORT);
  const least = long.reduce((length, { bytes }) => Math.min(length, bytes.length), 255);
  const skips = new Uint8Array(TRIPLES).fill(least - 2);
  const byTriple = new Map<number, Wanted>();
  for (const { word, bytes } of long) {
    for (let end = 3; end <= least; end++) {
      const triple = tripleBefore(bytes, end);
      skips[triple] = Math.min(skips[triple] as number, least - end);
    }
    const alike = entryOf(byTriple, tripleBefore(bytes, least), () => new Map());
    entryOf(alike, bytes.length, () => new Map<string, string>()).set(bytes.toString("latin1"), word);
  }
  return (text, from, to, tell) => {
    for (let end = from + least; long.length > 0 && end <= to; ) {
      const triple = tripleBefore(text, end);
      const skip = skips[triple] as number;
      if (skip === 0) report(text, from, to, end - least, byTriple.get(triple), tell);
      end += skip || 1;
    }
    for (const { word, bytes } of short) {
      const own: Wanted = new Map([[bytes.length, new Map([[bytes.toString("latin1"), word]])]]);
      const part = text.subarray(from, to);
      for (let at = part.indexOf(bytes); at >= 0; at = part.indexOf(bytes, at + 1))
        report(text, from, to, from + at, own, tell);
    }
  };
}

function entryOf<K, V>(map: Map<K, V>, key: K, make: () => V): V {
  const known = map.get(key) ?? make();
  map.set(key, known);
  return known;
}

function tripleBefore(bytes: Buffer, end: number): number {
  return (bytes[end - 3] as number) ^ ((bytes[end - 2] as number) << 5) ^ ((bytes[end - 1] as number) << 10);
}

function report(text: Buffer, from: number, to: number, at: number, wanted: Wanted | undefined, tell: OnWord): void {
  if (!wanted || (at > from && IS_WORD[text[at - 1] as number])) return;
  for (const [length, known] of wanted) {
    const end = at + length;
    if (end > to || (end < to && IS_WORD[text[end] as number])) continue;
    const word = known.get(text.toString("latin1", at, end));
    // `dry-run` is not in `dry-run-all`.
    const isLonger = end + 1 < to && text[end] === HYPHEN && IS_WORD[text[end + 1] as number] && word?.includes("-");
    if (word !== undefined && !isLonger) tell(word, at, end);
  }
}
