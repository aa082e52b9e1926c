/** The hot path's desk: the caches of all directories in compiled code's memory, with a list of the entries that count. */

import { closeSync, constants, fstatSync, openSync, readdirSync, readSync, statSync } from "node:fs";
import { MAX_PIECES } from "../meaning/words.ts";
import { walk } from "../store/store.ts";
import { CACHE_FILE, CACHE_HEAD_BYTES, FOLDER_TIME_AT, isCache } from "./cache-file.ts";
import { AT, DIMENSIONS, type Entry, encodeEntry, HEAD_BYTES } from "./entry.ts";
import { openScan, type Scan } from "./scan.ts";

export interface HotDirectory {
  path: string;
  scope: string;
  recursive: boolean;
  inRepository: boolean;
}

/** Digests a file that the cache does not know as it is now; null for what is no memory. */
export type Digest = (directory: HotDirectory, file: string) => Entry | null;

/** Up to here every file is looked at; a look takes some millionths of a second. */
const ALL_FILES = 300;
/** Of more, those that changed last; those that are shown are read anyway. */
const LIKELY_FILES = 8;
/** More unknown files than this, and digesting them would hold up the prompt: the rest waits. */
const MAX_DIGESTED = 200;
const MAX_DIGESTED_BYTES = 2 << 20;
/** The caches of all directories behind one another, then the list of their entries, then room for what is found. */
export interface Desk {
  scan: Scan;
  bytes: Buffer;
  /** Where the cache of each directory lies. */
  caches: { from: number; end: number }[];
  /** Of each directory the files that are there; null while the cache is known to be whole. */
  names: (string[] | null)[];
  /** Where a digest goes. */
  free: number;
  freeEnd: number;
  /** Address of the list of entries, and how many are in it; 0 in the list is nobody. */
  list: number;
  count: number;
  /** From which position on the entries are another directory's. */
  owners: { from: number; owner: number }[];
  /** Where the room for what is found begins. */
  room: number;
}

export function openDesk(directories: readonly HotDirectory[], termCount: number): Desk {
  const files = directories.map(openCache);
  const sizes = files.map((file) => align(file?.size ?? 0));
  const cacheBytes = sizes.reduce((sum, size) => sum + size, 0);
  const first = align(HEAD_BYTES);
  const free = first + cacheBytes;
  // While the folder's time is the one that the cache was whole at, nobody's name has to be looked at.
  const names = directories.map((directory, i) => (files[i]?.isWhole ? null : listNames(directory)));
  const isAnyNew = names.some((list) => list !== null);
  const freeEnd = free + MAX_DIGESTED_BYTES;
  const most = Math.floor((cacheBytes + MAX_DIGESTED_BYTES) / HEAD_BYTES) + 1;
  const nameBytes = isAnyNew ? Math.max(...names.map(roomForNames)) : 0;
  const needed = freeEnd + most * 4 * (8 + termCount) + nameBytes + (MAX_PIECES + 8) * DIMENSIONS * 2 + 65_536;
  const scan = openScan(needed);
  const bytes = Buffer.from(scan.memory.buffer);
  let at = first;
  const caches = files.map((file, i) => {
    const from = at;
    at += sizes[i] as number;
    return { from: from + CACHE_HEAD_BYTES, end: file && readInto(file, bytes, from) ? from + file.size : from };
  });
  const room = align(freeEnd + most * 4);
  return { scan, bytes, caches, names, free, freeEnd, list: freeEnd, count: 0, owners: [], room };
}

/** The names themselves, and a table with twice as many slots. */
function roomForNames(names: readonly string[] | null): number {
  return (
    (names ?? []).reduce((sum, name) => sum + Buffer.byteLength(name) + 1, 0) +
    powerAbove((names?.length ?? 0) * 2) * 20 +
    64
  );
}

/** Puts the live entries of a directory on the list. How many files the cache does not know as they are. */
export function readDirectory(desk: Desk, owner: number, directory: HotDirectory, digest: Digest): number {
  const { scan, bytes } = desk;
  const { from, end } = desk.caches[owner] as Desk["caches"][number];
  const list = desk.list + desk.count * 4;
  desk.owners.push({ from: desk.count, owner });
  const count = scan.listEntries(from, end, list);
  desk.count += count;
  const entries = new Uint32Array(bytes.buffer, list, count);
  // A cache that could not be read to its end is not whole, whatever it says.
  const names = desk.names[owner] ?? (endOf(bytes, entries, from) === end ? null : listNames(directory));
  const stale = names ? matchNames(desk, names, list, count) : [];
  for (const i of likely(desk, list, count)) {
    const file = fileAt(desk, entries[i] as number);
    if (agrees(bytes, entries[i] as number, `${directory.path}/${file}`)) continue;
    entries[i] = 0;
    stale.push(file);
  }
  for (const file of stale.slice(0, MAX_DIGESTED)) addDigest(desk, digest(directory, file));
  return stale.length;
}

