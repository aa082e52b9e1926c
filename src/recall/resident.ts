/** The rows of all directories, read from their caches into compiled code's memory, ready to be ranked. */

import { closeSync, readSync } from "node:fs";
import { join } from "node:path";
import { statOrNull, withRegular } from "../disk/fence.ts";
import { attempt } from "../errors.ts";
import {
  AT,
  align,
  type Directory,
  encodeEntry,
  FILE_HEAD_BYTES,
  HEAD_BYTES,
  type IndexHead,
  isLoose,
  type OpenCache,
  openCache,
  RECORD_BYTES,
  ROWS_FILE,
  type RowEntry,
  readIndex,
  viewEntry,
} from "../store/store.ts";
import {
  type Cache,
  forgetDerived,
  gather,
  layOut,
  openScan,
  type Resident,
  reserve,
  scatter,
} from "./resident-rows.ts";

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
    const isWhole = addEntries(resident, from, from + bytes, from + bytes, true) && isSound;
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
  return addEntries(resident, from + FILE_HEAD_BYTES, rowsEnd, from + head.compactEnd, false);
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
  resident.indexes.push({ directory, ino, head, from: resident.count, terms, signs: 0, ahead });
  const room = reserve(resident, head.count * 4);
  const [rowsFrom, rowsEnd, end] = [FILE_HEAD_BYTES / 16, file.rowsEnd / 16, file.ranksEnd / 16];
  const sound = resident.scan.listRecords(records, head.count, rowsFrom, rowsEnd, end, head.vectors, room);
  addToList(resident, new Uint32Array(resident.bytes.buffer, room, head.count));
  return sound === head.count;
}

/** Whether all of them are sound. */
function addEntries(resident: Resident, from: number, end: number, limit: number, isWhole: boolean): boolean {
  if (end <= from) return true;
  const room = reserve(resident, Math.ceil((end - from) / HEAD_BYTES) * 4);
  const count = resident.scan.listEntries(from, end, limit, Number(isWhole), room);
  const found = new Uint32Array(resident.bytes.buffer, room, count);
  addToList(resident, found);
  const last = found.at(-1) ?? 0;
  if (last === 0 || found.includes(0)) return false;
  const u32 = (at: number) => resident.bytes.readUInt32LE(last + at);
  return last + u32(AT.rowBytes) + (isWhole ? u32(AT.rankBytes) : 0) === end;
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

/** In what was appended a file may come again: its last entry counts. */
function dropEarlier(resident: Resident, owner: number): void {
  const slots = powerAbove(resident.count * 2);
  const at = layOut(resident, { list: resident.count * 4, table: slots * 16 });
  const entries = gather(resident, owner, at.list);
  resident.scan.dropEarlier(at.list, entries.length, at.table, slots);
  scatter(resident, owner, entries);
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
    const bytes = stat.size - cache.size;
    const from = reserve(resident, bytes);
    const read = (fd: number) => readSync(fd, resident.bytes, from, bytes, cache.size);
    const count = attempt(() => withRegular(file, read, { follow: true }), null) ?? 0;
    if (resident.owners.at(-1)?.owner !== owner) resident.owners.push({ from: resident.count, owner });
    resident.used = align(from + count);
    addEntries(resident, from, from + count, from + count, true);
    dropEarlier(resident, owner);
    cache.size = stat.size;
  }
  return true;
}

export function powerAbove(count: number): number {
  let power = 16;
  while (power < count) power *= 2;
  return power;
}
