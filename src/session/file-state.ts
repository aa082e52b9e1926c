/** What the model has seen of files, so that it cannot change what it has not read in its current state. */

import { fstatSync, lstatSync, readFileSync } from "node:fs";
import { dirname } from "node:path";
import { realPath, withRegular } from "../disk/fence.ts";
import { sha256 } from "../text/hash.ts";

/** A file is identified by its real path: a link and its target are one. */
export interface FileState {
  /** Called after a Read and after our own writes. `bytes` is the whole file; `lines: null` means that all of it was seen. */
  note(path: string, seen: { bytes: Uint8Array; lines: LineRange | null }): void;
  /** Called after our own edit of a partly read file: the lines around it stay known under their new numbers. */
  noteEdit(path: string, edited: { bytes: Uint8Array; edits: readonly LineEdit[] }): void;
  /** Why a change is refused, with the advice to read (again); null when it may be made. Reads the disk; must not throw. */
  check(path: string, change: FileChange): string | null;
  /** Forgets one file, as if it had not been read. */
  forget(path: string): void;
  /** For a fork: from here on neither sees what the other reads. */
  clone(): FileState;
  /** What was read, newest first, to attach it again after a compaction. */
  capture(): SeenFile[];
  /** Forgets all files. */
  clear(): void;
  /** How many files are known. */
  readonly entries: number;
  /** An estimate of the memory used. */
  readonly bytes: number;
}

type FileChange = { kind: "write" } | { kind: "edit"; lines: readonly LineRange[] };

export interface SeenFile {
  path: string;
  /** Null means the whole file. */
  lines: LineRange[] | null;
  /** Grows with every read. */
  at: number;
}

/** More files than a session reads; an evicted file just has to be read again. */
const MAX_ENTRIES = 4096;
/** A byte for each line of a partly read file: only very many huge logs come near. */
const MAX_BYTES = 64 << 20;

type Limits = { maxEntries: number; maxBytes: number };

/** Starts with no file read. */
export function openFileState({ maxEntries = MAX_ENTRIES, maxBytes = MAX_BYTES } = {}): FileState {
  return makeState(new Map(), 0, { maxEntries, maxBytes });
}

/** Immutable, so that clones can share it. */
interface Entry {
  hash: string;
  total: number;
  /** A one for every line that was seen; null means all of them. */
  seen: Lines | null;
  at: number;
}

/** A Map keeps the order of insertion: the first entry is the oldest. */
function makeState(seen: Map<string, Entry>, counter: number, limits: Limits): FileState {
  const put = (real: string, content: Uint8Array, hash: string, read: (total: number) => Lines | null) => {
    const total = countLines(content);
    const lines = read(total);
    seen.delete(real);
    seen.set(real, { hash, total, seen: lines?.includes(0) ? lines : null, at: ++counter });
    for (const oldest of seen.keys()) {
      if (seen.size <= limits.maxEntries && sizeOf(seen) <= limits.maxBytes) break;
      seen.delete(oldest);
    }
  };

  return {
    note(path, { bytes, lines }) {
      const real = realPath(path);
      const hash = sha256(bytes);
      const old = seen.get(real);
      // What was read of another version no longer counts.
      const known = old?.hash === hash ? old.seen : new Uint8Array();
      put(real, bytes, hash, (total) => lines && known && markLines(known, lines, total));
    },
    noteEdit(path, { bytes, edits }) {
      const real = realPath(path);
      const old = seen.get(real);
      const known = old ? old.seen : new Uint8Array();
      put(real, bytes, sha256(bytes), (total) => known && shiftLines(known, edits, total));
    },
    check(path, change) {
      const real = realPath(path);
      return findRefusal(path, real, seen.get(real), change);
    },
    forget: (path) => void seen.delete(realPath(path)),
    clone: () => makeState(new Map(seen), counter, limits),
    capture: () =>
      [...seen]
        .map(([path, entry]) => ({ path, lines: entry.seen && rangesOf(entry.seen), at: entry.at }))
        .filter(({ lines }) => lines?.length !== 0)
        .reverse(),
    clear: () => seen.clear(),
    get entries() {
      return seen.size;
    },
    get bytes() {
      return sizeOf(seen);
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
  if (!entry.seen) return null;
  const missing = missingOf(change, entry.seen, entry.total);
  if (missing.length === 0) return null;
  const were = missing.length === 1 && missing[0]?.from === missing[0]?.to ? "was" : "were";
  return `${formatLines(missing)} of ${path} ${were} not read; read them first, then change it`;
}

function missingOf(change: FileChange, seen: Lines, total: number): LineRange[] {
  const wanted = new Uint8Array(total);
  for (const { from, to } of change.kind === "write" ? [{ from: 1, to: total }] : change.lines) {
    // Text added after the end joins the last line, so that line must be known.
    wanted.fill(1, Math.min(from, total) - 1, Math.min(Math.max(from, to), total));
  }
  return rangesOf(wanted.map((isWanted, at) => isWanted & ~(seen[at] ?? 0)));
}

/** Roughly: two bytes per character, the hash, a Map entry, an object and each line. */
function sizeOf(files: ReadonlyMap<string, Entry>): number {
  let bytes = 0;
  for (const [real, { hash, seen }] of files) bytes += 160 + 2 * real.length + hash.length + (seen?.length ?? 0);
  return bytes;
}

/** A byte for each line, the first at 0. */
type Lines = Uint8Array;

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

/** The same lines and those of the range, of a text of `total` lines. */
export function markLines(known: Lines, { from, to }: LineRange, total: number): Lines {
  const lines = new Uint8Array(total);
  lines.set(known.subarray(0, total));
  return lines.fill(1, Math.max(0, from - 1), to);
}

/** Where known lines are after edits, which use the old numbers: those below move, and the new ones are known. */
export function shiftLines(known: Lines, edits: readonly LineEdit[], total: number): Lines {
  const lines = new Uint8Array(total);
  let [from, to] = [0, 0];
  for (const edit of edits.toSorted((a, b) => a.from - b.from)) {
    lines.set(known.subarray(from, edit.from - 1), to);
    to += edit.from - 1 - from;
    lines.fill(1, to, to + edit.into);
    to += edit.into;
    from = edit.to;
  }
  lines.set(known.subarray(from, from + total - to), to);
  return lines;
}

export function rangesOf(lines: Lines): LineRange[] {
  const ranges: LineRange[] = [];
  for (let at = lines.indexOf(1); at >= 0; at = lines.indexOf(1, at)) {
    const end = lines.indexOf(0, at);
    ranges.push({ from: at + 1, to: end < 0 ? lines.length : end });
    at = end < 0 ? lines.length : end;
  }
  return ranges;
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

export type FileStatus = { kind: "absent" } | RegularFile | { kind: "other"; what: string };

interface RegularFile {
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
    return withRegular(path, hashOpen) ?? other("something that changes while it is read");
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

function hashOpen(fd: number): FileStatus {
  const bytes = readFileSync(fd);
  return { kind: "file", hash: sha256(bytes), mode: fstatSync(fd).mode & 0o777, size: bytes.length };
}

function other(what: string): FileStatus {
  return { kind: "other", what };
}
