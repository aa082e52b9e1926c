/** MEMORY.md on disk, read and replaced with programs in mind that do not take memdir's lock. */

import { existsSync, lstatSync } from "node:fs";
import { exchange, removeQuietly } from "../disk/atomic.ts";
import { readRegular } from "../disk/regular.ts";
import { diskError, MemdirError } from "../errors.ts";

/** The index now; null if there is none. A link is not followed: it is replaced, and what it points to stays. */
export function readCurrent(path: string, known: string | null): string | null {
  const stat = lstatSync(path, { throwIfNoEntry: false });
  if (!stat || stat.isSymbolicLink()) return null;
  if (!stat.isFile()) {
    const what = stat.isDirectory() ? "a directory" : "not a file";
    throw new MemdirError("disk", `${path} is ${what}: move it away, the index belongs there`);
  }
  const text = readText(path);
  // Renaming sets ctime after the last write: such a file arrived whole. Else somebody may be writing it in place.
  return text === known || (text !== "" && stat.ctimeMs > stat.mtimeMs) ? text : settle(path);
}

/** The index for looking only: "" where there is none, or none that may be followed. */
export function peekIndex(path: string): string {
  return lstatSync(path, { throwIfNoEntry: false })?.isFile() ? (readText(path) ?? "") : "";
}

/** Reads until two readings agree: an editor that truncates and writes in place is seen half-way otherwise. */
function settle(path: string): string | null {
  let text = readText(path);
  for (let i = 0; i < 20; i++) {
    pause(text === "" ? 20 : 5);
    const again = readText(path);
    if (again === text && (text !== "" || i > 4)) break;
    text = again;
  }
  return text;
}

/**
 * Puts the temporary file in the index's place. Null when it replaced what was expected; else the text of whoever wrote in
 * between, and whether that still stands in place.
 */
export function replaceIndex(
  temporary: string,
  path: string,
  expected: string | null,
): { text: string; inPlace: boolean } | null {
  // A last look: most foreign writes are noticed here, before ours hides theirs even for a moment.
  const before = isLink(path) ? expected : readText(path);
  const result = before === expected ? exchange(temporary, path, () => readText(path) === expected) : "changed";
  if (result === "changed") {
    removeQuietly(temporary);
    return { text: settle(path) ?? "", inPlace: true };
  }
  const { replaced } = result;
  if (replaced === null) return null;
  const text = isLink(replaced) ? expected : readText(replaced);
  const theirs = text === expected ? null : settle(replaced);
  removeQuietly(replaced);
  return theirs === null ? null : { text: theirs, inPlace: false };
}

function isLink(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() === true;
}

/** Null when there is nothing; "" for what is no file. */
export function readText(path: string): string | null {
  try {
    return readRegular(path, { follow: true })?.toString("utf8") ?? (existsSync(path) ? "" : null);
  } catch (error) {
    throw diskError(error, "read", path);
  }
}

/** Blocks this thread: the lock is held, and others wait for it anyway. */
function pause(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}
