/**
 * A log of JSON lines that several processes append to. When it has half its cap, it becomes `<name>.1` in place of the one
 * before: a rename, so that a line which another process is just appending is not lost.
 */

import { accessSync, closeSync, constants, fstatSync, readSync, renameSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { appendLines } from "../disk/atomic.ts";
import { openRegular } from "../disk/fence.ts";
import { attempt, diskError, onDisk } from "../errors.ts";
import { type Base, findFolder, inFolder, look, notOurs } from "./directory.ts";

export interface StateLog<T> {
  /** One write for all of them. With `flush` they are on the disk when this returns. Throws when they are not written. */
  append(values: readonly unknown[], options?: { flush?: boolean }): void;
  /** Oldest first; what is not a whole line with such a value is passed over. */
  read(broken?: (why: string) => void): T[];
  /**
   * Like `read`, from the end backwards until `isEnough` says so of a chunk: lines of several processes are not quite in order.
   * Lines that do not contain `mark` are not parsed.
   */
  tail(options: TailOptions<T>): T[];
  /** Throws when nothing could be appended. Makes nothing. */
  check(): void;
}

interface TailOptions<T> {
  isEnough?: (chunk: readonly T[]) => boolean;
  mark?: string;
  broken?: (why: string) => void;
}

/** A thousand lines or so: a day is nearly always in one read. */
const CHUNK_BYTES = 256 * 1024;
/** Far more than a line takes; what is longer is damage. */
const MAX_LINE_CHUNKS = 4;
const NEWLINE = 10;

/** `lock` is asked for when the log is renamed: two processes that do so at once would lose half of it. */
export function openLog<T>(
  base: Base,
  path: string,
  cap: number,
  parse: (value: unknown) => T | null,
  lock: () => (() => void) | null,
): StateLog<T> {
  const folders = dirname(path) === "." ? [] : [dirname(path)];
  const name = basename(path);
  const shown = join(base.path, path);

  const rotate = () => {
    const release = lock();
    if (!release) return;
    try {
      inFolder(base, folders, (folder) => {
        const file = join(folder, name);
        if ((look(file)?.size ?? 0) > cap / 2) renameSync(file, `${file}.1`);
      });
    } finally {
      release();
    }
  };
  const tail: StateLog<T>["tail"] = ({ isEnough, mark = "", broken }) => {
    const chunks: T[][] = [];
    try {
      const folder = findFolder(base, folders);
      if (folder === null) return [];
      readBackwards(join(folder, name), cap, (lines) => {
        const values = lines.flatMap((line) => (line.includes(mark) ? parseLine(line, parse) : []));
        chunks.push(values);
        return values.length > 0 && isEnough?.(values) === true;
      });
    } catch (error) {
      broken?.(diskError(error, "read", shown).message);
    }
    return chunks.reverse().flat();
  };

  return {
    append(values, { flush = false } = {}) {
      const lines = values.map((value) => `${JSON.stringify(value)}\n`).join("");
      const add = (folder: string) => {
        refuseOthers(join(folder, name), shown);
        return appendLines(join(folder, name), lines, { flush });
      };
      const size = onDisk("write", shown, () => inFolder(base, folders, add));
      // Should it fail, the lines are written all the same, and the next one tries again.
      if (size > cap / 2) attempt(rotate, undefined);
    },
    read: (broken) => tail(broken ? { broken } : {}),
    tail,
    check() {
      return onDisk("write", shown, () => {
        const folder = findFolder(base, folders);
        if (folder === null) return;
        accessSync(folder, constants.W_OK);
        refuseOthers(join(folder, name), shown);
        if (look(join(folder, name))) accessSync(join(folder, name), constants.W_OK);
      });
    },
  };
}

/** Also where the system cannot be asked to open no links. */
function refuseOthers(file: string, shown: string): void {
  if (look(file)?.isFile() === false) throw notOurs(shown);
}

/** Until `take` says that it is enough. */
function readBackwards(file: string, cap: number, take: (lines: string[]) => boolean): void {
  const opened = openBoth(file);
  try {
    for (const { fd, size } of opened) for (const lines of chunksBackwards(fd, size, cap)) if (take(lines)) return;
  } finally {
    for (const { fd } of opened) closeSync(fd);
  }
}

/** The log and the one before it. If it was renamed between the two calls, both are the same file: then once more. */
function openBoth(file: string, attempts = 3): { fd: number; size: number }[] {
  const opened = [file, `${file}.1`].flatMap((each) => openRegular(each) ?? []);
  const [now, before] = opened.map(({ fd }) => fstatSync(fd));
  if (attempts === 0 || !now || !before || now.ino !== before.ino || now.dev !== before.dev) return opened;
  for (const { fd } of opened) closeSync(fd);
  return openBoth(file, attempts - 1);
}

/** Whole lines from the end of a file, chunk by chunk, those of each chunk in their order. */
function* chunksBackwards(fd: number, size: number, maxBytes: number): Generator<string[]> {
  /** Ends of a line whose start is further ahead in the file. */
  let ends: Buffer[] = [];
  for (let start = size; start > 0 && size - start < maxBytes; ) {
    const length = Math.min(start, CHUNK_BYTES);
    start -= length;
    const whole = Buffer.allocUnsafe(length);
    const chunk = whole.subarray(0, readSync(fd, whole, 0, length, start));
    const cut = start === 0 ? 0 : chunk.indexOf(NEWLINE) + 1;
    if (start > 0 && cut === 0) {
      ends = ends.length < MAX_LINE_CHUNKS ? [chunk, ...ends] : [];
      continue;
    }
    yield Buffer.concat([chunk.subarray(cut), ...ends])
      .toString("utf8")
      .split("\n");
    ends = [chunk.subarray(0, cut)];
  }
}

/** Nothing for what is no value: torn by a power cut, of a later version, or edited by hand. */
function parseLine<T>(line: string, parse: (value: unknown) => T | null): T[] {
  if (!line.includes("{")) return [];
  try {
    const value = parse(JSON.parse(line.replace(/^\uFEFF/, "")));
    return value === null ? [] : [value];
  } catch {
    return [];
  }
}
