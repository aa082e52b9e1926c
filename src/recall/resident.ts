/**
 * The rows of all directories in compiled code's memory, ready to be ranked. What changed on disk is looked for first, and
 * digested.
 */

import { closeSync, readSync } from "node:fs";
import { join } from "node:path";
import { openRegular, statOrNull } from "../disk/fence.ts";
import {
  AT,
  agrees,
  align,
  type Bulk,
  type Directory,
  dateEntries,
  encodeEntry,
  FEW_FILES,
  FILE_HEAD_BYTES,
  FLAG,
  findBulksIn,
  HEAD_BYTES,
  type IndexHead,
  isCovering,
  isLoose,
  LIKELY_FILES,
  lookUpCommits,
  type OpenCache,
  openCache,
  openIndexNames,
  quietFolders,
  RECORD,
  RECORD_BYTES,
  RECORD_FLAG,
  RECORD_MAGIC,
  ROWS_FILE,
  type RowEntry,
  readIndex,
  SIGN_BYTES,
  type Vector,
  viewEntry,
  walk,
} from "../store/store.ts";
import { lazily } from "../text/lazy.ts";
import { type Indexed, indexAt, type OpenIndex, openIndex, readRow, readWhole } from "./indexed.ts";
import { type Links, resolveLinks } from "./links.ts";
import { openScan, type Scan } from "./scan.ts";

export interface Resident {
  directories: readonly Directory[];
  scan: Scan;
  /** The compiled code's memory. Another one after it has grown. */
  bytes: Buffer;
  /** Entries end here; behind it is room for what is worked out, which ends there. */
  used: number;
  roomEnd: number;
  /** The address of each entry or of its record, 0 for one that no longer counts; and how many of them are filled. */
  list: Uint32Array;
  count: number;
  /** From which position on entries are another directory's. */
  owners: { from: number; owner: number }[];
  caches: (Cache | null)[];
  /** Of large stores: what stays on disk. */
  indexes: Indexed[];
  /** Records whose whole entries are behind `used` for a moment: position and the record's address. */
  whole: [at: number, record: number][];
  /** How many rankings there were: one that stays open has more of an index in memory. */
  rankings: number;
  /** The commit at which each directory's rows were dated; "" for none. */
  commits: string[];
  /** Vectors of a file before it changed: they are still right for texts that stayed the same. */
  former: Map<string, () => Vector[]>;
  /** Worked out when first needed after a change. */
  links: Links | null;
  bulks: Bulk[][] | null;
}

type Cache = Pick<OpenCache, "ino" | "size" | "head"> & {
  /** False when it should be written anew: it is damaged, or much of it was appended. */
  isTidy: boolean;
};

/** Digests a file that the cache does not know as it is now. "same": nothing has changed. Null for what is gone, or no memory. */
export type Digest = (directory: Directory, file: string, known: RowEntry | null) => RowEntry | "same" | null;

/** What one directory's cache does not have yet. */
export interface News {
  owner: number;
  entries: RowEntry[];
  /** Set when every file of these folders is known now, and the cache does not say so. */
  folders: (readonly [string, number])[] | null;
}

/** Compiled code wants its entries to begin on a multiple of this, away from address 0. */
const START = align(HEAD_BYTES);

export function openResident(directories: readonly Directory[]): Resident {
  const opened = directories.map(openCache);
  const indexes = opened.map((cache) => cache && readIndex(cache.fd, cache.head.ranksEnd, cache.head.compactEnd));
  const sizes = opened.map((cache, owner) => {
    const index = indexes[owner];
    if (!cache || !index) return align(cache?.size ?? 0);
    return index.count * RECORD_BYTES + align(cache.size - cache.head.compactEnd);
  });
  const scan = openScan(sizes.reduce((sum, size) => sum + size, START) + 65_536);
  const memory = Buffer.from(scan.memory.buffer);
  const list = new Uint32Array(256);
  const resident: Resident = {
    ...{
      directories,
      scan,
      bytes: memory,
      used: START,
      roomEnd: START,
      list,
      count: 0,
      indexes: [],
      whole: [],
      rankings: 0,
    },
    ...{ owners: [], caches: [], commits: [], former: new Map(), links: null, bulks: null },
  };
  opened.forEach((cache, owner) => {
    resident.owners.push({ from: resident.count, owner });
    resident.caches.push(cache && load(resident, owner, cache, indexes[owner] ?? null));
    resident.commits.push(cache?.head.commits ?? "");
  });
  return resident;
}

