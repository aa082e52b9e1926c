/** Brings the rows in memory up to date: what changed on disk is looked for and digested, and what the caches lack goes into them. */

import {
  AT,
  appendEntries,
  type Directory,
  dateEntries,
  type FileStamp,
  FLAG,
  HEAD_BYTES,
  isCovering,
  isUnchanged,
  lookUpCommits,
  noteInHead,
  quietFolders,
  RECORD,
  RECORD_FLAG,
  type RowEntry,
  rewriteInPieces,
  viewEntry,
  walk,
} from "../store/store.ts";
import { addEntry, findCache, powerAbove } from "./resident.ts";
import {
  drop,
  entryAt,
  findFile,
  gather,
  indexAt,
  layOut,
  positionsOf,
  type Resident,
  scatter,
} from "./resident-rows.ts";

/** Digests a file that the cache does not know as it is now. "same": nothing has changed. Null for what is gone, or no memory. */
export type Digest = (directory: Directory, file: string, known: RowEntry | null) => RowEntry | "same" | null;

/** What a directory's cache does not have yet. */
export interface News {
  entries: RowEntry[];
  /** Set when every file of these folders is known now, and the cache does not say so. */
  folders: (readonly [string, number])[] | null;
}

/** Brings a directory's rows up to date. What the cache lacks is for the caller to keep. `positions`: which of the known files are looked at. */
export function* refresh(
  resident: Resident,
  owner: number,
  { digest, positions }: { digest: Digest; positions: (owner: number) => readonly number[] },
): Generator<void, News> {
  const directory = resident.directories[owner] as Directory;
  const head = resident.caches[owner]?.head;
  const walked = head && isCovering(head, directory.path) ? null : walk(directory.path, directory.recursive);
  const unknown = walked ? matchNames(resident, owner, walked.files) : [];
  const before = resident.count;
  const entries: RowEntry[] = [];
  for (const at of positions(owner)) {
    yield;
    const stamp = resident.list[at] === 0 ? null : stampAt(resident, at);
    if (!stamp || isUnchanged(directory, stamp)) continue;
    const known = knownAt(resident, owner, at);
    entries.push(...update(resident, owner, at, digest(directory, stamp.file, known)));
  }
  let isComplete = true;
  for (const file of unknown) {
    yield;
    // A memory that was saved meanwhile is known by now.
    const isNoted = resident.count > before + entries.length;
    if (isNoted && findFile(resident, owner, file) !== null) continue;
    const found = digest(directory, file, null);
    if (found === null) isComplete = false;
    entries.push(...update(resident, owner, null, found));
  }
  return { entries, folders: walked && isComplete && head ? quietFolders(directory, walked) : null };
}

/** What its file was like. Of an entry in memory nothing else is looked at: hundreds are compared in a process that has just started. */
function stampAt(resident: Resident, at: number): FileStamp | null {
  if (indexAt(resident, resident.indexes, at)) return entryAt(resident, at);
  const { bytes } = resident;
  const entry = resident.list[at] as number;
  const file = bytes.toString(
    "utf8",
    entry + HEAD_BYTES,
    entry + HEAD_BYTES + bytes.readUInt32LE(entry + AT.fileBytes),
  );
  const [mtimeMs = 0, ctimeMs = 0, ino = 0, size = 0] = new Float64Array(bytes.buffer, entry + AT.mtimeMs, 4);
  const isSettled = (bytes.readUInt32LE(entry + AT.flags) & FLAG.unsettled) === 0;
  return { file, mtimeMs, ctimeMs, ino, size, isSettled };
}

/** What the cache lacks goes into it; where that fails, it is in memory all the same. An untidy one is written anew where that `mayTakeLong`. */
export function* keepNews(
  resident: Resident,
  owner: number,
  { entries, folders }: News,
  mayTakeLong = true,
): Generator<void, void> {
  const directory = resident.directories[owner] as Directory;
  const cache = resident.caches[owner];
  if (directory.readOnly) return;
  if (entries.length > 0 || cache?.isTidy === false) {
    const bytes = yield* appendOrBegin(directory, entries, { isTidy: !mayTakeLong || cache?.isTidy, folders });
    // What was appended by this process need not be read again, nor a cache that it has begun.
    if (!cache || bytes === 0) {
      resident.caches[owner] ??= findCache(directory);
      return;
    }
    cache.size += bytes;
  }
  if (folders && cache && noteInHead(directory, { folders })) cache.head = { ...cache.head, folders };
}

/** How many bytes were appended; 0 when a new cache was begun, or nothing could be written. The new one notes the folders itself, unless it lacks a damaged entry. */
export function* appendOrBegin(
  directory: Directory,
  entries: readonly RowEntry[],
  { isTidy = true, folders = null }: { isTidy?: boolean | undefined; folders?: News["folders"] } = {},
): Generator<void, number> {
  const bytes = isTidy ? appendEntries(directory, entries) : 0;
  if (bytes > 0) return bytes;
  yield* rewriteInPieces(directory, entries, { folders: folders ?? [], commits: "" });
  return 0;
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

/** The entry that the cache does not have yet, if any. */
function update(resident: Resident, owner: number, at: number | null, digest: ReturnType<Digest>): RowEntry[] {
  if (digest === "same") return [];
  // Without vectors yet: those of the text before may serve for a part of it.
  if (at !== null && digest?.ranking.vectors.length === 0) keepFormer(resident, at, `${owner} ${digest.file}`);
  if (at !== null) drop(resident, at);
  return digest ? [addEntry(resident, owner, digest)] : [];
}

function keepFormer(resident: Resident, at: number, key: string): void {
  const address = resident.list[at] as number;
  const known = address === 0 ? null : entryAt(resident, at);
  if (!known || known.ranking.vectors.length === 0) return;
  // What is in memory is viewed again each time, as it may have moved by then.
  const isOnDisk = indexAt(resident, resident.indexes, at) !== null;
  resident.former.set(key, () => (isOnDisk ? known : viewEntry(resident.bytes, address)).ranking.vectors);
}

/** Looks at one file again: after it was written, or to make its vectors. What the cache does not have yet. */
export function refreshFile(resident: Resident, owner: number, file: string, digest: Digest): News {
  const at = findFile(resident, owner, file);
  const known = at === null ? null : knownAt(resident, owner, at);
  const found = digest(resident.directories[owner] as Directory, file, known);
  return { entries: update(resident, owner, at, found), folders: null };
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
