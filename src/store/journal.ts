/**
 * The journal: what changed, when, by whom, with what it was before. An intent line is on disk before the change is made and
 * an end line follows it; a last intent without an end belongs to a writer that died.
 */

import { existsSync, readdirSync, statSync } from "node:fs";
import {
  appendLines,
  findAtEnd,
  findNameProblem,
  moveInto,
  readRegular,
  removeQuietly,
  withRegular,
  writeTemporary,
} from "../disk/fence.ts";
import { attempt, MemdirError, onDisk } from "../errors.ts";
import { walk } from "../project/locate.ts";
import { sha256 } from "../text/hash.ts";
import { type Directory, findBytes, journalPath, statePath } from "./directory.ts";
import type { Pages } from "./index-line.ts";

export type Action =
  | "save"
  | "forget"
  | "rename"
  | "edit"
  | "undo"
  | "adopt"
  | "import"
  | "prune"
  | "dream"
  | "sync"
  | "index";

/** One change of the journal. */
export interface Entry {
  /** The number to give to `undo`, counted from 1 in each directory; `scope:id` outside the first directory. */
  id: string;
  /** When the change was made, ISO. */
  at: string;
  /** What kind of change it was. */
  action: Action;
  /** Which program or adapter made it, such as `cli`, `library` or `mcp`. */
  by: string;
  /** Why or from what it was made, in words. */
  reason: string;
  /** The files that changed, with the hashes of their contents before and after. */
  files: FileChange[];
  /** The entry that an undo reverted. */
  undoes?: string;
  /** Files that were renamed, old and new name. */
  renames?: [string, string][];
  /** The index and its overflow page before and after, by hash. Undo restores them whole, or merges. */
  pages?: { before: PageHashes; after: PageHashes };
  /** The user had the earlier contents removed: it cannot be undone. */
  purged?: boolean;
  /** The target of the removed file, which was a symbolic link: it cannot be undone. */
  link?: string;
  /** The memories still say the same, and keep their times: new paths, cues, another name. */
  keepsTimes?: boolean;
}

export interface PageHashes {
  /** Null when there was no MEMORY.md. */
  index: string | null;
  more: string;
  /** Where MEMORY.md led when it was a symbolic link, which the change replaced. */
  link?: string;
}

/** With their texts, which are asked for only if they are not kept yet. */
export interface HashedPages extends PageHashes {
  texts: readonly [index: () => string, more: () => string];
}

/** Hashes of a file's content before and after; null where it did not exist. */
export interface FileChange {
  file: string;
  before: string | null;
  after: string | null;
  /** The file's time before; earlier versions did not note it. */
  mtimeMs?: number;
}

interface End {
  id: string;
  end: "done" | "dropped";
  /** Known only now: others write the index, too. Earlier versions wrote those after the change only. */
  pages?: Entry["pages"] | PageHashes;
}

/** More than most lines of ours; where the last one is longer, more is read. */
const TAIL_BYTES = 8 * 1024;

/** Writes the before-images and the intent line; both are on disk when this returns. The lock must be held. */
export function beginEntry(
  directory: Directory,
  entry: Omit<Entry, "id" | "at" | "by">,
  images: ReadonlyMap<string, Uint8Array>,
): Entry {
  for (const [hash, data] of images) {
    keepImage(directory, hash, () => data, true);
  }
  const id = String(Number(readLast(directory)?.id ?? 0) + 1);
  const full: Entry = { id, at: directory.now().toISOString(), by: directory.by, ...entry };
  append(directory, full, true);
  return full;
}

function keepImage(directory: Directory, hash: string, data: () => string | Uint8Array, flush: boolean): void {
  const path = imagePath(directory, hash);
  if (existsSync(path)) return;
  moveInto(writeTemporary(statePath(directory, "tmp"), data(), 0o600, "file", flush), path, flush);
}

