/** A directory of memories: where it is, whose it is, the world around it, and its files. Made in open.ts, passed to every verb. */

import { closeSync, constants, lstatSync, mkdirSync, openSync, readdirSync, readFileSync, type Stats } from "node:fs";
import { basename, dirname, join, sep } from "node:path";
import {
  isAlive,
  isOwnTemporary,
  makeFolders,
  type Pin,
  PRIVATE_MODE,
  pinFolder,
  readPart,
  readRegular,
  SHARED_MODE,
  withRegular,
  writeCacheFile,
} from "../disk/fence.ts";
import { attempt, diskError, MemdirError, onDisk } from "../errors.ts";
import { INDEX_FILE } from "../project/locate.ts";
import { type Header, type Memory, parseHeader, parseMemory } from "./memory.ts";

/** A directory of memories, and how it is used. */
export interface Directory {
  /** Absolute path; it need not exist before the first save. */
  path: string;
  /** `user`, `project`, `team` or `agent:NAME`. */
  scope: string;
  /** Whether the files are in a repository: others can read them, and their times come from git, not from the checkout. */
  inRepository: boolean;
  /** Whether it is only read, because it has an older layout. */
  readOnly: boolean;
  /** False for layouts where sub-folders belong to something else. */
  recursive: boolean;
  /** How much of the index a client loads. */
  limits: IndexLimits;
  /** After how many days a memory counts as recent, stale and old. */
  ageDays: AgeLimits;
  /** The current time, for ages and the journal. */
  now: () => Date;
  /** Who is asking, for the journal: `cli`, `library`, later `hook` and `mcp`. */
  by: string;
  /** Receives messages about files that could not be used. */
  log: (message: string) => void;
  /** Only while a change is being made. */
  pins?: Pins;
}

/** How much of the index the client loads: lines, and UTF-16 units. */
export interface IndexLimits {
  maxLines: number;
  maxChars: number;
}

/** Fresh up to yesterday, then recent, stale, old; the numbers are the first day of each. */
export interface AgeLimits {
  recent: number;
  stale: number;
  old: number;
}

/** Whether others write in it, too: a team's memories, and whatever is committed with a repository. */
export function isShared({ scope, inRepository }: Pick<Directory, "scope" | "inRepository">): boolean {
  return scope === "team" || inRepository;
}

/** A path below `.memdir`; while the directory is being written to, through folders that are held open. */
export function statePath(directory: Directory, ...names: string[]): string {
  const [folder, ...rest] = names;
  const pins = directory.pins;
  if (!pins) return join(directory.path, ".memdir", ...names);
  if (folder === "tmp" || folder === "images") return join(pins[folder].path, ...rest);
  return join(pins.base.path, ...names);
}

/** Like `join`, at a tenth of its price: lists ask for thousands, and the names of files are checked already. */
export function filePath({ path }: Pick<Directory, "path">, file: string): string {
  return sep === "/" ? `${path}/${file}` : join(path, file);
}

/** `.memdir` and its folders, held open. */
export interface Pins {
  base: Pin;
  tmp: Pin;
  images: Pin;
}

/** The directory with its state folders made and held open: whatever is swapped into their place is not written to. To be closed. */
export function openPins(directory: Directory): { pinned: Directory; close: () => void } {
  if (directory.readOnly) {
    throw new MemdirError(
      "usage",
      `${directory.path} is a directory of an older layout and only read: take it over with \`memdir adopt\``,
    );
  }
  const opened: Pin[] = [];
  const close = () => {
    for (const folder of opened) folder.close();
  };
  const open = (...names: string[]): Pin => {
    const folder = openFolder({ path: statePath(directory), parents: false }, names);
    opened.push(folder);
    return folder;
  };
  try {
    makeDirectory(directory);
    const pins = { base: open(), tmp: open("tmp"), images: open("images") };
    hideFromGit(pins.base.path);
    return { pinned: { ...directory, pins }, close };
  } catch (error) {
    close();
    throw diskError(error, "make the directory", directory.path);
  }
}

