/** Memories as rows: each is derived once from its file, kept in the row cache, and dated by one rule for everybody who asks. */

import { existsSync, type Stats, statSync } from "node:fs";
import { join } from "node:path";
import { readRegular, statOrNull } from "../disk/fence.ts";
import { runAtOnce, runInPieces } from "../disk/turns.ts";
import { attempt } from "../errors.ts";
import { findHead, lastCommitTimes } from "../project/git.ts";
import { INDEX_FILE, OVERFLOW_FILE, type Walked, walk } from "../project/locate.ts";
import { hashOf } from "../text/hash.ts";
import type { Enforced } from "./admit.ts";
import { digestMemory, type Embed, embedTexts, meaningfulTexts } from "./digest.ts";
import {
  type Directory,
  errnoOf,
  filePath,
  look,
  readBytes,
  readMemory,
  readStart,
  statePath,
  unreadable,
} from "./directory.ts";
import { openListing } from "./index-line.ts";
import { type Header, type Memory, type MemoryType, stemOf } from "./memory.ts";
import {
  appendEntries,
  type CacheHead,
  type CacheNotes,
  type CacheRead,
  FEW_FILES,
  LIKELY_FILES,
  noteInHead,
  readInPieces,
  readRowCache,
  writeInPieces,
} from "./row-cache.ts";
import {
  type Age,
  ageInDays,
  ageName,
  agrees,
  countsFrom,
  type FileStamp,
  findBulks,
  hashBytes,
  isBulkTime,
  type RowEntry,
  TICK_MS,
  type Vector,
} from "./row-entry.ts";

/** A memory as every list shows it. */
export interface Row {
  /** Path below the directory, with `/` on every system. */
  file: string;
  /** Absolute path. */
  path: string;
  /** user, project, team, or agent:NAME@user or @project. */
  scope: string;
  /** What it is about: the person, how they want the work done, the project, or where something is kept. */
  type: MemoryType;
  /** False when the file names no valid type, and `type` is a guess. */
  typeExplicit: boolean;
  /** Its title, or the file's name without `.md` where the file does not give one. */
  name: string;
  /** One line: what it is about. */
  description: string;
  /** ISO time that the age counts from. */
  modified: string;
  /** Whole days since `modified`. */
  ageDays: number;
  /** The age as a word: fresh, recent, stale or old. */
  age: Age;
  /** Size of the file. */
  bytes: number;
  /** Whether it must stay: prune and dream never remove it. */
  pinned: boolean;
  /** Its cues. */
  when: string[];
  /** From this moment on, recall does not show it; missing if the file does not say. */
  expires?: string;
  /** Who said it, as the file's `source` names them; missing where the file has no source. */
  by?: string;
  /** What is wrong with the file, in words. */
  problems: string[];
  /** Whether only its name is known, because it is a link or a file without read permission. */
  unreadable: boolean;
}

/** A row with what the store knows beyond lists. */
export interface FullRow extends Row {
  header: Header;
  mtimeMs: number;
  rule: Enforced | null;
  /** The only day that a project's memory names, YYYY-MM-DD. */
  day: string | null;
}

/** A memory with its text. */
export interface ShownMemory extends Row {
  /** The Markdown below the frontmatter. */
  body: string;
  /** Every field of the frontmatter. */
  metadata: Memory["metadata"];
}

/** What a directory holds. */
export interface Listing {
  /** The memories. */
  rows: Row[];
  /** What is in the directory but is not a memory, with the reason. */
  skipped: Skipped[];
}

export interface Skipped {
  path: string;
  reason: string;
  /** An ordinary text beside the memories, such as a README: nothing is wrong with it. */
  isPlain?: true;
}

/** A cache for a handful of files, where there is no state folder yet, is not worth making one. */
const WORTH_MAKING = 20;
/** Rewritten when this much of it was appended. */
const LOOSE_BYTES = 256 * 1024;
const MAX_INDEX_BYTES = 4 << 20;