/** The cache as it is now, whose entries are known. */
export function findCache(directory: Directory): Cache | null {
  const cache = openCache(directory);
  if (cache) closeSync(cache.fd);
  return cache && { ino: cache.ino, size: cache.size, head: cache.head, isTidy: true };
}

/** Null when it could not be read to its end: then it is as if there were none. */
function load(resident: Resident, owner: number, cache: OpenCache, index: IndexHead | null): Cache | null {
  const { fd, ino, size, head } = cache;
  try {
    const isSound = index ? addIndex(resident, owner, cache, index) : addCompact(resident, cache);
    if (isSound === null) return null;
    const [from, bytes] = [resident.used, size - head.compactEnd];
    if (readSync(fd, resident.bytes, from, bytes, head.compactEnd) !== bytes) return null;
    resident.used = align(from + bytes);
    const isWhole = addEntries(resident, from, from + bytes, from + bytes, true) === from + bytes && isSound;
    if (bytes > 0) dropEarlier(resident, owner);
    const isTidy = isWhole && !isLoose(bytes, size);
    // A cache that is damaged is not complete, whatever it says.
    return { ino, size, isTidy, head: isWhole ? head : { ...head, folders: [] } };
  } catch {
    return null;
  } finally {
    closeSync(fd);
  }
}

/** Entries and their ranking parts. Whether all are sound; null when they could not be read. */
function addCompact(resident: Resident, { fd, head }: OpenCache): boolean | null {
  const from = resident.used;
  if (readSync(fd, resident.bytes, from, head.compactEnd, 0) !== head.compactEnd) return null;
  resident.used = align(from + head.compactEnd);
  const rowsEnd = from + head.rowsEnd;
  return addEntries(resident, from + FILE_HEAD_BYTES, rowsEnd, from + head.compactEnd, false) === rowsEnd;
}

/** The same for a large cache: records, which stand for entries that are on disk. */
function addIndex(
  resident: Resident,
  owner: number,
  { fd, ino, head: file }: OpenCache,
  head: IndexHead,
): boolean | null {
  const records = resident.used;
  const bytes = head.count * RECORD_BYTES;
  const terms = new Uint32Array((head.terms + 1) * 2);
  if (readSync(fd, resident.bytes, records, bytes, head.recordsAt) !== bytes) return null;
  if (readSync(fd, terms, 0, terms.byteLength, head.termsAt) !== terms.byteLength) return null;
  resident.used = records + bytes;
  const directory = resident.directories[owner] as Directory;
  const ahead = { at: 0, bytes: Buffer.alloc(0) };
  resident.indexes.push({ directory, ino, head, from: resident.count, records, terms, signs: 0, ahead });
  const room = reserve(resident, head.count * 4);
  const [rowsFrom, rowsEnd, end] = [FILE_HEAD_BYTES / 16, file.rowsEnd / 16, file.ranksEnd / 16];
  const sound = resident.scan.listRecords(records, head.count, rowsFrom, rowsEnd, end, head.vectors, room);
  addToList(resident, new Uint32Array(resident.bytes.buffer, room, head.count));
  return sound === head.count;
}

