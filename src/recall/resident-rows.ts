/** Rows in the memory of compiled code, or their records: where each is, how it is found, and room behind them for what is worked out. */

import { closeSync, readSync } from "node:fs";
import { openWasm, type Wasm } from "../meaning/wasm.ts";
import {
  AT,
  align,
  type Bulk,
  type Directory,
  FEW_FILES,
  findBulksIn,
  HEAD_BYTES,
  type IndexHead,
  isSoundRow,
  LIKELY_FILES,
  type OpenCache,
  openCache,
  RECORD,
  RECORD_MAGIC,
  type RowEntry,
  readRank,
  rowBytesAt,
  type Vector,
  viewEntry,
} from "../store/store.ts";
import { type Links, resolveLinks } from "./links.ts";
import { SCAN_BYTES } from "./scan-bytes.ts";

/** What each function takes and does is said in scan.as. */
export type Scan = Wasm<
  | "listEntries"
  | "listRecords"
  | "dropEarlier"
  | "findFile"
  | "matchNames"
  | "listNewest"
  | "summarise"
  | "matchTerms"
  | "takePostings"
  | "matchVectors"
  | "matchEntry"
  | "matchCues"
  | "compareSigns"
  | "scoreSigns"
  | "nearestText"
  | "addTerm"
  | "summariseMeaning"
  | "scoreAll"
  | "floorOf"
  | "listAbove"
>;

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

/** The part of a directory's rows that its index covers. */
export interface Indexed {
  directory: Directory;
  ino: number;
  head: IndexHead;
  /** Its first position; there are `head.count`. */
  from: number;
  /** Pairs of a hash and the number of the first posting. */
  terms: Uint32Array;
  /** The address of the signs in memory; 0 while they are read in pieces. */
  signs: number;
  /** Rows behind one another that were read last. */
  ahead: { at: number; bytes: Buffer };
}

export type Cache = Pick<OpenCache, "ino" | "size" | "head"> & {
  /** False when it should be written anew: it is damaged, or much of it was appended. */
  isTidy: boolean;
};

