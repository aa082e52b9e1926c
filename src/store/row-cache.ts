/**
 * What is known of a directory's memories, on disk: `.memdir/rows.bin`. A head, then row parts, those that hooks need before the
 * others; then the ranking parts, and an index where there are many; then whole entries that were appended later, of which the
 * last one of a file counts. All of it can be made again from the files: whatever is wrong with it is ignored and rewritten.
 */

import {
  closeSync,
  constants,
  existsSync,
  fstatSync,
  lstatSync,
  openSync,
  readSync,
  renameSync,
  writeSync,
} from "node:fs";
import { join } from "node:path";
import { openTemporary, PRIVATE_MODE, readPart, removeQuietly } from "../disk/fence.ts";
import { runAtOnce } from "../disk/turns.ts";
import { type Directory, openPins, statePath } from "./directory.ts";
import {
  ALIGNMENT,
  AT,
  encodeEntry,
  encodeRank,
  encodeRow,
  FLAG,
  fileAt,
  hashBytes,
  isSoundRow,
  placeRank,
  type RowEntry,
  rowBytesAt,
  viewEntry,
} from "./row-entry.ts";
import { encodeIndex, INDEX_FROM } from "./row-index.ts";

export const ROWS_FILE = "rows.bin";
/** Names of caches of earlier versions, which this one replaces. */
const FORMER_FILES = ["headers.json", "recall.bin", "enforced.json"];
const MAGIC = 0x5752444d;
/** Raised whenever digests or entries change: an older file is then ignored. */
const VERSION = 8;
/** Room for the times of some hundred folders. */
export const FILE_HEAD_BYTES = 4096;
/** Behind two marks, the sum of its bytes and its length. */
const JSON_AT = 16;
/** Up to here every file's time is compared each time; a look takes some millionths of a second. */
export const FEW_FILES = 300;
/** Of more, those that changed last. */
export const LIKELY_FILES = 8;

export interface CacheHead {
  /** Where the row parts end that hooks need: those with a rule or a day. */
  firstEnd: number;
  rowsEnd: number;
  /** Where the ranking parts end and the index begins, if there is one. */
  ranksEnd: number;
  /** Where the appended entries begin. */
  compactEnd: number;
  /** Every folder with its time when the entries covered all of its files; [] if that is not known. */
  folders: (readonly [folder: string, mtimeMs: number])[];
  /** The commit at which the dates of commits were looked up; "" for none. */
  commits: string;
}

export interface OpenCache {
  fd: number;
  ino: number;
  size: number;
  head: CacheHead;
}

/** A fifo would wait for a writer, a link could lead anywhere. */
const SAFE = (constants.O_NONBLOCK ?? 0) | (constants.O_NOFOLLOW ?? 0);

/** To be closed; null when there is none that can be used. */
export function openCache({ path }: Pick<Directory, "path">): OpenCache | null {
  let fd: number | null = null;
  try {
    if (!lstatSync(join(path, ".memdir")).isDirectory()) return null;
    fd = openSync(join(path, ".memdir", ROWS_FILE), constants.O_RDONLY | SAFE);
    const stat = fstatSync(fd);
    const head = stat.isFile() ? readHead(fd, stat.size) : null;
    if (head) return { fd, ino: stat.ino, size: stat.size, head };
  } catch {
    // There is none yet, or none that we may read.
  }
  if (fd !== null) closeSync(fd);
  return null;
}

function readHead(fd: number, size: number): CacheHead | null {
  const bytes = readPart(fd, 0, FILE_HEAD_BYTES);
  if (bytes.length < FILE_HEAD_BYTES) return null;
  const [magic, version, check, length = 0] = [0, 4, 8, 12].map((at) => bytes.readUInt32LE(at));
  const json = bytes.subarray(JSON_AT, JSON_AT + length);
  if (magic !== MAGIC || version !== VERSION || check !== hashBytes(json)) return null;
  const head = JSON.parse(json.toString("utf8")) as CacheHead;
  const ends = [FILE_HEAD_BYTES, head.firstEnd, head.rowsEnd, head.ranksEnd, head.compactEnd, size];
  return ends.every((end, i) => i === 0 || end >= (ends[i - 1] as number)) ? head : null;
}

