/** Files of a directory, with care: paths stay inside it, only what is a regular file is read, and what is written appears whole or not at all. */

import fs, {
  closeSync,
  constants,
  existsSync,
  fstatSync,
  fsyncSync,
  ftruncateSync,
  linkSync,
  lstatSync,
  mkdirSync,
  openSync,
  readFileSync,
  readlinkSync,
  readSync,
  renameSync,
  type Stats,
  statSync,
  unlinkSync,
  writeSync,
} from "node:fs";
import path, { dirname, isAbsolute, join, resolve } from "node:path";
import { attempt, MemdirError } from "../errors.ts";

/**
 * The absolute path of `relative` below `root`. Throws `outside` for anything that leads or might lead elsewhere:
 * `..`, absolute and drive paths, backslashes, NUL, percent-encoded or full-width spellings of them, links that leave.
 */
export function resolveInside(root: string, relative: string): string {
  return findInside(root, relative).path;
}

/** The same with what is there now; undefined for nothing. */
export function findInside(root: string, relative: string): { path: string; stat: Stats | undefined } {
  const reason = findNameProblem(relative);
  if (reason) throw outside(relative, reason);
  const path = resolve(root, relative);
  if (!path.startsWith(`${root}/`) && !isWithin(root, path)) throw outside(relative, "it leads out of the directory");
  return { path, stat: checkLinks(root, path, relative) };
}

/** Why a relative path cannot be trusted by its text alone, or null. */
export function findNameProblem(name: string): string | null {
  if (name === "") return "it is empty";
  if (name.includes("\0")) return "it holds a NUL character";
  if (name.includes("\\")) return "it holds a backslash";
  if (isAbsolute(name) || /^[A-Za-z]:/.test(name)) return "it is an absolute path";
  if (hidesPath(name)) return "it hides a path in percent-encoding or look-alike characters";
  if (name.split("/").some((part) => part === ".." || part === "." || part === "")) return "it holds `..`, `.` or `//`";
  return null;
}

/** Whether the name has other parts, or `..` among them, once it is decoded as often as that changes anything. */
function hidesPath(name: string): boolean {
  // Nothing in it can be decoded.
  if (/^[ -$&-~]*$/.test(name)) return false;
  let revealed = name;
  for (let next = decode(name); next !== revealed; next = decode(next)) revealed = next;
  if (revealed === name) return false;
  const parts = revealed.split(/[/\\\0]/);
  return parts.length !== name.split("/").length || parts.some((part) => part === ".." || part === ".");
}

/** What it leads to, links resolved, must lie below the root, links resolved; the leaf must not be a link. */
function checkLinks(root: string, path: string, shown: string): Stats | undefined {
  const leaf = look(path, shown);
  if (leaf?.isSymbolicLink()) throw outside(shown, `it is a symbolic link to ${readlinkSync(path)}`);
  if (isBehindLink(root, shown) && !isWithin(realPath(root), realPath(path)))
    throw outside(shown, "a link leads out of the directory");
  return leaf;
}

/** Whether a folder on the way is a link. Without one the path leads where it says: resolving it takes ten times as long. */
function isBehindLink(root: string, relative: string): boolean {
  let isBehind = false;
  for (let at = relative.indexOf("/"); at > 0; at = relative.indexOf("/", at + 1)) {
    const folder = path.join(root, relative.slice(0, at));
    if (!look(folder, relative)?.isSymbolicLink()) continue;
    if (!existsSync(folder)) throw outside(relative, "a link on the way to it cannot be followed");
    isBehind = true;
  }
  return isBehind;
}

/** Undefined when nothing is there. A circle of links or a file in the place of a folder is no way in. */
function look(path: string, shown: string): Stats | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false });
  } catch (cause) {
    throw outside(shown, `it cannot be followed (${(cause as NodeJS.ErrnoException).code})`, cause);
  }
}

/** One layer of percent-encoding and of look-alike characters taken off. */
function decode(text: string): string {
  const folded = text.normalize("NFKC");
  return attempt(
    () => decodeURIComponent(folded),
    folded.replace(/%([0-7][0-9a-fA-F])/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16))),
  );
}

