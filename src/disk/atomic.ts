/** Files that appear whole or not at all: written aside, flushed, then moved into place. */

import { closeSync, fsyncSync, linkSync, openSync, renameSync, unlinkSync, writeSync } from "node:fs";
import { dirname, join } from "node:path";
import { loadNative, type Native } from "./native.ts";

/** New files are the user's alone unless they belong to a repository. */
export const PRIVATE_MODE = 0o600;
export const SHARED_MODE = 0o644;

let counter = 0;

/** A file in `directory` that nobody else uses; its name tells who wrote it, so that leftovers of the dead can be swept. */
export function writeTemporary(
  directory: string,
  data: string | Uint8Array,
  mode: number,
  kind = "file",
  flush = true,
): string {
  const path = join(directory, `${kind}-${process.pid}-${process.hrtime.bigint().toString(36)}-${counter++}`);
  const fd = openSync(path, "wx", mode);
  try {
    const bytes = typeof data === "string" ? Buffer.from(data) : data;
    for (let done = 0; done < bytes.length; ) done += writeSync(fd, bytes, done);
    if (flush) fsyncSync(fd);
  } catch (error) {
    closeSync(fd);
    removeQuietly(path);
    throw error;
  }
  closeSync(fd);
  return path;
}

/** Moves a temporary file over `target`; it is on disk when this returns, unless the caller flushes the directory itself. */
export function moveInto(temporary: string, target: string, flush = true): void {
  try {
    renameSync(temporary, target);
  } catch (error) {
    removeQuietly(temporary);
    throw error;
  }
  if (flush) syncDirectory(dirname(target));
}

/** A file that can be rebuilt: whole for every reader, but not worth waiting for the disk. */
export function writeCacheFile(temporaries: string, target: string, data: string): void {
  renameSync(writeTemporary(temporaries, data, PRIVATE_MODE, "cache", false), target);
}

/**
 * Puts a temporary file in the place of `target` and returns the path where the replaced file now lies, for the caller to
 * look at and remove: what was replaced may not be what the caller read before. Null when there was nothing.
 * Without the native swap, `unchanged()` is asked a last time before a plain rename; null means it was renamed.
 */
export function exchange(
  temporary: string,
  target: string,
  unchanged: () => boolean,
  native: Native | null = loadNative(),
): { replaced: string | null } | "changed" {
  try {
    linkSync(temporary, target);
    removeQuietly(temporary);
    syncDirectory(dirname(target));
    return { replaced: null };
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    // EPERM and friends: a file system without hard links; the ways below do without them.
    if (code !== "EEXIST" && code !== "EPERM" && code !== "ENOTSUP" && code !== "EXDEV" && code !== "EISDIR")
      throw error;
  }
  if (native && process.platform !== "win32") {
    try {
      native.swapSync(temporary, target);
      syncDirectory(dirname(target));
      return { replaced: temporary };
    } catch (error) {
      const code = (error as NodeJS.ErrnoException).code;
      if (code === "ENOENT") return "changed";
      if (code !== "EINVAL" && code !== "ENOSYS" && code !== "ENOTSUP") throw error;
    }
  }
  if (!unchanged()) return "changed";
  renameSync(temporary, target);
  syncDirectory(dirname(target));
  return { replaced: null };
}

/** Makes a rename survive a power cut. Windows has no such call and needs none. */
export function syncDirectory(directory: string): void {
  if (process.platform === "win32") return;
  const fd = openSync(directory, "r");
  try {
    fsyncSync(fd);
  } catch (error) {
    // Some network file systems cannot flush a directory.
    if ((error as NodeJS.ErrnoException).code !== "EINVAL") throw error;
  } finally {
    closeSync(fd);
  }
}

export function removeQuietly(path: string): void {
  try {
    unlinkSync(path);
  } catch {
    // Gone already, or it stays until the next sweep.
  }
}
