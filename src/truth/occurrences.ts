/** Where wanted words are in the files of a project: every file is read once, for all of them. */

import { closeSync, constants, openSync, readdirSync, readSync } from "node:fs";
import { openRegular } from "../disk/fence.ts";
import { statedValue } from "./claims-values.ts";
import { type Hit, isProse, isSource, judgeHit } from "./hit.ts";
import type { Tree } from "./tree.ts";

export interface Occurrence {
  file: string;
  line: number;
  hit: Hit;
  /** It comes after `--` or right after a quote: an option's name. */
  isOption: boolean;
  /** The literal that the line gives to it, where it does so plainly. */
  value: string | null;
}

/** The best hits of a word, one or a few for each file. */
export type Occurrences = ReadonlyMap<string, readonly Occurrence[]>;

export interface Search {
  found: Occurrences;
  /** Left out: of a search in source what is generated, minified, vendored or prose. */
  others: string[];
  notes: string[];
}

/** Source files are smaller; anything larger is data. */
const MAX_FILE_BYTES = 1 << 20;
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
  const readInto = openFileReader(tree.root);
  const buffer = Buffer.allocUnsafe(MAX_FILE_BYTES + 1);
  let total = 0;
  let done = 0;
  for (const file of made ?? tree.files) {
    // Yield to other tasks.
    if (++done % 256 === 0) {
      onFile?.(done);
      await new Promise((next) => setImmediate(next));
    }
    if (total > MAX_TOTAL_BYTES || (made ? isProse(file) : !isSource(file))) {
      search.others.push(file);
      continue;
    }
    const size = readInto(file, buffer);
    if (size <= 0) continue;
    if (made ? isSource(file) && !isMade(buffer, size) : isMade(buffer, size)) {
      search.others.push(file);
      continue;
    }
    total += size;
    if (total <= MAX_TOTAL_BYTES) searchFile(file, buffer, size, scan, found);
  }
  if (total > MAX_TOTAL_BYTES)
    search.notes.push("the project is too large to read completely, so names may be in files that were not read");
  return search;
}

/** Binary, or written by a program. */
function isMade(buffer: Buffer, size: number): boolean {
  const head = buffer.subarray(0, Math.min(size, 8_000));
  if (head.includes(0)) return true;
  if (head.length <= 4_000) return false;
  const most = head.length / MINIFIED_LINE;
  let lines = 1;
  for (let at = head.indexOf(10); at >= 0 && lines < most; at = head.indexOf(10, at + 1)) lines++;
  return lines < most;
}

function searchFile(
  file: string,
  buffer: Buffer,
  size: number,
  scan: ReturnType<typeof openScan>,
  found: Map<string, Occurrence[]>,
): void {
  const seen = new Map<string, number>();
  let counted = { at: 0, line: 1 };
  scan.scan(buffer, 0, size, (word, at, end) => {
    const places = found.get(word) as Occurrence[];
    const times = seen.get(word) ?? 0;
    if (times >= MAX_PER_FILE || places.length >= MAX_PLACES) return;
    seen.set(word, times + 1);
    for (let next = buffer.indexOf(10, counted.at); next >= 0 && next < at; next = buffer.indexOf(10, next + 1)) {
      counted = { at: next + 1, line: counted.line + 1 };
    }
    const start = Math.max(counted.at, at - MAX_LINE);
    const newline = buffer.indexOf(10, end);
    const stop = Math.min(newline < 0 || newline > size ? size : newline, end + MAX_LINE);
    places.push({
      file,
      line: counted.line,
      ...judgeLine(file, buffer.toString("latin1", start, stop), at - start, end - at),
    });
  });
}

export function judgeLine(
  file: string,
  line: string,
  column: number,
  length: number,
): Pick<Occurrence, "hit" | "isOption" | "value"> {
  const before = line.slice(Math.max(0, column - 2), column);
  const hit = judgeHit(file, line, column, length);
  return {
    hit,
    isOption: before === "--" || /["'`]$/.test(before),
    value: hit === "definition" ? statedValue(line, column + length) : null,
  };
}

/** How many bytes of the buffer are the file's; -1 if it cannot be read, is not a regular file, or is too large. */
type ReadInto = (file: string, buffer: Buffer) => number;

/** A file of the buffer's length is too large. Files have `/` on every system. */
export function openFileReader(root: string): ReadInto {
  const folders = new Map<string, ReadonlySet<string>>();
  /** What its folder says of a file spares asking the file itself, which takes as long as reading it. */
  const isOrdinary = (file: string) => {
    const slash = file.lastIndexOf("/");
    const folder = file.slice(0, Math.max(0, slash));
    const known = folders.get(folder);
    const names = known ?? ordinaryFiles(`${root}/${folder}`);
    if (!known) folders.set(folder, names);
    return names.has(file.slice(slash + 1));
  };
  return (file, buffer) => {
    const path = `${root}/${file}`;
    let fd: number | undefined;
    try {
      // Not listed by this name: systems differ in how they spell names.
      fd = isOrdinary(file) ? openSync(path, FLAGS) : openRegular(path)?.fd;
      if (fd === undefined) return -1;
      let size = 0;
      for (let read = 1; read > 0 && size < buffer.length; size += read)
        read = readSync(fd, buffer, size, buffer.length - size, null);
      return size < buffer.length ? size : -1;
    } catch {
      return -1;
    } finally {
      if (fd !== undefined) closeSync(fd);
    }
  };
}

/** In case it has become a fifo or a link in the meantime. */
const FLAGS = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0) | (constants.O_NOFOLLOW ?? 0);