export async function listMemories(directory: Directory): Promise<Listing> {
  return collect(directory, (row) => row);
}

export async function showMemory(directory: Directory, file: string): Promise<ShownMemory> {
  const memory = readMemory(directory, file);
  const { rows } = await listMemories(directory);
  const row = rows.find((each) => each.file === file) ?? rowByStat(directory, memory);
  return { ...row, body: memory.body, metadata: memory.metadata };
}

export function readRows(directory: Directory): Promise<{ rows: FullRow[]; skipped: Skipped[] }> {
  return collect(directory, (row, header, entry) =>
    Object.assign(row, {
      header,
      mtimeMs: entry?.mtimeMs ?? 0,
      rule: entry?.details.rule ?? null,
      day: entry?.details.day ?? null,
    }),
  );
}

/** What is made of each row; a file that cannot be read has no entry. */
type Make<T> = (row: Row, header: Header, entry: RowEntry | null) => T;

async function collect<T>(directory: Directory, make: Make<T>): Promise<{ rows: T[]; skipped: Skipped[] }> {
  const found = await runInPieces(lookAt(directory, { everyFile: true }));
  const isUndated = () => found.entries.some(({ saidMs }) => saidMs === 0);
  const commits = await lookUpCommits(directory, found.commits, isUndated);
  if (commits) dateEntries(directory, found.entries, commits);
  return { rows: await runInPieces(rowsOf(directory, found, make)), skipped: found.skipped };
}

function* rowsOf<T>(directory: Directory, found: Found, make: Make<T>): Generator<void, T[]> {
  const nowMs = directory.now().getTime();
  const dateOf = openDates(directory, found.entries);
  const rows: T[] = [];
  for (const entry of found.entries) {
    yield;
    const { header } = entry.details;
    rows.push(make(rowOf(directory, header, { bytes: entry.size, fromMs: dateOf(entry), nowMs }), header, entry));
  }
  for (const header of found.unreadable) rows.push(make(rowByStat(directory, header), header, null));
  return rows;
}

/** The time that each one's age counts from, among all of them. */
function openDates({ inRepository }: Directory, entries: readonly RowEntry[]): (entry: RowEntry) => number {
  const bulks = findBulks(entries.map(({ mtimeMs }) => mtimeMs));
  return (entry) => countsFrom(entry, { inRepository, isBulk: isBulkTime(bulks, entry.mtimeMs) });
}

/** Of what has no entry, as a link or a file that cannot be read: only the disk says how old it is. */
function rowByStat(directory: Directory, header: Header): Row {
  const stat = attempt(() => look(filePath(directory, header.file)), undefined);
  const fromMs = stat?.mtimeMs ?? directory.now().getTime();
  return rowOf(directory, header, { bytes: stat?.isFile() ? stat.size : 0, fromMs });
}

/** Every memory without its date: for callers that hold the lock, or cannot wait for git. */
export function scan(directory: Directory): Header[] {
  return headersOf(runAtOnce(lookAt(directory, { everyFile: true })));
}

export async function scanInPieces(directory: Directory): Promise<Header[]> {
  return headersOf(await runInPieces(lookAt(directory, { everyFile: true })));
}

function headersOf({ entries, unreadable: broken }: Found): Header[] {
  return [...entries.map(({ details }) => details.header), ...broken];
}

/** Every memory with what ranking needs, for those who only look: nothing is written. */
export function listEntries(directory: Directory): RowEntry[] {
  return runAtOnce(lookAt({ ...directory, readOnly: true }, { everyFile: true, want: "all" })).entries;
}

/**
 * The newest rows as the cache has them, no file looked at: for whoever shows a list while all of it is being read. Null when
 * files came or went since the cache was written.
 */
