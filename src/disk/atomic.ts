/** Files that appear whole or not at all: written aside, flushed, then moved into place. */

import {
  closeSync,
  fsyncSync,
  ftruncateSync,
  linkSync,
  lstatSync,
  openSync,
  renameSync,
  unlinkSync,
  writeSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { openToAppend } from "./fence.ts";

/** New files are the user's alone unless they belong to a repository. */
export const PRIVATE_MODE = 0o600;
export const SHARED_MODE = 0o644;

/** In the names of this process's temporary files: another one may have had the same number. */
const OWN = `${process.pid}-${process.hrtime.bigint().toString(36)}`;
let counter = 0;

/** A file in `directory` that nobody else uses; its name tells who wrote it, so that leftovers of the dead can be swept. */
export function writeTemporary(
  directory: string,
  data: string | Uint8Array,
  mode: number,
  kind = "file",
  flush = true,
  mark = "",
): string {
  const { path, fd } = openTemporary(directory, mode, kind, mark);
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

/** The same, empty and open, for what is written in pieces. */
export function openTemporary(directory: string, mode: number, kind = "file", mark = ""): { path: string; fd: number } {
  const path = join(directory, `${kind}-${OWN}-${counter++}${mark}`);
  return { path, fd: openSync(path, "wx", mode) };
}

/** Whether a temporary file of this name is this process's own. */
export function isOwnTemporary(name: string): boolean {
  return name.includes(`-${OWN}-`);
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
export function writeCacheFile(temporaries: string, target: string, data: string | Uint8Array): void {
  moveInto(writeTemporary(temporaries, data, PRIVATE_MODE, "cache", false), target, false);
}

/**
 * Appends lines in one write, which systems keep apart from those of other processes; how large the file is afterwards. What was
 * written of a failed one stays, since others may have appended meanwhile, unless the file is ours alone.
 */
export function appendLines(
  path: string,
  lines: string,
  { flush = false, isOurs = false, mode = PRIVATE_MODE } = {},
): number {
  const { fd, size, torn } = openToAppend(path, mode);
  try {
    const data = Buffer.from(torn ? `\n${lines}` : lines);
    try {
      if (writeSync(fd, data) < data.length) throw Object.assign(new Error("short write"), { code: "ENOSPC" });
      if (flush) flushFile(fd, isOurs);
    } catch (error) {
      if (isOurs) ftruncateSync(fd, size);
      throw error;
    }
    return size + data.length;
  } finally {
    closeSync(fd);
  }
}

/** It is written in any case; some network file systems cannot do more, and written again it would count twice. */
function flushFile(fd: number, mustSucceed: boolean): void {
  try {
    fsyncSync(fd);
  } catch (error) {
    if (mustSucceed) throw error;
  }
}

/**
 * Puts a temporary file in the place of `target` and returns the path where the replaced file now lies, for the caller to
 * look at and remove: what was replaced may not be what the caller read before. Null when there was nothing.
 * Without the native swap, `unchanged()` is asked a last time before a plain rename; null means it was renamed.
 * After "changed" the temporary file is still there for the caller; after an error it is gone.
 */
export function exchange(
  temporary: string,
  target: string,
  unchanged: () => boolean,
  native: Native | null = loadNative(),
): { replaced: string | null } | "changed" {
  // EPERM and friends: a file system without hard links; the ways below do without them.
  const linked = attempt(temporary, () => linkSync(temporary, target), [
    "EEXIST",
    "EPERM",
    "ENOTSUP",
    "EXDEV",
    "EISDIR",
  ]);
  if (linked === "done") {
    removeQuietly(temporary);
    syncDirectory(dirname(target));
    return { replaced: null };
  }
  // A directory would be swapped away like a file; the rename below refuses it.
  const isDirectory = lstatSync(target, { throwIfNoEntry: false })?.isDirectory() === true;
  if (native && process.platform !== "win32" && !isDirectory) {
    const unable = ["ENOENT", "EINVAL", "ENOSYS", "ENOTSUP"];
    const swapped = attempt(temporary, () => native.swapSync(temporary, target), unable);
    if (swapped === "ENOENT") return "changed";
    if (swapped === "done") {
      syncDirectory(dirname(target));
      return { replaced: temporary };
    }
  }
  if (!isDirectory && !unchanged()) return "changed";
  moveInto(temporary, target);
  return { replaced: null };
}

/**
 * Whether the temporary file took the place of `target`: only if that is still what was read, and if it was changed in between,
 * the change is put back. The temporary file is gone in any case.
 */
export function replaceSame(temporary: string, target: string, isSame: (path: string) => boolean): boolean {
  const done = isSame(target) ? exchange(temporary, target, () => isSame(target)) : "changed";
  if (done === "changed") removeQuietly(temporary);
  if (done === "changed" || done.replaced === null) return done !== "changed";
  const wasSame = isSame(done.replaced);
  if (wasSame) removeQuietly(done.replaced);
  else moveInto(done.replaced, target);
  return wasSame;
}

/** Runs a call that leaves the temporary file alone when it fails: the code of an expected failure, else it is cleared up. */
function attempt(temporary: string, call: () => void, expected: readonly string[]): string {
  try {
    call();
    return "done";
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? "";
    if (expected.includes(code)) return code;
    removeQuietly(temporary);
    throw error;
  }
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

// --- The native module for kernel locks and atomic swaps, loaded on first use; null where it does not load.

export interface Native {
  tryLock(fd: number): boolean;
  /** Exchanges two paths in one step (renameat2, renamex_np). Not atomic on Windows. */
  swapSync(from: string, to: string): void;
}

let loaded: Native | null | undefined;

export function loadNative(): Native | null {
  // Deno and Bun have part of what native modules call, and end at the first call of the rest, which nothing can catch.
  if (process.versions.deno !== undefined || process.versions.bun !== undefined) loaded = null;
  if (loaded === undefined) {
    try {
      // Imported above, it would cost a hook two milliseconds, of which hardly any needs it.
      const { createRequire } = process.getBuiltinModule("node:module");
      loaded = createRequire(import.meta.url)("fs-native-extensions") as Native;
    } catch {
      // No prebuilt binary for this platform: the pid file and plain renames serve instead.
      loaded = null;
    }
  }
  return loaded;
}

// --- Whether a process that left its number in a file still runs.

/** True also for somebody else's process, which we may not signal. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}
