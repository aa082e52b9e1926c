/**
 * Files and folders opened exactly where they were said to be. Between checking a path and opening it, a link may be
 * swapped in: what was opened is therefore compared with the path, through /proc on Linux; elsewhere it is only checked first.
 */

import { existsSync, fstatSync, lstatSync, readFileSync, readlinkSync, type Stats } from "node:fs";
import { basename, dirname, join } from "node:path";
import { isWithin, makeFolders, type Pin, pinFolder, readRegular, withRegular } from "../disk/fence.ts";
import { attempt } from "../errors.ts";

export type FileContent = NonNullable<ReturnType<typeof readFileAt>>;

/** Null when nothing is there. Throws, with a reason for the model, for anything too large or other than a regular file. */
export function readFileAt(real: string, maxBytes: number) {
  refusePseudo(real);
  const seen = lstatQuietly(real);
  if (!seen) return null;
  // Checked before it is opened: opening a device can have side effects.
  refuseOdd(seen);
  const content = withRegular(real, (fd, size) => {
    if (!isExactly(fd, real)) return null;
    if (size > maxBytes) throw tooLarge(size, maxBytes);
    return { bytes: readFileSync(fd), mode: fstatSync(fd).mode & 0o777 };
  });
  if (!content) throw new Error(MOVED);
  return content;
}

/** Like `readFileAt`, for searches, which skip whatever cannot be read. */
export function tryReadFileAt(real: string, maxBytes: number): Buffer | null {
  return attempt(() => readFileAt(real, maxBytes)?.bytes, null) ?? null;
}

/** The work on the folder at this path, held open meanwhile. */
export function withFolder<T>(real: string, work: (folder: string) => T): T {
  const pin = openFolderAt(real);
  try {
    return work(pin.path);
  } finally {
    pin.close();
  }
}

/** Holds open the folder at this path. With `make`, it and missing parents are created. */
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
    // Checked before anything is created in it. What is created below is reached from here, refusing every link.
    if (pin.path.startsWith("/proc/self/fd/") && readlinkSync(pin.path) !== at) throw new Error(MOVED);
    for (const name of missing) {
      const next = join(pin.path, name);
      makeFolders(next);
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

/** Whether a file still holds these bytes, or with null is still missing. */
export function isStill(path: string, bytes: Buffer | null): boolean {
  return bytes ? readRegular(path)?.equals(bytes) === true : !lstatSync(path, { throwIfNoEntry: false });
}

/** Files that the kernel makes up: endless, blocking, or holding the secrets of this very process. */
export function isPseudo(real: string): boolean {
  if (process.platform !== "linux" || isWithin("/dev/shm", real)) return false;
  return ["/proc", "/sys", "/dev"].some((top) => isWithin(top, real));
}

/** Whether the bytes are not text, judged by a NUL near the start, as git and grep do. */
export function isBinary(bytes: Uint8Array): boolean {
  return bytes.subarray(0, 8000).includes(0);
}

/** The caller adds the file's name. */
export function reasonOf(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException;
  // Our own errors have codes, too, and messages that say what to do.
  if (code === undefined || !/^E[A-Z0-9]+$/.test(code)) return message;
  return REASONS[code] ?? `the disk refused (${code})`;
}

/** Of the user's own files: what helps where memories are would be wrong advice for a model here. */
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
  EEXIST: "something is in its place",
};

const MOVED = "something was moved or linked in its place just now; nothing was done, try again";

function refusePseudo(real: string): void {
  if (isPseudo(real)) throw new Error("it belongs to the system (/proc, /sys, /dev) and is not a regular file");
}

function refuseOdd(stat: Stats): void {
  if (stat.isFile()) return;
  if (stat.isDirectory()) throw new Error("it is a directory; use Glob to list it");
  throw new Error(stat.isSymbolicLink() ? MOVED : "it is a pipe, socket or device, not a regular file");
}

function isExactly(fd: number, real: string): boolean {
  const link = `/proc/self/fd/${fd}`;
  return process.platform !== "linux" || !existsSync("/proc/self/fd") || readlinkSync(link) === real;
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

/** Without the byte order mark, line ends as they are. `exact` is false when some bytes are not UTF-8: encoding would change them. */
export function decodeText(bytes: Buffer) {
  const text = bytes.toString("utf8");
  const bom = text.startsWith("\ufeff");
  const exact = !text.includes("\ufffd") || Buffer.from(text).equals(bytes);
  return { text: bom ? text.slice(1) : text, bom, exact };
}

export function encodeText(text: string, bom: boolean): Buffer {
  return Buffer.from(bom ? `\ufeff${text}` : text);
}

/** Lines without their ends; an empty rest after the last line end is not a line. */
export function linesOf(text: string): string[] {
  const lines = text.split("\n");
  if (lines.at(-1) === "") lines.pop();
  return lines.map((line) => (line.endsWith("\r") ? line.slice(0, -1) : line));
}

/** Whether most lines end with CRLF. */
export function usesCrlf(text: string): boolean {
  const crlf = text.split("\r\n").length - 1;
  return crlf > 0 && crlf * 2 >= text.split("\n").length - 1;
}

export function numberLines(lines: readonly string[], first: number): string {
  return lines.map((line, i) => `${String(first + i).padStart(5)}→${line}`).join("\n");
}

export function countOf(number: number, noun: string): string {
  return `${number.toLocaleString("en-US")} ${noun}${number === 1 ? "" : "s"}`;
}