/** Where the last entry ends; before the cache's end when something in it could not be read. */
function endOf(bytes: Buffer, entries: Uint32Array, from: number): number {
  const last = entries.at(-1);
  return last === undefined ? from : last + bytes.readUInt32LE(last + AT.bytes);
}

/** Takes entries off the list whose files are gone. The files that have none. */
function matchNames({ scan, bytes, room }: Desk, names: readonly string[], list: number, count: number): string[] {
  // A broken cache of a huge directory: recall goes on with what can be read of it.
  if (room + roomForNames(names) > bytes.length) return [];
  const joined = Buffer.from(names.join("\0"));
  joined.copy(bytes, room);
  const table = align(room + joined.length);
  const slots = powerAbove(names.length * 2);
  const unknown = table + slots * 16;
  const unknownCount = scan.matchNames(room, joined.length, list, count, table, slots, unknown);
  const stale = Array.from(new Uint32Array(bytes.buffer, unknown, unknownCount), (number) => names[number] as string);
  bytes.fill(0, room, unknown + unknownCount * 4);
  return stale;
}

function addDigest(desk: Desk, entry: Entry | null): void {
  if (!entry) return;
  const encoded = encodeEntry(entry);
  if (desk.free + encoded.length > desk.freeEnd) return;
  encoded.copy(desk.bytes, desk.free);
  desk.bytes.writeUInt32LE(desk.free, desk.list + desk.count * 4);
  desk.count++;
  desk.free += encoded.length;
}

/** Positions of the files whose times are compared: all, or those that changed last. */
function likely({ scan, bytes, room }: Desk, list: number, count: number): number[] {
  const found = scan.listNewest(list, count, count > ALL_FILES ? LIKELY_FILES : ALL_FILES, room);
  const positions = Array.from(new Uint32Array(bytes.buffer, room, found));
  bytes.fill(0, room, room + found * 4);
  return positions;
}

export function fileAt({ bytes }: Desk, entry: number): string {
  return bytes.toString("utf8", entry + HEAD_BYTES, entry + HEAD_BYTES + bytes.readUInt32LE(entry + AT.fileBytes));
}

/** Names of the files, with their folders. Where there are no folders, which is the ordinary case, names are enough. */
function listNames({ path, recursive }: HotDirectory): string[] {
  try {
    const names = readdirSync(path);
    const mayBeFolder = (name: string) => !name.endsWith(".md") && !name.startsWith(".");
    return recursive && names.some(mayBeFolder) ? walk(path, true).files : names;
  } catch {
    return [];
  }
}

interface CacheFile {
  fd: number;
  size: number;
  isWhole: boolean;
}

function openCache({ path }: HotDirectory): CacheFile | null {
  try {
    // A fifo would wait for a writer.
    const fd = openSync(`${path}/.memdir/${CACHE_FILE}`, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
    const stat = fstatSync(fd);
    const head = Buffer.alloc(CACHE_HEAD_BYTES);
    if (stat.isFile() && readSync(fd, head, 0, CACHE_HEAD_BYTES, 0) === CACHE_HEAD_BYTES && isCache(head)) {
      const folderMs = head.readDoubleLE(FOLDER_TIME_AT);
      return { fd, size: stat.size, isWhole: folderMs !== 0 && timeOf(path) === folderMs };
    }
    closeSync(fd);
  } catch {
    // There is none yet.
  }
  return null;
}

function readInto({ fd, size }: CacheFile, bytes: Buffer, at: number): boolean {
  try {
    return readSync(fd, bytes, at, size, 0) === size;
  } catch {
    return false;
  } finally {
    closeSync(fd);
  }
}

function timeOf(path: string): number {
  try {
    return statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;
  } catch {
    return 0;
  }
}

function agrees(bytes: Buffer, at: number, path: string): boolean {
  try {
    const stat = statSync(path, { throwIfNoEntry: false });
    return (
      stat !== undefined &&
      stat.mtimeMs === bytes.readDoubleLE(at + AT.mtimeMs) &&
      stat.ctimeMs === bytes.readDoubleLE(at + AT.ctimeMs) &&
      stat.size === bytes.readDoubleLE(at + AT.size) &&
      stat.ino === bytes.readDoubleLE(at + AT.ino)
    );
  } catch {
    return false;
  }
}

function powerAbove(count: number): number {
  let power = 16;
  while (power < count) power *= 2;
  return power;
}

export function align(offset: number): number {
  return (offset + 15) & ~15;
}