function outside(name: string, reason: string, cause?: unknown): MemdirError {
  const shown = JSON.stringify(name.length > 80 ? `${name.slice(0, 80)}…` : name);
  return new MemdirError("outside", `the path ${shown} is refused: ${reason}; give a plain file name`, { cause });
}

// --- Paths as the disk sees them: links resolved, also for what does not exist yet.

/** Linux gives up after as many links. */
const MAX_LINKS = 40;

/** The real path of the deepest ancestor that exists, plus the rest as written. A dangling link leads to where it points. */
export function realPath(file: string, links = 0): string {
  const absolute = path.resolve(file);
  const missing: string[] = [];
  for (let at = absolute; ; at = path.dirname(at)) {
    const isThere = exists(at);
    const real = isThere ? attempt(() => resolveLinks(at), null) : null;
    if (real !== null) return path.join(real, ...missing);
    const target = isThere && links < MAX_LINKS ? attempt(() => fs.readlinkSync(at), null) : null;
    if (target !== null) return path.join(realPath(path.resolve(path.dirname(at), target), links + 1), ...missing);
    if (path.dirname(at) === at) return absolute;
    missing.unshift(path.basename(at));
  }
}

/** Whether a path is a directory or lies below it; both must be absolute and resolved alike. */
export function isWithin(
  dir: string,
  file: string,
  paths: Pick<typeof path, "relative" | "isAbsolute" | "sep"> = path,
): boolean {
  const relative = paths.relative(dir, file);
  return relative === "" || (!paths.isAbsolute(relative) && relative.split(paths.sep)[0] !== "..");
}

/** The system's own answer spells names as the disk does; on Windows it would turn a mapped drive into a network path. */
function resolveLinks(file: string): string {
  return process.platform === "win32" ? fs.realpathSync(file) : fs.realpathSync.native(file);
}

/** Asked first: an error takes far longer to make than an answer. */
function exists(file: string): boolean {
  return attempt(() => fs.lstatSync(file, { throwIfNoEntry: false }) !== undefined, true);
}

// --- Reading what should be a regular file, where anything may stand: a fifo must not hold us up, a link not lead away.

const NONBLOCK = constants.O_NONBLOCK ?? 0;
const FLAGS = constants.O_RDONLY | NONBLOCK;
const NOFOLLOW = constants.O_NOFOLLOW ?? 0;

/** An open file for reading, or null when there is none, or something that is not a regular file. Other failures throw. */
export function openRegular(path: string, options: { follow?: boolean } = {}): { fd: number; size: number } | null {
  let fd: number;
  try {
    fd = openSync(path, options.follow ? FLAGS : FLAGS | NOFOLLOW);
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? "";
    if (ABSENT.has(code)) return null;
    throw error;
  }
  const stat = fstatSync(fd);
  if (stat.isFile()) return { fd, size: stat.size };
  closeSync(fd);
  return null;
}

/** Nothing there; a link that must not be followed; a socket. */
const ABSENT: ReadonlySet<string> = new Set(["ENOENT", "ELOOP", "ENXIO", "ENOTDIR"]);

/** The same, closed again when the work is done; null where there is nothing to work on. */
export function withRegular<T>(
  path: string,
  work: (fd: number, size: number) => T,
  options: { follow?: boolean } = {},
): T | null {
  const opened = openRegular(path, options);
  if (!opened) return null;
  try {
    return work(opened.fd, opened.size);
  } finally {
    closeSync(opened.fd);
  }
}

/** Also null for a file of more than `maxBytes`, of which nothing is read. */
export function readRegular(path: string, options: { follow?: boolean; maxBytes?: number } = {}): Buffer | null {
  const { maxBytes = Number.POSITIVE_INFINITY } = options;
  return withRegular(path, (fd, size) => (size > maxBytes ? null : readFileSync(fd)), options);
}

/** The same as text, which is quicker for a process that has read nothing yet. */
export function readRegularText(path: string, maxBytes: number): string | null {
  return withRegular(path, (fd, size) => (size > maxBytes ? null : readFileSync(fd, "utf8")));
}

/** At most so many bytes of an open file. */
export function readPart(fd: number, from: number, maxBytes: number): Buffer {
  const bytes = Buffer.alloc(maxBytes);
  return bytes.subarray(0, readSync(fd, bytes, 0, maxBytes, from));
}