/** The directory alone, where it is not there yet. */
export function makeDirectory({ path, inRepository }: Pick<Directory, "path" | "inRepository">): void {
  onDisk("make the directory", path, () => makeFolders(path, inRepository ? 0o755 : 0o700));
}

/** Makes the directory and its state folders ready for writing, and refuses when a link was put in their place. */
export function prepareDirectory(directory: Directory): void {
  openPins(directory).close();
}

export async function withPins<T>(directory: Directory, work: (pinned: Directory) => T | Promise<T>): Promise<T> {
  const { pinned, close } = openPins(directory);
  try {
    return await work(pinned);
  } catch (error) {
    throw named(pinned, error);
  } finally {
    close();
  }
}

/** The user knows the folders by their names, not by the numbers under which they are held. */
function named({ pins, path }: Directory, error: unknown): MemdirError {
  const { code, message, cause, details } = diskError(error, "write in", path);
  const folders = Object.entries(pins ?? {}) as [keyof Pins, Pin][];
  const shown = folders.reduce(
    (text, [name, pin]) => text.replaceAll(`${pin.path}/`, `${join(path, ".memdir", name === "base" ? "" : name)}/`),
    message,
  );
  return new MemdirError(code, shown, { cause, details });
}

/** A file keeps the mode it has. */
export function modeFor(directory: Directory, file: string): number {
  const stat = lstatSync(join(directory.path, file), { throwIfNoEntry: false });
  return stat?.isFile() ? stat.mode & 0o777 : fileMode(directory);
}

export function fileMode(directory: Directory): number {
  return directory.inRepository ? SHARED_MODE : PRIVATE_MODE;
}

/** The directory itself may be a link, by the user's choice; what memdir made inside it may not. */
export function checkState(directory: Directory): void {
  for (const names of [["tmp"], ["images"]]) findFolder({ path: statePath(directory), parents: false }, names);
}

// --- Reading its files.

/** Links are not followed, and a fifo does not hold us up. */
const OPEN_FLAGS = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);

/** The bytes of a file below the directory. Links are not followed. */
export function readBytes(directory: Pick<Directory, "path">, file: string): Buffer {
  const path = join(directory.path, file);
  return onDisk("read", path, () => {
    const fd = openSync(path, OPEN_FLAGS);
    try {
      return readFileSync(fd);
    } finally {
      closeSync(fd);
    }
  });
}

/** The bytes, or null when there is no such file. */
export function findBytes(directory: Directory, file: string): Buffer | null {
  // Asked first: an error takes far longer to make than an answer.
  const path = join(directory.path, file);
  if (attempt(() => lstatSync(path, { throwIfNoEntry: false }), null) === undefined) return null;
  try {
    return readBytes(directory, file);
  } catch (error) {
    if (errnoOf(error) === "ENOENT") return null;
    throw error;
  }
}

/** The text, or null for what is not there or cannot be read. */
export function findText(directory: Directory, file: string): string | null {
  return attempt(() => findBytes(directory, file)?.toString("utf8") ?? null, null);
}

export function readMemory(directory: Directory, file: string): Memory {
  return parseMemory(file, readBytes(directory, file));
}

/** Whole lines of at most so many bytes, unless there is only one; nothing where there is not a regular file. Links are not followed. */
export function readStart(directory: Pick<Directory, "path">, file: string, maxBytes: number): Buffer {
  const path = join(directory.path, file);
  const read = (fd: number, size: number) => {
    const start = readPart(fd, 0, Math.min(size, maxBytes));
    const end = start.length < size ? start.lastIndexOf(10) : -1;
    return end < 0 ? start : start.subarray(0, end + 1);
  };
  return onDisk("read", path, () => withRegular(path, read)) ?? Buffer.alloc(0);
}

/** As large as a memory may be: frontmatter that is longer is none. */
const MAX_HEAD_BYTES = 256 * 1024;

