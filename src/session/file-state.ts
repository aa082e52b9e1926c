/** What the model has seen of files, so that it cannot change what it has not read in its current state. */

import { createHash } from "node:crypto";
import { closeSync, fstatSync, lstatSync, readSync } from "node:fs";
import { dirname } from "node:path";
import { openRegular, realPath } from "../disk/fence.ts";
import { sha256 } from "../text/hash.ts";

/** A file is identified by its real path: a link and its target are one. */
export interface FileState {
  /** Called after a Read and after our own writes. `bytes` is the whole file; `lines: null` means that all of it was seen. */
  note(path: string, seen: { bytes: Uint8Array; lines: LineRange | null }): void;
  /** Called after our own edit of a partly read file: the lines around it stay known under their new numbers. */
  noteEdit(path: string, edited: { bytes: Uint8Array; edits: readonly LineEdit[] }): void;
  /** Why a change is refused, with the advice to read (again); null when it may be made. Reads the disk; must not throw. */
  check(path: string, change: FileChange): string | null;
  forget(path: string): void;
  /** For a fork: from here on neither sees what the other reads. */
  clone(): FileState;
  /** What was read, newest first, to attach it again after a compaction. */
  capture(): SeenFile[];
  clear(): void;
  readonly entries: number;
  /** An estimate of the memory used. */
  readonly bytes: number;
}

type FileChange = { kind: "write" } | { kind: "edit"; lines: LineRange | readonly LineRange[] };

export interface SeenFile {
  path: string;
  /** Null means the whole file. */
  lines: LineRange[] | null;
  /** Grows with every read. */
  at: number;
}

interface FileStateLimits {
  maxEntries?: number;
  maxBytes?: number;
}

/** More files than a session reads; an evicted file just has to be read again. */
const MAX_ENTRIES = 4096;
/** Some 2 KB each: only files read in very many pieces come near. */
const MAX_BYTES = 8 << 20;

export function openFileState(limits: FileStateLimits = {}): FileState {
  return makeState(new Map(), 0, limits);
}

/** Immutable, so that clones can share it. */
interface Entry {
  hash: string;
  total: number;
  /** Merged; null means all lines. */
  ranges: readonly LineRange[] | null;
  at: number;
}

/** A Map keeps the order of insertion: the first entry is the oldest. */
function makeState(seen: Map<string, Entry>, counter: number, limits: FileStateLimits): FileState {
  const { maxEntries = MAX_ENTRIES, maxBytes = MAX_BYTES } = limits;
  let bytes = 0;
  for (const [real, entry] of seen) bytes += sizeOf(real, entry);

  const forget = (real: string) => {
    const entry = seen.get(real);
    if (!entry) return;
    bytes -= sizeOf(real, entry);
    seen.delete(real);
  };
  const put = (real: string, content: Uint8Array, hash: string, ranges: readonly LineRange[] | null) => {
    forget(real);
    const total = countLines(content);
    const merged = ranges && mergeRanges(ranges, total);
    const isWhole = !merged || missingLines({ from: 1, to: total }, merged).length === 0;
    const entry = { hash, total, ranges: isWhole ? null : merged, at: ++counter };
    seen.set(real, entry);
    bytes += sizeOf(real, entry);
    for (const oldest of seen.keys()) {
      if (seen.size <= maxEntries && bytes <= maxBytes) break;
      forget(oldest);
    }
  };

  return {
    note(path, { bytes: content, lines }) {
      const real = realPath(path);
      const hash = sha256(content);
      const old = seen.get(real);
      // What was read of another version no longer counts.
      const known = old?.hash === hash ? old.ranges : [];
      put(real, content, hash, lines && known && [...known, lines]);
    },
    noteEdit(path, { bytes: content, edits }) {
      const real = realPath(path);
      const old = seen.get(real);
      const known = old ? old.ranges : [];
      put(real, content, sha256(content), known && shiftRanges(known, edits));
    },
    check(path, change) {
      const real = realPath(path);
      return findRefusal(path, real, seen.get(real), change);
    },
    forget: (path) => forget(realPath(path)),
    clone: () => makeState(new Map(seen), counter, limits),
    capture: () =>
      [...seen]
        .filter(([, { ranges }]) => ranges?.length !== 0)
        .map(([path, { ranges, at }]) => ({ path, lines: ranges?.map((range) => ({ ...range })) ?? null, at }))
        .reverse(),
    clear() {
      seen.clear();
      bytes = 0;
    },
    get entries() {
      return seen.size;
    },
    get bytes() {
      return bytes;
    },
  };
}

