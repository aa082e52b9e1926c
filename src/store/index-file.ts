/**
 * MEMORY.md and its overflow page on disk. Editors and agents do not take our lock, so the index is read when it is settled
 * and swapped with the new one; if what came out is not what was read, somebody wrote in between, and all starts again from theirs.
 */

import { isUtf8 } from "node:buffer";
import { existsSync, lstatSync, readlinkSync, renameSync, statSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { exchange, moveInto, readRegular, removeQuietly, syncDirectory, writeTemporary } from "../disk/fence.ts";
import { runAtOnce } from "../disk/turns.ts";
import { attempt, lazily, MemdirError, onDisk } from "../errors.ts";
import { INDEX_FILE, isMemoryFile, OVERFLOW_FILE, walk } from "../project/locate.ts";
import { sha256 } from "../text/hash.ts";
import { splitLines } from "../text/lines.ts";
import {
  type Directory,
  isIndexAsLeft,
  keepRecord,
  look,
  modeFor,
  type PageRecord,
  readHeader,
  readRecord,
  statePath,
} from "./directory.ts";
import {
  type HeaderChange,
  hiddenLines,
  isDead,
  type Left,
  mentionPattern,
  type PageRequest,
  type Reconciled,
  type ReconcileOptions,
  reconcile,
} from "./index.ts";
import { formatIndexLine, type Pages, parseIndexLine } from "./index-line.ts";
import type { Entry, HashedPages, PageHashes } from "./journal.ts";
import { type Header, hasFrontmatter, type MemoryType, parseHeader } from "./memory.ts";
import { ageInDays, TICK_MS } from "./row-entry.ts";

export interface WrittenPages {
  /** Where the change began, and what it left. */
  hashes: NonNullable<Entry["pages"]>;
  notices: string[];
  /** To be kept once the change has ended. */
  record: Parameters<typeof keepRecord>[1];
}

/** What the caller does while the pages are being written. */
export interface PageSteps {
  /** Moves the memories into place. Called once, when both new pages are ready: a full disk is noticed before anything changed. */
  commit?: () => void;
  /** Keeps the pages for undo, before they are replaced. */
  keep?: (before: HashedPages, after: HashedPages) => void;
}

const MAX_ATTEMPTS = 50;

const LINK_REPLACED =
  "MEMORY.md was a symbolic link: it is a file now, and its target is unchanged; undo brings the link back";

/** A flush at a time. The lock must be held. */
export function* writePages(
  directory: Directory,
  request: PageRequest,
  steps: PageSteps = {},
): Generator<void, WrittenPages> {
  const path = indexPath(directory);
  refuseOtherEncoding(path);
  const former = readRecord(directory);
  const link = isLink(path) ? readlinkSync(path) : null;
  const hidden = [...former.hidden];
  let source = readSettled(path, former.text);
  let expected = source;
  let known = former.text;
  let commit = steps.commit ?? (() => {});
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
    const overflow = openOverflow(directory, former);
    const left: Left = { text: known, sameMore: overflow.isLeft, retired: former.retired, hidden };
    const { more, ...next } = reconcileWith(overflow, source, left, request, optionsFor(directory, request));
    const before = hashed(next.start, more, overflow);
    const after = hashed(next.pages, more, overflow);
    const prepared = preparePages(directory, next.pages, { index: expected, more });
    yield;
    try {
      steps.keep?.(before, after);
      commit();
    } catch (error) {
      prepared.discard();
      throw error;
    }
    commit = () => {};
    yield;
    prepared.moveMore();
    const theirs = prepared.swapIndex();
    if (theirs === null) {
      const moreStamp = after.more === before.more ? overflow.stamp : "";
      const record = { text: next.pages.index, more: after.more, moreStamp, hidden, retired: next.retired };
      const hashes = { before: { ...hashesOf(before), ...(link === null ? {} : { link }) }, after: hashesOf(after) };
      const isReplaced = link !== null && next.pages.index !== null;
      return { hashes, notices: [...(isReplaced ? [LINK_REPLACED] : []), ...next.notices], record };
    }
    source = theirs.text;
    expected = theirs.inPlace ? theirs.text : next.pages.index;
    if (theirs.inPlace) continue;
    const since = directory.now().getTime();
    hidden.push(...hiddenLines(theirs.text ?? "", next.pages.index ?? "").map((line) => ({ ...line, since })));
    known = next.pages.index;
  }
  throw new MemdirError(
    "disk",
    `${path} is being rewritten all the time by another program: close it and run \`memdir index --rebuild\``,
  );
}

/**
 * The overflow page may be long and few changes concern it: where it is as memdir left it and names nothing that changes, the
 * rest comes out the same without it. `more` is what of it was taken part.
 */