/** Where the last sound entry ends. */
function addEntries(resident: Resident, from: number, end: number, limit: number, isWhole: boolean): number {
  if (end <= from) return end;
  const room = reserve(resident, Math.ceil((end - from) / HEAD_BYTES) * 4);
  const count = resident.scan.listEntries(from, end, limit, Number(isWhole), room);
  const found = new Uint32Array(resident.bytes.buffer, room, count);
  addToList(resident, found);
  const last = found.at(-1);
  if (last === undefined) return from;
  const u32 = (at: number) => resident.bytes.readUInt32LE(last + at);
  return last + u32(AT.rowBytes) + (isWhole ? u32(AT.rankBytes) : 0);
}

function addToList(resident: Resident, addresses: Uint32Array | readonly number[]): void {
  forgetDerived(resident);
  const needed = resident.count + addresses.length;
  if (needed > resident.list.length) {
    const list = new Uint32Array(needed * 2);
    list.set(resident.list.subarray(0, resident.count));
    resident.list = list;
  }
  resident.list.set(addresses, resident.count);
  resident.count = needed;
}

function forgetDerived(resident: Resident): void {
  resident.links = null;
  resident.bulks = null;
}

/** In what was appended a file may come again: its last entry counts. */
function dropEarlier(resident: Resident, owner: number): void {
  const slots = powerAbove(resident.count * 2);
  const at = layOut(resident, { list: resident.count * 4, table: slots * 16 });
  const entries = gather(resident, owner, at.list);
  resident.scan.dropEarlier(at.list, entries.length, at.table, slots);
  scatter(resident, owner, entries);
}

/** The list for compiled code, in which only one directory's entries count. */
function gather(resident: Resident, owner: number, at: number): Uint32Array {
  const entries = new Uint32Array(resident.bytes.buffer, at, resident.count);
  for (const [from, end] of rangesOf(resident, owner)) entries.set(resident.list.subarray(from, end), from);
  return entries;
}

function scatter(resident: Resident, owner: number, entries: Uint32Array): void {
  for (const [from, end] of rangesOf(resident, owner)) resident.list.set(entries.subarray(from, end), from);
  forgetDerived(resident);
}

/** From where to where a directory's entries are. */
function rangesOf({ owners, count }: Resident, owner: number): [from: number, end: number][] {
  return owners.flatMap(({ from, owner: each }, i): [number, number][] =>
    each === owner ? [[from, owners[i + 1]?.from ?? count]] : [],
  );
}

/** The address of so many zeros behind the entries; valid until the next call. */
function reserve(resident: Resident, bytes: number): number {
  for (const [at, record] of resident.whole.splice(0)) if (resident.list[at] !== 0) resident.list[at] = record;
  resident.roomEnd = align(resident.used);
  const at = extend(resident, bytes);
  resident.bytes.fill(0, at, at + bytes);
  return at;
}

/** More room behind that, with anything in it. */
function extend(resident: Resident, bytes: number): number {
  const at = resident.roomEnd;
  resident.roomEnd = align(at + bytes);
  if (resident.roomEnd > resident.bytes.length)
    resident.bytes = Buffer.from(resident.scan.grow(resident.roomEnd + (bytes >> 2)).buffer);
  return at;
}

/** The indexes with their files open, for one ranking. Where another process has written a cache anew, all is opened again. */
export function openIndexes(resident: Resident): OpenIndex[] {
  for (;;) {
    // One that is asked again has the signs in memory: reading them each time takes longer than comparing them.
    if (resident.rankings++ > 0) for (const index of resident.indexes) keepSigns(resident, index);
    const opened = resident.indexes.map(openIndex);
    const open = opened.filter((index) => index !== null);
    if (open.length === opened.length) return open;
    for (const { fd } of open) closeSync(fd);
    Object.assign(resident, openResident(resident.directories));
  }
}

function keepSigns(resident: Resident, index: Indexed): void {
  const bytes = index.head.vectors * SIGN_BYTES;
  const open = index.signs === 0 && bytes > 0 ? openIndex(index) : null;
  if (!open) return;
  reserve(resident, 0);
  const at = extend(resident, bytes);
  try {
    if (readSync(open.fd, resident.bytes, at, bytes, index.head.signsAt) !== bytes) return;
    resident.used = align(at + bytes);
    index.signs = at;
  } finally {
    closeSync(open.fd);
  }
}

