/** What stands at a path now: nothing, an ordinary file with its hash, or something that must be left alone. */

import { createHash } from "node:crypto";
import { closeSync, fstatSync, lstatSync, readSync } from "node:fs";
import { dirname } from "node:path";
import { openRegular, realPath } from "../disk/fence.ts";

export type Look = { kind: "absent" } | FileLook | { kind: "other"; what: string };

export interface FileLook {
  kind: "file";
  /** SHA-256 of the content, in hex. */
  hash: string;
  /** Permission bits. */
  mode: number;
  size: number;
}

/** Must not throw, nor wait on a fifo. Links are not followed; `what` completes "there is …". */
export function lookAt(path: string): Look {
  try {
    const stat = lstatSync(path, { throwIfNoEntry: false });
    if (!stat) return ABSENT;
    if (stat.isSymbolicLink()) return other("a symbolic link");
    if (stat.isDirectory()) return other("a directory");
    if (!stat.isFile()) return other("something that is no ordinary file");
    const opened = openRegular(path);
    if (!opened) return other("something that changes while it is looked at");
    try {
      return hashOpen(opened.fd);
    } finally {
      closeSync(opened.fd);
    }
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? "unknown error";
    // A file stands where a folder on the way should be: nothing can be at this path.
    return code === "ENOTDIR" ? ABSENT : other(`something that cannot be read (${code})`);
  }
}

/** The same for a path whose links were resolved once: a folder on the way that has become a link since leads elsewhere. */
export function lookAtReal(path: string): Look {
  if (realPath(dirname(path)) !== dirname(path)) return other("a link on the way that leads elsewhere");
  return lookAt(path);
}

export function hashBytes(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}

const ABSENT: Look = { kind: "absent" };

/** Large enough that a call costs nothing against the hashing, small enough to allocate for every file. */
const CHUNK_BYTES = 256 * 1024;

function hashOpen(fd: number): Look {
  const { mode, size: expected } = fstatSync(fd);
  const hash = createHash("sha256");
  const chunk = Buffer.allocUnsafe(Math.min(CHUNK_BYTES, expected + 1));
  let size = 0;
  for (let got = readSync(fd, chunk); got > 0; got = readSync(fd, chunk)) {
    hash.update(chunk.subarray(0, got));
    size += got;
  }
  return { kind: "file", hash: hash.digest("hex"), mode: mode & 0o777, size };
}

function other(what: string): Look {
  return { kind: "other", what };
}