function findRefusal(path: string, real: string, entry: Entry | undefined, change: FileChange): string | null {
  const status = statusAt(real);
  if (status.kind === "other")
    return `${path} is not changed: there is ${status.what}; find the right file and read it first`;
  if (status.kind === "absent") {
    if (change.kind === "write") return null;
    const since = entry ? "is gone since it was read" : "does not exist";
    return `${path} ${since}; find the right file and read it first, or write a new one`;
  }
  if (!entry) return `${path} has not been read yet; read it first, then change it`;
  if (entry.hash !== status.hash) return `${path} has changed since it was read; read it again, then change it`;
  if (!entry.ranges) return null;
  const missing = missingOf(change, entry.ranges, entry.total);
  if (missing.length === 0) return null;
  const were = missing.length === 1 && missing[0]?.from === missing[0]?.to ? "was" : "were";
  return `${formatLines(missing)} of ${path} ${were} not read; read them first, then change it`;
}

function missingOf(change: FileChange, known: readonly LineRange[], total: number): LineRange[] {
  if (change.kind === "write") return missingLines({ from: 1, to: total }, known);
  const lines = "from" in change.lines ? [change.lines] : change.lines;
  // Text added after the end joins the last line, so that line must be known.
  const inside = lines.map(({ from, to }) => ({
    from: Math.min(from, total),
    to: Math.min(Math.max(from, to), total),
  }));
  return mergeRanges(inside, total).flatMap((range) => missingLines(range, known));
}

/** Roughly: two bytes per character, the hash, a Map entry, an object and each range. */
function sizeOf(real: string, { hash, ranges }: Entry): number {
  return 160 + 2 * real.length + hash.length + 40 * (ranges?.length ?? 0);
}

export interface LineRange {
  from: number;
  to: number;
}

/** Lines `from` to `to` of the old text became `into` lines of the new one; `to = from - 1` is an insertion before `from`. */
export interface LineEdit extends LineRange {
  into: number;
}

/** A last line without a line end counts; an empty file has no lines. */
export function countLines(bytes: Uint8Array): number {
  let count = 0;
  for (let at = bytes.indexOf(LF); at >= 0; at = bytes.indexOf(LF, at + 1)) count++;
  return bytes.length > 0 && bytes[bytes.length - 1] !== LF ? count + 1 : count;
}

/** Sorted, joined where they touch, cut to lines 1 to `total`; invalid ranges are left out. */
export function mergeRanges(ranges: readonly LineRange[], total: number): LineRange[] {
  const merged: LineRange[] = [];
  const clipped = ranges.map(({ from, to }) => ({ from: Math.max(1, from), to: Math.min(total, to) }));
  for (const { from, to } of clipped.filter((range) => range.from <= range.to).sort((a, b) => a.from - b.from)) {
    const last = merged.at(-1);
    if (last && from <= last.to + 1) last.to = Math.max(last.to, to);
    else merged.push({ from, to });
  }
  return merged;
}

/** The part of `wanted` that is not in `known`, which must be merged. */
export function missingLines(wanted: LineRange, known: readonly LineRange[]): LineRange[] {
  const missing: LineRange[] = [];
  let next = wanted.from;
  for (const { from, to } of known) {
    if (from > wanted.to) break;
    if (from > next) missing.push({ from: next, to: from - 1 });
    next = Math.max(next, to + 1);
  }
  if (next <= wanted.to) missing.push({ from: next, to: wanted.to });
  return missing;
}

