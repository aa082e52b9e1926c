/**
 * Files and folders opened exactly where they were said to lie. Between looking at a path and opening it, a link may be
 * swapped in: what was opened is therefore compared with the path, through /proc on Linux; elsewhere it is only checked first.
 */

import {
  closeSync,
  constants,
  existsSync,
  fstatSync,
  lstatSync,
  mkdirSync,
  openSync,
  readlinkSync,
  readSync,
  type Stats,
} from "node:fs";
import { basename, dirname, join } from "node:path";
import { isWithin, type Pin, pinFolder } from "../disk/fence.ts";

export interface FileContent {
  bytes: Buffer;
  mode: number;
}

/** Null when nothing is there. Throws, with a reason for the model, for all that is no ordinary file or too large. */
export function readFileAt(real: string, maxBytes: number): FileContent | null {
  refusePseudo(real);
  const seen = lstatQuietly(real);
  if (!seen) return null;
  // Asked before it is opened: opening a device can have effects of its own.
  refuseOdd(seen);
  const fd = openSync(real, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0));
  try {
    const stat = fstatSync(fd);
    refuseOdd(stat);
    if (!isExactly(fd, real)) throw new Error(MOVED);
    if (stat.size > maxBytes) throw tooLarge(stat.size, maxBytes);
    const bytes = readAll(fd, stat.size, maxBytes);
    return { bytes, mode: stat.mode & 0o777 };
  } finally {
    closeSync(fd);
  }
}

/** Like `readFileAt`, for searches, which pass over whatever cannot be read. */
export function tryReadFileAt(real: string, maxBytes: number): Buffer | null {
  try {
    return readFileAt(real, maxBytes)?.bytes ?? null;
  } catch {
    return null;
  }
}

/** A folder that is held open, and is the one at this path. With `make` it and those on the way are made. */
export function openFolderAt(real: string, options: { make?: boolean } = {}): Pin {
  refusePseudo(real);
  const missing: string[] = [];
  let at = real;
  while (options.make && !lstatQuietly(at) && dirname(at) !== at) {
    missing.unshift(basename(at));
    at = dirname(at);
  }
  let pin = pinFolder(at);
  try {
    // Before anything is made in it. What is made below is reached from here, link by link refused.
    if (pin.path.startsWith("/proc/self/fd/") && readlinkSync(pin.path) !== at) throw new Error(MOVED);
    for (const name of missing) {
      const next = join(pin.path, name);
      mkdirSync(next, { recursive: true });
      const inner = pinFolder(next);
      pin.close();
      pin = inner;
    }
    return pin;
  } catch (error) {
    pin.close();
    throw error;
  }
}

/** What the kernel makes up: endless, blocking, or the secrets of this very process. */
export function isPseudo(real: string): boolean {
  if (process.platform !== "linux" || isWithin("/dev/shm", real)) return false;
  return ["/proc", "/sys", "/dev"].some((top) => isWithin(top, real));
}

/** Whether the bytes are no text: the sign is a NUL near the start, as for git and grep. */
export function isBinary(bytes: Uint8Array): boolean {
  return bytes.subarray(0, 8000).includes(0);
}

/** In the words of the one who asked; the file's name is the caller's to add. */
export function reasonOf(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException;
  // Errors of our own have codes, too, and messages that say what to do.
  if (code === undefined || !/^E[A-Z0-9]+$/.test(code)) return message;
  return REASONS[code] ?? `the disk refused (${code})`;
}

const REASONS: Record<string, string> = {
  EACCES: "there is no permission for it, or for its folder",
  EPERM: "there is no permission for it, or for its folder",
  ENOENT: "it is gone",
  ELOOP: "its links lead in a circle",
  ENOTDIR: "a part of its path is a file, not a folder",
  EISDIR: "it is a directory",
  ENAMETOOLONG: "the name is too long",
  ENOSPC: "the disk is full; nothing was changed",
  EDQUOT: "the disk quota is used up; nothing was changed",
  EROFS: "the file system is read-only",
  EEXIST: "something stands in its place",
};

const MOVED = "something was moved or linked in its place at this moment; nothing was done, try again";

function refusePseudo(real: string): void {
  if (isPseudo(real)) throw new Error("it belongs to the system (/proc, /sys, /dev) and is no ordinary file");
}

function refuseOdd(stat: Stats): void {
  if (stat.isFile()) return;
  if (stat.isDirectory()) throw new Error("it is a directory; use Glob to list it");
  throw new Error(stat.isSymbolicLink() ? MOVED : "it is a pipe, socket or device, not an ordinary file");
}

function isExactly(fd: number, real: string): boolean {
  const link = `/proc/self/fd/${fd}`;
  return process.platform !== "linux" || !existsSync("/proc/self/fd") || readlinkSync(link) === real;
}

/** Of a file that grows meanwhile, what it had when it was opened. */
function readAll(fd: number, size: number, maxBytes: number): Buffer {
  const bytes = Buffer.allocUnsafe(Math.min(size, maxBytes));
  let done = 0;
  while (done < bytes.length) {
    const count = readSync(fd, bytes, done, bytes.length - done, null);
    if (count === 0) break;
    done += count;
  }
  return bytes.subarray(0, done);
}

function tooLarge(size: number, maxBytes: number): Error {
  const mb = (bytes: number) => `${Math.ceil(bytes / 1_000_000)} MB`;
  return new Error(`it has ${mb(size)}, and at most ${mb(maxBytes)} are read; search it with Grep or cut it with Bash`);
}

function lstatQuietly(path: string): Stats | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOTDIR") return undefined;
    throw error;
  }
}
