/** Brings the rows in memory up to date: what changed on disk is looked for and digested. */

import { statOrNull } from "../disk/fence.ts";
import {
  AT,
  agrees,
  type Directory,
  dateEntries,
  FLAG,
  isCovering,
  lookUpCommits,
  quietFolders,
  RECORD,
  RECORD_FLAG,
  type RowEntry,
  viewEntry,
  walk,
} from "../store/store.ts";
import { indexAt, readRow } from "./indexed.ts";
import { addEntry, powerAbove } from "./resident.ts";
import { drop, entryAt, fileAt, findFile, gather, positionsOf, scatter } from "./resident-rows.ts";
import { layOut, type Resident } from "./room.ts";

/** Digests a file that the cache does not know as it is now. "same": nothing has changed. Null for what is gone, or no memory. */
export type Digest = (directory: Directory, file: string, known: RowEntry | null) => RowEntry | "same" | null;

/** What one directory's cache does not have yet. */
export interface News {
  owner: number;
  entries: RowEntry[];
  /** Set when every file of these folders is known now, and the cache does not say so. */
  folders: (readonly [string, number])[] | null;
}

/** Brings the rows up to date. What the caches lack is for the caller to keep. `positions`: which of a directory's known files are looked at. */
export function* refresh(
  resident: Resident,
  { digest, positions }: { digest: Digest; positions: (owner: number) => readonly number[] },
): Generator<void, News[]> {
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