function encodeHead(head: CacheHead): Buffer {
  const bytes = Buffer.alloc(FILE_HEAD_BYTES);
  const whole = Buffer.from(JSON.stringify(head));
  // More folders than there is room for: it is not known whether the entries are all.
  const fits = whole.length <= FILE_HEAD_BYTES - JSON_AT;
  const json = fits ? whole : Buffer.from(JSON.stringify({ ...head, folders: [] }));
  for (const [i, value] of [MAGIC, VERSION, hashBytes(json), json.length].entries()) bytes.writeUInt32LE(value, i * 4);
  json.copy(bytes, JSON_AT);
  return bytes;
}

export interface CacheRead {
  /** By file; the last one counts. */
  entries: Map<string, RowEntry>;
  /** Null when there is no cache that can be used. */
  head: CacheHead | null;
  /** Bytes of appended entries, and of what no longer counts. */
  looseBytes: number;
  bytes: number;
  /** Of the file; 0 without one. */
  ino: number;
  /** False when some of it cannot be read: it has to be rewritten. */
  isSound: boolean;
}

/** Some three hundred rows: the times of their files are compared in a few milliseconds. */
const WINDOW_BYTES = 192 * 1024;
/** Longer than a row: the last one of a window may reach beyond it. */
const OVERHANG_BYTES = 64 * 1024;

/**
 * Without ranking parts unless they are asked for: lists do not pay for them. `hooks`: only memories with a rule or a day.
 * `windowAt`: a part of the cache and what was appended; which part depends on this time, so that all have their turn.
 */
export function readRowCache(directory: Pick<Directory, "path">, want: Want): CacheRead {
  return runAtOnce(readInPieces(directory, want));
}

type Want = "hooks" | "rows" | "all" | { windowAt: number };

/** The same a piece at a time. */
export function* readInPieces(directory: Pick<Directory, "path">, want: Want): Generator<void, CacheRead> {
  const read: CacheRead = { entries: new Map(), head: null, looseBytes: 0, bytes: 0, ino: 0, isSound: true };
  const cache = openCache(directory);
  if (!cache) return read;
  try {
    const { fd, size, head } = cache;
    read.head = head;
    read.bytes = size;
    read.ino = cache.ino;
    read.looseBytes = size - head.compactEnd;
    const forHooks = want === "hooks";
    if (typeof want === "object") addWindow(read, cache, want.windowAt, directory);
    else {
      const main = yield* readRange(fd, 0, want === "all" ? head.ranksEnd : forHooks ? head.firstEnd : head.rowsEnd);
      const end = Math.min(main.length, head.rowsEnd);
      yield* addEntries(read, main, { from: FILE_HEAD_BYTES, end, isWhole: false, forHooks }, directory);
    }
    // Appended entries are whole: their ranking part comes right behind the row part.
    const tail = yield* readRange(fd, head.compactEnd, size);
    yield* addEntries(read, tail, { from: 0, end: tail.length, isWhole: true, forHooks }, directory);
  } catch {
    read.isSound = false;
  } finally {
    closeSync(cache.fd);
  }
  return read;
}

function addWindow(read: CacheRead, { fd, head }: OpenCache, atMs: number, directory: Pick<Directory, "path">): void {
  const windows = Math.max(1, Math.ceil((head.rowsEnd - FILE_HEAD_BYTES) / WINDOW_BYTES));
  const from = FILE_HEAD_BYTES + (Math.floor(atMs / 1000) % windows) * WINDOW_BYTES;
  const buffer = runAtOnce(readRange(fd, from, Math.min(head.rowsEnd, from + WINDOW_BYTES + OVERHANG_BYTES)));
  let bytes = 0;
  for (let at = 0; at < Math.min(WINDOW_BYTES, buffer.length); at += bytes || ALIGNMENT) {
    bytes = rowBytesAt(buffer, at);
    // A window begins somewhere inside a row.
    if (bytes === 0 || !isSoundRow(buffer, at, bytes)) bytes = 0;
    else addEntry(read, buffer, at, () => readRank(directory, from, buffer, at));
  }
}

/** Read or written at once: it takes a millisecond or two. */
const PIECE_BYTES = 4 << 20;

function* readRange(fd: number, from: number, end: number): Generator<void, Buffer> {
  const bytes = Buffer.from(new ArrayBuffer(Math.max(0, end - from)));
  for (let done = 0; done < bytes.length; ) {
    const count = readSync(fd, bytes, done, Math.min(PIECE_BYTES, bytes.length - done), from + done);
    if (count === 0) return bytes.subarray(0, done);
    done += count;
    yield;
  }
  return bytes;
}