/** What is found in the end of an open file, within so many bytes: in four times as many of its whole lines each time, until something is. */
export function findAtEnd<T>(
  { fd, size }: { fd: number; size: number },
  { bytes, maxBytes = size }: { bytes: number; maxBytes?: number },
  find: (text: string, isAll: boolean) => T | null,
): T | null {
  const most = Math.min(size, maxBytes);
  for (let want = bytes; ; want *= 4) {
    const length = Math.min(want, most);
    const text = readPart(fd, size - length, length).toString("utf8");
    const found = find(length === size ? text : text.slice(text.indexOf("\n") + 1), length === most);
    if (found !== null || length === most) return found;
  }
}

/** The last so many bytes as text; "" when there is not a regular file. The first line of it may be half a one. */
export function readTail(path: string, maxBytes: number): string {
  const read = (fd: number, size: number) => readPart(fd, Math.max(0, size - maxBytes), Math.min(size, maxBytes));
  return withRegular(path, read)?.toString("utf8") ?? "";
}

/**
 * An ordinary file opened to append lines, made if it is missing. `torn`: a writer that was killed left half a line at the end, and ours
 * must not be joined to it. Throws, with the code ENOTFILE for anything but a regular file.
 */
export function openToAppend(path: string, mode: number): { fd: number; size: number; torn: boolean } {
  const fd = openSync(path, constants.O_RDWR | constants.O_APPEND | constants.O_CREAT | NONBLOCK | NOFOLLOW, mode);
  try {
    const stat = fstatSync(fd);
    if (!stat.isFile()) throw Object.assign(new Error("not a regular file"), { code: "ENOTFILE" });
    const last = Buffer.alloc(1);
    const torn = stat.size > 0 && (readSync(fd, last, 0, 1, stat.size - 1) === 0 || last[0] !== NEWLINE);
    return { fd, size: stat.size, torn };
  } catch (error) {
    closeSync(fd);
    throw error;
  }
}

const NEWLINE = 10;

// --- Looking at what stands somewhere, where anything may have been asked for.

/** Links followed; null also for a loop of links, a file in place of a folder, a name that is too long or none at all. */
export function statOrNull(path: string): Stats | null {
  return attempt(() => statSync(path, { throwIfNoEntry: false }) ?? null, null);
}

/** The same without following a link. */
export function lstatOrNull(path: string): Stats | null {
  return attempt(() => lstatSync(path, { throwIfNoEntry: false }) ?? null, null);
}

/**
 * Makes a folder and what it is in, as far as they are missing; what was made, outermost first. One by one: Node's `recursive` never
 * ends where a parent exists and nothing can be made in it, as in /proc.
 */
export function makeFolders(folder: string, mode = 0o777): string[] {
  const isThere = () => statOrNull(folder)?.isDirectory() === true;
  if (isThere()) return [];
  const parent = path.dirname(folder);
  const above = parent === folder || statOrNull(parent) ? [] : makeFolders(parent, mode);
  try {
    mkdirSync(folder, { mode });
    return [...above, folder];
  } catch (error) {
    // Another process made it just now.
    if (isThere()) return above;
    if (!lstatOrNull(folder)?.isSymbolicLink()) throw error;
    const what = "which is not there: make the folder that it leads to, or remove the link";
    throw new MemdirError("disk", `${folder} is a link to ${readlinkSync(folder)}, ${what}`);
  }
}

/** Any `.git` counts, as it does for Claude Code: a file, a directory, even an empty one. */
export function findWorktreeRoot(cwd: string): string | null {
  for (let at = cwd; ; at = path.dirname(at)) {
    const stat = statOrNull(path.join(at, ".git"));
    if (stat?.isFile() || stat?.isDirectory()) return at;
    if (path.dirname(at) === at) return null;
  }
}

// --- Folders held open while they are written to: a symbolic link that is swapped into their place meanwhile leads nowhere. Works
// through /proc on Linux, where Node has no `openat`; elsewhere a pin is only the path, checked once.

export interface Pin {
  /** Stands for the folder in every file call. */
  path: string;
  /** False when the name no longer leads to this folder. */
  isCurrent(): boolean;
  close(): void;
}

