/**
 * Brings MEMORY.md in step with a change while others may write it too. Editors and agents do not take our lock, so every
 * write looks at what it replaced: if that is not what was read, it starts again from theirs.
 */

import { lstatSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { exchange, moveInto, removeQuietly, writeCacheFile, writeTemporary } from "../disk/atomic.ts";
import { diskError, MemdirError } from "../errors.ts";
import { ageInDays } from "./age.ts";
import { type Directory, fileMode, INDEX_FILE, OVERFLOW_FILE, statePath } from "./directory.ts";
import { fitIndex, putOverflowLink } from "./index-fit.ts";
import { formatIndexLine, parseIndexLine } from "./index-line.ts";
import { linkedFiles, putLine, splitLines } from "./index-text.ts";
import { findBytes, readHeader } from "./read.ts";
import { walk } from "./walk.ts";

export interface IndexSync {
  /** Files whose lines went to the overflow page. */
  moved: string[];
  notices: string[];
}

/** `change` must give the same result when it is applied again to a text somebody else wrote meanwhile. */
export interface IndexRequest {
  change: (text: string) => string;
  /** The memory that was just written: its line moves to the overflow page last. */
  saved?: string;
  /** Also look for memories that no line points to, wherever they come from. */
  everything?: boolean;
}

const MAX_ATTEMPTS = 50;

/** Others write the file first and its line a moment later; their new files are left to them for this long. */
const GRACE_MS = 60_000;

/**
 * The lock must be held. `commit` moves the memories themselves into place; it runs once the new index lies ready beside the
 * old one, so that a full disk is noticed before anything has changed.
 */
export function syncIndex(directory: Directory, request: IndexRequest, commit: () => void = () => {}): IndexSync {
  const path = join(directory.path, INDEX_FILE);
  const base = readBase(directory);
  const current = readCurrent(path, base);
  const newcomers = findNewcomers(directory, base, request.everything === true, current === null);
  let source = current ?? base.text ?? "";
  let expected = current;
  let known = base.text ?? "";
  let commitOnce: (() => void) | null = commit;

  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
    const restored = source === known ? source : restoreLines(directory, source, known);
    const complete = addNewcomers(directory, restored, newcomers.files);
    const fitted = fitText(directory, request.change(complete), request.saved ?? null);
    const same = fitted.text === expected;
    const temporary = same
      ? null
      : writeTemporary(statePath(directory, "tmp"), fitted.text, modeOf(path, directory), "index");
    try {
      commitOnce?.();
    } catch (error) {
      if (temporary) removeQuietly(temporary);
      throw error;
    }
    commitOnce = null;
    const theirs = temporary === null ? null : replaceIndex(temporary, path, expected);
    if (theirs === null) {
      writeBase(directory, fitted.text, newcomers.waiting);
      return { moved: fitted.moved, notices: fitted.notices };
    }
    source = theirs.text;
    expected = theirs.inPlace ? theirs.text : fitted.text;
    if (!theirs.inPlace) known = fitted.text;
  }
  throw new MemdirError(
    "disk",
    `${path} is being rewritten all the time by another program: close it and run \`memdir index --rebuild\``,
  );
}

/** Null when ours is in place and replaced what was expected; else the text of whoever wrote in between. */
function replaceIndex(
  temporary: string,
  path: string,
  expected: string | null,
): { text: string; inPlace: boolean } | null {
  const result = exchange(temporary, path, () => readText(path) === expected);
  if (result === "changed") {
    removeQuietly(temporary);
    return { text: readText(path) ?? "", inPlace: true };
  }
  const { replaced } = result;
  if (replaced === null) return null;
  const isLink = lstatSync(replaced).isSymbolicLink();
  const text = isLink ? expected : readText(replaced);
  const theirs = text === expected ? null : settle(replaced);
  removeQuietly(replaced);
  return theirs === null ? null : { text: theirs, inPlace: false };
}

/** Lines of ours that another writer's text lacks, although their memories exist: it did not know them. */
function restoreLines(directory: Directory, text: string, known: string): string {
  const linked = linkedFiles(text);
  let overflow: Set<string> | null = null;
  let out = text;
  const lines = splitLines(known);
  for (const [at, line] of lines.entries()) {
    const file = parseIndexLine(line)?.file;
    if (file === undefined || linked.has(file) || !isFile(directory, file)) continue;
    overflow ??= linkedFiles(readOverflow(directory));
    if (overflow.has(file)) continue;
    const header = readHeader(directory, file);
    out = putLine(out, header, null, {
      text: line.trimEnd(),
      after: at === 0 ? null : (lines[at - 1] as string).trimEnd(),
    });
    linked.add(file);
  }
  return out;
}

interface Newcomers {
  files: string[];
  /** Some files are too young to be taken in: look again next time. */
  waiting: boolean;
}

/** Memories that others put into the directory. Looked for only when its listing changed behind our back. */
function findNewcomers(directory: Directory, base: Base, everything: boolean, missing: boolean): Newcomers {
  if (!everything && !missing && base.dirMtimeMs !== null && base.dirMtimeMs === dirMtime(directory))
    return { files: [], waiting: false };
  const now = directory.now().getTime();
  const linked = linkedFiles(base.text ?? "");
  const overflow = linkedFiles(readOverflow(directory));
  let waiting = false;
  const files = walk(directory.path, directory.recursive).files.filter((file) => {
    if (linked.has(file.normalize("NFC")) || overflow.has(file.normalize("NFC"))) return false;
    const young = now - (statSync(join(directory.path, file), { throwIfNoEntry: false })?.mtimeMs ?? 0) < GRACE_MS;
    if (young && !everything && !missing) waiting = true;
    return everything || missing || !young;
  });
  return { files, waiting };
}

