/**
 * The rows of all directories in compiled code's memory, ready to be ranked. A hook opens them for one prompt, a long-lived
 * process keeps them; either way what changed on disk is looked for first, and digested.
 */

import { closeSync, readSync } from "node:fs";
import { join } from "node:path";
import { openRegular, statOrNull } from "../disk/fence.ts";
import {
  AT,
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
  isCovering,
  isLoose,
  LIKELY_FILES,
  lookUpCommits,
  type OpenCache,
  openCache,
  openIndexNames,
  quietFolders,
  ROWS_FILE,
  type RowEntry,
  viewEntry,
  walk,
} from "../store/store.ts";
import { lazily } from "../text/lazy.ts";
import { type Links, resolveLinks } from "./links.ts";
import { openScan, type Scan } from "./scan.ts";

export interface Resident {
  directories: readonly Directory[];
  scan: Scan;
  /** The compiled code's memory. Another one after it has grown. */
  bytes: Buffer;
  /** Entries end here; behind it is room for what is worked out. */
  used: number;
  /** The address of each entry, 0 for one that no longer counts; and how many of them are filled. */
  list: Uint32Array;
  count: number;
  /** From which position on entries are another directory's. */
  owners: { from: number; owner: number }[];
  caches: (Cache | null)[];
  /** The commit at which each directory's rows were dated; "" for none. */
  commits: string[];
  /** Where the entry of a changed file was: its vectors are still right for texts that stayed the same. */
  former: Map<string, number>;
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
/** More unknown files than this, and digesting them would hold up a prompt: the rest waits. */
const MAX_DIGESTED = 200;

export function openResident(directories: readonly Directory[]): Resident {
  const opened = directories.map(openCache);
  const bytes = opened.reduce((sum, cache) => sum + align(cache?.size ?? 0), START);
  const scan = openScan(bytes + 65_536);
  const memory = Buffer.from(scan.memory.buffer);
  const list = new Uint32Array(256);
  const resident: Resident = {
    ...{ directories, scan, bytes: memory, used: START, list, count: 0 },
    ...{ owners: [], caches: [], commits: [], former: new Map(), links: null, bulks: null },
  };
  opened.forEach((cache, owner) => {
    resident.owners.push({ from: resident.count, owner });
    resident.caches.push(cache && load(resident, owner, cache));
    resident.commits.push(cache?.head.commits ?? "");
  });
  return resident;
}

/** Null when it could not be read to its end: then it is as if there were none. */
function load(resident: Resident, owner: number, { fd, ino, size, head }: OpenCache): Cache | null {
  const from = resident.used;
  try {
    if (readSync(fd, resident.bytes, from, size, 0) !== size) return null;
  } catch {
    return null;
  } finally {
    closeSync(fd);
  }
  resident.used = align(from + size);
  const [rowsEnd, end] = [from + head.rowsEnd, from + size];
  const isWhole =
    addEntries(resident, from + FILE_HEAD_BYTES, rowsEnd, end, false) === rowsEnd &&
    addEntries(resident, from + head.compactEnd, end, end, true) === end;
  if (size > head.compactEnd) dropEarlier(resident, owner);
  const isTidy = isWhole && !isLoose(size - head.compactEnd, size);
  // A cache that is damaged is not complete, whatever it says.
  return { ino, size, isTidy, head: isWhole ? head : { ...head, folders: [] } };
}

/** Where the last sound entry ends. */
function addEntries(resident: Resident, from: number, end: number, limit: number, isWhole: boolean): number {
  if (end <= from) return end;
  const room = reserve(resident, Math.ceil((end - from) / HEAD_BYTES) * 4);
  const count = resident.scan.listEntries(from, end, limit, Number(isWhole), room);
  const found = new Uint32Array(resident.bytes.buffer, room, count);
  makeRoom(resident, count);
  resident.list.set(found, resident.count);
  resident.count += count;
  const last = found.at(-1);
  if (last === undefined) return from;
  const u32 = (at: number) => resident.bytes.readUInt32LE(last + at);
  return last + u32(AT.rowBytes) + (isWhole ? u32(AT.rankBytes) : 0);
}

function makeRoom(resident: Resident, more: number): void {
  forgetDerived(resident);
  const needed = resident.count + more;
  if (needed <= resident.list.length) return;
  const list = new Uint32Array(needed * 2);
  list.set(resident.list.subarray(0, resident.count));
  resident.list = list;
}

function forgetDerived(resident: Resident): void {
  resident.links = null;
  resident.bulks = null;
}

/** In what was appended a file may come again: its last entry counts. */
function dropEarlier(resident: Resident, owner: number): void {
  const own = positionsOf(resident, owner);
  const slots = powerAbove(own.length * 2);
  const at = layOut(resident, { list: own.length * 4, table: slots * 16 });
  const entries = gather(resident, own, at.list);
  resident.scan.dropEarlier(at.list, own.length, at.table, slots);
  scatter(resident, own, entries);
}

/** Their addresses one after the other, for compiled code. */
function gather({ bytes, list }: Resident, positions: readonly number[], at: number): Uint32Array {
  const entries = new Uint32Array(bytes.buffer, at, positions.length);
  for (let i = 0; i < positions.length; i++) entries[i] = list[positions[i] as number] as number;
  return entries;
}

function scatter(resident: Resident, positions: readonly number[], entries: Uint32Array): void {
  for (let i = 0; i < positions.length; i++) resident.list[positions[i] as number] = entries[i] as number;
  forgetDerived(resident);
}

/** The address of so many zeros behind the entries; valid until the next call. */
function reserve(resident: Resident, bytes: number): number {
  const at = align(resident.used);
  if (at + bytes > resident.bytes.length)
    resident.bytes = Buffer.from(resident.scan.grow(at + bytes + (bytes >> 2)).buffer);
  resident.bytes.fill(0, at, at + bytes);
  return at;
}

/** Parts of these sizes behind one another, each zeroed and aligned: where each begins; valid until the next call. */
export function layOut<Part extends string>(resident: Resident, sizes: Record<Part, number>): Record<Part, number> {
  const parts = Object.entries<number>(sizes);
  let at = reserve(
    resident,
    parts.reduce((sum, [, bytes]) => sum + align(bytes), 0),
  );
  const places = parts.map(([name, bytes]) => {
    at += align(bytes);
    return [name, at - align(bytes)];
  });
  return Object.fromEntries(places);
}

export interface Refreshing {
  digest: Digest;
  /** Which files' times are compared, of those whose cache is complete: all of a few, and of many the newest, unless told. */
  positions?: (owner: number, positions: readonly number[]) => readonly number[];
}

/** Brings the rows up to date. What the caches lack is for the caller to keep. */
export function* refresh(resident: Resident, { digest, positions }: Refreshing): Generator<void, News[]> {
  const all: News[] = [];
  for (const [owner, directory] of resident.directories.entries()) {
    const news: News = { owner, entries: [], folders: null };
    const head = resident.caches[owner]?.head;
    const walked = head && isCovering(head, directory.path) ? null : walk(directory.path, directory.recursive);
    const own = positionsOf(resident, owner);
    const unknown = walked ? matchNames(resident, own, walked.files) : [];
    const looked = positions?.(owner, own) ?? likely(resident, own);
    let isComplete = unknown.length <= MAX_DIGESTED || positions !== undefined;
    for (const at of looked) {
      yield;
      const entry = resident.list[at] as number;
      if (entry === 0 || isUnchanged(resident, entry, directory.path)) continue;
      const known = knownAt(resident, owner, at);
      update(resident, news, at, digest(directory, known.file, known));
    }
    for (const file of positions ? unknown : unknown.slice(0, MAX_DIGESTED)) {
      yield;
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
  const live = () => positionsOf(resident, owner).map((at) => resident.list[at] as number);
  const isUndated = () => live().some((entry) => resident.bytes.readDoubleLE(entry + AT.saidMs) === 0);
  const commits = await lookUpCommits(directory, resident.commits[owner] ?? "", isUndated);
  if (!commits) return;
  const addresses = live();
  const entries = addresses.map((entry) => viewEntry(resident.bytes, entry));
  const appended = dateEntries(directory, entries, commits);
  entries.forEach(({ commitMs }, i) => {
    resident.bytes.writeDoubleLE(commitMs, (addresses[i] as number) + AT.commitMs);
  });
  resident.commits[owner] = commits.head ?? "";
  const cache = resident.caches[owner];
  // What this process appended need not be read again.
  if (cache) cache.size += appended;
}

function update(resident: Resident, news: News, at: number | null, digest: ReturnType<Digest>): void {
  if (digest === "same") return;
  const before = at === null ? 0 : (resident.list[at] as number);
  if (at !== null) drop(resident, at);
  if (!digest) return;
  // Without vectors yet: those of the text before may serve for a part of it.
  if (before !== 0 && digest.ranking.vectors.length === 0 && resident.bytes.readUInt32LE(before + AT.vectorCount) > 0)
    resident.former.set(`${news.owner} ${digest.file}`, before);
  addEntry(resident, news.owner, digest);
  news.entries.push(digest);
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

function knownAt(resident: Resident, owner: number, at: number): RowEntry {
  const entry = viewEntry(resident.bytes, resident.list[at] as number);
  const former = resident.former.get(`${owner} ${entry.file}`);
  if (former !== undefined) entry.ranking.formerVectors = viewEntry(resident.bytes, former).ranking.vectors;
  return entry;
}

/** How many bytes it takes, in memory as on disk. */
export function addEntry(resident: Resident, owner: number, entry: RowEntry): number {
  const { row, rank } = encodeEntry(entry);
  const at = reserve(resident, row.length + rank.length);
  row.copy(resident.bytes, at);
  rank.copy(resident.bytes, at + row.length);
  resident.used = at + row.length + rank.length;
  if (resident.owners.at(-1)?.owner !== owner) resident.owners.push({ from: resident.count, owner });
  makeRoom(resident, 1);
  resident.list[resident.count++] = at;
  return row.length + rank.length;
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
  const own = positionsOf(resident, owner);
  const name = Buffer.from(file);
  const at = layOut(resident, { list: own.length * 4, name: name.length });
  gather(resident, own, at.list);
  name.copy(resident.bytes, at.name);
  const found = resident.scan.findFile(at.list, own.length, at.name, name.length);
  return found < 0 ? null : (own[found] as number);
}

/** Takes entries off the list whose files are gone. The files that have none. */
function matchNames(resident: Resident, own: readonly number[], names: readonly string[]): string[] {
  const joined = Buffer.from(names.join("\0"));
  const slots = powerAbove(names.length * 2);
  const sizes = { names: joined.length, list: own.length * 4, table: slots * 16, unknown: names.length * 4 };
  const at = layOut(resident, sizes);
  joined.copy(resident.bytes, at.names);
  const list = gather(resident, own, at.list);
  const { matchNames } = resident.scan;
  const count = matchNames(at.names, joined.length, at.list, own.length, at.table, slots, at.unknown);
  scatter(resident, own, list);
  return Array.from(new Uint32Array(resident.bytes.buffer, at.unknown, count), (number) => names[number] as string);
}

/** Of few files all, of many those that changed last; those that are shown are looked at anyway. */
function likely(resident: Resident, own: readonly number[]): number[] {
  if (own.length <= FEW_FILES) return [...own];
  const at = layOut(resident, { list: own.length * 4, out: LIKELY_FILES * 4 });
  gather(resident, own, at.list);
  const found = resident.scan.listNewest(at.list, own.length, LIKELY_FILES, at.out);
  return Array.from(new Uint32Array(resident.bytes.buffer, at.out, found), (i) => own[i] as number);
}

/** Positions of a directory's entries that count. */
function positionsOf({ list, count, owners }: Resident, owner: number): number[] {
  const positions: number[] = [];
  owners.forEach(({ from, owner: each }, i) => {
    if (each !== owner) return;
    const end = owners[i + 1]?.from ?? count;
    for (let at = from; at < end; at++) if (list[at] !== 0) positions.push(at);
  });
  return positions;
}

export function ownerOf({ owners }: Resident, at: number): number {
  return owners.findLast(({ from }) => at >= from)?.owner ?? 0;
}

/** Which memories belong together; worked out again only when something has changed. */
export function linksOf(resident: Resident): Links {
  const { bytes, list, count } = resident;
  resident.links ??= resolveLinks(
    Array.from(list.subarray(0, count), (at) => (at === 0 ? null : viewEntry(bytes, at))),
  );
  return resident.links;
}

/** Spans of file times, of each directory, that say nothing. In a repository no file time does. */
export function bulksOf(resident: Resident): Bulk[][] {
  resident.bulks ??= resident.directories.map(({ inRepository }, owner) => {
    if (inRepository) return [];
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
    if (entry === 0 || (resident.bytes.readUInt32LE(entry + AT.flags) & FLAG.plain) === 0) continue;
    if (!named[ownerOf(resident, at)]?.()(fileAt(resident, entry))) list[at] = 0;
  }
}

export function fileAt({ bytes }: Pick<Resident, "bytes">, entry: number): string {
  return bytes.toString("utf8", entry + HEAD_BYTES, entry + HEAD_BYTES + bytes.readUInt32LE(entry + AT.fileBytes));
}

function isUnchanged({ bytes }: Pick<Resident, "bytes">, entry: number, path: string): boolean {
  const stat = statOrNull(`${path}/${fileAt({ bytes }, entry)}`);
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
