/**
 * `.consolidate-lock` in the memory directory, shared with Claude Code: its time is that of the last consolidation, its text the
 * number of the process that is at it. Of several memdirs the directory's own lock lets one at a time look and write; against a
 * program that knows only this file, reading it again after writing decides.
 */

import { lstatSync, renameSync, utimesSync } from "node:fs";
import { join } from "node:path";
import { PRIVATE_MODE, removeQuietly, writeTemporary } from "../disk/atomic.ts";
import { readRegular } from "../disk/fence.ts";
import { type Directory, statePath, withDirectory } from "../store/store.ts";

export const LOCK_FILE = ".consolidate-lock";

/** No dream takes this long: a holder that is still there by then hangs, or has another process's number. */
const STALE_MS = 3_600_000;

/** More than any process number. */
const MAX_BYTES = 64;

export interface DreamLock {
  /** The time of now stays: this was the last consolidation. */
  done(): Promise<void>;
  /** The time goes back: whoever comes next may try again. */
  failed(): Promise<void>;
}

export interface Processes {
  pid: number;
  isAlive: (pid: number) => boolean;
}

/** When the directory was last consolidated, in milliseconds; 0 for never. */
export function lastDream(directory: Directory): number {
  return findLock(directory)?.mtimeMs ?? 0;
}

/** The process that is dreaming, or null. */
export function findDreamer(directory: Directory, { isAlive }: Pick<Processes, "isAlive">): number | null {
  const lock = findLock(directory);
  if (!lock || lock.pid === null || directory.now().getTime() - lock.mtimeMs >= STALE_MS) return null;
  return isAlive(lock.pid) ? lock.pid : null;
}

export async function takeDreamLock(
  directory: Directory,
  processes: Processes,
): Promise<DreamLock | { heldBy: number | null }> {
  return withDirectory(directory, (pinned) => {
    const holder = findDreamer(pinned, processes);
    if (holder !== null) return { heldBy: holder };
    const before = findLock(pinned)?.mtimeMs ?? null;
    const body = String(processes.pid);
    const started = pinned.now();
    write(pinned, body, started);
    const now = findLock(pinned);
    if (now?.pid !== processes.pid) return { heldBy: now?.pid ?? null };
    const leave = (time: Date | null) => release(directory, processes.pid, time);
    return {
      done: () => leave(directory.now()),
      failed: () => leave(before === null ? null : new Date(before)),
    };
  });
}

/** With `time` null there was no file before. What somebody else took over by now is theirs. */
async function release(directory: Directory, pid: number, time: Date | null): Promise<void> {
  await withDirectory(directory, (pinned) => {
    if (findLock(pinned)?.pid !== pid) return;
    if (time === null) removeQuietly(join(pinned.path, LOCK_FILE));
    else write(pinned, "", time);
  });
}

/** Renamed into place with its time: a link there is replaced and not followed, and nobody sees half of it. */
function write(directory: Directory, body: string, time: Date): void {
  const temporary = writeTemporary(statePath(directory, "tmp"), body, PRIVATE_MODE, "dream", false);
  utimesSync(temporary, time, time);
  renameSync(temporary, join(directory.path, LOCK_FILE));
}

function findLock(directory: Directory): { mtimeMs: number; pid: number | null } | null {
  const path = join(directory.path, LOCK_FILE);
  try {
    const stat = lstatSync(path, { throwIfNoEntry: false });
    if (!stat?.isFile()) return null;
    const body = readRegular(path, { maxBytes: MAX_BYTES })?.toString("utf8").trim() ?? "";
    return { mtimeMs: stat.mtimeMs, pid: /^[1-9]\d*$/.test(body) ? Number(body) : null };
  } catch {
    return null; // not for us to read: as if there were none
  }
}