/** Not flushed, and no reason to fail: without them undo still brings the memories back, and their lines one by one. */
export function keepPages(directory: Directory, ...pages: readonly HashedPages[]): void {
  try {
    for (const { index, more, texts } of pages) {
      if (index !== null) keepImage(directory, index, texts[0], false);
      keepImage(directory, more, texts[1], false);
    }
  } catch (error) {
    directory.log(`the index was not kept for undo: ${(error as Error).message}`);
  }
}

export function hashPages({ index, more }: Pages): PageHashes {
  return { index: index === null ? null : sha256(index), more: sha256(more) };
}

/** Null when one of them is no longer kept. */
export function readPages(directory: Directory, { index, more }: PageHashes): Pages | null {
  const texts = [index, more].map((hash) => (hash === null ? null : readImage(directory, hash)?.toString("utf8")));
  const [first, second] = texts;
  return first === undefined || typeof second !== "string" ? null : { index: first, more: second };
}

export function endEntry(directory: Directory, id: string, end: End["end"], pages?: Entry["pages"]): void {
  append(directory, { id, end, ...(pages && { pages }) }, false);
}

/** What an entry is called outside its directory: `team:17`. */
export type Sign = (id: string) => string;

/** All entries that took effect, oldest first. Lines that cannot be read are passed over. */
export function readJournal(directory: Directory, sign?: Sign): Entry[] {
  const entries = new Map<string, Entry>();
  for (const line of readLines(directory)) {
    if ("end" in line) {
      const entry = entries.get(line.id);
      if (line.end === "dropped") entries.delete(line.id);
      else if (entry && line.pages) entry.pages = joinPages(entry.pages, line.pages);
    } else entries.set(line.id, line);
  }
  const all = [...entries.values()];
  return sign
    ? all.map((each) => ({ ...each, id: sign(each.id), ...(each.undoes && { undoes: sign(each.undoes) }) }))
    : all;
}

function joinPages(begun: Entry["pages"], ended: NonNullable<End["pages"]>): NonNullable<Entry["pages"]> {
  return "before" in ended ? ended : { before: begun?.before ?? ended, after: ended };
}

/** Entries whose undo is in effect; an undo may itself have been undone. */
export function findUndone(entries: readonly Entry[]): Map<string, Entry> {
  const undone = new Map<string, Entry>();
  for (const entry of entries.toReversed()) {
    if (entry.undoes !== undefined && !undone.has(entry.id)) undone.set(entry.undoes, entry);
  }
  return undone;
}

/** The last entry that is neither an undo nor undone; what was purged, and what is below that, cannot be. */
export function lastUndoable(entries: readonly Entry[]): Entry | null {
  const undone = findUndone(entries);
  const blocked = new Set<string>();
  const isUndoable = ({ id, action, files, purged }: Entry) => {
    if (action === "undo" || undone.has(id)) return false;
    if (!purged && !files.some(({ file }) => blocked.has(file))) return true;
    for (const { file } of files) blocked.add(file);
    return false;
  };
  return entries.findLast(isUndoable) ?? null;
}

/** The entry that removed a file of this one for good afterwards, or itself; null for none. */
export function findPurge(entries: readonly Entry[], { id, files }: Entry): Entry | null {
  const later = entries.slice(entries.findIndex((entry) => entry.id === id));
  const isHere = ({ file }: FileChange) => files.some((each) => each.file === file);
  return later.find((entry) => entry.purged && entry.files.some(isHere)) ?? null;
}

/** The last intent whose writer did not come to the end, or null. */
export function findUnfinished(directory: Directory): Entry | null {
  const last = readLast(directory);
  return last === null || "end" in last ? null : last;
}

export function readImage(directory: Directory, hash: string): Buffer | null {
  const data = attempt(() => readRegular(imagePath(directory, hash)), null);
  return data && sha256(data) === hash ? data : null;
}

/**
 * How long contents are kept for undo: those of the last 500 entries and of the last 90 days, whichever reaches further back,
 * and at most 64 MB in all, the newest first. The last entry is always kept whole.
 */
const KEPT = { entries: 500, days: 90, bytes: 64 * 1024 * 1024 };