/** Whole entries in the place of records, until room is next reserved. Those that are damaged no longer count. */
export function takeWhole(resident: Resident, indexes: readonly OpenIndex[], positions: Iterable<number>): void {
  for (const at of positions) {
    const index = indexAt(resident, indexes, at);
    if (!index) continue;
    const address = readWhole(resident, index, at, (bytes) => extend(resident, bytes));
    if (address > 0) resident.whole.push([at, resident.list[at] as number]);
    const owner = ownerOf(resident, at);
    const cache = resident.caches[owner];
    if (address === 0 && cache)
      resident.caches[owner] = { ...cache, isTidy: false, head: { ...cache.head, folders: [] } };
    // A damaged record counts for nothing, and neither does what was derived from it.
    if (address === 0) drop(resident, at);
    else resident.list[at] = address;
  }
}

/**
 * Parts of these sizes behind one another, each zeroed and aligned: where each begins; valid until the next call. Those of `more`
 * may hold anything.
 */
export function layOut<Part extends string, More extends string = never>(
  resident: Resident,
  sizes: Record<Part, number>,
  more?: Record<More, number>,
): Record<Part | More, number> {
  const at = reserve(resident, bytesOf(sizes));
  return { ...placesOf(sizes, at), ...(more && addRoom(resident, more)) } as Record<Part | More, number>;
}

/** Parts behind those, which may hold anything. Views of the memory are to be made anew: it may have grown. */
export function addRoom<Part extends string>(resident: Resident, sizes: Record<Part, number>): Record<Part, number> {
  return placesOf(sizes, extend(resident, bytesOf(sizes)));
}

function bytesOf(sizes: Record<string, number>): number {
  return Object.values(sizes).reduce((sum, bytes) => sum + align(bytes), 0);
}

function placesOf<Part extends string>(sizes: Record<Part, number>, from: number): Record<Part, number> {
  let at = from;
  const places = Object.entries<number>(sizes).map(([name, bytes]) => {
    at += align(bytes);
    return [name, at - align(bytes)];
  });
  return Object.fromEntries(places);
}

export interface Refreshing {
  digest: Digest;
  /** Which files' times are compared, of those of a directory that are known. */
  positions: (owner: number) => readonly number[];
}

/** Brings the rows up to date. What the caches lack is for the caller to keep. */
export function* refresh(resident: Resident, { digest, positions }: Refreshing): Generator<void, News[]> {
  const all: News[] = [];
  for (const [owner, directory] of resident.directories.entries()) {
    const news: News = { owner, entries: [], folders: null };
    const head = resident.caches[owner]?.head;
    const walked = head && isCovering(head, directory.path) ? null : walk(directory.path, directory.recursive);
    const unknown = walked ? matchNames(resident, owner, walked.files) : [];
    const before = resident.count;
    let isComplete = true;
    for (const at of positions(owner)) {
      yield;
      if (resident.list[at] === 0 || isUnchanged(resident, at, directory.path)) continue;
      const known = knownAt(resident, owner, at);
      if (known) update(resident, news, at, digest(directory, known.file, known));
    }
    for (const file of unknown) {
      yield;
      // A memory that was saved meanwhile is known by now.
      const isNoted = resident.count > before + news.entries.length;
      if (isNoted && findFile(resident, owner, file) !== null) continue;
      const found = digest(directory, file, null);
      if (found === null) isComplete = false;
      update(resident, news, null, found);
    }
    if (walked && isComplete && head) news.folders = quietFolders(directory, walked);
    if (news.entries.length > 0 || news.folders) all.push(news);
  }
  return all;
}

