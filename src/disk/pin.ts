/**
 * Folders held open while they are written to: a symbolic link that is swapped into their place meanwhile leads nowhere.
 * Works through /proc on Linux, where Node has no `openat`; elsewhere a pin is only the path, checked once.
 */

import { closeSync, constants, existsSync, fstatSync, lstatSync, openSync } from "node:fs";

export interface Pin {
  /** Stands for the folder in every file call. */
  path: string;
  /** False when the name no longer leads to this folder. */
  isCurrent(): boolean;
  close(): void;
}

let hasProc: boolean | undefined;

/** Fails with ELOOP or ENOTDIR when the folder is a link or no folder. */
export function pinFolder(folder: string): Pin {
  hasProc ??= existsSync("/proc/self/fd");
  if (!hasProc) return { path: folder, isCurrent: () => existsSync(folder), close: () => {} };
  const fd = openSync(folder, constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW);
  return {
    path: `/proc/self/fd/${fd}`,
    isCurrent: () => {
      const held = fstatSync(fd);
      const there = lstatSync(folder, { throwIfNoEntry: false });
      return there?.ino === held.ino && there.dev === held.dev;
    },
    close: () => closeSync(fd),
  };
}
