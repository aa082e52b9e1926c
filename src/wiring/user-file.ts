/** A file of the user's, as it is before memdir touches it, and how it is replaced without losing anything of it. */

import { chmodSync, chownSync, lstatSync, readdirSync, rmdirSync, type Stats, unlinkSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import {
  isAlive,
  makeFolders,
  PRIVATE_MODE,
  readRegular,
  realPath,
  removeQuietly,
  replaceSame,
  writeTemporary,
} from "../disk/fence.ts";
import { MemdirError, onDisk } from "../errors.ts";

export interface UserFile {
  /** As the client names it. */
  file: string;
  /** Where it really is: dotfiles are often links into a repository, which must stay links. */
  target: string;
  isLink: boolean;
  /** Null when there is none. Holds the byte order mark, if any. */
  text: string | null;
}

/** Claude Code's state file grows to a few megabytes; anything larger is not a settings file. */
const MAX_BYTES = 32 << 20;
/** The start of the names of temporary files, followed by the id of the writing process. */
const TEMPORARY = ".memdir";

/** Throws `broken` or `disk` for what is there and cannot be changed. */
export function readUserFile(file: string): UserFile {
  return onDisk("read", file, () => {
    const target = realPath(file);
    const entry = lstatSync(file, { throwIfNoEntry: false });
    const there = lstatSync(target, { throwIfNoEntry: false });
    if (!there) {
      if (entry) throw new MemdirError("broken", `${file} is a link to ${target}, which is not there; fix the link`);
      return { file, target, isLink: false, text: null };
    }
    checkKind(file, there);
    const bytes = readRegular(target, { maxBytes: MAX_BYTES });
    if (bytes === null) throw new MemdirError("broken", `${file} cannot be read as a settings file; look at it`);
    return { file, target, isLink: entry?.isSymbolicLink() === true, text: decode(bytes, file) };
  });
}

/** The text without its byte order mark; empty where there is no file. Throws like `readUserFile`. */
export function readPlain(file: string): string {
  return readUserFile(file).text?.replace(/^\ufeff/, "") ?? "";
}

/**
 * Puts `text` in the place of what was read, with its mode and owner. Throws `conflict` when the file is no longer what was
 * read, and then leaves it as it is.
 */
export function replaceUserFile({ file, target, text: before }: UserFile, text: string): void {
  onDisk("change", file, () => {
    makeFolders(dirname(target), 0o700);
    sweep(dirname(target));
    const stat = lstatSync(target, { throwIfNoEntry: false });
    const temporary = writeTemporary(dirname(target), text, PRIVATE_MODE, TEMPORARY);
    if (stat) keepAttributes(temporary, stat);
    if (!replaceSame(temporary, target, (path) => sameText(path, before))) throw conflict(file);
  });
}

/** Removes a file that is ours and the folders that were made for it, if nothing else is in them. */
export function removeUserFile({ file, target, text }: UserFile, folders: readonly string[]): void {
  onDisk("remove", file, () => {
    if (!sameText(target, text)) throw conflict(file);
    unlinkSync(target);
    sweep(dirname(target));
  });
  removeFolders(folders);
}

export function conflict(file: string): MemdirError {
  return new MemdirError("conflict", `${file} was changed by another program meanwhile; run it again`);
}

export function removeFolders(folders: readonly string[]): void {
  for (const folder of folders.toReversed()) {
    try {
      rmdirSync(folder);
    } catch {
      // It is in use.
    }
  }
}

function checkKind(file: string, stat: Stats): void {
  if (stat.isDirectory()) throw new MemdirError("broken", `${file} is a directory, not a file; move it away`);
  if (!stat.isFile()) throw new MemdirError("broken", `${file} is not a regular file; move it away`);
  if (stat.size > MAX_BYTES) throw new MemdirError("broken", `${file} is too large for a settings file; look at it`);
  // A rename would work all the same, against the user's wish.
  if ((stat.mode & 0o222) === 0) {
    throw new MemdirError("broken", `${file} is write-protected; allow writing, or add memdir where it is made from`);
  }
}

function decode(bytes: Buffer, file: string): string {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch (cause) {
    throw new MemdirError("broken", `${file} is not UTF-8 text; save it as UTF-8`, { cause });
  }
}

function sameText(target: string, text: string | null): boolean {
  const bytes = readRegular(target, { maxBytes: MAX_BYTES });
  if (bytes === null) return text === null && !lstatSync(target, { throwIfNoEntry: false });
  return text !== null && bytes.equals(Buffer.from(text));
}

/** When root runs this for a user, the file must still be the user's. */
function keepAttributes(temporary: string, { mode, uid, gid }: Stats): void {
  chmodSync(temporary, mode & 0o777);
  const made = lstatSync(temporary);
  if (made.uid === uid && made.gid === gid) return;
  try {
    chownSync(temporary, uid, gid);
  } catch {
    // Only root may.
  }
}

/** Removes what earlier runs left behind when they were stopped. */
function sweep(folder: string): void {
  for (const name of readdirSync(folder)) {
    const pid = new RegExp(`^\\${TEMPORARY}-(\\d+)-[0-9a-z]+-\\d+$`).exec(basename(name))?.[1];
    if (pid !== undefined && Number(pid) !== process.pid && !isAlive(Number(pid))) removeQuietly(join(folder, name));
  }
}
