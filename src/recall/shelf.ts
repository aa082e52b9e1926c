/**
 * The memories of the directories in use, ready to be ranked, and true: before each use the files' times are compared
 * with what the entries were made from, and what changed behind our back is digested again.
 */

import { type Stats, statSync } from "node:fs";
import { join } from "node:path";
import { lastCommitTimes } from "../project/commits.ts";
import { type Directory, readBytes, readStart, walk } from "../store/store.ts";
import { appendEntries, type CacheRead, readCache, writeEntries } from "./cache.ts";
import { addEntry, type Corpus, dropEntry, isWorn, makeCorpus } from "./corpus.ts";
import { digestMemory, type Embed, embedEntry } from "./digest.ts";
import type { Entry } from "./entry.ts";

export interface Shelf {
  directories: readonly Directory[];
  corpus: Corpus;
  /** Per directory: where each file's entry stands. */
  places: Map<string, number>[];
  folders: Folder[][];
  /** When files were last looked at. */
  checkedMs: number;
  /** Which of many are looked at next. */
  cursor: number;
}

/** A folder changes its time when a file is made, renamed or removed in it. */
interface Folder {
  path: string;
  mtimeMs: number;
}

/** A file changed this shortly before it was read may change again within the same tick of the clock. */
const TICK_MS = 50;
/** Up to here every file is looked at every time. */
const FEW_FILES = 300;
/** Of more, the folders' times and a part of the files: a look at all of them takes longer than ranking them. */
const SLICE_FILES = 1000;
const SLICE_MS = 250;
/** Rewritten when this much of it no longer counts. */
const WASTE_BYTES = 256 * 1024;

/** Of a larger file the beginning is what it is found by: what follows is data that somebody put there. */
const MAX_FILE_BYTES = 4 << 20;

export function openShelf(directories: readonly Directory[]): Shelf {
  return {
    directories,
    corpus: makeCorpus(),
    places: directories.map(() => new Map()),
    folders: directories.map(() => []),
    checkedMs: -Infinity,
    cursor: 0,
  };
}

/** Brings the shelf up to date. `nowMs` is any clock that runs evenly. */
export async function freshenShelf(shelf: Shelf, nowMs: number): Promise<void> {
  const isFirst = shelf.checkedMs === -Infinity;
  const isSmall = shelf.corpus.count <= FEW_FILES;
  for (const [owner, directory] of shelf.directories.entries()) {
    if (isFirst || isSmall || foldersChanged(shelf.folders[owner] as Folder[]))
      await freshenDirectory(shelf, owner, directory, { isFirst, isSmall });
  }
  if (!isFirst && !isSmall && nowMs - shelf.checkedMs >= SLICE_MS) lookAtSlice(shelf);
  if (isFirst || isSmall || nowMs - shelf.checkedMs >= SLICE_MS) shelf.checkedMs = nowMs;
  if (isWorn(shelf.corpus)) rebuild(shelf);
}

/** Files that somebody wrote into in place, a part of them each time. */
function lookAtSlice(shelf: Shelf): void {
  const { entries, owners } = shelf.corpus;
  const size = entries.length;
  for (let i = 0; i < Math.min(SLICE_FILES, size); i++) {
    const at = (shelf.cursor + i) % size;
    const entry = entries[at];
    const owner = owners[at] as number;
    if (entry && !isUnchanged(shelf.directories[owner] as Directory, entry.file, entry)) {
      freshenFile(shelf, owner, entry.file);
    }
  }
  shelf.cursor = size === 0 ? 0 : (shelf.cursor + SLICE_FILES) % size;
}

/** Looks at one file again, after it was written, or because it is about to be shown. False when it is gone. */
export function freshenFile(shelf: Shelf, owner: number, file: string, embed: Embed | null = null): boolean {
  const directory = shelf.directories[owner] as Directory;
  const found = digestFile(directory, file, entryAt(shelf, owner, file), 0, embed);
  if (found === "same") return true;
  if (found === null) {
    removeEntry(shelf, owner, file);
    return false;
  }
  putEntry(shelf, owner, found);
  if (!appendEntries(directory, [found])) writeEntries(directory, entriesOf(shelf, owner));
  return true;
}

