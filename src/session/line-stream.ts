/** Reads the lines of a file of any size, one at a time as bytes: only the current line is in memory. */

import { closeSync, read, readSync } from "node:fs";
import { promisify } from "node:util";
import { openRegular } from "../disk/fence.ts";
import { attempt, diskError, MemdirError } from "../errors.ts";
import { count } from "../text/sanitise.ts";

/** Half a megabyte per read: larger ones are no faster. */
const CHUNK_BYTES = 1 << 19;

/** Longer than any message that can be sent; a longer line is damage, and Node's longest string is not far off. */
export const MAX_LINE_BYTES = 256 << 20;

const NEWLINE = 10;

const readAsync = promisify(read);

interface Line {
  /** Valid only during the call: the memory is reused. Null when the line is longer than `MAX_LINE_BYTES`. */
  bytes: Buffer | null;
  /** The offset of its first byte in the file. */
  offset: number;
  /** False for a last line without a newline. */
  ended: boolean;
}

export type OpenedLines = NonNullable<ReturnType<typeof openLines>>;

/** Opens a session's lines for the duration of the work. Throws if there is no such file. */
export async function withLines<T>(path: string, work: (lines: OpenedLines) => Promise<T>): Promise<T> {
  let lines: OpenedLines | null = null;
  try {
    lines = openLines(path);
    if (!lines) {
      throw new MemdirError("not-found", `there is no session at ${path}; list them with: memdir sessions`);
    }
    return await work(lines);
  } catch (error) {
    throw diskError(error, "read", path);
  } finally {
    lines?.close();
  }
}

/** Null when there is not a regular file; a link is not one. Other errors throw. Must be closed. */
export function openLines(path: string) {
  const opened = openRegular(path);
  if (!opened) return null;
  const { fd, size } = opened;
  return {
    size,
    /** Empty lines are left out. Stops after the current read when the signal aborts. */
    each: (
      visit: (line: Line) => void,
      { signal, maxLineBytes = MAX_LINE_BYTES }: { signal?: AbortSignal | undefined; maxLineBytes?: number } = {},
    ) => eachLine(fd, visit, maxLineBytes, signal),
    /** Reads one line again, at the offset that `each` reported. */
    at(offset: number, length: number): Buffer {
      const bytes = Buffer.allocUnsafe(length);
      let done = 0;
      while (done < length) {
        const count = readSync(fd, bytes, done, length - done, offset + done);
        if (count === 0) break; // cut off meanwhile
        done += count;
      }
      return bytes.subarray(0, done);
    },
    close: () => closeSync(fd),
  };
}

/** Visits every line that `parse` can read, with its number and place, and returns what was wrong with the others. */
export async function eachRecord<T>(
  lines: OpenedLines,
  parse: (text: string) => T | null,
  visit: (record: T, at: { number: number; offset: number; length: number }) => void,
): Promise<string[]> {
  let number = 0;
  let unreadable = 0;
  let isCut = false;
  await lines.each(({ bytes, offset, ended }) => {
    number++;
    const text = bytes?.toString().trimEnd();
    if (text === "") return;
    const record = text === undefined ? null : parse(text);
    if (record !== null) visit(record, { number, offset, length: bytes?.length ?? 0 });
    else if (ended) unreadable++;
    else isCut = true;
  });
  return [
    ...(isCut ? ["the last line is only half written; it is left out"] : []),
    ...(unreadable > 0 ? [`${count(unreadable, "line")} cannot be read; left out`] : []),
  ];
}

/** The first so many bytes as text; null when there is not a regular file, or none that can be read. */
export function readHead(path: string, maxBytes: number): string | null {
  const lines = attempt(() => openLines(path), null);
  const head = attempt(() => lines?.at(0, Math.min(lines.size, maxBytes)).toString(), null);
  lines?.close();
  return head ?? null;
}

async function eachLine(fd: number, visit: (line: Line) => void, maxLineBytes: number, signal?: AbortSignal) {
  const chunk = Buffer.allocUnsafe(CHUNK_BYTES);
  /** Earlier parts of the current line, copied; dropped when there are too many of them. */
  let parts: Buffer[] = [];
  let length = 0;
  let position = 0;
  const finish = (rest: Buffer, ended: boolean, offset: number) => {
    const whole = length + rest.length;
    if (whole > maxLineBytes) visit({ bytes: null, offset, ended });
    else if (whole > 0) visit({ bytes: parts.length === 0 ? rest : Buffer.concat([...parts, rest]), offset, ended });
    parts = [];
    length = 0;
  };

  while (!signal?.aborted) {
    const { bytesRead: count } = await readAsync(fd, chunk, 0, chunk.length, position);
    if (count === 0) break;
    const bytes = chunk.subarray(0, count);
    let start = 0;
    for (let end = bytes.indexOf(NEWLINE); end >= 0; end = bytes.indexOf(NEWLINE, start)) {
      finish(bytes.subarray(start, end), true, position + start - length);
      start = end + 1;
    }
    const rest = bytes.subarray(start);
    position += count;
    length += rest.length;
    if (length > maxLineBytes) parts = [];
    else if (rest.length > 0) parts.push(Buffer.from(rest));
  }
  if (!signal?.aborted && length > 0) finish(Buffer.alloc(0), false, position - length);
}