interface Entries {
  from: number;
  end: number;
  /** Each ranking part comes right behind its row part. */
  isWhole: boolean;
  forHooks?: boolean;
}

function* addEntries(
  read: CacheRead,
  buffer: Buffer,
  { from, end, isWhole, forHooks = false }: Entries,
  directory: Pick<Directory, "path">,
): Generator<void, void> {
  for (let at = from; at < end; ) {
    yield;
    const bytes = rowBytesAt(buffer, at, end);
    if (bytes === 0) {
      read.isSound = false;
      return;
    }
    const place = at;
    at += bytes + (isWhole ? buffer.readUInt32LE(at + AT.rankBytes) : 0);
    if (!isSoundRow(buffer, place, bytes)) {
      read.isSound = false;
      continue;
    }
    // Objects for thousands of entries would cost a hook more than the rest of its work.
    if (forHooks && (buffer.readUInt32LE(place + AT.flags) & FLAG.forHooks) === 0) {
      read.entries.delete(fileAt(buffer, place));
      continue;
    }
    const rankEnd = place + buffer.readUInt32LE(place + AT.rankAt) + buffer.readUInt32LE(place + AT.rankBytes);
    addEntry(read, buffer, place, rankEnd <= buffer.length ? null : () => readRank(directory, 0, buffer, place));
  }
}

function addEntry({ entries }: CacheRead, buffer: Buffer, place: number, rank: (() => Buffer | null) | null): void {
  const entry = viewEntry(buffer, place, rank);
  entries.set(entry.file, entry);
}

/** The ranking part of an entry whose row part alone was read, in a buffer that begins at `start` of the file. */
export function readRank(
  directory: Pick<Directory, "path">,
  start: number,
  buffer: Buffer,
  place: number,
): Buffer | null {
  const cache = openCache(directory);
  if (!cache) return null;
  try {
    const from = start + place + buffer.readUInt32LE(place + AT.rankAt);
    return runAtOnce(readRange(cache.fd, from, from + buffer.readUInt32LE(place + AT.rankBytes)));
  } finally {
    closeSync(cache.fd);
  }
}

/** In time that depends on these entries alone. How many bytes; 0 when the cache has to be rewritten, or cannot be written. */
export function appendEntries(directory: Directory, entries: readonly RowEntry[]): number {
  // One call, so that two processes do not mix their entries.
  const data = Buffer.concat(entries.map(encodeEntry).flatMap(({ row, rank }) => [row, rank]));
  const isDone = inCache(directory, constants.O_APPEND, (fd, { size }) => {
    // Half an entry at the end, left by a process that died: what came behind it would not be found.
    return size % ALIGNMENT === 0 && writeSync(fd, data) === data.length;
  });
  return isDone ? data.length : 0;
}

export type CacheNotes = Pick<CacheHead, "folders" | "commits">;

/** Notes in place that the entries cover all files of these folders, and when commits were looked up. */
export function noteInHead(directory: Directory, notes: Partial<CacheNotes>): boolean {
  return inCache(directory, 0, (fd, { head }) => {
    return writeSync(fd, encodeHead({ ...head, ...notes }), 0, FILE_HEAD_BYTES, 0) === FILE_HEAD_BYTES;
  });
}

/** False when there is no cache that can be written to. */
function inCache(
  directory: Directory,
  flags: number,
  write: (fd: number, cache: Pick<OpenCache, "size" | "head">) => boolean,
): boolean {
  const change = function* (pinned: Directory): Generator<void, boolean> {
    yield;
    const fd = openSync(statePath(pinned, ROWS_FILE), constants.O_RDWR | SAFE | flags);
    try {
      const stat = fstatSync(fd);
      const head = stat.isFile() ? readHead(fd, stat.size) : null;
      return head !== null && write(fd, { size: stat.size, head });
    } finally {
      closeSync(fd);
    }
  };
  return runAtOnce(withState(directory, change));
}

/** The cache that a new one is made of: what others append to it meanwhile is kept. */
export type Former = Pick<CacheRead, "ino" | "bytes">;

/**
 * The whole cache anew, a piece at a time, in its best order; with an index from so many entries on. "replaced": another process
 * wrote a new one meanwhile, which stays. False: it cannot be written.
 */