function reconcileWith(
  overflow: Overflow,
  index: string | null,
  left: Left,
  { changes, plan, rebuild }: PageRequest,
  options: ReconcileOptions,
): Reconciled & { more: string } {
  const mentions = mentionPattern(changes);
  const isUntouched = index !== null && index === left.text && left.sameMore && !plan && !rebuild;
  if (isUntouched && mentions && !mentions.test(overflow.bytes.toString("latin1"))) {
    const next = reconcile({ index, more: "" }, left, changes, options);
    if (next.pages.more === "") return { ...next, more: "" };
  }
  const more = overflow.text();
  return { ...reconcile({ index, more }, left, changes, options), more };
}

function hashesOf({ index, more }: HashedPages): PageHashes {
  return { index, more };
}

function hashed(pages: Pages, more: string, overflow: Overflow): HashedPages {
  const { index } = pages;
  const isSame = pages.more === more;
  return {
    index: index === null ? null : sha256(index),
    more: isSame ? overflow.hash() : sha256(pages.more),
    texts: [() => index ?? "", isSame ? overflow.text : () => pages.more],
  };
}

/** Puts back a link that a change had replaced. The lock must be held. */
export function restoreLink(directory: Directory, target: string): void {
  const aside = writeTemporary(statePath(directory, "tmp"), "", 0o600, "link", false);
  removeQuietly(aside);
  symlinkSync(target, aside);
  moveInto(aside, indexPath(directory));
}

/** The memories among the files, a renamed one once. */
export function headerChanges(
  writes: ReadonlyMap<string, Uint8Array | string | null>,
  befores: ReadonlyMap<string, Uint8Array | string | null>,
  renames: ReadonlyMap<string, string>,
): HeaderChange[] {
  const headerOf = (file: string, content: Uint8Array | string | null | undefined) =>
    content == null || !isMemoryFile(file)
      ? null
      : parseHeader(
          file,
          typeof content === "string" ? content : Buffer.from(content.buffer, content.byteOffset, content.byteLength),
        );
  const pairs = [...renames].filter(([from, to]) => from !== to && isMemoryFile(from) && isMemoryFile(to));
  const paired = new Set(pairs.flat());
  const moved = pairs.map(([from, to]) => ({
    file: from,
    before: headerOf(from, befores.get(from)),
    after: headerOf(to, writes.get(to)),
  }));
  const others = [...writes].filter(([file]) => isMemoryFile(file) && !paired.has(file));
  return [
    ...moved,
    ...others.map(([file, content]) => ({
      file,
      before: headerOf(file, befores.get(file)),
      after: headerOf(file, content),
    })),
  ];
}

/** What `writePages` would do now, without writing. */
export function previewPages(directory: Directory, request: PageRequest): Reconciled & { isChange: boolean } {
  const record = readRecord(directory);
  const overflow = openOverflow(directory, record);
  const pages = { index: readForView(indexPath(directory)), more: overflow.text() };
  const left: Left = { ...record, sameMore: overflow.isLeft };
  const next = reconcile(pages, left, request.changes, optionsFor(directory, request));
  return { ...next, isChange: next.pages.index !== pages.index || next.pages.more !== pages.more };
}

/** The lock must be held. Every change does this on its way; an opening that only reads does nothing else. */
export function restoreIndex(directory: Directory): void {
  if (hasLostLines(directory)) keepRecord(directory, runAtOnce(writePages(directory, { changes: [] })).record);
}

/** Whether an editor's older text is over lines of ours, or the index was deleted, so that the next opening should restore them. */
export function hasLostLines(directory: Directory): boolean {
  const path = indexPath(directory);
  if (isIndexAsLeft(directory)) return false;
  if (!existsSync(path)) return true;
  if (!isUtf8Text(path)) return false;
  const { start } = previewPages(directory, { changes: [], plan: (pages) => ({ pages, exact: true }) });
  return start.index !== readText(path);
}

/** Headers as they will be after the changes: the new files are not in place yet when the index is written. */
export function openHeaders(directory: Directory, changes: Iterable<readonly [string, Header | string | null]> = []) {
  const coming = new Map([...changes].map(([file, content]) => [file.normalize("NFC"), content]));
  return (file: string): Header | null => {
    const known = coming.get(file.normalize("NFC"));
    if (known !== undefined) return typeof known === "string" ? parseHeader(file, known) : known;
    const name = findName(directory, file);
    return name === null ? null : readHeader(directory, name);
  };
}