export function peekRows(directory: Directory, limit: number): { rows: Row[]; total: number } | null {
  const { head, entries, isSound } = readRowCache(directory, "rows");
  if (!head || !isSound || !isCovering(head, directory.path)) return null;
  const nowMs = directory.now().getTime();
  const all = [...entries.values()].filter(({ isPlain }) => !isPlain);
  const dateOf = openDates(directory, all);
  const dated = all.map((entry) => ({ entry, fromMs: dateOf(entry) }));
  const newest = dated.sort((a, b) => b.fromMs - a.fromMs).slice(0, limit);
  const rows = newest.map(({ entry: { details, size: bytes }, fromMs }) =>
    rowOf(directory, details.header, { bytes, fromMs, nowMs }),
  );
  return { rows, total: all.length };
}

/** One memory as it is now, with the time that its age counts from, from what the cache has; null where there is none. */
export function readEntry(directory: Directory, file: string): { entry: RowEntry; fromMs: number } | null {
  const { entries } = readRowCache(directory, "rows");
  const known = entries.get(file) ?? null;
  const digest = digestFile(directory, file, known);
  const entry = digest === "same" ? known : digest;
  if (!entry) return null;
  return { entry, fromMs: openDates(directory, [...entries.set(file, entry).values()])(entry) };
}

/** The memories that hooks look for, those with a rule or a day: every name is compared, but of many files only the newest are looked at. */
export function scanForHooks(directory: Directory, isLate: () => boolean): RowEntry[] {
  return runAtOnce(lookAt(directory, { everyFile: false, isLate })).entries.filter(({ isForHooks }) => isForHooks);
}

/**
 * The same from the beginning of the cache alone; null when files came or went since it was written. `stale`: those whose files
 * have changed. With `windowAt` a part of all other memories is compared as well, since a rule or a day may have come into one.
 */
export function peekForHooks(
  directory: Directory,
  windowAt: number | null = null,
): { entries: RowEntry[]; stale: RowEntry[] } | null {
  const { head, entries, isSound } = readRowCache(directory, "hooks");
  if (!head || !isSound || !isCovering(head, directory.path)) return null;
  const more = windowAt === null ? [] : readRowCache(directory, { windowAt }).entries;
  const all = [...new Map([...more, ...entries]).values()];
  const stale = all.filter((entry) => !isUnchanged(directory, entry));
  return { entries: [...entries.values()].filter((entry) => !stale.includes(entry)), stale };
}

/** Whether no file came or went since the cache was seen to cover all. */
export function isCovering({ folders }: Pick<CacheHead, "folders">, path: string): boolean {
  return (
    folders.length > 0 &&
    folders.every(([folder, mtimeMs]) => mtimeMs !== 0 && statOrNull(join(path, folder))?.mtimeMs === mtimeMs)
  );
}

interface Found {
  entries: RowEntry[];
  unreadable: Header[];
  skipped: Skipped[];
  commits: string;
}

interface Looking {
  /** False: only files that are new, and of many those that changed last. */
  everyFile: boolean;
  /** Ends the reading of files; what was found by then counts. */
  isLate?: () => boolean;
  /** Of the cache. */
  want?: "rows" | "all";
}

/** Every memory as it is now: from the cache where the file's stamp agrees, else digested again, which the cache then keeps. */
function* lookAt(
  directory: Directory,
  { everyFile, isLate = () => false, want = "rows" }: Looking,
): Generator<void, Found> {
  const walked = walk(directory.path, directory.recursive);
  const cache = yield* readInPieces(directory, want);
  const likely = everyFile ? null : likelyFiles(cache, walked.files);
  const found: Found = { entries: [], unreadable: [], skipped: walked.skipped, commits: cache.head?.commits ?? "" };
  const changed: RowEntry[] = [];
  let left = 0;
  for (const file of walked.files) {
    yield;
    const known = cache.entries.get(file) ?? null;
    if (known && likely && !likely.has(file)) {
      found.entries.push(known);
      continue;
    }
    if (isLate()) {
      // A rule as it was is better than none.
      if (known) found.entries.push(known);
      left++;
      continue;
    }
    try {
      const digest = digestFile(directory, file, known);
      if (digest === "same") found.entries.push(known as RowEntry);
      else if (digest) {
        found.entries.push(digest);
        changed.push(digest);
      }
    } catch (error) {
      found.unreadable.push(unreadable(file, errnoOf(error)));
      left++;
    }
  }
  for (const file of walked.links) found.unreadable.push(unreadable(file, "ELOOP"));
  yield* keep(directory, cache, changed, left > 0 ? [] : quietFolders(directory, walked));
  return leaveOutPlain(directory, found);
}