/** In a repository: by their last commits, where they do not say. No row is looked at while git is waited for. */
export async function dateRows(resident: Resident, owner: number): Promise<void> {
  const directory = resident.directories[owner] as Directory;
  const isUndated = () => positionsOf(resident, owner).some((at) => isUndatedAt(resident, at));
  const commits = await lookUpCommits(directory, resident.commits[owner] ?? "", isUndated);
  if (!commits) return;
  const known = positionsOf(resident, owner).flatMap((at) => {
    const entry = entryAt(resident, at);
    return entry ? [{ at, entry, before: entry.commitMs }] : [];
  });
  const appended = dateEntries(
    directory,
    known.map(({ entry }) => entry),
    commits,
  );
  for (const { at, entry, before } of known) {
    if (entry.commitMs === before) continue;
    if (!indexAt(resident, resident.indexes, at))
      resident.bytes.writeDoubleLE(entry.commitMs, (resident.list[at] as number) + AT.commitMs);
    else {
      drop(resident, at);
      addEntry(resident, owner, entry);
    }
  }
  resident.commits[owner] = commits.head ?? "";
  const cache = resident.caches[owner];
  // What this process appended need not be read again.
  if (cache) cache.size += appended;
}

function isUndatedAt(resident: Resident, at: number): boolean {
  const entry = resident.list[at] as number;
  if (!indexAt(resident, resident.indexes, at)) return resident.bytes.readDoubleLE(entry + AT.saidMs) === 0;
  return (resident.bytes.readUInt8(entry + RECORD.flags) & RECORD_FLAG.undated) !== 0;
}

/** As it was last known; null when its row is damaged. Its arrays may be views of memory that moves: to be used before anything else is waited for. */
export function entryAt(resident: Resident, at: number): RowEntry | null {
  const index = indexAt(resident, resident.indexes, at);
  return index ? readRow(resident, index, at) : viewEntry(resident.bytes, resident.list[at] as number);
}

function update(resident: Resident, news: News, at: number | null, digest: ReturnType<Digest>): void {
  if (digest === "same") return;
  // Without vectors yet: those of the text before may serve for a part of it.
  if (at !== null && digest && digest.ranking.vectors.length === 0)
    keepFormer(resident, at, `${news.owner} ${digest.file}`);
  if (at !== null) drop(resident, at);
  if (!digest) return;
  news.entries.push(addEntry(resident, news.owner, digest));
}

function keepFormer(resident: Resident, at: number, key: string): void {
  const address = resident.list[at] as number;
  if (address === 0) return;
  const index = indexAt(resident, resident.indexes, at);
  const onDisk = index && readRow(resident, index, at);
  const vectorsOf = () => (onDisk ?? viewEntry(resident.bytes, address)).ranking.vectors;
  if ((!index || onDisk) && vectorsOf().length > 0) resident.former.set(key, vectorsOf);
}

/** Looks at one file again: after it was written, or to make its vectors. What the cache does not have yet, if anything. */
export function refreshFile(resident: Resident, owner: number, file: string, digest: Digest): RowEntry | null {
  const at = findFile(resident, owner, file);
  const news: News = { owner, entries: [], folders: null };
  const known = findKnown(resident, owner, file);
  update(resident, news, at, digest(resident.directories[owner] as Directory, file, known));
  return news.entries[0] ?? null;
}

/** Its arrays are views of memory that may move: to be used before anything else is waited for. */
export function findKnown(resident: Resident, owner: number, file: string): RowEntry | null {
  const at = findFile(resident, owner, file);
  return at === null ? null : knownAt(resident, owner, at);
}

function knownAt(resident: Resident, owner: number, at: number): RowEntry | null {
  const entry = entryAt(resident, at);
  const former = entry && resident.former.get(`${owner} ${entry.file}`);
  if (entry && former) entry.ranking.formerVectors = former();
  return entry;
}