/** Rewrites the caches without what no longer counts. */
export function compactShelf(shelf: Shelf): void {
  for (const [owner, directory] of shelf.directories.entries()) {
    const [folder, ...more] = shelf.folders[owner] as Folder[];
    writeEntries(directory, entriesOf(shelf, owner), folder && more.length === 0 ? folder.mtimeMs : 0);
  }
}

/** Memories whose meaning is not known yet. */
export function missingVectors(shelf: Shelf): { owner: number; file: string }[] {
  return shelf.places.flatMap((places, owner) =>
    [...places].flatMap(([file, at]) =>
      shelf.corpus.entries[at]?.vectors.length === 0 && !(shelf.directories[owner] as Directory).readOnly
        ? [{ owner, file }]
        : [],
    ),
  );
}

async function freshenDirectory(
  shelf: Shelf,
  owner: number,
  directory: Directory,
  { isFirst, isSmall }: { isFirst: boolean; isSmall: boolean },
): Promise<void> {
  const cache = isFirst ? readCache(directory) : null;
  for (const entry of cache?.entries.values() ?? []) putEntry(shelf, owner, entry);
  // Before the walk: whatever comes during it must look like a change.
  const folderMs = quietTimeOf(directory, directory.path);
  const walked = walk(directory.path, directory.recursive);
  const folders = walked.folders.map((folder) => join(directory.path, folder));
  shelf.folders[owner] = folders.map((path, i) => ({
    path,
    mtimeMs: i === 0 ? folderMs : quietTimeOf(directory, path),
  }));
  const places = shelf.places[owner] as Map<string, number>;
  const present = new Set(walked.files);
  for (const file of [...places.keys()]) if (!present.has(file)) removeEntry(shelf, owner, file);

  const changed: Entry[] = [];
  let commits: ReadonlyMap<string, number> | null = null;
  for (const file of walked.files) {
    const known = entryAt(shelf, owner, file);
    if (known && ((!isFirst && !isSmall) || isUnchanged(directory, file, known))) continue;
    if (directory.inRepository) commits ??= await lastCommitTimes(directory.path).catch(() => new Map());
    const found = digestFile(directory, file, known, commits?.get(file) ?? 0, null);
    if (found === "same") continue;
    if (found === null) removeEntry(shelf, owner, file);
    else {
      putEntry(shelf, owner, found);
      changed.push(found);
    }
  }
  const isWhole = walked.folders.length === 1 && places.size === walked.files.length;
  store(shelf, owner, cache, changed, isWhole ? folderMs : 0);
}

/** Appends what changed; rewrites what is broken or mostly waste, or when there is time for it: nothing changed. */
function store(
  shelf: Shelf,
  owner: number,
  cache: CacheRead | null,
  changed: readonly Entry[],
  folderMs: number,
): void {
  const directory = shelf.directories[owner] as Directory;
  const rewrite = () => writeEntries(directory, entriesOf(shelf, owner), folderMs);
  if (changed.length > 0) {
    const isWasteful = cache !== null && cache.wasteBytes > WASTE_BYTES && cache.wasteBytes * 2 > cache.bytes;
    const isBroken = cache !== null && !cache.isSound;
    if (isWasteful || isBroken || !appendEntries(directory, changed)) rewrite();
  } else if (cache !== null && (!cache.isSound || cache.wasteBytes > 0 || cache.folderMs !== folderMs)) {
    if (entriesOf(shelf, owner).length > 0 || cache.bytes > 0) rewrite();
  }
}