let hasProc: boolean | undefined;

/** Fails with ELOOP or ENOTDIR when the folder is a link or no folder. */
export function pinFolder(folder: string): Pin {
  hasProc ??= existsSync("/proc/self/fd");
  if (!hasProc) return { path: folder, isCurrent: () => existsSync(folder), close: () => {} };
  const fd = openSync(folder, constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW);
  return {
    path: `/proc/self/fd/${fd}`,
    isCurrent: () => {
      const held = fstatSync(fd);
      const there = lstatSync(folder, { throwIfNoEntry: false });
      return there?.ino === held.ino && there.dev === held.dev;
    },
    close: () => closeSync(fd),
  };
}

// --- Files that appear whole or not at all: written aside, flushed, then moved into place.

/** New files are the user's alone unless they belong to a repository. */
export const PRIVATE_MODE = 0o600;
export const SHARED_MODE = 0o644;

/** In the names of this process's temporary files: another one may have had the same number. */
const OWN = `${process.pid}-${process.hrtime.bigint().toString(36)}`;
let counter = 0;

/** A file in `directory` that nobody else uses; its name tells who wrote it, so that leftovers of the dead can be swept. */
export function writeTemporary(
  directory: string,
  data: string | Uint8Array,
  mode: number,
  kind = "file",
  flush = true,
  mark = "",
): string {
  const { path, fd } = openTemporary(directory, mode, kind, mark);
  try {
    const bytes = typeof data === "string" ? Buffer.from(data) : data;
    for (let done = 0; done < bytes.length; ) done += writeSync(fd, bytes, done);
    if (flush) fsyncSync(fd);
  } catch (error) {
    closeSync(fd);
    removeQuietly(path);
    throw error;
  }
  closeSync(fd);
  return path;
}

/** The same, empty and open, for what is written in pieces. */
export function openTemporary(directory: string, mode: number, kind = "file", mark = ""): { path: string; fd: number } {
  const path = join(directory, `${kind}-${OWN}-${counter++}${mark}`);
  return { path, fd: openSync(path, "wx", mode) };
}

/** Whether a temporary file of this name is this process's own. */
export function isOwnTemporary(name: string): boolean {
  return name.includes(`-${OWN}-`);
}

/** Moves a temporary file over `target`; it is on disk when this returns, unless the caller flushes the directory itself. */
export function moveInto(temporary: string, target: string, flush = true): void {
  try {
    renameSync(temporary, target);
  } catch (error) {
    removeQuietly(temporary);
    throw error;
  }
  if (flush) syncDirectory(dirname(target));
}

/** A file that can be rebuilt: whole for every reader, but not worth waiting for the disk. */
export function writeCacheFile(temporaries: string, target: string, data: string | Uint8Array): void {
  moveInto(writeTemporary(temporaries, data, PRIVATE_MODE, "cache", false), target, false);
}

/**
 * Appends lines in one write, which systems keep apart from those of other processes; how large the file is afterwards. What was
 * written of a failed one stays, since others may have appended meanwhile, unless the file is ours alone.
 */
export function appendLines(
  path: string,
  lines: string,
  { flush = false, isOurs = false, mode = PRIVATE_MODE } = {},
): number {
  const { fd, size, torn } = openToAppend(path, mode);
  try {
    const data = Buffer.from(torn ? `\n${lines}` : lines);
    let done = 0;
    try {
      while (done < data.length) done += writeSync(fd, data, done);
      if (flush) flushFile(fd, isOurs);
    } catch (error) {
      // Only if no one else has appended since; half a line is then completed by the next call.
      if (isOurs && fstatSync(fd).size === size + done) ftruncateSync(fd, size);
      throw error;
    }
    return size + data.length;
  } finally {
    closeSync(fd);
  }
}

/** It is written in any case, and written again it would count twice. */
function flushFile(fd: number, mustSucceed: boolean): void {
  try {
    fsyncSync(fd);
  } catch (error) {
    // Which some network file systems never do.
    if (mustSucceed && (error as NodeJS.ErrnoException).code !== "EINVAL") throw error;
  }
}