export function openScan(memoryBytes: number): Scan {
  return openWasm(SCAN_BYTES, memoryBytes);
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

/** From where to where a directory's entries are. */
function rangesOf({ owners, count }: Resident, owner: number): [from: number, end: number][] {
  return owners.flatMap(({ from, owner: each }, i): [number, number][] =>
    each === owner ? [[from, owners[i + 1]?.from ?? count]] : [],
  );
}

export function ownerOf({ owners }: Resident, at: number): number {
  return owners.findLast(({ from }) => at >= from)?.owner ?? 0;
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

/** The position of a file's entry. */
export function findFile(resident: Resident, owner: number, file: string): number | null {
  const name = Buffer.from(file);
  const at = layOut(resident, { list: resident.count * 4, name: name.length });
  gather(resident, owner, at.list);
  name.copy(resident.bytes, at.name);
  const found = resident.scan.findFile(at.list, resident.count, at.name, name.length);
  return found < 0 ? null : found;
}

/** As it was last known; null when its row is damaged. Its arrays may be views of memory that moves: to be used before anything else is waited for. */
export function entryAt(resident: Resident, at: number): RowEntry | null {
  const index = indexAt(resident, resident.indexes, at);
  return index ? readRow(resident, index, at) : viewEntry(resident.bytes, resident.list[at] as number);
}

/** The index that a position's record is of; null for an entry that is in memory. */
export function indexAt<I extends Indexed>({ bytes, list }: Resident, indexes: readonly I[], at: number): I | null {
  const entry = list[at] as number;
  if (entry === 0 || bytes.readUInt32LE(entry) !== RECORD_MAGIC) return null;
  return indexes.find(({ from, head }) => at >= from && at < from + head.count) ?? null;
}

/** As many rows as are read at once: those behind it are often asked for next. */
const AHEAD_BYTES = 64 * 1024;

/** A record's row; null when it is damaged. */
function readRow(resident: Resident, indexed: Indexed, at: number): RowEntry | null {
  const { rowAt, rowBytes, hash } = rowOf(resident, at);
  const { ahead } = indexed;
  if (rowAt < ahead.at || rowAt + rowBytes > ahead.at + ahead.bytes.length) {
    const fd = openIndex(indexed);
    if (fd === null) return null;
    try {
      const read = Buffer.from(new ArrayBuffer(Math.max(AHEAD_BYTES, rowBytes)));
      indexed.ahead = { at: rowAt, bytes: read.subarray(0, readSync(fd, read, 0, read.length, rowAt)) };
    } finally {
      closeSync(fd);
    }
  }
  const { at: start, bytes: buffer } = indexed.ahead;
  const place = rowAt - start;
  if (!isRowAt(buffer, place, rowBytes, hash)) return null;
  return viewEntry(buffer, place, () => readRank(indexed.directory, start, buffer, place));
}

/** Where in the file a record's row is, and what it has to be. */
export function rowOf({ bytes, list }: Resident, at: number) {
  const u32 = (place: number) => bytes.readUInt32LE((list[at] as number) + place);
  return { rowAt: u32(RECORD.rowAt) * 16, rowBytes: u32(RECORD.rowBytes), hash: u32(RECORD.hash) };
}

/** `hash` as the record has it: a damaged one may lead to another memory's row, which would then come twice. */
export function isRowAt(buffer: Buffer, place: number, bytes: number, hash: number): boolean {
  if (bytes < HEAD_BYTES || rowBytesAt(buffer, place) !== bytes || !isSoundRow(buffer, place, bytes)) return false;
  return buffer.readUInt32LE(place + AT.hash) === hash;
}

/** The file of an index; null when it is not the one any more that the records are of. */
export function openIndex({ directory, ino }: Indexed): number | null {
  const cache = openCache(directory);
  if (cache?.ino === ino) return cache.fd;
  if (cache) closeSync(cache.fd);
  return null;
}

/** The list for compiled code, in which only one directory's entries count. */
export function gather(resident: Resident, owner: number, at: number): Uint32Array {
  const entries = new Uint32Array(resident.bytes.buffer, at, resident.count);
  for (const [from, end] of rangesOf(resident, owner)) entries.set(resident.list.subarray(from, end), from);
  return entries;
}

export function scatter(resident: Resident, owner: number, entries: Uint32Array): void {
  for (const [from, end] of rangesOf(resident, owner)) resident.list.set(entries.subarray(from, end), from);
  forgetDerived(resident);
}

export function drop(resident: Resident, at: number): void {
  resident.list[at] = 0;
  forgetDerived(resident);
}

export function forgetDerived(resident: Resident): void {
  resident.links = null;
  resident.bulks = null;
}

/** How many have no vectors yet, and are found by their words only. */
export function countBare(resident: Resident): number {
  const { count, list } = resident;
  const at = layOut(resident, { list: count * 4, lengths: count * 4, out: 32 });
  new Uint32Array(resident.bytes.buffer, at.list, count).set(list.subarray(0, count));
  resident.scan.summarise(at.list, count, at.lengths, at.out);
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

/** The address of so many zeros behind the entries; valid until the next call. */
export function reserve(resident: Resident, bytes: number): number {
  resident.roomEnd = align(resident.used);
  const at = extend(resident, bytes);
  resident.bytes.fill(0, at, at + bytes);
  return at;
}

/** More room behind that, with anything in it. */
export function extend(resident: Resident, bytes: number): number {
  const at = resident.roomEnd;
  resident.roomEnd = align(at + bytes);
  if (resident.roomEnd > resident.bytes.length)
    resident.bytes = Buffer.from(resident.scan.grow(resident.roomEnd + (bytes >> 2)).buffer);
  return at;
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
