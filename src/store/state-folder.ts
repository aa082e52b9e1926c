/** A folder of state, held open while it is used: nothing is read or written through a link in its place or on the way to it. */

import { lstatSync, mkdirSync, type Stats } from "node:fs";
import { basename, join } from "node:path";
import { writeCacheFile } from "../disk/atomic.ts";
import { type Pin, pinFolder } from "../disk/fence.ts";
import { MemdirError } from "../errors.ts";

/** `path` stands for the folder in every file call. */
export type OpenFolder = Pin;

/** A base is made when something is written in it; the folder around it only if `parents` says so. */
export interface Base {
  path: string;
  parents: boolean;
}

/**
 * The folder for reading, or null when there is none. Not held open: whoever can swap a folder here can as well put another text
 * into it, and hooks have little time. Throws `outside` for a link.
 */
export function findFolder(base: Base, names: readonly string[]): string | null {
  let { path } = base;
  for (let depth = 0; ; depth++) {
    const stat = look(path);
    if (!stat) return null;
    if (!stat.isDirectory()) throw notOurs(path);
    if (depth === names.length) return path;
    path = join(path, names[depth] as string);
  }
}

/** Made when it is not there, and held open. Throws `outside` for a link. */
export function openFolder(base: Base, names: readonly string[]): OpenFolder {
  const pins: Pin[] = [];
  const close = () => {
    for (const pin of pins) pin.close();
  };
  try {
    let { path } = base;
    for (let depth = 0; depth <= names.length; depth++) {
      if (depth > 0) path = join(path, names[depth - 1] as string);
      const there = look(path);
      const stat = there ?? makeFolder(path, depth === 0 && base.parents);
      // Where a folder cannot be held open, it is at least looked at.
      if (!stat.isDirectory()) throw notOurs(join(base.path, ...names.slice(0, depth)));
      const pin = pinFolder(path);
      pins.push(pin);
      path = pin.path;
      if (!there && depth === 0 && basename(base.path) === ".memdir") hideFromGit(path);
    }
    return { ...(pins.at(-1) as Pin), close };
  } catch (error) {
    close();
    throw error;
  }
}

/** For writing. Throws when the folder cannot be made. */
export function inFolder<T>(base: Base, names: readonly string[], work: (folder: string) => T): T {
  const folder = openFolder(base, names);
  try {
    return work(folder.path);
  } finally {
    folder.close();
  }
}

/** Undefined when nothing is there. */
export function look(path: string): Stats | undefined {
  return lstatSync(path, { throwIfNoEntry: false });
}

export function notOurs(path: string): MemdirError {
  return new MemdirError(
    "outside",
    `${path} is a symbolic link, or not what memdir keeps there: nothing was written; remove it and try again`,
  );
}

function makeFolder(path: string, recursive: boolean): Stats {
  try {
    mkdirSync(path, { mode: 0o700, recursive });
  } catch (error) {
    // Another process made it just now.
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  }
  return lstatSync(path);
}

export function hideFromGit(folder: string): void {
  const file = join(folder, ".gitignore");
  if (!look(file)?.size) writeCacheFile(folder, file, "*\n");
}