function likelyFiles({ entries }: CacheRead, files: readonly string[]): Set<string> {
  if (files.length <= FEW_FILES) return new Set(files);
  const newest = [...entries.values()].sort((a, b) => b.mtimeMs - a.mtimeMs).slice(0, LIKELY_FILES);
  return new Set([...newest, ...[...entries.values()].filter(({ isForHooks }) => isForHooks)].map(({ file }) => file));
}

/** Appends what changed. The cache is rewritten where that is not possible, and when much of it was appended. */
function* keep(
  directory: Directory,
  cache: CacheRead,
  changed: readonly RowEntry[],
  folders: CacheNotes["folders"],
): Generator<void, void> {
  if (directory.readOnly || !mayWrite(directory, changed)) return;
  const isAppended =
    cache.head !== null &&
    cache.isSound &&
    !isLoose(cache.looseBytes, cache.bytes) &&
    (changed.length === 0 || appendEntries(directory, changed) > 0);
  if (!isAppended) {
    if (changed.length > 0 || cache.bytes > 0)
      yield* rewriteInPieces(directory, changed, { folders, commits: cache.head?.commits ?? "" });
  } else if (!isSameFolders(cache.head?.folders ?? [], folders)) noteInHead(directory, { folders });
}

/** Whether so much of a cache was appended that it is worth writing anew. */
export function isLoose(looseBytes: number, bytes: number): boolean {
  return looseBytes > LOOSE_BYTES && looseBytes * 2 > bytes;
}

/** Puts every entry that counts, and these, into a new cache; the notes of the old one stay where none are given. */
export function rewriteCache(directory: Directory, changed: Iterable<RowEntry>, notes: CacheNotes | null): boolean {
  return runAtOnce(rewriteInPieces(directory, changed, notes));
}

/** How often another process may come first with a new cache. */
const MAX_REPLACED = 2;

/** The same a piece at a time: of a hundred thousand memories it takes many seconds. */
export function* rewriteInPieces(
  directory: Directory,
  changed: Iterable<RowEntry>,
  notes: CacheNotes | null,
): Generator<void, boolean> {
  for (let tries = 0; ; tries++) {
    const { entries, head, ino, bytes } = yield* readInPieces(directory, "all");
    for (const entry of changed) entries.set(entry.file, entry);
    const there: RowEntry[] = [];
    for (const entry of entries.values()) {
      yield;
      const { terms, length } = entry.ranking;
      // A damaged ranking part has no terms: it is digested again by whoever looks next.
      if ((length === 0 || terms.length > 0) && existsSync(join(directory.path, entry.file))) there.push(entry);
    }
    const { folders, commits } = notes ?? head ?? NO_NOTES;
    const known = { folders: there.length === entries.size ? folders : [], commits };
    const former = tries < MAX_REPLACED ? { ino, bytes } : null;
    const written = yield* writeInPieces(directory, there, known, former);
    if (written !== "replaced") return written;
  }
}

const NO_NOTES: CacheNotes = { folders: [], commits: "" };

/** Whoever only looks at a repository leaves no new folder in it, nor anywhere for a handful of files without a rule. */
function mayWrite(directory: Directory, changed: readonly RowEntry[]): boolean {
  const isWorth = changed.length >= WORTH_MAKING || changed.some(({ details }) => details.rule !== null);
  return existsSync(statePath(directory)) || (!directory.inRepository && isWorth);
}

