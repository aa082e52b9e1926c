/** The ledger's file: lines at its end, by several processes, and read from there backwards. */

import {
  accessSync,
  closeSync,
  constants,
  fstatSync,
  fsyncSync,
  lstatSync,
  mkdirSync,
  openSync,
  readSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { PRIVATE_MODE } from "../disk/atomic.ts";
import { MemdirError } from "../errors.ts";

/** A link in the ledger's place would lead the writing elsewhere; a fifo would hold it up for ever. */
const APPEND = constants.O_RDWR | constants.O_APPEND | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);

/** A thousand entries or so: a day is nearly always in one read. */
const CHUNK_BYTES = 256 * 1024;
/** Some hundred thousand entries: years of use, read in a fraction of a second. */
const MAX_TAIL_BYTES = 32 << 20;
/** Far more than an entry takes; what is longer is damage. */
const MAX_LINE_CHUNKS = 4;
const NEWLINE = 10;

/** One write at the end of the file, which other processes append to as well: systems keep such writes apart. */
export function appendLines(file: string, lines: string, flush: boolean): void {
  makeFolder(dirname(file));
  refuseLink(file);
  const fd = openSync(file, APPEND | constants.O_CREAT, PRIVATE_MODE);
  try {
    const { size } = checkRegular(file, fd);
    const last = Buffer.alloc(1);
    if (size > 0) readSync(fd, last, 0, 1, size - 1);
    // A writer that was killed left half a line: ours must not be glued to it.
    const data = Buffer.from(size > 0 && last[0] !== NEWLINE ? `\n${lines}` : lines);
    // What was written of it stays, since others may have appended meanwhile; a torn line is passed over.
    if (writeSync(fd, data) < data.length) throw Object.assign(new Error("short write"), { code: "ENOSPC" });
    if (flush) flushFile(fd);
  } finally {
    closeSync(fd);
  }
}

/** The state folder, hidden from git as it is when a memory makes it. */
function makeFolder(folder: string): void {
  refuseLink(folder);
  if (lstatSync(folder, { throwIfNoEntry: false })) return;
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  try {
    writeFileSync(join(folder, ".gitignore"), "*\n", { flag: "wx", mode: PRIVATE_MODE });
  } catch (error) {
    // Another process made it just now.
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  }
}

/** Throws if an entry could not be written. Makes nothing: asking alone should leave no trace. */
export function checkWritable(file: string): void {
  const folder = dirname(file);
  refuseLink(folder);
  if (!lstatSync(folder, { throwIfNoEntry: false })) return;
  accessSync(folder, constants.W_OK);
  refuseLink(file);
  if (!lstatSync(file, { throwIfNoEntry: false })) return;
  const fd = openSync(file, APPEND);
  try {
    checkRegular(file, fd);
  } finally {
    closeSync(fd);
  }
}

/** Also where the system cannot be asked to open no links. */
function refuseLink(path: string): void {
  if (!lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink()) return;
  throw new MemdirError("outside", `${path} is a symbolic link: nothing was written to the ledger; remove the link`);
}

function checkRegular(file: string, fd: number): { size: number } {
  const stat = fstatSync(fd);
  if (!stat.isFile()) throw new MemdirError("disk", `${file} is no ordinary file: move it away`);
  return stat;
}

/** It is written in any case; some network file systems cannot do more, and written again it would count twice. */
function flushFile(fd: number): void {
  try {
    fsyncSync(fd);
  } catch {
    // See above.
  }
}

/** Whole lines from the end of a file, chunk by chunk, those of each chunk in their order. */
export function* chunksBackwards(fd: number, size: number): Generator<string[]> {
  /** Ends of a line whose start is further ahead in the file. */
  let ends: Buffer[] = [];
  for (let start = size; start > 0 && size - start < MAX_TAIL_BYTES; ) {
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