/** Never throws: a file that cannot be read is a header that says so. */
export function readHeader(directory: Directory, file: string): Header {
  try {
    const { size } = lstatSync(join(directory.path, file));
    return parseHeader(
      file,
      size > MAX_HEAD_BYTES ? readStart(directory, file, MAX_HEAD_BYTES) : readBytes(directory, file),
    );
  } catch (error) {
    return unreadable(file, errnoOf(error));
  }
}

export function unreadable(file: string, code: string): Header {
  const reason =
    code === "ELOOP"
      ? "a symbolic link: memdir does not follow links"
      : `cannot be read (${code}): check its permissions`;
  return { ...parseHeader(file, ""), problems: [reason], broken: true, unreadable: true };
}

/** Refuses to change a file that is not understood. */
export function refuseBroken(header: Header): void {
  if (!header.broken) return;
  throw new MemdirError(
    "broken",
    `${header.file} is not changed because it cannot be read safely (${header.problems[0]}): fix it by hand first`,
  );
}

export function errnoOf(error: unknown): string {
  const cause = error instanceof MemdirError ? error.cause : error;
  return (cause as NodeJS.ErrnoException)?.code ?? "unknown error";
}

// --- What killed writers left.

/** A temporary file of a living writer is younger than this. */
const TEMPORARY_MS = 60_000;

/** Temporary files whose writer is dead, or that are too old to be in use. */
export function leftovers(directory: Directory): string[] {
  return attempt(() => readdirSync(statePath(directory, "tmp")), []).filter((name) => {
    if (isOwnTemporary(name)) return false;
    const pid = Number(/^[a-z]+-(\d+)-/.exec(name)?.[1]);
    const stat = lstatSync(statePath(directory, "tmp", name), { throwIfNoEntry: false });
    // In a container the next writer often has the number of the dead one, whose files are older than itself.
    if (pid === process.pid) return stat !== undefined && stat.mtimeMs < performance.timeOrigin;
    if (Number.isInteger(pid) && !isAlive(pid)) return true;
    return stat !== undefined && directory.now().getTime() - stat.mtimeMs > TEMPORARY_MS;
  });
}

// --- How memdir left a directory: that separates what others wrote from what is ours, and tells whether anything is to be repaired.

export function journalPath(directory: Directory): string {
  return statePath(directory, "journal.jsonl");
}

/** A line and where it was, so that it can go back there. */
export interface PlacedLine {
  /** With its line break, if it had one. */
  text: string;
  at: number;
  /** The line before it, without trailing space; null for the first. */
  after: string | null;
}

/** `.memdir/index.base`: a line of JSON, then MEMORY.md as memdir last left it. */
export interface PageRecord {
  text: string | null;
  /** The overflow page, by hash, and how the file looked. */
  more: string | null;
  moreStamp: string;
  hidden: HiddenLine[];
  retired: string[];
  /** How long the journal was once the change had ended. */
  journal: number;
}

interface HiddenLine extends PlacedLine {
  /** When, in milliseconds. */
  since: number;
}

/** Longer than a program holds a text that it has read before it writes it back. */
const HIDDEN_MS = 10_000;

/** Enough for what one open editor can have missed. */
const MAX_RETIRED = 200;

export function readRecord(directory: Directory): PageRecord {
  try {
    const data = readRegular(statePath(directory, "index.base"))?.toString("utf8") ?? "";
    const newline = data.indexOf("\n");
    const head = JSON.parse(data.slice(0, newline)) as Partial<PageRecord> & { none?: boolean };
    const nowMs = directory.now().getTime();
    return {
      text: head.none ? null : data.slice(newline + 1),
      more: head.more ?? null,
      moreStamp: head.moreStamp ?? "",
      hidden: (head.hidden ?? []).filter(({ since }) => Math.abs(nowMs - since) < HIDDEN_MS),
      retired: head.retired ?? [],
      journal: head.journal ?? 0,
    };
  } catch {
    return { text: null, more: null, moreStamp: "", hidden: [], retired: [], journal: 0 };
  }
}

/**
 * Once a change has ended. Without it the next writer takes our own text for somebody else's: that costs time, and lines that an undo had
 * taken out of the index may come back.
 */