function optionsFor(directory: Directory, request: PageRequest): ReconcileOptions {
  const { changes } = request;
  const gone = changes.flatMap(({ file, before }) => [file, before?.file ?? file]);
  const coming = [
    ...gone.map((file) => [file, null] as const),
    ...changes.flatMap(({ after }) => (after ? [[after.file, after] as const] : [])),
  ];
  const find = openHeaders(directory, coming);
  const nowMs = directory.now().getTime();
  return {
    ...request,
    limits: directory.limits,
    find,
    ageDays: ({ file, modified }) => {
      const stat = modified ? null : statSync(join(directory.path, file), { throwIfNoEntry: false });
      return ageInDays(modified ? Date.parse(modified) : (stat?.mtimeMs ?? nowMs), nowMs);
    },
    all: () =>
      walk(directory.path, directory.recursive).files.flatMap((file) => {
        const header = find(file);
        return header && hasFrontmatter(header) ? [header] : [];
      }),
  };
}

// --- Replacing them.

/** Both pages written aside and flushed. */
function preparePages(directory: Directory, { index, more }: Pages, expected: Pages) {
  const path = indexPath(directory);
  const write = (text: string, file: string, kind: string, mark = "") =>
    writeTemporary(statePath(directory, "tmp"), text, modeFor(directory, file), kind, true, mark);
  const moreFile = more === expected.more || more === "" ? null : write(more, OVERFLOW_FILE, "file");
  const isSame = index === expected.index;
  let indexFile: string | null = null;
  try {
    if (!isSame && index !== null) indexFile = write(index, INDEX_FILE, "index", ownMark(index));
  } catch (error) {
    if (moreFile) removeQuietly(moreFile);
    throw error;
  }
  return {
    moveMore: () => {
      if (moreFile) moveInto(moreFile, join(directory.path, OVERFLOW_FILE));
      else if (more === "" && expected.more !== "") removeQuietly(join(directory.path, OVERFLOW_FILE));
    },
    /** Null when it replaced what was expected; else what somebody wrote in between, and whether that is still in place. */
    swapIndex: () => {
      if (isSame) return null;
      return indexFile === null
        ? removeIndex(directory, path, expected.index)
        : replaceIndex(indexFile, path, expected.index);
    },
    discard: () => {
      for (const temporary of [indexFile, moreFile]) if (temporary) removeQuietly(temporary);
    },
  };
}

/** In the name of a temporary index: a leftover whose text still fits its name was never swapped with the index. */
export function ownMark(text: string): string {
  return `-${sha256(text).slice(0, 16)}`;
}

function replaceIndex(temporary: string, path: string, expected: string | null) {
  // A last look: most foreign writes are noticed here, before ours hides theirs even for a moment.
  const before = isLink(path) ? expected : readText(path);
  const result = before === expected ? exchange(temporary, path, () => readText(path) === expected) : "changed";
  if (result === "changed") {
    removeQuietly(temporary);
    return { text: settle(path), inPlace: true };
  }
  return result.replaced === null ? null : examineReplaced(result.replaced, expected);
}

/** There was no index before the change that is being undone. Moved aside first, as somebody may be writing it. */
function removeIndex(directory: Directory, path: string, expected: string | null) {
  if (readText(path) !== expected) return { text: settle(path), inPlace: true };
  const aside = writeTemporary(statePath(directory, "tmp"), "", 0o600, "index", false, ownMark(expected ?? ""));
  renameSync(path, aside);
  syncDirectory(directory.path);
  return examineReplaced(aside, expected);
}

function examineReplaced(replaced: string, expected: string | null) {
  const text = isLink(replaced) ? expected : readText(replaced);
  const theirs = text === expected ? null : settle(replaced);
  removeQuietly(replaced);
  return theirs === null ? null : { text: theirs, inPlace: false };
}

// --- Reading them.

export function indexPath(directory: Directory): string {
  return join(directory.path, INDEX_FILE);
}

/** The index for looking only: "" where there is none, or none that may be followed. */
export function peekIndex(path: string): string {
  return readForView(path) ?? "";
}

export function readOverflow(directory: Directory): string {
  return peekIndex(join(directory.path, OVERFLOW_FILE));
}

type Overflow = ReturnType<typeof openOverflow>;

/** Decoded and hashed only where it has to be. */
function openOverflow(directory: Directory, { more, moreStamp }: PageRecord) {
  const path = join(directory.path, OVERFLOW_FILE);
  const stat = lstatSync(path, { throwIfNoEntry: false });
  const isSettled = stat !== undefined && directory.now().getTime() - stat.ctimeMs > TICK_MS;
  // How the file looks; "" when it may change again without looking different.
  const stamp = isSettled ? [stat.mtimeMs, stat.ctimeMs, stat.size, stat.ino].join(" ") : "";
  const bytes = (stat?.isFile() ? readBytes(path) : null) ?? Buffer.alloc(0);
  const text = lazily(() => {
    if (!isUtf8(bytes)) throw notUtf8(path);
    return bytes.toString("utf8");
  });
  const known = stamp !== "" && stamp === moreStamp ? more : null;
  const hash = lazily(() => known ?? sha256(bytes));
  // `isLeft`: it is what memdir left.
  return { bytes, text, hash, stamp, isLeft: hash() === more };
}