/** The entry with arrays of its own: those of a file that stayed the same are views of this memory, which ends them when it grows. */
export function addEntry(resident: Resident, owner: number, entry: RowEntry): RowEntry {
  const { row, rank } = encodeEntry(entry);
  const own = Buffer.from(new ArrayBuffer(row.length + rank.length));
  row.copy(own);
  rank.copy(own, row.length);
  const at = reserve(resident, own.length);
  own.copy(resident.bytes, at);
  resident.used = at + own.length;
  if (resident.owners.at(-1)?.owner !== owner) resident.owners.push({ from: resident.count, owner });
  addToList(resident, [at]);
  return viewEntry(own, 0);
}

/** Takes in what other processes have written to the caches. False when one was made anew: then all has to be opened again. */
export function readAppended(resident: Resident): boolean {
  for (const [owner, directory] of resident.directories.entries()) {
    const cache = resident.caches[owner] ?? null;
    const file = join(directory.path, ".memdir", ROWS_FILE);
    const stat = statOrNull(file);
    if (stat?.ino !== cache?.ino || (stat && cache && stat.size < cache.size)) return false;
    if (!stat || !cache || stat.size === cache.size) continue;
    const from = reserve(resident, stat.size - cache.size);
    const count = readPart(file, resident.bytes, from, cache.size, stat.size);
    if (resident.owners.at(-1)?.owner !== owner) resident.owners.push({ from: resident.count, owner });
    resident.used = align(from + count);
    addEntries(resident, from, from + count, from + count, true);
    dropEarlier(resident, owner);
    cache.size = stat.size;
  }
  return true;
}

function readPart(file: string, bytes: Buffer, at: number, from: number, end: number): number {
  try {
    const opened = openRegular(file, { follow: true });
    if (!opened) return 0;
    try {
      return readSync(opened.fd, bytes, at, end - from, from);
    } finally {
      closeSync(opened.fd);
    }
  } catch {
    return 0;
  }
}

function drop(resident: Resident, at: number): void {
  resident.list[at] = 0;
  forgetDerived(resident);
}

/** The position of a file's entry. */
export function findFile(resident: Resident, owner: number, file: string): number | null {
  const name = Buffer.from(file);
  const at = layOut(resident, { list: resident.count * 4, name: name.length });
  gather(resident, owner, at.list);
  name.copy(resident.bytes, at.name);
  const found = resident.scan.findFile(at.list, resident.count, at.name, name.length);
  return found < 0 ? null : found;
}

/** Takes entries off the list whose files are gone. The files that have none. */
function matchNames(resident: Resident, owner: number, names: readonly string[]): string[] {
  const joined = Buffer.from(names.join("\0"));
  const slots = powerAbove(names.length * 2);
  const sizes = { names: joined.length, list: resident.count * 4, table: slots * 16, unknown: names.length * 4 };
  const at = layOut(resident, sizes);
  joined.copy(resident.bytes, at.names);
  const list = gather(resident, owner, at.list);
  const { matchNames } = resident.scan;
  const count = matchNames(at.names, joined.length, at.list, list.length, at.table, slots, at.unknown);
  scatter(resident, owner, list);
  return Array.from(new Uint32Array(resident.bytes.buffer, at.unknown, count), (number) => names[number] as string);
}

/** Of few files all, of many those that changed last; those that are shown are looked at anyway. */
export function newestOf(resident: Resident, owner: number): number[] {
  const few = positionsOf(resident, owner, 0, FEW_FILES + 1);
  if (few.length <= FEW_FILES) return few;
  const at = layOut(resident, { list: resident.count * 4, out: LIKELY_FILES * 4 });
  gather(resident, owner, at.list);
  const found = resident.scan.listNewest(at.list, resident.count, LIKELY_FILES, at.out);
  return [...new Uint32Array(resident.bytes.buffer, at.out, found)];
}

/** Positions of a directory's entries that count, beginning here, and not more than so many. */
export function positionsOf(resident: Resident, owner: number, start = 0, most = Number.POSITIVE_INFINITY): number[] {
  const positions: number[] = [];
  for (const [from, end] of rangesOf(resident, owner)) {
    for (let at = Math.max(from, start); at < end && positions.length < most; at++)
      if (resident.list[at] !== 0) positions.push(at);
  }
  return positions;
}

