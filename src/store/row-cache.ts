/**
 * What is known of a directory's memories, on disk: `.memdir/rows.bin`. A head, then row parts, those that hooks need before the
 * others; then the ranking parts; then whole entries that were appended later, of which the last one of a file counts. All of
 * it can be made again from the files: whatever is wrong with it is ignored and rewritten.
 */

import { closeSync, constants, existsSync, fstatSync, lstatSync, openSync, readSync, writeSync } from "node:fs";
import { join } from "node:path";
import { removeQuietly, writeCacheFile } from "../disk/atomic.ts";
import { type Directory, openPins, prepareDirectory, statePath } from "./directory.ts";
import {
  ALIGNMENT,
  AT,
  type Encoded,
  encodeEntry,
  isSoundRow,
  placeRank,
  type RowEntry,
  rowBytesAt,
  viewEntry,
} from "./row-entry.ts";

export const ROWS_FILE = "rows.bin";
/** Names of caches of earlier versions, which this one replaces. */
const FORMER_FILES = ["headers.json", "recall.bin", "enforced.json"];
const MAGIC = 0x5752444d;
/** Raised whenever digests or entries change: an older file is then ignored. */
const VERSION = 1;
/** Room for the times of some hundred folders. */
export const FILE_HEAD_BYTES = 4096;
const JSON_AT = 40;
/** Up to here every file's time is compared each time; a look takes some millionths of a second. */
export const FEW_FILES = 300;
/** Of more, those that changed last. */
export const LIKELY_FILES = 8;

export interface CacheHead {
  /** Where the row parts end that hooks need: rules, days, and the files whose times are compared. */
  firstEnd: number;
  rowsEnd: number;
  /** Where the appended entries begin. */
  compactEnd: number;
  /** Every folder with its time when the entries covered all of its files; [] if that is not known. */
  folders: (readonly [folder: string, mtimeMs: number])[];
  /** The commit at which the dates of commits were looked up; "" for none. */
  commits: string;
}

type Place = Pick<Directory, "path">;

export interface OpenCache {
  fd: number;
  ino: number;
  size: number;
  mtimeMs: number;
  head: CacheHead;
}

/** To be closed; null when there is none that can be used. A fifo would wait for a writer, a link could lead anywhere. */
export function openCache({ path }: Place): OpenCache | null {
  let fd: number | null = null;
  try {
    if (!lstatSync(join(path, ".memdir")).isDirectory()) return null;
    const flags = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0) | (constants.O_NOFOLLOW ?? 0);
    fd = openSync(join(path, ".memdir", ROWS_FILE), flags);
    const { ino, size, mtimeMs, ...stat } = fstatSync(fd);
    const head = (stat.mode & constants.S_IFMT) === constants.S_IFREG ? readHead(fd, size) : null;
    if (head) return { fd, ino, size, mtimeMs, head };
  } catch {
    // There is none yet, or none that we may read.
  }
  if (fd !== null) closeSync(fd);
  return null;
}

function readHead(fd: number, size: number): CacheHead | null {
  const bytes = Buffer.alloc(FILE_HEAD_BYTES);
  if (readSync(fd, bytes, 0, FILE_HEAD_BYTES, 0) < FILE_HEAD_BYTES) return null;
  if (bytes.readUInt32LE(0) !== MAGIC || bytes.readUInt32LE(4) !== VERSION) return null;
  const jsonBytes = bytes.readUInt32LE(12);
  if (jsonBytes > FILE_HEAD_BYTES - JSON_AT || bytes.readUInt32LE(8) !== checkHead(bytes)) return null;
  const [firstEnd = 0, rowsEnd = 0, compactEnd = 0] = [16, 24, 32].map((at) => bytes.readDoubleLE(at));
  if (firstEnd < FILE_HEAD_BYTES || rowsEnd < firstEnd || compactEnd < rowsEnd || compactEnd > size) return null;
  const { folders, commits } = JSON.parse(bytes.toString("utf8", JSON_AT, JSON_AT + jsonBytes));
  return { firstEnd, rowsEnd, compactEnd, folders, commits };
}

