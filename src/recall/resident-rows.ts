/** Rows that are in memory, or whose records are: found by position, file or directory, and what follows from all of them. */

import {
  AT,
  type Bulk,
  FEW_FILES,
  FLAG,
  findBulksIn,
  HEAD_BYTES,
  LIKELY_FILES,
  openIndexNames,
  RECORD,
  RECORD_MAGIC,
  type RowEntry,
  viewEntry,
} from "../store/store.ts";
import { lazily } from "../text/lazy.ts";
import { indexAt, readRow } from "./indexed.ts";
import { type Links, resolveLinks } from "./links.ts";
import { layOut, type Resident } from "./room.ts";

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

/** "" when its row is damaged. */
export function fileAt(resident: Resident, at: number): string {
  const index = indexAt(resident, resident.indexes, at);
  if (index) return readRow(resident, index, at)?.file ?? "";
  const { bytes, list } = resident;
  const from = (list[at] as number) + HEAD_BYTES;
  return bytes.toString("utf8", from, from + bytes.readUInt32LE((list[at] as number) + AT.fileBytes));
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
