/**
 * The entries of a directory on disk: `.memdir/recall.bin`, a head and then one entry after the other. New ones are
 * appended, the last one of a file counts. It can always be made again from the files: whatever is wrong with it, it is
 * left aside and rewritten, and nobody waits for it.
 */

import { closeSync, constants, existsSync, fstatSync, openSync, readSync, writeSync } from "node:fs";
import { writeCacheFile } from "../disk/atomic.ts";
import { readRegular } from "../disk/regular.ts";
import { type Directory, openPins, prepareDirectory, statePath } from "../store/store.ts";
import { CACHE_FILE, CACHE_HEAD_BYTES, CACHE_MAGIC, CACHE_VERSION, FOLDER_TIME_AT, isCache } from "./cache-file.ts";
import { decodeEntry, type Entry, encodeEntry, entryBytes } from "./entry.ts";

const ALIGNMENT = 16;

export interface CacheRead {
  /** By file; the last one counts. */
  entries: Map<string, Entry>;
  /** Entries that no longer count, and bytes that are no entry. */
  wasteBytes: number;
  /** False when something in it hides what is behind it: it has to be rewritten. */
  isSound: boolean;
  /** The folder's time at which these were all of its files; 0 if that is not known. */
  folderMs: number;
  bytes: number;
}

export function readCache(directory: Directory): CacheRead {
  const read: CacheRead = { entries: new Map(), wasteBytes: 0, isSound: true, folderMs: 0, bytes: 0 };
  let buffer: Buffer | null = null;
  try {
    buffer = readRegular(statePath(directory, CACHE_FILE));
  } catch (error) {
    directory.log(`the recall cache of ${directory.path} cannot be read: ${(error as Error).message}`);
  }
  if (!buffer) return read;
  if (!isCache(buffer)) return { ...read, isSound: false };
  // A view of 32-bit numbers must begin at a multiple of four.
  if (buffer.byteOffset % 8 !== 0) buffer = Buffer.from(new Uint8Array(buffer).buffer);
  read.bytes = buffer.length;
  read.folderMs = buffer.readDoubleLE(FOLDER_TIME_AT);
  const sizes = new Map<string, number>();
  for (let at = CACHE_HEAD_BYTES; at < buffer.length; ) {
    const bytes = entryBytes(buffer, at);
    if (bytes === 0) {
      read.wasteBytes += buffer.length - at;
      read.isSound = false;
      break;
    }
    const entry = decodeEntry(buffer, at);
    at += bytes;
    if (!entry) {
      read.wasteBytes += bytes;
      continue;
    }
    read.wasteBytes += sizes.get(entry.file) ?? 0;
    sizes.set(entry.file, bytes);
    read.entries.set(entry.file, entry);
  }
  return read;
}

/** In time that depends on these entries alone. False when it has to be rewritten, or cannot be written. */
export function appendEntries(directory: Directory, entries: readonly Entry[]): boolean {
  return withState(directory, (pinned) => {
    const flags = constants.O_RDWR | constants.O_APPEND | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);
    const fd = openSync(statePath(pinned, CACHE_FILE), flags);
    try {
      const stat = fstatSync(fd);
      // Half an entry at the end, left by somebody who died: what came behind it would not be found.
      if (!stat.isFile() || stat.size % ALIGNMENT !== 0) return false;
      const head = Buffer.alloc(CACHE_HEAD_BYTES);
      if (readSync(fd, head, 0, head.length, 0) < head.length || !isCache(head)) return false;
      // From now on some of them no longer count, or their files are new.
      if (head.readDoubleLE(FOLDER_TIME_AT) !== 0) forgetFolder(pinned);
      // One call, so that two processes do not mix their entries.
      const data = Buffer.concat(entries.map(encodeEntry));
      return writeSync(fd, data) === data.length;
    } finally {
      closeSync(fd);
    }
  });
}

/**
 * Makes the state folder too, if there is none yet: other tools' directories have none. `folderMs` is the time of a folder
 * without sub-folders, if these entries are all of its files.
 */
export function writeEntries(directory: Directory, entries: Iterable<Entry>, folderMs = 0): boolean {
  return withState(directory, (pinned) => {
    const head = Buffer.alloc(CACHE_HEAD_BYTES);
    head.writeUInt32LE(CACHE_MAGIC, 0);
    head.writeUInt32LE(CACHE_VERSION, 4);
    head.writeDoubleLE(folderMs, FOLDER_TIME_AT);
    const data = Buffer.concat([head, ...[...entries].map(encodeEntry)]);
    writeCacheFile(statePath(pinned, "tmp"), statePath(pinned, CACHE_FILE), data);
    return true;
  });
}

/** In its place: appending to the same file would only ever write at its end. */
function forgetFolder(pinned: Directory): void {
  const fd = openSync(statePath(pinned, CACHE_FILE), constants.O_WRONLY | (constants.O_NOFOLLOW ?? 0));
  try {
    writeSync(fd, new Uint8Array(8), 0, 8, FOLDER_TIME_AT);
  } finally {
    closeSync(fd);
  }
}

function withState(directory: Directory, write: (pinned: Directory) => boolean): boolean {
  if (directory.readOnly || !existsSync(directory.path)) return false;
  try {
    prepareDirectory(directory);
    const { pinned, close } = openPins(directory);
    try {
      return write(pinned);
    } finally {
      close();
    }
  } catch (error) {
    // No cache yet, no permission, a full disk: recall works without.
    const { code, message } = error as NodeJS.ErrnoException;
    if (code !== "ENOENT") directory.log(`the recall cache of ${directory.path} was not written: ${message}`);
    return false;
  }
}