/** Null when it is gone or cannot be read, "same" when nothing has to be done. */
export function digestFile(
  directory: Directory,
  file: string,
  known: Entry | null,
  commitMs: number,
  embed: Embed | null,
): Entry | "same" | null {
  try {
    const stat = statSync(join(directory.path, file), { throwIfNoEntry: false });
    if (!stat?.isFile()) return null;
    const lacksMeaning = embed !== null && known !== null && known.vectors.length === 0;
    if (known && !lacksMeaning && agrees(known, stat) && isSettled(directory, stat)) return "same";
    const bytes = stat.size > MAX_FILE_BYTES ? readStart(directory, file, MAX_FILE_BYTES) : readBytes(directory, file);
    // Written this moment: it must not be believed unchanged on the strength of a clock that ticks slowly.
    const stamp = isSettled(directory, stat) ? stat : { ...stampOf(stat), mtimeMs: 0 };
    const entry = digestMemory(file, bytes, stamp, commitMs);
    if (!directory.inRepository) entry.saidMs = Math.max(entry.saidMs, stat.mtimeMs);
    const former = known?.vectors.length ? known.vectors : known?.formerVectors;
    if (embed) {
      try {
        return embedEntry(entry, bytes, embed, former);
      } catch (error) {
        directory.log(`${file} is found by its words only: ${(error as Error).message}`);
      }
    }
    if (known?.hash !== entry.hash) return former ? { ...entry, formerVectors: former } : entry;
    // Only touched: its meaning is still known. Or looked at again so soon that nothing can be said yet.
    return known.mtimeMs === entry.mtimeMs && known.ctimeMs === entry.ctimeMs
      ? "same"
      : { ...entry, vectors: known.vectors };
  } catch (error) {
    directory.log(`${file} is left out of recall: ${(error as Error).message}`);
    return null;
  }
}

function isUnchanged(directory: Directory, file: string, entry: Entry): boolean {
  try {
    const stat = statSync(join(directory.path, file), { throwIfNoEntry: false });
    return stat !== undefined && agrees(entry, stat);
  } catch {
    return false;
  }
}

function agrees(entry: Entry, stat: Stats): boolean {
  return (
    entry.mtimeMs === stat.mtimeMs &&
    entry.ctimeMs === stat.ctimeMs &&
    entry.size === stat.size &&
    entry.ino === stat.ino
  );
}

function isSettled(directory: Directory, stat: Stats): boolean {
  return directory.now().getTime() - stat.ctimeMs > TICK_MS;
}

/** 0 for a folder that changed this moment: a file that comes within the same tick would not change its time. */
function quietTimeOf({ now }: Directory, path: string): number {
  const mtimeMs = mtimeOf(path);
  return now().getTime() - mtimeMs > TICK_MS ? mtimeMs : 0;
}

function stampOf({ mtimeMs, ctimeMs, size, ino }: Stats) {
  return { mtimeMs, ctimeMs, size, ino };
}

function foldersChanged(folders: readonly Folder[]): boolean {
  return folders.length === 0 || folders.some(({ path, mtimeMs }) => mtimeOf(path) !== mtimeMs);
}

function mtimeOf(path: string): number {
  try {
    return statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;
  } catch {
    return 0;
  }
}

function entryAt(shelf: Shelf, owner: number, file: string): Entry | null {
  const at = shelf.places[owner]?.get(file);
  return at === undefined ? null : (shelf.corpus.entries[at] ?? null);
}

function entriesOf(shelf: Shelf, owner: number): Entry[] {
  return [...(shelf.places[owner] as Map<string, number>).values()].flatMap((at) => shelf.corpus.entries[at] ?? []);
}

function putEntry(shelf: Shelf, owner: number, entry: Entry): void {
  removeEntry(shelf, owner, entry.file);
  shelf.places[owner]?.set(entry.file, addEntry(shelf.corpus, owner, entry));
}

function removeEntry(shelf: Shelf, owner: number, file: string): void {
  const places = shelf.places[owner] as Map<string, number>;
  const at = places.get(file);
  if (at === undefined) return;
  dropEntry(shelf.corpus, at);
  places.delete(file);
}

function rebuild(shelf: Shelf): void {
  const old = shelf.corpus;
  shelf.corpus = makeCorpus();
  shelf.places = shelf.directories.map(() => new Map());
  old.entries.forEach((entry, at) => {
    if (entry) putEntry(shelf, old.owners[at] as number, entry);
  });
}
