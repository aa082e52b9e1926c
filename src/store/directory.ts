/** A directory of memories: where it is, whose it is, and the world around it. Made in open.ts, passed to every verb. */

import { type Dirent, lstatSync, mkdirSync, readdirSync, realpathSync, statSync } from "node:fs";
import { join, sep } from "node:path";
import { PRIVATE_MODE, SHARED_MODE, writeCacheFile } from "../disk/atomic.ts";
import { type Pin, pinFolder } from "../disk/fence.ts";
import { diskError, MemdirError } from "../errors.ts";
import type { AgeLimits } from "./age.ts";

export interface Directory {
  /** Absolute path; it need not exist before the first save. */
  path: string;
  /** `user`, `project`, `team` or `agent:NAME`. */
  scope: string;
  /** Files of a repository: readable for others, and their times come from git, not from the checkout. */
  inRepository: boolean;
  /** A directory of an older layout is only read. */
  readOnly: boolean;
  /** False for layouts where sub-folders belong to something else. */
  recursive: boolean;
  limits: IndexLimits;
  ageDays: AgeLimits;
  now: () => Date;
  /** Who asks, for the journal: `cli`, `library`, later `hook` and `mcp`. */
  by: string;
  log: (message: string) => void;
  /** Only while a change is being made. */
  pins?: Pins;
}

/** How much of the index the client loads: lines, and UTF-16 units. */
export interface IndexLimits {
  maxLines: number;
  maxChars: number;
}

export const INDEX_FILE = "MEMORY.md";
export const OVERFLOW_FILE = "MEMORY.more.md";

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

/** The directory with its state folders held open: whatever is swapped into their place is not written to. To be closed. */
export function openPins(directory: Directory): { pinned: Directory; close: () => void } {
  const opened: Pin[] = [];
  const close = () => {
    for (const pin of opened) pin.close();
  };
  const open = (folder: string): Pin => {
    const pin = pinFolder(folder);
    opened.push(pin);
    return pin;
  };
  try {
    const base = open(statePath(directory));
    const pins = { base, tmp: open(join(base.path, "tmp")), images: open(join(base.path, "images")) };
    return { pinned: { ...directory, pins }, close };
  } catch (error) {
    close();
    throw diskError(error, "open the folders in", statePath(directory));
  }
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
  const failed = diskError(error, "write in", path);
  const folders: [Pin | undefined, string][] = [
    [pins?.base, "."],
    [pins?.tmp, "tmp"],
    [pins?.images, "images"],
  ];
  const message = folders.reduce(
    (text, [pin, folder]) => (pin ? text.replaceAll(`${pin.path}/`, `${join(path, ".memdir", folder)}/`) : text),
    failed.message,
  );
  if (message === failed.message) return failed;
  return new MemdirError(failed.code, message, { cause: failed.cause, details: failed.details });
}

/** A file keeps the mode it has. */
export function modeFor(directory: Directory, file: string): number {
  const stat = lstatSync(join(directory.path, file), { throwIfNoEntry: false });
  return stat?.isFile() ? stat.mode & 0o777 : fileMode(directory);
}

export function fileMode(directory: Directory): number {
  return directory.inRepository ? SHARED_MODE : PRIVATE_MODE;
}

/** Makes the directory and its state folder ready for writing, and refuses when a link was put in their place. */
export function prepareDirectory(directory: Directory): void {
  if (directory.readOnly) {
    throw new MemdirError(
      "usage",
      `${directory.path} is a directory of an older layout and only read: take it over with \`memdir adopt\``,
    );
  }
  const mode = directory.inRepository ? 0o755 : 0o700;
  try {
    mkdirSync(directory.path, { recursive: true, mode });
    // One after the other, each checked before anything is made inside it.
    for (const names of STATE_FOLDERS) {
      const folder = statePath(directory, ...names);
      if (!lstatSync(folder, { throwIfNoEntry: false })) makeFolder(folder);
      checkFolder(directory, names);
    }
    if (!lstatSync(statePath(directory, ".gitignore"), { throwIfNoEntry: false })?.size) writeIgnore(directory);
  } catch (error) {
    throw diskError(error, "make the directory", directory.path);
  }
}

/** Held open meanwhile: a link that is swapped in after the check must not get the file. */
function writeIgnore(directory: Directory): void {
  const pin = pinFolder(statePath(directory));
  try {
    writeCacheFile(pin.path, join(pin.path, ".gitignore"), "*\n");
  } finally {
    pin.close();
  }
}