export function* writeInPieces(
  directory: Directory,
  entries: Iterable<RowEntry>,
  notes: CacheNotes,
  former: Former | null,
  indexFrom = INDEX_FROM,
): Generator<void, boolean | "replaced"> {
  return yield* withState(directory, (pinned) => writePinned(pinned, [...entries], notes, former, indexFrom));
}

function* writePinned(
  pinned: Directory,
  entries: readonly RowEntry[],
  notes: CacheNotes,
  former: Former | null,
  indexFrom: number,
): Generator<void, true | "replaced"> {
  const { path, fd } = openTemporary(statePath(pinned, "tmp"), PRIVATE_MODE, "cache");
  try {
    yield* writeParts(fd, entries, notes, indexFrom);
    if (former && !addAppended(pinned, former, fd)) return "replaced";
    renameSync(path, statePath(pinned, ROWS_FILE));
    for (const name of FORMER_FILES) removeQuietly(statePath(pinned, name));
    return true;
  } finally {
    closeSync(fd);
    // Nothing is there once it has been moved.
    removeQuietly(path);
  }
}

function* writeParts(
  fd: number,
  all: readonly RowEntry[],
  notes: CacheNotes,
  indexFrom: number,
): Generator<void, void> {
  const first = all.filter(({ isForHooks }) => isForHooks);
  const sorted = [...first, ...all.filter(({ isForHooks }) => !isForHooks)];
  const rows: Buffer[] = [];
  for (const entry of sorted) {
    yield;
    rows.push(encodeRow(entry));
  }
  const rowsEnd = rows.reduce((sum, row) => sum + row.length, FILE_HEAD_BYTES);
  let [rowAt, rankAt] = [FILE_HEAD_BYTES, rowsEnd];
  const placed = [];
  for (const [i, row] of rows.entries()) {
    const entry = sorted[i] as RowEntry;
    placed.push({ entry, rowAt, rowBytes: row.length, rankAt });
    const rank = encodeRank(entry.ranking, row);
    placeRank(row, rankAt - rowAt);
    rankAt = yield* writeAt(fd, [rank], rankAt);
    rowAt += row.length;
  }
  const index = placed.length >= indexFrom ? yield* encodeIndex(placed) : [];
  const compactEnd = yield* writeAt(fd, index, rankAt);
  const firstEnd = placed[first.length]?.rowAt ?? rowsEnd;
  const head = encodeHead({ firstEnd, rowsEnd, ranksEnd: rankAt, compactEnd, ...notes });
  yield* writeAt(fd, [head, ...rows], 0);
}

/** One part behind the other, a piece at a time; where they end. */
function* writeAt(fd: number, parts: readonly Buffer[], from: number): Generator<void, number> {
  let at = from;
  for (const part of parts) {
    for (let done = 0; done < part.length; ) {
      yield;
      const count = writeSync(fd, part, done, Math.min(PIECE_BYTES, part.length - done), at);
      done += count;
      at += count;
    }
  }
  return at;
}

/** Copies what was appended to the former cache since it was read; false when it is no longer the one that was read. */
function addAppended(directory: Directory, { ino, bytes }: Former, fd: number): boolean {
  const cache = openCache(directory);
  if (!cache) return true;
  try {
    if (cache.ino !== ino) return false;
    const appended = runAtOnce(readRange(cache.fd, bytes, cache.size));
    runAtOnce(writeAt(fd, [appended], fstatSync(fd).size));
    return true;
  } finally {
    closeSync(cache.fd);
  }
}

/** Makes the state folder too, if there is none yet: other tools' directories have none. False when it cannot be written to. */
function* withState<T>(
  directory: Directory,
  write: (pinned: Directory) => Generator<void, T>,
): Generator<void, T | false> {
  if (directory.readOnly || !existsSync(directory.path)) return false;
  try {
    const { pinned, close } = openPins(directory);
    try {
      return yield* write(pinned);
    } finally {
      close();
    }
  } catch (error) {
    return report(directory, error);
  }
}

/** No cache yet, no permission, a full disk: all works without. */
function report(directory: Directory, error: unknown): false {
  const { code, message } = error as NodeJS.ErrnoException;
  if (code !== "ENOENT") directory.log(`the row cache of ${directory.path} was not written: ${message}`);
  return false;
}
