/**
 * The journal: what changed, when, by whom, with what it was before. An intent line is on disk before the change is made and
 * an end line follows it; a last intent without an end belongs to a writer that died.
 */

import {
  closeSync,
  constants,
  existsSync,
  fstatSync,
  fsyncSync,
  ftruncateSync,
  openSync,
  readSync,
  writeSync,
} from "node:fs";
import { moveInto, writeTemporary } from "../disk/atomic.ts";
import { openRegular, readRegular } from "../disk/regular.ts";
import { diskError, MemdirError } from "../errors.ts";
import { sha256 } from "../text/hash.ts";
import { type Directory, statePath } from "./directory.ts";
import type { RemovedLine } from "./index-text.ts";

export type Action = "save" | "forget" | "rename" | "edit" | "undo" | "adopt" | "import" | "prune" | "dream" | "sync";

export interface Entry {
  id: string;
  at: string;
  action: Action;
  by: string;
  reason: string;
  files: FileChange[];
  /** Index lines that the change took out, by file, for undo. */
  lines?: Record<string, readonly RemovedLine[]>;
  /** The entry that an undo took back. */
  undoes?: string;
  /** The index and its overflow page before and after, by hash, for a change that arranged them: undo puts them back whole. */
  pages?: { before: PageHashes; after?: PageHashes };
  /** The before-images were removed on the user's word: it cannot be undone. */
  purged?: boolean;
}

export interface PageHashes {
  index: string;
  more: string;
}

/** Hashes of a file's content before and after; null where it did not exist. */
export interface FileChange {
  file: string;
  before: string | null;
  after: string | null;
}

interface End {
  id: string;
  end: "done" | "dropped";
  /** Known only now: others write the index, too. */
  pages?: PageHashes;
}

/** A link in the journal's place would lead the writing elsewhere; a fifo would hold it up for ever. */
const SAFE = (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);
const APPEND = constants.O_RDWR | constants.O_APPEND | constants.O_CREAT | SAFE;

/** More than any line of ours: an intent and its end are always found in the tail. */
const TAIL_BYTES = 64 * 1024;

/** Writes the before-images and the intent line; both are on disk when this returns. The lock must be held. */
export function beginEntry(
  directory: Directory,
  entry: Omit<Entry, "id" | "at" | "by">,
  images: ReadonlyMap<string, Uint8Array>,
): Entry {
  for (const [hash, data] of images) {
    const path = imagePath(directory, hash);
    if (!existsSync(path)) moveInto(writeTemporary(statePath(directory, "tmp"), data, 0o600), path);
  }
  const id = String(Number(readTail(directory).lastId) + 1);
  const full: Entry = { id, at: directory.now().toISOString(), by: directory.by, ...entry };
  append(directory, full, true);
  return full;
}

export function endEntry(directory: Directory, id: string, end: End["end"], pages?: PageHashes): void {
  append(directory, { id, end, ...(pages && { pages }) }, false);
}

/** All entries that took effect, oldest first. Lines that cannot be read are passed over. */
export function readJournal(directory: Directory): Entry[] {
  const entries = new Map<string, Entry>();
  for (const line of readLines(directory)) {
    if ("end" in line) {
      const entry = entries.get(line.id);
      if (line.end === "dropped") entries.delete(line.id);
      else if (entry?.pages && line.pages) entry.pages.after = line.pages;
    } else entries.set(line.id, line);
  }
  return [...entries.values()];
}

/** The last entry that is neither an undo nor undone. */
export function lastUndoable(entries: readonly Entry[]): Entry | null {
  const undone = new Set(entries.flatMap((e) => (e.undoes ? [e.undoes] : [])));
  return entries.findLast((e) => e.action !== "undo" && !undone.has(e.id) && !e.purged) ?? null;
}

/** The last intent whose writer did not come to the end, or null. */
export function findUnfinished(directory: Directory): Entry | null {
  return readTail(directory).unfinished;
}

export function readImage(directory: Directory, hash: string): Buffer | null {
  try {
    const data = readRegular(imagePath(directory, hash));
    return data && sha256(data) === hash ? data : null;
  } catch {
    return null;
  }
}

export function imagePath(directory: Directory, hash: string): string {
  return statePath(directory, "images", hash);
}

export function journalPath(directory: Directory): string {
  return statePath(directory, "journal.jsonl");
}

function append(directory: Directory, line: Entry | End, flush: boolean): void {
  const path = journalPath(directory);
  let fd: number | undefined;
  try {
    fd = openSync(path, APPEND, 0o600);
    const stat = fstatSync(fd);
    if (!stat.isFile()) throw new MemdirError("disk", `${path} is no ordinary file: move it away`);
    const size = stat.size;
    const last = Buffer.alloc(1);
    // A torn last line (power cut, full disk) must not swallow this one.
    if (size > 0) readSync(fd, last, 0, 1, size - 1);
    const start = size > 0 && last[0] !== 10 ? "\n" : "";
    const data = Buffer.from(`${start}${JSON.stringify(line)}\n`);
    try {
      if (writeSync(fd, data) < data.length) throw Object.assign(new Error("short write"), { code: "ENOSPC" });
      if (flush) fsyncSync(fd);
    } catch (error) {
      ftruncateSync(fd, size);
      throw error;
    }
  } catch (error) {
    throw diskError(error, "write the journal", path);
  } finally {
    if (fd !== undefined) closeSync(fd);
  }
}

function readLines(directory: Directory): (Entry | End)[] {
  const path = journalPath(directory);
  try {
    return parseLines(readRegular(path)?.toString("utf8") ?? "");
  } catch (error) {
    throw diskError(error, "read the journal", path);
  }
}

function readTail(directory: Directory): { lastId: string; unfinished: Entry | null } {
  let lastId = "0";
  let unfinished: Entry | null = null;
  for (const line of parseLines(tailText(directory))) {
    if ("end" in line) {
      if (unfinished?.id === line.id) unfinished = null;
    } else {
      unfinished = line;
    }
    lastId = line.id;
  }
  return { lastId, unfinished };
}

function tailText(directory: Directory): string {
  const path = journalPath(directory);
  let opened: ReturnType<typeof openRegular>;
  try {
    opened = openRegular(path);
  } catch (error) {
    throw diskError(error, "read the journal", path);
  }
  if (!opened) return "";
  const { fd, size } = opened;
  try {
    // A change of many files has a long line: read on until a whole one is in the tail.
    for (let want = TAIL_BYTES; ; want *= 4) {
      const length = Math.min(size, want);
      const data = Buffer.alloc(length);
      readSync(fd, data, 0, length, size - length);
      const text = data.toString("utf8");
      if (length === size) return text;
      const whole = text.slice(text.indexOf("\n") + 1);
      if (parseLines(whole).some((line) => !("end" in line))) return whole;
    }
  } finally {
    closeSync(fd);
  }
}

function parseLines(text: string): (Entry | End)[] {
  const lines: (Entry | End)[] = [];
  for (const line of text.split("\n")) {
    if (line === "") continue;
    try {
      const value = JSON.parse(line) as Entry | End;
      if (typeof value?.id === "string") lines.push(value);
    } catch {
      // Torn by a power cut: whatever it announced did not happen, because the change comes after the flush.
    }
  }
  return lines;
}