const STATE_FOLDERS: readonly (readonly string[])[] = [[], ["tmp"], ["images"]];

/** The directory itself may be a link, by the user's choice; what memdir made inside it may not. */
export function checkState(directory: Directory): void {
  for (const names of STATE_FOLDERS) checkFolder(directory, names);
}

function checkFolder(directory: Directory, names: readonly string[]): void {
  const path = statePath(directory, ...names);
  const stat = lstatSync(path, { throwIfNoEntry: false });
  // Not made yet, or removed by somebody: nothing can be written through it.
  if (!stat) return;
  if (stat.isDirectory() && realpathSync(path) === join(realpathSync(directory.path), ".memdir", ...names)) return;
  throw new MemdirError(
    "outside",
    `${path} is a symbolic link or no directory: nothing was written; remove it and run the command again`,
  );
}

function makeFolder(folder: string): void {
  try {
    mkdirSync(folder, { mode: 0o700 });
  } catch (error) {
    // Another process made it just now.
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  }
}

// --- The files of a directory that are memories, and what was passed over and why.

export interface Walked {
  /** Paths below the directory, with `/`, sorted. */
  files: string[];
  /** Symbolic links named like memories: listed, never followed. */
  links: string[];
  skipped: { path: string; reason: string }[];
  /** Every folder that was looked into; "" is the directory itself. */
  folders: string[];
  /** The time of each folder just before it was looked into. */
  folderTimes: number[];
}

/** Deep enough for every known layout; a loop of bind mounts ends here. */
const MAX_DEPTH = 8;

/** Daily logs are raw material, not memories. */
const DAILY_LOGS = /^logs\/\d{4}$/;

/** Whether a path below the directory is that of a daily log, in either known shape. */
export function isDailyLog(file: string): boolean {
  return /^logs\/\d{4}\//.test(file);
}

/** Whether a file is a memory by its path: others may lie in the directory and change with it, but have no line in the index. */
export function isMemoryFile(file: string): boolean {
  const name = file.slice(file.lastIndexOf("/") + 1);
  return name.endsWith(".md") && name !== INDEX_FILE && file !== OVERFLOW_FILE && !isDailyLog(file);
}

export function walk(directory: string, recursive = true): Walked {
  const walked: Walked = { files: [], links: [], skipped: [], folders: [], folderTimes: [] };
  visit(directory, "", 0, recursive, walked);
  walked.files.sort();
  return walked;
}

function visit(root: string, folder: string, depth: number, recursive: boolean, walked: Walked): void {
  let entries: Dirent[];
  let mtimeMs: number;
  const path = folder === "" ? root : join(root, folder);
  try {
    mtimeMs = statSync(path).mtimeMs;
    entries = readdirSync(path, { withFileTypes: true });
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? "unknown error";
    if (code !== "ENOENT") walked.skipped.push({ path: folder || ".", reason: `cannot be read (${code})` });
    return;
  }
  // A folder with a state folder of its own is a directory of its own, as the mirror of a team's memory below a project's.
  if (folder !== "" && entries.some(({ name }) => name === ".memdir")) return;
  walked.folders.push(folder);
  walked.folderTimes.push(mtimeMs);
  for (const entry of entries) {
    const name = entry.name;
    if (name.startsWith(".")) continue;
    const path = folder === "" ? name : `${folder}/${name}`;
    if (entry.isFile()) {
      if (name.endsWith(".md") && name !== INDEX_FILE && path !== OVERFLOW_FILE) walked.files.push(path);
    } else if (entry.isDirectory()) {
      if (DAILY_LOGS.test(path)) continue;
      if (name.endsWith(".md")) walked.skipped.push({ path, reason: "a directory named like a memory" });
      if (!recursive) continue;
      if (depth < MAX_DEPTH) visit(root, path, depth + 1, recursive, walked);
      else walked.skipped.push({ path, reason: `more than ${MAX_DEPTH} folders deep` });
    } else if (entry.isSymbolicLink()) {
      if (name.endsWith(".md") && name !== INDEX_FILE) walked.links.push(path);
      else if (!name.endsWith(".md"))
        walked.skipped.push({ path, reason: "a symbolic link: memdir does not follow links" });
    } else if (name.endsWith(".md")) {
      walked.skipped.push({ path, reason: "not a regular file" });
    }
  }
}
