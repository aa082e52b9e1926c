/** The one way in which files of a directory change: locked, recovered, journalled, written, indexed. */

import { closeSync, fsync, lstatSync, rmSync, utimesSync, writeSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { promisify } from "node:util";
import {
  loadNative,
  lstatOrNull,
  makeFolders,
  moveInto,
  openTemporary,
  removeQuietly,
  resolveInside,
  syncDirectory,
  writeTemporary,
} from "../disk/fence.ts";
import { acquireLock, runAtOnce, tryLock } from "../disk/turns.ts";
import { attempt, MemdirError } from "../errors.ts";
import { isMemoryFile, MAX_DEPTH } from "../project/locate.ts";
import { sha256 } from "../text/hash.ts";
import { splitLines } from "../text/lines.ts";
import { admit, findNamesake } from "./admit.ts";
import {
  type Directory,
  fileMode,
  findBytes,
  keepRecord,
  leftovers,
  modeFor,
  readHeader,
  readRecord,
  statePath,
  withPins,
} from "./directory.ts";
import { addLine, type PageRequest, trimmedLines } from "./index.ts";
import {
  headerChanges,
  indexPath,
  ownMark,
  peekIndex,
  readText,
  restoreIndex,
  type WrittenPages,
  writePages,
} from "./index-file.ts";
import { fileKey, formatIndexLine, openListing, type Pages, parseIndexLine } from "./index-line.ts";
import {
  type Action,
  beginEntry,
  type Entry,
  endEntry,
  type FileChange,
  findUnfinished,
  keepPages,
  readImage,
  thinImages,
} from "./journal.ts";
import { hasFrontmatter, oneLine, sameName, type Trust } from "./memory.ts";
import { scan } from "./rows.ts";

/** New content by file; null removes it. */
export type Writes = ReadonlyMap<string, Uint8Array | null>;

/** The names in `tmp/` of contents that wait for a change, by file. */
export type Staged = ReadonlyMap<string, string>;

/** The index follows the memories among the files by itself. */
export interface Change extends Omit<PageRequest, "changes"> {
  action: Action;
  reason: string;
  writes: Writes;
  /** Old to new name of files that are renamed: their lines stay where they are. */
  renames?: ReadonlyMap<string, string>;
  undoes?: string;
  /** How far whoever writes is trusted; the user by default. Null: the texts were here before, or are the user's own files, and pass as they are. */
  trust?: Trust | null;
  anyForm?: boolean;
  /** Its writer has looked for other memories of this name itself, at a lower price. */
  isPlaced?: boolean;
  /** Contents that `stageFiles` wrote already. */
  staged?: Staged;
  /** What the files held when their writer looked, under this lock; before they move it has to be there still. */
  befores?: ReadonlyMap<string, Buffer | null>;
  /** Keep no before-images: the user wants the content gone. */
  purge?: boolean;
  /** Where the file led that is removed, a symbolic link. */
  link?: string;
  /** The memories say what they said: they do not become younger, also under another name. */
  keepsTimes?: boolean;
  /** The times that files get, where they are not those of now. */
  times?: ReadonlyMap<string, number | undefined>;
}

export interface Changed {
  entry: Entry;
  notices: string[];
}

/** How often a directory that is removed or replaced under a waiting writer is tried again. */
const MAX_REPLACED = 5;

/** Runs `work` as the only writer of the directory, after recovering what a killed one left behind. */
export async function withDirectory<T>(directory: Directory, work: (pinned: Directory) => T | Promise<T>): Promise<T> {
  for (let tries = 0; tries < MAX_REPLACED; tries++) {
    const done = await withPins(directory, async (pinned) => {
      const lock = await acquireLock(statePath(pinned), { name: statePath(directory) });
      try {
        // Removed or replaced while we waited: what is held is not the user's directory any more.
        if (!pinned.pins?.base.isCurrent()) return null;
        recover(pinned);
        return { result: await work(pinned) };
      } finally {
        lock.release();
      }
    });
    if (done) return done.result;
  }
  throw new MemdirError("disk", `${directory.path} is removed or replaced again and again: nothing was written`);
}

const flush = promisify(fsync);

/** Files that are open at the same time; systems allow 256 and more. */
const STAGED_AT_ONCE = 64;

/**
 * Writes new contents aside, for a change of thousands of files: flushing them together takes a fraction of one after the other.
 * Gives their names in `tmp/`. The lock need not be held, but others may sweep them then.
 */
export async function stageFiles(directory: Directory, writes: Writes): Promise<Staged> {
  const folder = statePath(directory, "tmp");
  const staged = new Map<string, string>();
  const files = [...writes].flatMap(([file, content]) => (content ? [{ file, content }] : []));
  for (let from = 0; from < files.length; from += STAGED_AT_ONCE) {
    const flushed = files.slice(from, from + STAGED_AT_ONCE).map(async ({ file, content }) => {
      const { path, fd } = openTemporary(folder, modeFor(directory, file));
      staged.set(file, basename(path));
      try {
        for (let done = 0; done < content.length; ) done += writeSync(fd, content, done);
        await flush(fd);
      } finally {
        closeSync(fd);
      }
    });
    const failed = (await Promise.allSettled(flushed)).find((one) => one.status === "rejected");
    if (!failed) continue;
    removeStaged(directory, staged);
    throw failed.reason;
  }
  return staged;
}

/** What no change has taken. */
export function removeStaged(directory: Directory, staged: Staged): void {
  for (const name of staged.values()) removeQuietly(statePath(directory, "tmp", name));
}

/** Applies a change, a flush at a time: all of its files, or none of them. The lock must be held. */
export function* applyChange(directory: Directory, change: Change): Generator<void, Changed> {
  const befores = new Map<string, Buffer | null>();
  for (const file of change.writes.keys()) {
    const known = change.befores?.get(file);
    if (known === undefined) resolveInside(directory.path, file);
    befores.set(file, known === undefined ? findBytes(directory, file) : known);
  }
  admitAll(change, befores);
  refuseNamesakes(directory, change, befores);
  yield;
  const files = [...change.writes].map(([file, content]) => {
    const before = befores.get(file);
    return {
      file,
      before: before ? sha256(before) : null,
      after: content ? sha256(content) : null,
      ...(before && { mtimeMs: lstatSync(join(directory.path, file), { throwIfNoEntry: false })?.mtimeMs }),
    };
  });
  const images = [...befores.values()].filter((before) => before !== null);
  const entry = beginEntry(
    directory,
    {
      action: change.action,
      reason: change.reason,
      files,
      ...(change.undoes ? { undoes: change.undoes } : {}),
      ...(change.renames?.size ? { renames: [...change.renames] } : {}),
      ...(change.purge ? { purged: true } : {}),
      ...(change.link === undefined ? {} : { link: change.link }),
      ...(change.keepsTimes ? { keepsTimes: true } : {}),
    },
    new Map(change.purge ? [] : images.map((before) => [sha256(before), before])),
  );
  const temporaries = new Map<string, string>();
  let committed = false;
  try {
    for (const [file, content] of change.writes) {
      yield;
      if (content === null) continue;
      const staged = statePath(directory, "tmp", change.staged?.get(file) ?? "");
      // What was staged before the lock was taken may have been swept.
      const isThere = lstatOrNull(staged)?.isFile();
      const write = () => writeTemporary(statePath(directory, "tmp"), content, modeFor(directory, file));
      temporaries.set(file, isThere ? staged : write());
    }
    const { saved, plan, rebuild } = change;
    const changes = headerChanges(change.writes, befores, change.renames ?? new Map());
    yield;
    const { hashes, notices, record } = yield* writePages(
      directory,
      { changes, saved, plan, rebuild },
      {
        keep: (before, after) => keepPages(directory, ...(change.purge ? [after] : [before, after])),
        commit: () => {
          checkUnchanged(directory, files);
          committed = true;
          moveAll(directory, files, change, temporaries);
        },
      },
    );
    if (closeEntry(directory, entry.id, "done", hashes)) keepRecord(directory, record);
    thinImages(directory, entry);
    return { entry: { ...entry, pages: hashes }, notices };
  } catch (error) {
    for (const path of temporaries.values()) removeQuietly(path);
    // Once files have moved, the next opening finishes the entry; before that, it never happened.
    if (!committed) closeEntry(directory, entry.id, "dropped");
    throw error;
  }
}

/** Whatever a writer checked before: nothing becomes a memory without passing the gate. */
function admitAll(
  { writes, trust = "user", anyForm = false, renames }: Change,
  befores: ReadonlyMap<string, Buffer | null>,
): void {
  if (trust === null) return;
  const moved = [...(renames ?? [])].filter(([from, to]) => isMemoryFile(from) && isMemoryFile(to));
  const origins = new Map(moved.map(([from, to]) => [to, from]));
  for (const [file, text] of writes) {
    if (text !== null && !befores.get(file)) refuseDepth(file);
    // What moves is judged where it comes to.
    if (!isMemoryFile(file) || moved.some(([from]) => from === file)) continue;
    admit({ file, text, before: befores.get(origins.get(file) ?? file) ?? null }, { trust, anyForm });
  }
}

/** What no list would show is not written. A file that is there already may be changed. */
function refuseDepth(file: string): void {
  if (file.split("/").length - 1 <= MAX_DEPTH) return;
  const name = file.slice(file.lastIndexOf("/") + 1);
  const message = `${name} was not saved: it would be more than ${MAX_DEPTH} folders deep, where memories are not found`;
  throw new MemdirError("usage", `${message}; choose a folder further up`);
}

/** Those who write a file of their choice; what comes in numbers from elsewhere sorts its names out itself. */
const BY_NAME: ReadonlySet<Action> = new Set<Action>(["save", "edit", "rename"]);

/** A memory is known by its type and name together, and its file by a name that every disk can tell from the others. */
function refuseNamesakes(
  directory: Directory,
  { action, writes, trust, isPlaced }: Change,
  befores: ReadonlyMap<string, Buffer | null>,
): void {
  if (trust === null || isPlaced || !BY_NAME.has(action)) return;
  const fresh = headerChanges(writes, befores, new Map()).flatMap(({ before, after }) =>
    after && !(before?.type === after.type && sameName(before.name, after.name)) ? [after] : [],
  );
  if (fresh.length === 0) return;
  const others = scan(directory).filter(({ file }) => !writes.has(file));
  for (const header of fresh) {
    const twin = others.find(({ file }) => fileKey(file) === fileKey(header.file));
    if (twin) {
      const same = `${twin.file} has the same name but for upper and lower case or the form of its accents`;
      throw new MemdirError("conflict", `${header.file} was not saved: ${same}; write to that file, or choose another`);
    }
    const other = hasFrontmatter(header) ? findNamesake(others, header) : null;
    if (!other) continue;
    const called = `${other.file} is a ${other.type} memory called "${oneLine(other.name)}" already`;
    throw new MemdirError("conflict", `${called}: forget it first, or choose another name`);
  }
}

/** False without its end: the next opening finishes or drops the entry, which is no reason to call the change failed. */
function closeEntry(directory: Directory, id: string, end: "done" | "dropped", pages?: Entry["pages"]): boolean {
  try {
    endEntry(directory, id, end, pages);
    return true;
  } catch (error) {
    directory.log((error as Error).message);
    return false;
  }
}

/** Writers that do not take the lock may have been here since the before-images were made. */
function checkUnchanged(directory: Directory, files: Entry["files"]): void {
  for (const { file, before } of files) {
    const now = findBytes(directory, file);
    if ((now ? sha256(now) : null) !== before) {
      throw new MemdirError(
        "conflict",
        `${file} was changed by another program just now; nothing was written, run the command again`,
      );
    }
  }
}

/**
 * New files first, then those that take another text, then removals: a text that moves from one file to another is there twice for a
 * moment, never not at all, also for whoever reads after a kill in between.
 */
const moveRank = ({ before, after }: FileChange) => (after === null ? 2 : before === null ? 0 : 1);

/** One flush per folder, after all of its files have moved. */
function moveAll(
  directory: Directory,
  files: readonly FileChange[],
  change: Change,
  temporaries: ReadonlyMap<string, string>,
): void {
  const folders = new Set<string>();
  const times = change.times ?? (change.keepsTimes ? formerTimes(files, change.renames) : new Map());
  for (const { file } of files.toSorted((a, b) => moveRank(a) - moveRank(b))) {
    const path = resolveInside(directory.path, file);
    const folder = dirname(path);
    const temporary = temporaries.get(file);
    if (temporary !== undefined) {
      if (!folders.has(folder)) makeFolders(folder);
      setTime(temporary, times.get(file));
      moveInto(temporary, path, false);
    } else rmSync(path, { force: true });
    folders.add(folder);
  }
  for (const folder of folders) syncDirectory(folder);
}

function formerTimes(files: readonly FileChange[], renames: Change["renames"]): Map<string, number | undefined> {
  const times = new Map(files.map(({ file, mtimeMs }) => [file, mtimeMs]));
  for (const [from, to] of renames ?? []) times.set(to, times.get(from));
  return times;
}

function setTime(path: string, mtimeMs: number | undefined): void {
  // Some file systems refuse; a time is not worth a change that fails.
  if (mtimeMs !== undefined) attempt(() => utimesSync(path, mtimeMs / 1000, mtimeMs / 1000), undefined);
}

// --- Recovers what a killed writer left: an unfinished journal entry, an index without its line, temporary files.

/** The lock must be held. */
function recover(directory: Directory): void {
  const unfinished = findUnfinished(directory);
  if (unfinished) finish(directory, unfinished);
  sweep(directory);
}

/**
 * Every file of an entry is either moved or not; the hashes tell. All moved: the index follows. Some: they are moved back. Where a file
 * was edited since, nobody knows whether it had been moved: all stay as they are, since one of them may hold the only copy of a text,
 * and the journal does not claim what may never have been written.
 */
function finish(directory: Directory, entry: Entry): void {
  const found = entry.files.map((change) => ({ change, now: currentHash(directory, change.file) }));
  const happened = found.filter(({ change, now }) => now !== change.before).map(({ change }) => change);
  const complete = entry.purged === true || found.every(({ change, now }) => now === change.after);
  const isEdited = found.some(({ change, now }) => now !== change.before && now !== change.after);
  if (happened.length > 0) {
    const what = complete ? "finishing" : isEdited ? "leaving" : "reverting";
    directory.log(`${what} the interrupted ${entry.action} ${entry.id}`);
  }
  if (!complete && !isEdited)
    for (const change of happened.toSorted((a, b) => moveRank(b) - moveRank(a))) moveBack(directory, change);
  let written: WrittenPages | null = null;
  if (happened.length > 0) {
    const read = ({ before }: FileChange) => (before === null ? null : readImage(directory, before));
    const befores = new Map(happened.map((change) => [change.file, read(change)]));
    const now = new Map(
      happened.map(({ file }) => [file, isFile(directory, file) ? findBytes(directory, file) : null]),
    );
    const renames = new Map(complete ? entry.renames : []);
    written = runAtOnce(writePages(directory, { changes: headerChanges(now, befores, renames) }));
  }
  endEntry(directory, entry.id, complete && happened.length > 0 ? "done" : "dropped");
  keepRecord(directory, written?.record ?? readRecord(directory));
}

function moveBack(directory: Directory, { file, before, mtimeMs }: FileChange): void {
  const path = resolveInside(directory.path, file);
  const image = before === null ? null : readImage(directory, before);
  if (before === null) removeQuietly(path);
  if (!image) return;
  const temporary = writeTemporary(statePath(directory, "tmp"), image, fileMode(directory));
  setTime(temporary, mtimeMs);
  moveInto(temporary, path);
}

function currentHash(directory: Directory, file: string): string | null {
  const data = findBytes(directory, file);
  return data ? sha256(data) : null;
}

function isFile(directory: Directory, file: string): boolean {
  return lstatSync(join(directory.path, file), { throwIfNoEntry: false })?.isFile() === true;
}

function sweep(directory: Directory): void {
  for (const name of leftovers(directory)) {
    const path = statePath(directory, "tmp", name);
    if (name.startsWith("index-")) rescueLines(directory, path);
    removeQuietly(path);
  }
}

/** A writer killed between swapping and looking leaves another program's index here: what was worded by hand goes back. */
function rescueLines(directory: Directory, path: string): void {
  // Whoever made the repository may have put a link there.
  const theirs = peekIndex(path);
  if (path.endsWith(ownMark(theirs))) return;
  const { text, retired } = readRecord(directory);
  const ours = [text ?? "", readText(indexPath(directory)) ?? ""].flatMap(trimmedLines);
  const known = new Set(["", ...ours, ...retired]);
  const lost = trimmedLines(theirs).filter((line) => !known.has(line));
  if (lost.length === 0) return;
  const plan = (pages: Pages) => ({ pages: lost.reduce((next, line) => putBack(directory, next, line), pages) });
  keepRecord(directory, runAtOnce(writePages(directory, { changes: [], plan })).record);
}

/** Somebody's words for a memory take the place of ours; other text goes to the end. */
function putBack(directory: Directory, pages: Pages, line: string): Pages {
  const file = parseIndexLine(line)?.file;
  if (file === undefined) return { ...pages, index: addLine(pages.index ?? "", line) };
  if (!isFile(directory, file)) return pages;
  const header = readHeader(directory, file);
  const own = formatIndexLine(header);
  if (line === own) return pages;
  const lines = splitLines(pages.index ?? "");
  const at = lines.findIndex((each) => each.trimEnd() === own);
  if (at >= 0) {
    lines[at] = line + (lines[at] as string).slice(own.length);
    return { ...pages, index: lines.join("") };
  }
  const isListed = openListing(pages.index ?? "", pages.more);
  return isListed(header) ? pages : { ...pages, index: addLine(pages.index ?? "", line) };
}

/** Never waits: whoever holds the lock does the same first. */
export async function repair(directory: Directory): Promise<void> {
  await withPins(directory, (pinned) => {
    const lock = tryLock(statePath(pinned, "lock"), loadNative());
    if (!lock) return;
    try {
      recover(pinned);
      restoreIndex(pinned);
    } finally {
      lock.release();
    }
  });
}
