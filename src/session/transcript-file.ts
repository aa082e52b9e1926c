/** A file that lines are appended to: each is on disk when the call returns, or waits in memory until the disk takes it. */

import {
  closeSync,
  constants,
  fdatasyncSync,
  fstatSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  readSync,
  writeSync,
} from "node:fs";
import { dirname } from "node:path";
import { PRIVATE_MODE, syncDirectory } from "../disk/atomic.ts";

interface LineFile {
  /** Must not throw. `later` leaves it waiting until a line that is worth a file, and does not wait for the disk. */
  write(line: string, options?: { later?: boolean }): void;
  /** What keeps lines from the disk and how to fix it; null when all are there. */
  problem(): string | null;
  /** A last attempt; nothing is held open between writes. */
  close(): void;
}

interface LineFileOptions {
  path: string;
  log: (message: string) => void;
  /** Whether it is there already, so that nothing has to wait for it to be made. */
  exists: boolean;
  maxWaitingBytes: number;
}

const FLAGS = constants.O_RDWR | constants.O_APPEND | constants.O_CREAT | (constants.O_NOFOLLOW ?? 0);
const PRIVATE_FOLDER = 0o700;
const NEWLINE = 10;

export function openLineFile(options: LineFileOptions): LineFile {
  const { path, log, maxWaitingBytes } = options;
  let waiting: Buffer[] = [];
  let waitingBytes = 0;
  let wanted = options.exists;
  let made = options.exists;
  /** Whether a line waits that must be on disk before the conversation goes on. */
  let urgent = false;
  let problem: string | null = null;

  /** The oldest go: the end of a conversation is what somebody wants to go on from. */
  const bound = () => {
    let dropped = 0;
    while (waitingBytes > maxWaitingBytes && dropped < waiting.length - 1) waitingBytes -= waiting[dropped++]!.length;
    if (dropped === 0) return;
    waiting = waiting.slice(dropped);
    log(`the transcript ${path} cannot be written: ${dropped} of the oldest waiting lines dropped for lack of memory`);
  };

  const flush = () => {
    if (!wanted || waiting.length === 0) return;
    try {
      if (!made) mkdirSync(dirname(path), { recursive: true, mode: PRIVATE_FOLDER });
      const { lines, error } = appendLines(path, waiting, { isNew: !made, urgent });
      made ||= lines > 0;
      for (const line of waiting.slice(0, lines)) waitingBytes -= line.length;
      waiting = waiting.slice(lines);
      if (error) throw error;
      urgent = false;
      problem = null;
    } catch (error) {
      const now = problemOf(error, path);
      if (now !== problem) log(now);
      problem = now;
      bound();
    }
  };

  return {
    write(line, { later = false } = {}) {
      const bytes = Buffer.from(line);
      waiting.push(bytes);
      waitingBytes += bytes.length;
      wanted ||= !later;
      urgent ||= !later;
      flush();
    },
    problem: () => problem,
    close() {
      flush();
      if (wanted && waiting.length > 0) log(`${waiting.length} lines of the transcript ${path} were never written`);
    },
  };
}

/** How many whole lines are on disk now, and what stopped it. What was written of a further line is cut off again. */
function appendLines(
  path: string,
  lines: readonly Buffer[],
  { isNew, urgent }: { isNew: boolean; urgent: boolean },
): { lines: number; error: unknown } {
  const fd = openSync(path, FLAGS, PRIVATE_MODE);
  try {
    const stat = fstatSync(fd);
    if (!stat.isFile()) throw Object.assign(new Error("no ordinary file"), { code: "EISDIR" });
    // A writer that was killed left half a line: ours must not be glued to it.
    const torn = stat.size > 0 && lastByte(fd, stat.size) !== NEWLINE;
    const data = Buffer.concat(torn ? [Buffer.from("\n"), ...lines] : lines);
    let written = 0;
    try {
      while (written < data.length) written += writeSync(fd, data, written);
      if (urgent) flushFile(fd);
      if (isNew) syncDirectory(dirname(path));
      return { lines: lines.length, error: null };
    } catch (error) {
      // When all was written it was the flush that failed, and nobody knows what of it is on disk.
      const whole = written === data.length ? { count: 0, bytes: 0 } : wholeLines(lines, written, torn ? 1 : 0);
      cutBack(fd, stat.size + written, stat.size + whole.bytes);
      return { lines: whole.count, error };
    }
  } finally {
    closeSync(fd);
  }
}

function wholeLines(lines: readonly Buffer[], written: number, before: number): { count: number; bytes: number } {
  let count = 0;
  let bytes = before;
  while (count < lines.length && bytes + lines[count]!.length <= written) bytes += lines[count++]!.length;
  return { count, bytes: Math.min(bytes, written) };
}

/** Only if nobody else has appended since. When it fails, the next attempt finds no newline at the end and makes one. */
function cutBack(fd: number, expected: number, size: number): void {
  try {
    if (fstatSync(fd).size === expected) ftruncateSync(fd, size);
  } catch {
    // See above.
  }
}

function lastByte(fd: number, size: number): number {
  const byte = Buffer.alloc(1);
  readSync(fd, byte, 0, 1, size - 1);
  return byte[0]!;
}

function flushFile(fd: number): void {
  try {
    fdatasyncSync(fd);
  } catch (error) {
    // Some network file systems cannot.
    if ((error as NodeJS.ErrnoException).code !== "EINVAL") throw error;
  }
}

function problemOf(error: unknown, path: string): string {
  const code = (error as NodeJS.ErrnoException)?.code ?? "";
  const remedy = REMEDIES[code] ?? `look at ${dirname(path)}`;
  const what = `the transcript ${path} cannot be written${code ? ` (${code})` : ""}`;
  return `${what}: ${remedy}; what is said meanwhile waits in memory and is written with the next message`;
}

const REMEDIES: Record<string, string> = {
  ENOSPC: "the disk is full, free some space",
  EDQUOT: "the disk quota is used up, free some space",
  EFBIG: "the file may not grow further, raise the limit (ulimit -f)",
  EROFS: "the file system is read-only, mount it for writing",
  EACCES: "no permission, check the owner and mode of the file and its folder",
  EPERM: "no permission, check the owner and mode of the file and its folder",
  ENOENT: "its folder is gone, make it again",
  ENOTDIR: "a part of the path is a file, move it away",
  EEXIST: "a part of the path is a file, move it away",
  EISDIR: "something that is no file has its name, move it away",
  ELOOP: "it is a symbolic link, replace it by a real file",
  EMFILE: "too many open files, raise the limit (ulimit -n)",
  EIO: "the disk reported an error, check its health",
};