function readForView(path: string): string | null {
  const isFile = onDisk("read", path, () => lstatSync(path, { throwIfNoEntry: false })?.isFile());
  return isFile ? readText(path) : null;
}

/** The index now; null if there is none. A link is not followed: it is replaced, and what it points to stays. */
function readSettled(path: string, known: string | null): string | null {
  const stat = lstatSync(path, { throwIfNoEntry: false });
  if (!stat || stat.isSymbolicLink()) return null;
  if (!stat.isFile()) {
    const what = stat.isDirectory() ? "a directory" : "not a file";
    throw new MemdirError("disk", `${path} is ${what}: move it away, the index belongs there`);
  }
  const text = readText(path);
  // Renaming sets ctime after the last write: such a file arrived whole. Else somebody may be writing it in place.
  return text === known || (text !== "" && stat.ctimeMs > stat.mtimeMs) ? text : settle(path);
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

/** Whether it can be read as text and written again; also when there is nothing. */
export function isUtf8Text(path: string): boolean {
  return isUtf8(readRegular(path, { follow: true }) ?? Buffer.alloc(0));
}

/** Read as UTF-8 and written again, other bytes would be lost for good: undo has only what was read. */
function refuseOtherEncoding(path: string): void {
  // An editor that truncates and writes in place is seen in the middle of a letter now and then.
  for (let i = 0; i < 20; i++) {
    if (isUtf8Text(path)) return;
    pause(20);
  }
  throw notUtf8(path);
}

function notUtf8(path: string): MemdirError {
  const what = "is not UTF-8 text: nothing was changed; save it as UTF-8 and run the command again";
  return new MemdirError("broken", `${path} ${what}`);
}

/** Null when there is nothing; "" for what is no file, or leads to none. */
export function readText(path: string): string | null {
  return readBytes(path)?.toString("utf8") ?? (look(path) ? "" : null);
}

function readBytes(path: string): Buffer | null {
  return onDisk("read", path, () => readRegular(path, { follow: true }));
}

/** The file as it is spelled on disk: index lines are compared composed (NFC), a disk may hold the other form. */
export function findName(directory: Directory, file: string): string | null {
  const isFile = (name: string) => lstatSync(join(directory.path, name), { throwIfNoEntry: false })?.isFile() === true;
  return attempt(() => [file, file.normalize("NFC"), file.normalize("NFD")].find(isFile) ?? null, null);
}

function isLink(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() === true;
}

/** Blocks this thread: the lock is held, and others wait for it anyway. */
function pause(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}

// --- The index in the order of what its lines are worth, and the lines that point to nothing.

/** Files that the index points to but that do not exist. */
export function findDeadLines(directory: Directory): string[] {
  const findHeader = openHeaders(directory);
  return splitLines(peekIndex(indexPath(directory))).flatMap((line) => {
    const file = parseIndexLine(line)?.file;
    return file !== undefined && isDead(line, findHeader) ? [file] : [];
  });
}

/**
 * The index in order: lines that point to nothing go, and every run of lines in our own words is sorted by what they are worth,
 * as a client that cannot load all of it leaves out the end. What was written by hand stays where it is.
 */
export function arrangeIndex(index: string, findHeader: (file: string) => Header | null): string {
  const lines = splitLines(index).flatMap((line) => {
    const file = parseIndexLine(line)?.file;
    const header = file === undefined ? null : findHeader(file);
    const own = header !== null && formatIndexLine(header) === line.trimEnd() ? header : null;
    return file !== undefined && header === null && isDead(line, findHeader) ? [] : [{ line, own }];
  });
  const arranged: string[] = [];
  for (let at = 0; at < lines.length; ) {
    let end = at;
    while (lines[end]?.own) end++;
    const run = lines.slice(at, end) as { line: string; own: Header }[];
    const sorted = run.map(({ own }) => own).sort(byWorth);
    // Line ends stay in their places: the last line of a file may have none.
    arranged.push(...run.map(({ line }, i) => formatIndexLine(sorted[i]!) + line.slice(line.trimEnd().length)));
    if (end < lines.length) arranged.push(lines[end]!.line);
    at = end + 1;
  }
  return arranged.join("");
}

/** Corrections first: having to repeat one is the most annoying. */
const WORTH: Record<MemoryType, number> = { feedback: 0, user: 1, project: 2, reference: 3 };

function byWorth(a: Header, b: Header): number {
  if (a.pinned !== b.pinned) return a.pinned ? -1 : 1;
  if (a.type !== b.type) return WORTH[a.type] - WORTH[b.type];
  if ((a.modified ?? "") !== (b.modified ?? "")) return (a.modified ?? "") < (b.modified ?? "") ? 1 : -1;
  return a.file < b.file ? -1 : 1;
}