function ordinaryFiles(folder: string): ReadonlySet<string> {
  try {
    const entries = readdirSync(folder, { withFileTypes: true });
    return new Set(entries.flatMap((entry) => (entry.isFile() ? [entry.name] : [])));
  } catch {
    return new Set();
  }
}

export interface WordScan {
  /** Calls `hit` for each whole wanted word between `from` and `to`. */
  scan(bytes: Uint8Array, from: number, to: number, hit: (word: string, at: number, end: number) => void): void;
}

interface Wanted {
  word: string;
  bytes: Uint8Array;
}

/** Letters, digits, `_`, `$` and everything beyond ASCII. */
const IS_WORD = Uint8Array.from({ length: 256 }, (_, c) =>
  c >= 128 || c === 36 || /\w/.test(String.fromCharCode(c)) ? 1 : 0,
);
const HYPHEN = 45;
/** Half a million bits, of which thousands of words set few: nearly all words of a text end here. */
const FILTER_WORDS = 1 << 14;

/** A word may hold other signs (`dry-run`, `@a/b`): it is found by its last part. */
export function openScan(words: Iterable<string>): WordScan {
  const filter = new Uint32Array(FILTER_WORDS);
  /** The same of words that are whole, without a part before this one. */
  const whole = new Uint32Array(FILTER_WORDS);
  /** The signs before last parts: numbers are everywhere, but not behind a hyphen. */
  const isJoint = new Uint8Array(256);
  const byHash = new Map<number, Wanted[]>();
  for (const word of words) {
    const bytes = Buffer.from(word);
    let start = bytes.length;
    while (start > 0 && IS_WORD[bytes[start - 1] as number]) start--;
    if (start === bytes.length) continue;
    let hash = 0;
    for (let i = start; i < bytes.length; i++) hash = (Math.imul(hash, 31) + (bytes[i] as number)) | 0;
    setBit(filter, hash);
    if (start === 0) setBit(whole, hash);
    else isJoint[bytes[start - 1] as number] = 1;
    byHash.set(hash, [...(byHash.get(hash) ?? []), { word, bytes }]);
  }
  return {
    scan(bytes, from, to, hit) {
      for (let i = from; i < to; ) {
        let c = bytes[i] as number;
        if (IS_WORD[c] === 0) {
          i++;
          continue;
        }
        const start = i;
        let hash = 0;
        do {
          hash = (Math.imul(hash, 31) + c) | 0;
          c = ++i < to ? (bytes[i] as number) : 0;
        } while (IS_WORD[c] === 1);
        if (!hasBit(filter, hash)) continue;
        if (hasBit(whole, hash) || (start > from && isJoint[bytes[start - 1] as number] === 1))
          report(bytes, from, i, byHash.get(hash), hit);
      }
    },
  };
}

function setBit(filter: Uint32Array, hash: number): void {
  const at = hash & (FILTER_WORDS - 1);
  filter[at] = (filter[at] as number) | (1 << ((hash >>> 14) & 31));
}

function hasBit(filter: Uint32Array, hash: number): boolean {
  return ((filter[hash & (FILTER_WORDS - 1)] as number) & (1 << ((hash >>> 14) & 31))) !== 0;
}

function report(
  bytes: Uint8Array,
  from: number,
  end: number,
  wanted: readonly Wanted[] | undefined,
  hit: (word: string, at: number, end: number) => void,
): void {
  for (const { word, bytes: own } of wanted ?? []) {
    const at = end - own.length;
    if (at < from || !own.every((byte, i) => bytes[at + i] === byte)) continue;
    if (at > from && IS_WORD[bytes[at - 1] as number]) continue;
    // `dry-run` is not in `dry-run-all`.
    const isLonger = word.includes("-") && bytes[end] === HYPHEN && IS_WORD[bytes[end + 1] ?? 0];
    if (!isLonger) hit(word, at, end);
  }
}
