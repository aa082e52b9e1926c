/** Reads the files of a project one after the other into one buffer: thousands of them, each as cheaply as can be. */

import { closeSync, constants, openSync, readdirSync, readSync } from "node:fs";
import { openRegular } from "../disk/fence.ts";

/** How many bytes of the buffer are the file's; -1 for what cannot be read, is no ordinary file, or is too large. */
export type ReadInto = (file: string, buffer: Buffer) => number;

/** A file of the buffer's length is too large. Files have `/` on every system. */
export function openFileReader(root: string): ReadInto {
  const folders = new Map<string, ReadonlySet<string>>();
  /** What its folder says of a file spares asking the file itself, which takes as long as reading it. */
  const isOrdinary = (file: string) => {
    const slash = file.lastIndexOf("/");
    const folder = file.slice(0, Math.max(0, slash));
    const known = folders.get(folder);
    const names = known ?? ordinaryFiles(`${root}/${folder}`);
    if (!known) folders.set(folder, names);
    return names.has(file.slice(slash + 1));
  };
  return (file, buffer) => {
    const path = `${root}/${file}`;
    let fd: number | undefined;
    try {
      // Not listed by this name: systems differ in how they spell names.
      fd = isOrdinary(file) ? openSync(path, FLAGS) : openRegular(path)?.fd;
      if (fd === undefined) return -1;
      let size = 0;
      for (let read = 1; read > 0 && size < buffer.length; size += read)
        read = readSync(fd, buffer, size, buffer.length - size, null);
      return size < buffer.length ? size : -1;
    } catch {
      return -1;
    } finally {
      if (fd !== undefined) closeSync(fd);
    }
  };
}

/** Should it have become a fifo or a link meanwhile. */
const FLAGS = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0) | (constants.O_NOFOLLOW ?? 0);

function ordinaryFiles(folder: string): ReadonlySet<string> {
  try {
    const entries = readdirSync(folder, { withFileTypes: true });
    return new Set(entries.flatMap((entry) => (entry.isFile() ? [entry.name] : [])));
  } catch {
    return new Set();
  }
}
