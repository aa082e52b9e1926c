/** Ordinary files opened where anything may be: a fifo must not block us, and a link must not lead elsewhere. */

import { closeSync, constants, fstatSync, openSync, readFileSync, readSync } from "node:fs";

const NONBLOCK = constants.O_NONBLOCK ?? 0;
const FLAGS = constants.O_RDONLY | NONBLOCK;
const NOFOLLOW = constants.O_NOFOLLOW ?? 0;

/** An open file for reading, or null when there is none, or something that is no ordinary file. Other failures throw. */
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

/** Also null for a file of more than `maxBytes`, of which nothing is read. */
export function readRegular(path: string, options: { follow?: boolean; maxBytes?: number } = {}): Buffer | null {
  const opened = openRegular(path, options);
  if (!opened) return null;
  try {
    return opened.size > (options.maxBytes ?? Number.POSITIVE_INFINITY) ? null : readFileSync(opened.fd);
  } finally {
    closeSync(opened.fd);
  }
}

/** The same as text, which is quicker for a process that has read nothing yet. */
export function readRegularText(path: string, maxBytes: number): string | null {
  const opened = openRegular(path);
  if (!opened) return null;
  try {
    return opened.size > maxBytes ? null : readFileSync(opened.fd, "utf8");
  } finally {
    closeSync(opened.fd);
  }
}

/** The last so many bytes as text; "" when there is no ordinary file. The first line of it may be half a one. */
export function readTail(path: string, maxBytes: number): string {
  const opened = openRegular(path);
  if (!opened) return "";
  try {
    const bytes = Buffer.alloc(Math.min(opened.size, maxBytes));
    const count = readSync(opened.fd, bytes, 0, bytes.length, opened.size - bytes.length);
    return bytes.toString("utf8", 0, count);
  } finally {
    closeSync(opened.fd);
  }
}

/**
 * An ordinary file opened to append lines, made if it is missing. `torn`: a writer that was killed left half a line at the end, and ours
 * must not be joined to it. Throws, with the code ENOTFILE for anything but an ordinary file.
 */
export function openToAppend(path: string, mode: number): { fd: number; size: number; torn: boolean } {
  const fd = openSync(path, constants.O_RDWR | constants.O_APPEND | constants.O_CREAT | NONBLOCK | NOFOLLOW, mode);
  try {
    const stat = fstatSync(fd);
    if (!stat.isFile()) throw Object.assign(new Error("not an ordinary file"), { code: "ENOTFILE" });
    const last = Buffer.alloc(1);
    const torn = stat.size > 0 && (readSync(fd, last, 0, 1, stat.size - 1) === 0 || last[0] !== NEWLINE);
    return { fd, size: stat.size, torn };
  } catch (error) {
    closeSync(fd);
    throw error;
  }
}

const NEWLINE = 10;
