/** The beginning of a memory file that is far larger than any memory: its header, and what may matter of it. */

import { closeSync, readSync } from "node:fs";
import { join } from "node:path";
import { openRegular } from "../disk/regular.ts";
import { diskError } from "../errors.ts";
import type { Directory } from "./directory.ts";

/** Whole lines of at most so many bytes, unless there is only one; nothing where there is no ordinary file. Links are not followed. */
export function readStart(directory: Directory, file: string, maxBytes: number): Buffer {
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