/** 0 for a folder that changed just now: a file that comes within the same tick would not change its time. */
export function quietFolders({ now }: Pick<Directory, "now">, { folders, folderTimes }: Walked): CacheNotes["folders"] {
  const nowMs = now().getTime();
  return folders.map((folder, i) => {
    const mtimeMs = folderTimes[i] as number;
    return [folder, nowMs - mtimeMs > TICK_MS ? mtimeMs : 0];
  });
}

function isSameFolders(a: CacheNotes["folders"], b: CacheNotes["folders"]): boolean {
  return a.length === b.length && a.every(([folder, ms], i) => folder === b[i]?.[0] && ms === b[i]?.[1]);
}

/** Markdown without frontmatter, such as a README, is a memory only where the index names it, or where there is no index. */
function leaveOutPlain(directory: Directory, found: Found): Found {
  if (!found.entries.some(({ isPlain }) => isPlain)) return found;
  const isNamed = openIndexNames(directory);
  const isMemory = ({ isPlain, file }: RowEntry) => !isPlain || isNamed(file);
  const plain = found.entries.filter((entry) => !isMemory(entry));
  const skipped = plain.map(({ file: path }) => ({ path, reason: PLAIN, isPlain: true as const }));
  return { ...found, entries: found.entries.filter(isMemory), skipped: [...found.skipped, ...skipped] };
}

const PLAIN = `no frontmatter, and ${INDEX_FILE} does not name it`;

/** Whether the index or its overflow page names a file, with its folder or without; true for all where there is no index. */
export function openIndexNames({ path }: Pick<Directory, "path">): (file: string) => boolean {
  const [index = null, more] = [INDEX_FILE, OVERFLOW_FILE].map((name) => readIndexText(join(path, name)));
  if (index === null) return () => true;
  const isListed = openListing(index, more ?? "");
  return (file) => [file, `${stemOf(file)}.md`].some((each) => isListed({ file: each, name: each }));
}

function readIndexText(path: string): string | null {
  return attempt(() => readRegular(path, { follow: true, maxBytes: MAX_INDEX_BYTES })?.toString("utf8") ?? null, "");
}

/** When each file of a directory was last committed, and the commit at which that was asked. */
export interface CommitTimes {
  head: string | null;
  times: ReadonlyMap<string, number>;
}

/** Asks git once for each HEAD, and only where a memory does not date itself; null where the entries are dated as they are. */
export async function lookUpCommits(
  { path, inRepository }: Pick<Directory, "path" | "inRepository">,
  known: string,
  isUndated: () => boolean,
): Promise<CommitTimes | null> {
  const head = inRepository ? findHead(path) : null;
  if (!inRepository || (head !== null && head === known) || !isUndated()) return null;
  return { head, times: await lastCommitTimes(path) };
}

/** Sets their dates, and keeps those that are new in the cache. How many bytes were appended to it. */
export function dateEntries(directory: Directory, entries: readonly RowEntry[], { head, times }: CommitTimes): number {
  const dated = entries.filter((entry) => entry.commitMs !== (times.get(entry.file) ?? 0));
  for (const entry of dated) entry.commitMs = times.get(entry.file) ?? 0;
  if (head === null || times.size === 0 || !mayWrite(directory, [])) return 0;
  const bytes = dated.length === 0 ? 0 : appendEntries(directory, dated);
  if (dated.length === 0 || bytes > 0) noteInHead(directory, { commits: head });
  return bytes;
}