/**
 * Puts a temporary file in the place of `target` and returns the path where the replaced file now lies, for the caller to
 * look at and remove: what was replaced may not be what the caller read before. Null when there was nothing.
 * Without the native swap, `unchanged()` is asked a last time before a plain rename; null means it was renamed.
 * After "changed" the temporary file is still there for the caller; after an error it is gone.
 */
export function exchange(
  temporary: string,
  target: string,
  unchanged: () => boolean,
  native: Native | null = loadNative(),
): { replaced: string | null } | "changed" {
  // EPERM and friends: a file system without hard links; the ways below do without them.
  const linked = tryCall(temporary, () => linkSync(temporary, target), [
    "EEXIST",
    "EPERM",
    "ENOTSUP",
    "EXDEV",
    "EISDIR",
  ]);
  if (linked === "done") {
    removeQuietly(temporary);
    syncDirectory(dirname(target));
    return { replaced: null };
  }
  // A directory would be swapped away like a file; the rename below refuses it.
  const isDirectory = lstatSync(target, { throwIfNoEntry: false })?.isDirectory() === true;
  if (native && process.platform !== "win32" && !isDirectory) {
    const unable = ["ENOENT", "EINVAL", "ENOSYS", "ENOTSUP"];
    const swapped = tryCall(temporary, () => native.swapSync(temporary, target), unable);
    if (swapped === "ENOENT") return "changed";
    if (swapped === "done") {
      syncDirectory(dirname(target));
      return { replaced: temporary };
    }
  }
  if (!isDirectory && !unchanged()) return "changed";
  moveInto(temporary, target);
  return { replaced: null };
}

/**
 * Whether the temporary file took the place of `target`: only if that is still what was read, and if it was changed in between,
 * the change is put back. The temporary file is gone in any case.
 */
export function replaceSame(temporary: string, target: string, isSame: (path: string) => boolean): boolean {
  const done = isSame(target) ? exchange(temporary, target, () => isSame(target)) : "changed";
  if (done === "changed") removeQuietly(temporary);
  if (done === "changed" || done.replaced === null) return done !== "changed";
  const wasSame = isSame(done.replaced);
  if (wasSame) removeQuietly(done.replaced);
  else moveInto(done.replaced, target);
  return wasSame;
}

/** Runs a call that leaves the temporary file alone when it fails: the code of an expected failure, else it is cleared up. */
function tryCall(temporary: string, call: () => void, expected: readonly string[]): string {
  try {
    call();
    return "done";
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? "";
    if (expected.includes(code)) return code;
    removeQuietly(temporary);
    throw error;
  }
}

/** Makes a rename survive a power cut. Windows has no such call and needs none. */
export function syncDirectory(directory: string): void {
  if (process.platform === "win32") return;
  const fd = openSync(directory, "r");
  try {
    fsyncSync(fd);
  } catch (error) {
    // Some network file systems cannot flush a directory.
    if ((error as NodeJS.ErrnoException).code !== "EINVAL") throw error;
  } finally {
    closeSync(fd);
  }
}

export function removeQuietly(path: string): void {
  try {
    unlinkSync(path);
  } catch {
    // Gone already, or it stays until the next sweep.
  }
}

// --- The native module for kernel locks and atomic swaps, loaded on first use; null where it does not load.

export interface Native {
  tryLock(fd: number): boolean;
  /** Exchanges two paths in one step (renameat2, renamex_np). Not atomic on Windows. */
  swapSync(from: string, to: string): void;
}

let loaded: Native | null | undefined;

export function loadNative(): Native | null {
  // Deno and Bun have part of what native modules call, and end at the first call of the rest, which nothing can catch.
  if (process.versions.deno !== undefined || process.versions.bun !== undefined) loaded = null;
  if (loaded === undefined) {
    try {
      // Imported above, it would cost a hook two milliseconds, of which hardly any needs it.
      const { createRequire } = process.getBuiltinModule("node:module");
      loaded = createRequire(import.meta.url)("fs-native-extensions") as Native;
    } catch {
      // No prebuilt binary for this platform: the pid file and plain renames serve instead.
      loaded = null;
    }
  }
  return loaded;
}

// --- Whether a process that left its number in a file still runs.

/** True also for somebody else's process, which we may not signal. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}