export function keepRecord(directory: Directory, { text, retired, ...rest }: Omit<PageRecord, "journal">): void {
  const none = text === null ? { none: true } : {};
  const head = JSON.stringify({
    ...rest,
    retired: retired.slice(-MAX_RETIRED),
    journal: journalSize(directory),
    ...none,
  });
  try {
    writeCacheFile(statePath(directory, "tmp"), statePath(directory, "index.base"), `${head}\n${text ?? ""}`);
  } catch (error) {
    directory.log(`index.base was not written: ${(error as Error).message}`);
  }
}

function journalSize(directory: Directory): number {
  return look(journalPath(directory))?.size ?? 0;
}

/** Whether every change has ended and MEMORY.md is as memdir left it: then nothing is to be repaired. Asked at every opening. */
export function isAsLeft(directory: Directory): boolean {
  return readRecord(directory).journal === journalSize(directory) && isIndexAsLeft(directory);
}

/** Whether MEMORY.md is as memdir left it, or nothing that it would restore. */
export function isIndexAsLeft(directory: Directory): boolean {
  const path = join(directory.path, INDEX_FILE);
  const stat = look(path);
  const { text } = readRecord(directory);
  if (!stat) return !text;
  if (!stat.isFile() || text === null) return true;
  return text === onDisk("read", path, () => readRegular(path))?.toString("utf8");
}

// --- A folder of state, held open while it is used: nothing is read or written through a link in its place or on the way to it.

/** A base is made when something is written in it; the folder around it only if `parents` says so. */
export interface Base {
  path: string;
  parents: boolean;
}

/**
 * The folder for reading, or null when there is none. Not held open: whoever can swap a folder here can as well put another text
 * into it, and hooks have little time. Throws `outside` for a link.
 */
export function findFolder(base: Base, names: readonly string[]): string | null {
  let { path } = base;
  for (let depth = 0; ; depth++) {
    const stat = look(path);
    if (!stat) return null;
    if (!stat.isDirectory()) throw notOurs(path);
    if (depth === names.length) return path;
    path = join(path, names[depth] as string);
  }
}

/** Made when it is not there, and held open. Throws `outside` for a link. */
export function openFolder(base: Base, names: readonly string[]): Pin {
  const pins: Pin[] = [];
  const close = () => {
    for (const pin of pins) pin.close();
  };
  try {
    let { path } = base;
    for (let depth = 0; depth <= names.length; depth++) {
      if (depth > 0) path = join(path, names[depth - 1] as string);
      const there = look(path);
      const stat = there ?? makeFolder(path, depth === 0 && base.parents);
      // Where a folder cannot be held open, it is at least looked at.
      if (!stat.isDirectory()) throw notOurs(join(base.path, ...names.slice(0, depth)));
      const pin = pinFolder(path);
      pins.push(pin);
      path = pin.path;
      if (!there && depth === 0 && basename(base.path) === ".memdir") hideFromGit(path);
    }
    return { ...(pins.at(-1) as Pin), close };
  } catch (error) {
    close();
    throw error;
  }
}

/** For writing. Throws when the folder cannot be made. */
export function inFolder<T>(base: Base, names: readonly string[], work: (folder: string) => T): T {
  const folder = openFolder(base, names);
  try {
    return work(folder.path);
  } finally {
    folder.close();
  }
}

/** Undefined when nothing is there. */
export function look(path: string): Stats | undefined {
  return lstatSync(path, { throwIfNoEntry: false });
}

export function notOurs(path: string): MemdirError {
  return new MemdirError(
    "outside",
    `${path} is a symbolic link, or not what memdir keeps there: nothing was written; remove it and try again`,
  );
}

function makeFolder(path: string, parents: boolean): Stats {
  if (parents) makeFolders(dirname(path), 0o700);
  try {
    mkdirSync(path, { mode: 0o700 });
  } catch (error) {
    // Another process made it just now.
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  }
  return lstatSync(path);
}

function hideFromGit(folder: string): void {
  const file = join(folder, ".gitignore");
  if (!look(file)?.size) writeCacheFile(folder, file, "*\n");
}