function encodeHead({ firstEnd, rowsEnd, compactEnd, folders, commits }: CacheHead): Buffer {
  const bytes = Buffer.alloc(FILE_HEAD_BYTES);
  const whole = Buffer.from(JSON.stringify({ folders, commits }));
  // More folders than there is room for: it is not known whether the entries are all.
  const json = whole.length > FILE_HEAD_BYTES - JSON_AT ? Buffer.from(JSON.stringify({ folders: [], commits })) : whole;
  bytes.writeUInt32LE(MAGIC, 0);
  bytes.writeUInt32LE(VERSION, 4);
  bytes.writeUInt32LE(json.length, 12);
  [firstEnd, rowsEnd, compactEnd].forEach((end, i) => {
    bytes.writeDoubleLE(end, 16 + i * 8);
  });
  json.copy(bytes, JSON_AT);
  bytes.writeUInt32LE(checkHead(bytes), 8);
  return bytes;
}

function checkHead(bytes: Buffer): number {
  let check = 0x811c9dc5;
  for (let at = 12; at < JSON_AT + bytes.readUInt32LE(12); at++)
    check = Math.imul(check ^ (bytes[at] as number), 0x01000193);
  return check >>> 0;
}

export interface CacheRead {
  /** By file; the last one counts. */
  entries: Map<string, RowEntry>;
  /** Null when there is no cache that can be used. */
  head: CacheHead | null;
  /** Bytes of appended entries, and of what no longer counts. */
  looseBytes: number;
  bytes: number;
  /** False when something in it hides what is behind it: it has to be rewritten. */
  isSound: boolean;
}

/** Without ranking parts unless they are asked for: lists do not pay for them. `first`: only the row parts that hooks need. */
export function readRowCache(directory: Place, want: "first" | "rows" | "all"): CacheRead {
  const read: CacheRead = { entries: new Map(), head: null, looseBytes: 0, bytes: 0, isSound: true };
  const cache = openCache(directory);
  if (!cache) return read;
  try {
    const { fd, size, head } = cache;
    read.head = head;
    read.bytes = size;
    read.looseBytes = size - head.compactEnd;
    const end = want === "all" ? size : want === "rows" ? head.rowsEnd : head.firstEnd;
    const main = readRange(fd, 0, end);
    const rowsEnd = Math.min(end, head.rowsEnd);
    addEntries(read, main, { from: FILE_HEAD_BYTES, end: rowsEnd, isWhole: false }, directory);
    // Appended entries are whole: their ranking part comes right behind the row part.
    if (want === "all") addEntries(read, main, { from: head.compactEnd, end: size, isWhole: true }, directory);
    else {
      const tail = readRange(fd, head.compactEnd, size);
      addEntries(read, tail, { from: 0, end: tail.length, isWhole: true }, directory);
    }
  } catch {
    read.isSound = false;
  } finally {
    closeSync(cache.fd);
  }
  return read;
}

function readRange(fd: number, from: number, end: number): Buffer {
  const bytes = Buffer.from(new ArrayBuffer(Math.max(0, end - from)));
  const count = readSync(fd, bytes, 0, bytes.length, from);
  return bytes.subarray(0, count);
}

function addEntries(
  read: CacheRead,
  buffer: Buffer,
  { from, end, isWhole }: { from: number; end: number; isWhole: boolean },
  directory: Place,
): void {
  for (let at = from; at < end; ) {
    const bytes = rowBytesAt(buffer, at, end);
    if (bytes === 0) {
      read.isSound = false;
      return;
    }
    const place = at;
    at += bytes + (isWhole ? buffer.readUInt32LE(at + AT.rankBytes) : 0);
    if (!isSoundRow(buffer, place, bytes)) continue;
    const rankEnd = place + buffer.readUInt32LE(place + AT.rankAt) + buffer.readUInt32LE(place + AT.rankBytes);
    const entry = viewEntry(buffer, place, rankEnd <= buffer.length ? null : () => readRank(directory, buffer, place));
    read.entries.set(entry.file, entry);
  }
}

/** The ranking part of an entry whose row part alone was read. */
function readRank(directory: Place, buffer: Buffer, place: number): Buffer | null {
  const cache = openCache(directory);
  if (!cache) return null;
  try {
    const from = place + buffer.readUInt32LE(place + AT.rankAt);
    return readRange(cache.fd, from, from + buffer.readUInt32LE(place + AT.rankBytes));
  } finally {
    closeSync(cache.fd);
  }
}