/** Where known lines are after edits, which use the old numbers: those below move, and the new ones are known. */
export function shiftRanges(known: readonly LineRange[], edits: readonly LineEdit[]): LineRange[] {
  const sorted = [...edits].sort((a, b) => a.from - b.from);
  const shifted = known.flatMap((range) => shiftRange(range, sorted));
  let shift = 0;
  for (const { from, to, into } of sorted) {
    shifted.push({ from: from + shift, to: from + shift + into - 1 });
    shift += into - (to - from + 1);
  }
  return shifted;
}

/** "lines 3-9, 12 and 20-31"; long lists end with "and N more". */
export function formatLines(ranges: readonly LineRange[]): string {
  const shown = ranges.slice(0, MAX_SHOWN).map(({ from, to }) => (from === to ? `${from}` : `${from}-${to}`));
  const rest = ranges.length - shown.length;
  const last = rest > 0 ? `${rest} more` : shown.length > 1 ? shown.pop() : undefined;
  const isOne = ranges.length === 1 && ranges[0]?.from === ranges[0]?.to;
  return `${isOne ? "line" : "lines"} ${shown.join(", ")}${last ? ` and ${last}` : ""}`;
}

const LF = 10;

/** A model reads the whole file rather than a longer list of pieces. */
const MAX_SHOWN = 5;

function shiftRange({ from, to }: LineRange, edits: readonly LineEdit[]): LineRange[] {
  const pieces: LineRange[] = [];
  let start = from;
  let shift = 0;
  for (const edit of edits) {
    if (edit.from > to) break;
    if (edit.to >= start) {
      pieces.push({ from: start + shift, to: edit.from - 1 + shift });
      start = edit.to + 1;
    }
    shift += edit.into - (edit.to - edit.from + 1);
  }
  pieces.push({ from: start + shift, to: to + shift });
  return pieces.filter((piece) => piece.from <= piece.to);
}

export type FileStatus = { kind: "absent" } | RegularFile | { kind: "other"; what: string };

export interface RegularFile {
  kind: "file";
  /** SHA-256 of the content, in hex. */
  hash: string;
  /** Permission bits. */
  mode: number;
  size: number;
}

/** Must not throw, nor wait on a fifo. Links are not followed; `what` completes "there is …". */
export function statusAt(path: string): FileStatus {
  try {
    const stat = lstatSync(path, { throwIfNoEntry: false });
    if (!stat) return ABSENT;
    if (stat.isSymbolicLink()) return other("a symbolic link");
    if (stat.isDirectory()) return other("a directory");
    if (!stat.isFile()) return other("something that is not a regular file");
    const opened = openRegular(path);
    if (!opened) return other("something that changes while it is read");
    try {
      return hashOpen(opened.fd);
    } finally {
      closeSync(opened.fd);
    }
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? "unknown error";
    // A file is where a parent folder should be: nothing can be at this path.
    return code === "ENOTDIR" ? ABSENT : other(`something that cannot be read (${code})`);
  }
}

/** The same for a path whose links were resolved before: a parent folder that has become a link since leads elsewhere. */
export function statusAtReal(path: string): FileStatus {
  if (realPath(dirname(path)) !== dirname(path)) return other("a link on the way that leads elsewhere");
  return statusAt(path);
}

const ABSENT: FileStatus = { kind: "absent" };

/** Large enough that reading is cheap compared to hashing, small enough to allocate for every file. */
const CHUNK_BYTES = 256 * 1024;

function hashOpen(fd: number): FileStatus {
  const { mode, size: expected } = fstatSync(fd);
  const hash = createHash("sha256");
  const chunk = Buffer.allocUnsafe(Math.min(CHUNK_BYTES, expected + 1));
  let size = 0;
  for (let got = readSync(fd, chunk); got > 0; got = readSync(fd, chunk)) {
    hash.update(chunk.subarray(0, got));
    size += got;
  }
  return { kind: "file", hash: hash.digest("hex"), mode: mode & 0o777, size };
}

function other(what: string): FileStatus {
  return { kind: "other", what };
}