/** Looking through all images costs more than a save: only one change in so many does it. */
const THIN_EVERY = 64;

/** Called when an entry has ended, so that no unfinished one needs an image. The lock must be held. */
export function thinImages(directory: Directory, entry: Entry, limits = KEPT, every = THIN_EVERY): void {
  if (Number(entry.id) % every !== 0) return;
  try {
    const sizes = new Map(
      readdirSync(statePath(directory, "images")).map((name) => [name, statSync(imagePath(directory, name)).size]),
    );
    const kept = keptImages(readJournal(directory), sizes, directory.now().getTime(), limits);
    for (const name of sizes.keys()) if (!kept.has(name)) removeQuietly(imagePath(directory, name));
  } catch (error) {
    directory.log(`old contents were not removed: ${(error as Error).message}`);
  }
}

function keptImages(
  entries: readonly Entry[],
  sizes: ReadonlyMap<string, number>,
  nowMs: number,
  limits: typeof KEPT,
): Set<string> {
  const kept = new Set<string>();
  let bytes = 0;
  for (const [back, entry] of entries.toReversed().entries()) {
    if (back >= limits.entries && nowMs - Date.parse(entry.at) > limits.days * 86_400_000) break;
    const fresh = imagesOf(entry).filter((hash) => !kept.has(hash));
    bytes += fresh.reduce((sum, hash) => sum + (sizes.get(hash) ?? 0), 0);
    if (bytes > limits.bytes && back > 0) break;
    for (const hash of fresh) kept.add(hash);
  }
  return kept;
}

function imagesOf({ files, pages }: Entry): string[] {
  return [...files.map(({ before }) => before), ...pageImages(pages)].filter((hash) => hash !== null);
}

/** The hashes of whole pages. */
function pageImages(pages: Entry["pages"]): string[] {
  // An entry of an earlier version whose writer died has no second pair.
  const all = [pages?.before, pages?.after].filter((each) => each !== undefined);
  return all.flatMap(({ index, more }) => [index, more]).filter((hash) => hash !== null);
}

/** For an entry whose contents are no longer kept: since when they are. */
export function describeKept(directory: Directory, entries: readonly Entry[]): string {
  const isWhole = ({ files, purged }: Entry) =>
    purged || files.every(({ before }) => before === null || existsSync(imagePath(directory, before)));
  const last = entries.findLastIndex((entry) => !isWhole(entry));
  const oldest = entries[last + 1];
  const since = oldest ? `, here since ${oldest.at.slice(0, 10)} (entry ${oldest.id})` : "";
  return `contents are kept for the last ${KEPT.entries} changes and ${KEPT.days} days, at most ${KEPT.bytes >> 20} MB${since}`;
}

export function imagePath(directory: Directory, hash: string): string {
  return statePath(directory, "images", hash);
}

function append(directory: Directory, line: Entry | End, flush: boolean): void {
  const path = journalPath(directory);
  onDisk("write the journal", path, () => appendLines(path, `${JSON.stringify(line)}\n`, { flush, isOurs: true }));
}

function readLines(directory: Directory): (Entry | End)[] {
  const path = journalPath(directory);
  const text = onDisk("read the journal", path, () => readRegular(path)?.toString("utf8") ?? "");
  return text.split("\n").flatMap(parseLine);
}

/** What was written last; before it, everything has ended. */
function readLast(directory: Directory): Entry | End | null {
  const find = (text: string) => text.split("\n").flatMap(parseLine).at(-1) ?? null;
  const path = journalPath(directory);
  const read = (fd: number, size: number) => findAtEnd({ fd, size }, { bytes: TAIL_BYTES }, find);
  return onDisk("read the journal", path, () => withRegular(path, read));
}

/** Nothing for a line torn by a power cut: whatever it announced did not happen, because the change comes after the flush. */
function parseLine(line: string): (Entry | End)[] {
  const value = line === "" ? null : attempt<unknown, null>(() => JSON.parse(line), null);
  return isLine(value) ? [value] : [];
}