/** In time that depends on these entries alone. How many bytes; 0 when the cache has to be rewritten, or cannot be written. */
export function appendEntries(directory: Directory, entries: readonly RowEntry[]): number {
  let bytes = 0;
  withState(directory, (pinned) => {
    const flags = constants.O_RDWR | constants.O_APPEND | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);
    const fd = openSync(statePath(pinned, ROWS_FILE), flags);
    try {
      const stat = fstatSync(fd);
      // Half an entry at the end, left by a process that died: what came behind it would not be found.
      if (!stat.isFile() || stat.size % ALIGNMENT !== 0 || !readHead(fd, stat.size)) return false;
      // One call, so that two processes do not mix their entries.
      const data = Buffer.concat(entries.map(encodeEntry).flatMap(({ row, rank }) => [row, rank]));
      if (writeSync(fd, data) === data.length) bytes = data.length;
      return bytes > 0;
    } finally {
      closeSync(fd);
    }
  });
  return bytes;
}

export type CacheNotes = Pick<CacheHead, "folders" | "commits">;

/** Notes in place that the entries cover all files of these folders, and when commits were looked up. */
export function noteInHead(directory: Directory, notes: Partial<CacheNotes>): boolean {
  return withState(directory, (pinned) => {
    const flags = constants.O_RDWR | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);
    const fd = openSync(statePath(pinned, ROWS_FILE), flags);
    try {
      const stat = fstatSync(fd);
      const head = stat.isFile() ? readHead(fd, stat.size) : null;
      return (
        head !== null && writeSync(fd, encodeHead({ ...head, ...notes }), 0, FILE_HEAD_BYTES, 0) === FILE_HEAD_BYTES
      );
    } finally {
      closeSync(fd);
    }
  });
}

/** The whole cache anew, in its best order. */
export function writeEntries(directory: Directory, entries: Iterable<RowEntry>, notes: CacheNotes): boolean {
  return withState(directory, (pinned) => {
    const { first, rest } = inOrder([...entries]);
    const encoded = [...first, ...rest].map(encodeEntry);
    const sizeOf = (parts: readonly Encoded[], part: keyof Encoded) =>
      parts.reduce((sum, e) => sum + e[part].length, 0);
    const rowsEnd = FILE_HEAD_BYTES + sizeOf(encoded, "row");
    let [rowAt, rankAt] = [FILE_HEAD_BYTES, rowsEnd];
    for (const { row, rank } of encoded) {
      placeRank(row, rankAt - rowAt);
      rowAt += row.length;
      rankAt += rank.length;
    }
    const firstEnd = FILE_HEAD_BYTES + sizeOf(encoded.slice(0, first.length), "row");
    const head = encodeHead({ firstEnd, rowsEnd, compactEnd: rankAt, ...notes });
    const parts = [head, ...encoded.map(({ row }) => row), ...encoded.map(({ rank }) => rank)];
    writeCacheFile(statePath(pinned, "tmp"), statePath(pinned, ROWS_FILE), Buffer.concat(parts));
    for (const name of FORMER_FILES) removeQuietly(statePath(pinned, name));
    return true;
  });
}

/** What hooks need comes first: rules, days, and the files whose times are compared. */
function inOrder(entries: readonly RowEntry[]): { first: RowEntry[]; rest: RowEntry[] } {
  if (entries.length <= FEW_FILES) return { first: [...entries], rest: [] };
  const newest = new Set([...entries].sort((a, b) => b.mtimeMs - a.mtimeMs).slice(0, LIKELY_FILES));
  const isFirst = (entry: RowEntry) => newest.has(entry) || entry.isForHooks;
  return { first: entries.filter(isFirst), rest: entries.filter((entry) => !isFirst(entry)) };
}

/** Makes the state folder too, if there is none yet: other tools' directories have none. */
function withState(directory: Directory, write: (pinned: Directory) => boolean): boolean {
  if (directory.readOnly || !existsSync(directory.path)) return false;
  try {
    prepareDirectory(directory);
    const { pinned, close } = openPins(directory);
    try {
      return write(pinned);
    } finally {
      close();
    }
  } catch (error) {
    // No cache yet, no permission, a full disk: all works without.
    const { code, message } = error as NodeJS.ErrnoException;
    if (code !== "ENOENT") directory.log(`the row cache of ${directory.path} was not written: ${message}`);
    return false;
  }
}
