/** A folder of state, held open while it is used: nothing is read or written through a link in its place or on the way to it. */

import { lstatSync, mkdirSync, type Stats } from "node:fs";
import { basename, join } from "node:path";
import { writeCacheFile } from "../disk/atomic.ts";
import { type Pin, pinFolder } from "../disk/pin.ts";
import { MemdirError } from "../errors.ts";

export interface OpenFolder {
  /** Stands for the folder in every file call. */
  path: string;
  close(): void;
}

/** Null when it is not there and is not to be made; the folder around the base is never made. Throws `outside` for a link. */
export function openFolder(base: string, names: readonly string[], make: boolean): OpenFolder | null {
  const pins: Pin[] = [];
  const close = () => {
    for (const pin of pins) pin.close();
  };
  try {
    let path = base;
    for (let depth = 0; depth <= names.length; depth++) {
      if (depth > 0) path = join(path, names[depth - 1] as string);
      let stat = look(path);
      if (!stat && !make) {
        close();
        return null;
      }
      stat ??= makeFolder(path);
      // Where a folder cannot be held open, it is at least looked at.
      if (!stat.isDirectory()) throw notOurs(join(base, ...names.slice(0, depth)));
      const pin = pinFolder(path);
      pins.push(pin);
      path = pin.path;
      if (depth === 0 && make && basename(base) === ".memdir") hideFromGit(path);
    }
    return { path, close };
  } catch (error) {
    close();
    throw error;
  }
}

/** Null as above. */
export function inFolder<T>(
  base: string,
  names: readonly string[],
  make: boolean,
  work: (folder: string) => T,
): T | null {
  const folder = openFolder(base, names, make);
  if (!folder) return null;
  try {
    return work(folder.path);
  } finally {
    folder.close();
  }
}

/** Undefined when nothing is there, neither the folder around it. */
export function look(path: string): Stats | undefined {
  return lstatSync(path, { throwIfNoEntry: false });
}

export function notOurs(path: string): MemdirError {
  return new MemdirError(
    "outside",
    `${path} is a symbolic link, or not what memdir keeps there: nothing was written; remove it and try again`,
  );
}

function makeFolder(path: string): Stats {
  try {
    mkdirSync(path, { mode: 0o700 });
  } catch (error) {
    // Another process made it just now.
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  }
  return lstatSync(path);
}

function hideFromGit(folder: string): void {
  const file = join(folder, ".gitignore");
  if (!look(file)?.size) writeCacheFile(folder, file, "*\n");
}
