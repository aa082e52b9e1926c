/** Reading memory files: whole, or only as much as the header needs. */

import { closeSync, constants, fstatSync, openSync, readFileSync, readSync } from "node:fs";
import { join } from "node:path";
import { openRegular } from "../disk/fence.ts";
import { diskError, MemdirError } from "../errors.ts";
import type { Directory } from "./directory.ts";
import { type Header, type Memory, parseHeader, parseMemory } from "./memory.ts";

/** Frontmatter is short; more is read only when its end was not found. */
const HEAD_BYTES = 8 * 1024;
const MAX_HEAD_BYTES = 256 * 1024;

/** Links are not followed, and a fifo does not hold us up. */
const OPEN_FLAGS = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);

/** The bytes of a file below the directory. Links are not followed. */
export function readBytes(directory: Pick<Directory, "path">, file: string): Buffer {
  const path = join(directory.path, file);
  let fd: number | undefined;
  try {
    fd = openSync(path, OPEN_FLAGS);
    return readFileSync(fd);
  } catch (error) {
    throw diskError(error, "read", path);
  } finally {
    if (fd !== undefined) closeSync(fd);
  }
}

/** The bytes, or null when there is no such file. */
export function findBytes(directory: Directory, file: string): Buffer | null {
  try {
    return readBytes(directory, file);
  } catch (error) {
    if (errnoOf(error) === "ENOENT") return null;
    throw error;
  }
}

/** The text, or null for what is not there or cannot be read. */
export function findText(directory: Directory, file: string): string | null {
  try {
    return findBytes(directory, file)?.toString("utf8") ?? null;
  } catch {
    return null;
  }
}

export function readMemory(directory: Directory, file: string): Memory {
  return parseMemory(file, readBytes(directory, file));
}

/** Whole lines of at most so many bytes, unless there is only one; nothing where there is not a regular file. Links are not followed. */
export function readStart(directory: Pick<Directory, "path">, file: string, maxBytes: number): Buffer {
  const path = join(directory.path, file);
  let opened: ReturnType<typeof openRegular> = null;
  try {
    opened = openRegular(path);
    if (!opened) return Buffer.alloc(0);
    const bytes = Buffer.alloc(Math.min(opened.size, maxBytes));
    const start = bytes.subarray(0, readSync(opened.fd, bytes, 0, bytes.length, 0));
    const end = start.length < opened.size ? start.lastIndexOf(10) : -1;
    return end < 0 ? start : start.subarray(0, end + 1);
  } catch (error) {
    throw diskError(error, "read", path);
  } finally {
    if (opened) closeSync(opened.fd);
  }
}

/** Never throws: a file that cannot be read is a header that says so. */
export function readHeader(directory: Directory, file: string): Header {
  let fd: number | undefined;
  try {
    fd = openSync(join(directory.path, file), OPEN_FLAGS);
    const size = fstatSync(fd).size;
    for (let want = HEAD_BYTES; ; want *= 8) {
      const data = Buffer.alloc(Math.min(size, want));
      const length = readSync(fd, data, 0, data.length, 0);
      const head = data.subarray(0, length);
      const header = parseHeader(file, length < size ? wholeCharacters(head) : head);
      if (length >= size || want >= MAX_HEAD_BYTES || !isUnclosed(header)) return header;
    }
  } catch (error) {
    return unreadable(file, errnoOf(error));
  } finally {
    if (fd !== undefined) closeSync(fd);
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

function isUnclosed(header: Header): boolean {
  return header.problems.some((p) => p.includes("has no closing"));
}

/** A head may end in the middle of a character: up to three bytes of it are left out. */
function wholeCharacters(data: Buffer): Buffer {
  for (let back = 1; back <= Math.min(4, data.length); back++) {
    const byte = data[data.length - back] as number;
    if (byte < 0x80) break;
    if (byte >= 0xc0) return data.subarray(0, data.length - back);
  }
  return data;
}

function errnoOf(error: unknown): string {
  const cause = error instanceof MemdirError ? error.cause : error;
  return (cause as NodeJS.ErrnoException)?.code ?? "unknown error";
}
