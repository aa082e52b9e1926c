/** The one way in which files of a directory change: locked, recovered, journalled, written, indexed. */

import { mkdirSync, rmSync } from "node:fs";
import { dirname } from "node:path";
import { moveInto, removeQuietly, syncDirectory, writeTemporary } from "../disk/atomic.ts";
import { resolveInside } from "../disk/fence.ts";
import { acquireLock } from "../disk/lock.ts";
import { MemdirError } from "../errors.ts";
import { sha256 } from "../text/hash.ts";
import { type Directory, modeFor, prepareDirectory, statePath, withPins } from "./directory.ts";
import { indexPath, readBase } from "./index-base.ts";
import { peekIndex } from "./index-file.ts";
import { type IndexRequest, type IndexSync, readOverflow, syncIndex } from "./index-sync.ts";
import { type Action, beginEntry, type Entry, endEntry, type PageHashes } from "./journal.ts";
import { findBytes } from "./read.ts";
import { recover } from "./recover.ts";

/** New content by file; null removes it. */
export type Writes = ReadonlyMap<string, Uint8Array | null>;

export interface Change {
  action: Action;
  reason: string;
  writes: Writes;
  index: IndexRequest;
  lines?: Entry["lines"];
  undoes?: string;
  /** Keep the index and its overflow page as they were, so that undo can put them back whole. */
  keepPages?: boolean;
  /** Keep no before-images: the user wants the content gone. */
  purge?: boolean;
}

/** How often a directory that is removed or replaced under a waiting writer is tried again. */
const MAX_REPLACED = 5;

/** Runs `work` as the only writer of the directory, after mending what a killed one left behind. */
export async function withDirectory<T>(directory: Directory, work: (pinned: Directory) => T | Promise<T>): Promise<T> {
  for (let attempt = 0; attempt < MAX_REPLACED; attempt++) {
    prepareDirectory(directory);
    const done = await withPins(directory, async (pinned) => {
      const lock = await acquireLock(statePath(pinned), { name: statePath(directory) });
      try {
        // Removed or replaced while we waited: what is held is not the user's directory any more.
        if (!pinned.pins?.base.isCurrent()) return null;
        recover(pinned);
        return { result: await work(pinned) };
      } finally {
        lock.release();
      }
    });
    if (done) return done.result;
  }
  throw new MemdirError("disk", `${directory.path} is removed or replaced again and again: nothing was written`);
}

/** Applies a change: all of its files, or none of them. The lock must be held. */
export function applyChange(directory: Directory, change: Change): IndexSync & { entry: Entry } {
  const images = new Map<string, Uint8Array>();
  const files: Entry["files"] = [];
  for (const [file, content] of change.writes) {
    resolveInside(directory.path, file);
    const before = findBytes(directory, file);
    if (before && !change.purge) images.set(sha256(before), before);
    files.push({ file, before: before ? sha256(before) : null, after: content ? sha256(content) : null });
  }
  const pages = change.keepPages ? keepPages(directory, images) : null;
  const entry = beginEntry(
    directory,
    {
      action: change.action,
      reason: change.reason,
      files,
      ...(change.lines ? { lines: change.lines } : {}),
      ...(change.undoes ? { undoes: change.undoes } : {}),
      ...(pages ? { pages: { before: pages } } : {}),
      ...(change.purge ? { purged: true } : {}),
    },
    images,
  );
  const temporaries = new Map<string, string>();
  let committed = false;
  try {
    for (const [file, content] of change.writes) {
      if (content)
        temporaries.set(file, writeTemporary(statePath(directory, "tmp"), content, modeFor(directory, file)));
    }
    const sync = syncIndex(directory, change.index, () => {
      checkUnchanged(directory, files);
      committed = true;
      moveAll(directory, change.writes, temporaries);
    });
    closeEntry(directory, entry.id, "done", pages ? writtenPages(directory) : undefined);
    return { ...sync, entry };
  } catch (error) {
    for (const path of temporaries.values()) removeQuietly(path);
    // Once files have moved, the next opening finishes the entry; before that, it never happened.
    if (!committed) closeEntry(directory, entry.id, "dropped");
    throw error;
  }
}

/** Without its end the next opening finishes or drops the entry: no reason to call the change failed. */
function closeEntry(directory: Directory, id: string, end: "done" | "dropped", pages?: PageHashes): void {
  try {
    endEntry(directory, id, end, pages);
  } catch (error) {
    directory.log((error as Error).message);
  }
}

function keepPages(directory: Directory, images: Map<string, Uint8Array>): PageHashes {
  const index = Buffer.from(peekIndex(indexPath(directory)));
  const more = Buffer.from(readOverflow(directory));
  const hashes = { index: sha256(index), more: sha256(more) };
  images.set(hashes.index, index).set(hashes.more, more);
  return hashes;
}

/** As we left them: what lies there by now may be somebody else's. */
function writtenPages(directory: Directory): PageHashes {
  return { index: sha256(readBase(directory).text ?? ""), more: sha256(readOverflow(directory)) };
}

/** Writers that do not take the lock may have been here since the before-images were made. */
function checkUnchanged(directory: Directory, files: Entry["files"]): void {
  for (const { file, before } of files) {
    const now = findBytes(directory, file);
    if ((now ? sha256(now) : null) !== before) {
      throw new MemdirError(
        "conflict",
        `${file} was changed by another program just now; nothing was written, run the command again`,
      );
    }
  }
}

/** One flush per folder, after all of its files have moved. */
function moveAll(directory: Directory, writes: Writes, temporaries: ReadonlyMap<string, string>): void {
  const folders = new Set<string>();
  for (const [file, content] of writes) {
    const path = resolveInside(directory.path, file);
    folders.add(dirname(path));
    if (content) {
      mkdirSync(dirname(path), { recursive: true });
      moveInto(temporaries.get(file) as string, path, false);
    } else rmSync(path, { force: true });
  }
  for (const folder of folders) syncDirectory(folder);
}
