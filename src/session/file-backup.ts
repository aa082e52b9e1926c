/** Copies of files as they were, in a folder of their own: kept before a change, put back whole or not at all. */

import { createHash } from "node:crypto";
import {
  chmodSync,
  closeSync,
  constants,
  copyFileSync,
  existsSync,
  fsyncSync,
  lstatSync,
  mkdirSync,
  openSync,
  unlinkSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { moveInto, removeQuietly, syncDirectory } from "../disk/atomic.ts";
import { diskError, MemdirError } from "../errors.ts";
import { type FileLook, type Look, lookAt, lookAtReal } from "./file-status.ts";

/** A file at one moment. `content: null`: it did not exist. */
export interface Backup {
  version: number;
  /** When it was made, ISO. */
  at: string;
  content: BackupContent | null;
  /** How many folders above the file did not exist either: whoever makes the file makes them too. */
  missingFolders: number;
}

export interface BackupContent {
  /** Of the copy, without its folder. */
  name: string;
  hash: string;
  /** Of the original; the copy is its owner's alone. */
  mode: number;
  size: number;
}

/**
 * Copies what stands at a real path now. Throws a MemdirError when that is not possible: a link, a directory, a full disk.
 * Versions whose names are taken, by a writer that died before anybody knew of its copy, are passed over.
 */
export function keepBackup(dir: string, path: string, version: number, at: string): Backup {
  const look = lookAtReal(path);
  if (look.kind === "other") throw unkept(path, look.what);
  if (look.kind === "absent") return { version, at, content: null, missingFolders: countMissing(path) };
  try {
    mkdirSync(dir, { recursive: true, mode: 0o700 });
    let free = version;
    while (existsSync(join(dir, backupName(path, free)))) free++;
    const name = backupName(path, free);
    const kept = copyFlushed(path, join(dir, name), look);
    // The mode is the original's; everything else is said of what was really copied, should somebody write meanwhile.
    return {
      version: free,
      at,
      content: { name, hash: kept.hash, mode: look.mode, size: kept.size },
      missingFolders: 0,
    };
  } catch (error) {
    throw diskError(error, "keep a copy, so nothing is changed, of", path);
  }
}

/** Whether a file stands as it did then; the mode counts too. */
export function isAsKept({ content }: Backup, look: Look): boolean {
  if (!content) return look.kind === "absent";
  return look.kind === "file" && look.hash === content.hash && look.mode === content.mode;
}

/** Why a backup cannot be put back, or null. */
export function findDamage(dir: string, { content }: Backup): string | null {
  if (!content) return null;
  const look = lookAt(join(dir, content.name));
  if (look.kind === "absent") return `its copy ${content.name} is missing`;
  if (look.kind === "other") return `in the place of its copy ${content.name} there is ${look.what}`;
  return look.hash === content.hash ? null : `its copy ${content.name} is damaged`;
}

/** Cheaper than `findDamage`, for every file at every prompt: whether the copy is there in its full size. */
export function isStillKept(dir: string, { content }: Backup): boolean {
  if (!content) return true;
  const stat = lstatSync(join(dir, content.name), { throwIfNoEntry: false });
  return stat?.isFile() === true && stat.size === content.size;
}

/**
 * Puts a copy in the place of `path`, missing folders made again. Throws a MemdirError and leaves everything as it was when the copy is
 * damaged or when what stands there is not what `isExpected` wants: asked last, right before the rename.
 */
export function restoreBackup(dir: string, path: string, content: BackupContent, isExpected: () => boolean): void {
  const temporary = join(dirname(path), `.memdir-restore-${process.pid}-${content.name}`);
  try {
    mkdirSync(dirname(path), { recursive: true });
    removeQuietly(temporary);
    const copied = copyFlushed(join(dir, content.name), temporary, content);
    if (copied.hash !== content.hash) throw new MemdirError("broken", `its copy ${content.name} is damaged`);
    chmodSync(temporary, content.mode);
    if (!isExpected()) throw meddled(path);
    moveInto(temporary, path);
  } catch (error) {
    removeQuietly(temporary);
    throw diskError(error, "restore", path);
  }
}

export function removeFile(path: string, isExpected: () => boolean): void {
  if (!isExpected()) throw meddled(path);
  try {
    unlinkSync(path);
    syncDirectory(dirname(path));
  } catch (error) {
    throw diskError(error, "remove", path);
  }
}

export function dropBackup(dir: string, name: string): void {
  removeQuietly(join(dir, name));
}

/** What the line of another program leaves out can be seen on the copy; null when there is none. */
export function examineBackup(dir: string, name: string): BackupContent | null {
  const look = lookAt(join(dir, name));
  return look.kind === "file" ? { name, hash: look.hash, mode: look.mode, size: look.size } : null;
}

/** Nothing else may be named by a line: it becomes a path. */
export const BACKUP_NAME = /^[0-9a-f]{16}@v[1-9][0-9]{0,8}$/;

function backupName(path: string, version: number): string {
  return `${createHash("sha256").update(path).digest("hex").slice(0, 16)}@v${version}`;
}

/** Shared blocks where the file system can; flushed, since the original may be overwritten the next moment. */
function copyFlushed(from: string, to: string, { mode }: { mode: number }): FileLook {
  copyFileSync(from, to, constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE);
  try {
    // Windows flushes only what is open for writing, and a read-only original makes a read-only copy.
    chmodSync(to, 0o600);
    const fd = openSync(to, "r+");
    try {
      fsyncSync(fd);
    } finally {
      closeSync(fd);
    }
    chmodSync(to, (mode & 0o700) | 0o400);
    syncDirectory(dirname(to));
    const look = lookAt(to);
    if (look.kind !== "file")
      throw new MemdirError("disk", `the copy ${to} is gone: does something clean that folder?`);
    return look;
  } catch (error) {
    removeQuietly(to);
    throw error;
  }
}

function countMissing(path: string): number {
  let count = 0;
  for (let at = dirname(path); !existsSync(at) && dirname(at) !== at; at = dirname(at)) count++;
  return count;
}

function unkept(path: string, what: string): MemdirError {
  const message = `cannot keep a copy of ${path}, so it is not changed: there is ${what}; move it away or choose another file`;
  return new MemdirError("disk", message);
}

function meddled(path: string): MemdirError {
  return new MemdirError("conflict", `${path} was changed by somebody else this moment; run it again`);
}