export function ownerOf({ owners }: Resident, at: number): number {
  return owners.findLast(({ from }) => at >= from)?.owner ?? 0;
}

/** How many have no vectors yet, and are found by their words only. */
export function countBare(resident: Resident): number {
  const { count, list } = resident;
  const at = layOut(resident, { list: count * 4, out: 32 });
  new Uint32Array(resident.bytes.buffer, at.list, count).set(list.subarray(0, count));
  resident.scan.summarise(at.list, count, at.out);
  return resident.bytes.readInt32LE(at.out + 20);
}

/** Which memories belong together; worked out again only when something has changed. */
export function linksOf(resident: Resident): Links {
  const { list, count } = resident;
  resident.links ??= resolveLinks(
    Array.from(list.subarray(0, count), (entry, at) => (entry === 0 ? null : entryAt(resident, at))),
  );
  return resident.links;
}

/** Spans of file times, of each directory, that say nothing. In a repository no file time does. */
export function bulksOf(resident: Resident): Bulk[][] {
  resident.bulks ??= resident.directories.map((directory, owner) => {
    if (directory.inRepository) return [];
    // What came since is the smaller part by far.
    const index = resident.indexes.find((each) => each.directory === directory);
    if (index) return index.head.bulks;
    const numbers = new Float64Array(resident.bytes.buffer);
    const times = positionsOf(resident, owner).map((at) => {
      return numbers[((resident.list[at] as number) + AT.mtimeMs) / 8] as number;
    });
    return findBulksIn(Float64Array.from(times).sort());
  });
  return resident.bulks;
}

/** The entries that are memories, as a copy for one ranking: Markdown without frontmatter is one only where the index names it. */
export function leaveOutPlain(resident: Resident, list: Uint32Array): void {
  const named = resident.directories.map((directory) => lazily(() => openIndexNames(directory)));
  for (let at = 0; at < list.length; at++) {
    const entry = list[at] as number;
    if (entry === 0) continue;
    const isRecord = resident.bytes.readUInt32LE(entry) === RECORD_MAGIC;
    const flags = isRecord
      ? resident.bytes.readUInt8(entry + RECORD.flags)
      : resident.bytes.readUInt32LE(entry + AT.flags);
    if ((flags & FLAG.plain) === 0) continue;
    if (!named[ownerOf(resident, at)]?.()(fileAt(resident, at))) list[at] = 0;
  }
}

/** "" when its row is damaged. */
export function fileAt(resident: Resident, at: number): string {
  const index = indexAt(resident, resident.indexes, at);
  if (index) return readRow(resident, index, at)?.file ?? "";
  const { bytes, list } = resident;
  const from = (list[at] as number) + HEAD_BYTES;
  return bytes.toString("utf8", from, from + bytes.readUInt32LE((list[at] as number) + AT.fileBytes));
}

function isUnchanged(resident: Resident, at: number, path: string): boolean {
  const { bytes, list } = resident;
  const index = indexAt(resident, resident.indexes, at);
  const row = index && readRow(resident, index, at);
  const stat = statOrNull(`${path}/${row?.file ?? fileAt(resident, at)}`);
  if (index) return stat !== null && row !== null && agrees(row, stat);
  const entry = list[at] as number;
  const [mtimeMs, ctimeMs, ino, size] = new Float64Array(bytes.buffer, entry + AT.mtimeMs, 4);
  return (
    stat !== null &&
    (bytes.readUInt32LE(entry + AT.flags) & FLAG.unsettled) === 0 &&
    stat.mtimeMs === mtimeMs &&
    stat.ctimeMs === ctimeMs &&
    stat.ino === ino &&
    stat.size === size
  );
}

function powerAbove(count: number): number {
  let power = 16;
  while (power < count) power *= 2;
  return power;
}