/** A journal may come with a repository: what is not a line of ours, or names files elsewhere, is passed over like a torn one. */
function isLine(value: unknown): value is Entry | End {
  const line = value as Partial<Entry & End> | null;
  if (typeof line?.id !== "string") return false;
  if ("end" in line) return true;
  const isFile = (each: Partial<FileChange> | null) =>
    typeof each?.file === "string" &&
    findNameProblem(each.file) === null &&
    isHash(each.before) &&
    isHash(each.after) &&
    isTime(each.mtimeMs);
  return (
    typeof line.at === "string" &&
    typeof line.action === "string" &&
    Array.isArray(line.files) &&
    line.files.every(isFile)
  );
}

function isHash(value: unknown): boolean {
  return value === null || (typeof value === "string" && /^[0-9a-f]{64}$/.test(value));
}

/** The last moment that a Date can hold. */
const MAX_TIME_MS = 8.64e15;

function isTime(value: unknown): boolean {
  return value === undefined || (typeof value === "number" && Math.abs(value) <= MAX_TIME_MS);
}

// --- The journals of several directories as one: each entry's id says whose it is.

/**
 * What stands before the colon in the ids of a directory's entries; "" for the first one. A team may have two directories, the
 * mirror of its server and the one in the repository: the second is known by where it lies.
 */
function journalName(directories: readonly Directory[], { path, scope, inRepository }: Directory): string {
  if (directories[0]?.path === path) return "";
  const isSecond = directories.find((other) => other.scope === scope)?.path !== path;
  return isSecond && inRepository ? `${scope}@repository` : scope;
}

export function signEntry(directories: readonly Directory[], directory: Directory, id: string): string {
  const name = journalName(directories, directory);
  return name === "" ? id : `${name}:${id}`;
}

/** All entries, by time. */
export function readJournals(directories: readonly Directory[]): Entry[] {
  const all = directories.flatMap((directory) => readJournal(directory, (id) => signEntry(directories, directory, id)));
  return all.sort((a, b) => (a.at < b.at ? -1 : a.at > b.at ? 1 : 0));
}

/** The directory that an entry's id belongs to. Without an id: where the last change that can be undone was made. */
export function findJournal<D extends Directory>(directories: readonly D[], id: string | undefined): D {
  if (id === undefined) {
    const lasts = directories.map((directory) => ({ directory, at: lastUndoable(readJournal(directory))?.at ?? "" }));
    return lasts.reduce((a, b) => (b.at > a.at ? b : a)).directory;
  }
  if (!/^(?:.+:)?\d+$/.test(id)) {
    const how = "`memdir history` lists them, such as 17 or team:17; without one the last change is undone";
    throw new MemdirError("usage", `${JSON.stringify(id)} is not the number of a change: ${how}`);
  }
  const colon = id.lastIndexOf(":");
  const name = id.slice(0, Math.max(0, colon));
  const directory = directories.find((each) => journalName(directories, each) === name);
  if (!directory) throw new MemdirError("not-found", `there is no change ${id}: \`memdir history\` lists them`);
  return directory;
}

// --- Whether another directory's memories have all been adopted: then it is neither listed nor offered again.

/** By the content that was adopted: it stays taken over when the copy here is edited later, not when the adoption is undone. */
export function isTakenOver(directory: Directory, from: Pick<Directory, "path" | "recursive">): boolean {
  const entries = readJournal(directory);
  const undone = findUndone(entries);
  const adoptions = entries.filter((entry) => entry.action === "adopt" && !undone.has(entry.id));
  if (adoptions.length === 0) return false;
  const taken = new Set(adoptions.flatMap((entry) => entry.files.map(({ after }) => after)));
  return walk(from.path, from.recursive).files.every((file) => {
    const there = findBytes({ ...directory, path: from.path }, file);
    const here = findBytes(directory, file);
    return there === null || taken.has(sha256(there)) || (here !== null && sha256(here) === sha256(there));
  });
}
