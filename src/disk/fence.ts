/** Keeps paths inside the directory they were given for: names are checked as text, then on the disk. */

import fs, {
  closeSync,
  constants,
  existsSync,
  fstatSync,
  lstatSync,
  openSync,
  readFileSync,
  readlinkSync,
  readSync,
  realpathSync,
  type Stats,
  statSync,
} from "node:fs";
import path, { dirname, isAbsolute, resolve } from "node:path";
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

/** The deepest existing ancestor, links resolved, must lie below the root, links resolved; the leaf must not be a link. */
function checkLinks(root: string, path: string, shown: string): Stats | undefined {
  const leaf = look(path, shown);
  if (leaf?.isSymbolicLink()) throw outside(shown, `it is a symbolic link to ${readlinkSync(path)}`);
  if (!isBehindLink(root, shown)) return leaf;
  const realRoot = realPath(root);
  let ancestor = leaf ? path : dirname(path);
  while (ancestor !== dirname(ancestor)) {
    if (look(ancestor, shown)) break;
    ancestor = dirname(ancestor);
  }
  let real: string;
  try {
    real = realpathSync(ancestor);
  } catch (cause) {
    throw outside(shown, "a link on the way to it cannot be followed", cause);
  }
  // When the root itself does not exist yet, the ancestor lies above it and nothing can be a link below it.
  if (!isWithin(realRoot, real) && !isWithin(real, realRoot)) throw outside(shown, "a link leads out of the directory");
  if (isWithin(root, ancestor) && !isWithin(realRoot, real)) throw outside(shown, "a link leads out of the directory");
  return leaf;
}

/** Whether a folder on the way is a link. Without one the path leads where it says: resolving it takes ten times as long. */
function isBehindLink(root: string, relative: string): boolean {
  for (let at = relative.indexOf("/"); at > 0; at = relative.indexOf("/", at + 1))
    if (look(path.join(root, relative.slice(0, at)), relative)?.isSymbolicLink()) return true;
  return false;
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

// --- * Folders held open while they are written to: a symbolic link that is swapped into their place meanwhile leads nowhere. Works through /proc on Linux, where Node has no `openat`; elsewhere a pin is only the path, checked once.

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