function addNewcomers(directory: Directory, text: string, files: readonly string[]): string {
  if (files.length === 0) return text;
  const linked = linkedFiles(text);
  const lines = files.filter((file) => !linked.has(file.normalize("NFC"))).map((file) => readHeader(directory, file));
  // One by one only while there may be sections to sort them into; thousands are simply appended.
  if (lines.length <= 200) return lines.reduce((out, header) => putLine(out, header, null), text);
  const gap = text === "" || text.endsWith("\n") ? "" : "\n";
  return `${text}${gap}${lines.map((header) => `${formatIndexLine(header)}\n`).join("")}`;
}

function fitText(directory: Directory, text: string, saved: string | null): IndexSync & { text: string } {
  const now = directory.now().getTime();
  const fitted = fitIndex(
    text,
    () => readOverflow(directory),
    directory.limits,
    (file, line) => {
      if (!isFile(directory, file)) return null;
      const header = readHeader(directory, file);
      const stamp = header.modified
        ? Date.parse(header.modified)
        : (statSync(join(directory.path, file), { throwIfNoEntry: false })?.mtimeMs ?? 0);
      return {
        type: header.type,
        pinned: header.pinned,
        ageDays: ageInDays(stamp, now),
        own: line === formatIndexLine(header),
      };
    },
    saved,
  );
  const notices: string[] = [];
  if (fitted.overflow !== null) writeOverflow(directory, fitted.overflow);
  if (fitted.moved.length > 0) {
    const some = fitted.moved.slice(0, 3).join(", ");
    const more = fitted.moved.length > 3 ? ` and ${fitted.moved.length - 3} more` : "";
    notices.push(`MEMORY.md was full: the lines of ${some}${more} moved to ${OVERFLOW_FILE}`);
  }
  if (fitted.stillOver)
    notices.push("MEMORY.md is over the client's limit by hand-written text alone: shorten it, its end is not loaded");
  return { text: fitted.text, moved: fitted.moved, notices };
}

/** Removes a memory's line from the overflow page; true if there was one. */
export function removeFromOverflow(directory: Directory, file: string): boolean {
  const text = readOverflow(directory);
  if (text === "") return false;
  const lines = splitLines(text);
  const kept = lines.filter((line) => parseIndexLine(line)?.file !== file.normalize("NFC"));
  if (kept.length === lines.length) return false;
  writeOverflow(directory, kept.join(""));
  return true;
}

/** The index with the right number in its link to the overflow page. */
export function recountOverflow(directory: Directory, text: string): string {
  return putOverflowLink(text, linkedFiles(readOverflow(directory)).size);
}

export function readOverflow(directory: Directory): string {
  return findBytes(directory, OVERFLOW_FILE)?.toString("utf8") ?? "";
}

export function writeOverflow(directory: Directory, text: string): void {
  const path = join(directory.path, OVERFLOW_FILE);
  moveInto(writeTemporary(statePath(directory, "tmp"), text, modeOf(path, directory)), path);
}

/** MEMORY.md as memdir last left it, the inode it had, and the time of the directory then. */
interface Base {
  text: string | null;
  ino: number | null;
  dirMtimeMs: number | null;
}

export function readBase(directory: Directory): Base {
  try {
    const data = readFileSync(statePath(directory, "index.base"), "utf8");
    const newline = data.indexOf("\n");
    const { ino, dirMtimeMs } = JSON.parse(data.slice(0, newline)) as Omit<Base, "text">;
    return { text: data.slice(newline + 1), ino, dirMtimeMs };
  } catch {
    return { text: null, ino: null, dirMtimeMs: null };
  }
}

function writeBase(directory: Directory, text: string, waiting: boolean): void {
  const ino = statSync(join(directory.path, INDEX_FILE), { throwIfNoEntry: false })?.ino ?? null;
  const head = JSON.stringify({ ino, dirMtimeMs: waiting ? null : dirMtime(directory) });
  writeCacheFile(statePath(directory, "tmp"), statePath(directory, "index.base"), `${head}\n${text}`);
}

function dirMtime(directory: Directory): number {
  return statSync(directory.path).mtimeMs;
}

/** The index now; null if there is none. A link is not followed: it is replaced, and what it points to stays. */
function readCurrent(path: string, base: Base): string | null {
  const stat = lstatSync(path, { throwIfNoEntry: false });
  if (!stat) return null;
  if (stat.isDirectory())
    throw new MemdirError("disk", `${path} is a directory: move it away, the index belongs there`);
  if (stat.isSymbolicLink()) return null;
  const text = readText(path);
  if (text === base.text) return text;
  // A new inode was renamed into place whole. The same inode with another text may still be in the middle of a write.
  return stat.ino === base.ino ? settle(path) : text;
}

/** Reads until two readings agree: an editor that truncates and writes in place is seen half-way otherwise. */
function settle(path: string): string | null {
  let text = readText(path);
  for (let i = 0; i < 20; i++) {
    pause(text === "" ? 20 : 5);
    const again = readText(path);
    if (again === text && (text !== "" || i > 4)) break;
    text = again;
  }
  return text;
}

function readText(path: string): string | null {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return null;
    throw diskError(error, "read", path);
  }
}

/** Blocks this thread: the lock is held, and others wait for it anyway. */
function pause(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}

function isFile(directory: Directory, file: string): boolean {
  return lstatSync(join(directory.path, file), { throwIfNoEntry: false })?.isFile() === true;
}

function modeOf(path: string, directory: Directory): number {
  const stat = lstatSync(path, { throwIfNoEntry: false });
  return stat?.isFile() ? stat.mode & 0o777 : fileMode(directory);
}