/** The row of a memory whose date is known. */
export function rowOf(
  directory: Directory,
  header: Header,
  { bytes, fromMs, nowMs = directory.now().getTime() }: { bytes: number; fromMs: number; nowMs?: number },
): Row {
  const ageDays = ageInDays(fromMs, nowMs);
  return {
    file: header.file,
    path: filePath(directory, header.file),
    scope: directory.scope,
    type: header.type,
    typeExplicit: header.typeExplicit,
    name: header.name,
    description: header.description,
    modified: new Date(fromMs).toISOString(),
    ageDays,
    age: ageName(ageDays, directory.ageDays),
    bytes,
    pinned: header.pinned,
    when: header.when,
    ...(header.expires && { expires: header.expires }),
    ...(header.source && { by: header.source.by }),
    problems: header.problems,
    unreadable: header.unreadable,
  };
}

export function isUnchanged({ path }: Pick<Directory, "path">, entry: FileStamp): boolean {
  const stat = statOrNull(`${path}/${entry.file}`);
  return stat !== null && agrees(entry, stat);
}

// --- A file and what is known of it.

/** Of a larger file the beginning is what it is found by: what follows is data that somebody put there. */
const MAX_FILE_BYTES = 4 << 20;

/**
 * Null when the file is gone, "same" when nothing has to be done; throws when it cannot be read. What is known of it, its
 * vectors first, is kept as far as the text is the same.
 */
export function digestFile(
  directory: Pick<Directory, "path" | "now">,
  file: string,
  known: RowEntry | null,
  embed: Embed | null = null,
): RowEntry | "same" | null {
  const stat = statSync(filePath(directory, file), { throwIfNoEntry: false });
  if (!stat?.isFile()) return null;
  const lacksMeaning = embed !== null && known !== null && known.ranking.vectors.length === 0;
  if (known && !lacksMeaning && agrees(known, stat)) return "same";
  const bytes = readForRow(directory, file, stat);
  const nowMs = directory.now().getTime();
  if (known && !lacksMeaning && isSameText(known, bytes)) return touched(known, stat, nowMs);
  const entry = digestMemory(file, bytes, stat, nowMs);
  entry.commitMs = known?.commitMs ?? 0;
  const former = vectorsOf(known);
  if (embed) entry.ranking.vectors = embedTexts(file, bytes, embed, former);
  else if (former) entry.ranking.formerVectors = former;
  return entry;
}

/** False for one whose ranking part is damaged: it has no terms. */
function isSameText({ size, hash, ranking }: RowEntry, bytes: Buffer): boolean {
  const isWhole = ranking.length === 0 || ranking.terms.length > 0;
  return isWhole && size === bytes.length && hash === hashBytes(bytes);
}

/** The same text with another stamp: all that is known of it holds. Or looked at again so soon that nothing can be said yet. */
function touched(known: RowEntry, { mtimeMs, ctimeMs, size, ino }: Stats, nowMs: number): RowEntry | "same" {
  const isSettled = nowMs - ctimeMs > TICK_MS;
  if (known.isSettled === isSettled && known.mtimeMs === mtimeMs && known.ctimeMs === ctimeMs) return "same";
  const { details, ranking } = known;
  return { ...known, details, ranking, mtimeMs, ctimeMs, size, ino, isSettled };
}

/** The texts of a memory that still need a vector. Throws when it cannot be read. */
export function textsWithoutVector(directory: Pick<Directory, "path">, file: string, known: RowEntry | null): string[] {
  const stat = statSync(join(directory.path, file));
  const done = new Set(vectorsOf(known)?.map(({ hash }) => hash));
  return meaningfulTexts(file, readForRow(directory, file, stat)).flatMap(({ text }) =>
    done.has(hashOf(text)) ? [] : text,
  );
}

function readForRow(directory: Pick<Directory, "path">, file: string, { size }: Stats): Buffer {
  return size > MAX_FILE_BYTES ? readStart(directory, file, MAX_FILE_BYTES) : readBytes(directory, file);
}

function vectorsOf(known: RowEntry | null): Vector[] | undefined {
  return known?.ranking.vectors.length ? known.ranking.vectors : known?.ranking.formerVectors;
}
