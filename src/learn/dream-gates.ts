/**
 * Whether it is time for a dream, and one dream at a time. The answer is usually no, so the cheapest check comes first.
 */

import { lstatSync, renameSync, utimesSync } from "node:fs";
import { join } from "node:path";
import { PRIVATE_MODE, readRegular, removeQuietly, writeTemporary } from "../disk/fence.ts";
import { attempt, MemdirError } from "../errors.ts";
import { openState, type Store, statePath } from "../store/store.ts";
import { count } from "../text/sanitise.ts";

/** At most once a day. */
const BETWEEN_DREAMS_MS = 24 * 3_600_000;

/** Counting the sessions costs a system call for each. */
const BETWEEN_SCANS_MS = 10 * 60_000;

/** Fewer leave little to distil. */
const MIN_SESSIONS = 5;

export interface DreamGates extends Pick<Processes, "isAlive"> {
  /** Why dreaming is off (a setting, log mode, a remote directory), or null. */
  off: string | null;
  /** How many sessions other than the present one were touched since. */
  touchedSince: (sinceMs: number) => number;
}

/**
 * Why it is not time for a dream; null if it is. Never throws: an error is a reason, too. The caller takes the lock itself. With
 * `onlyLook` the sessions are counted even if that was done recently, and nothing is recorded.
 */
export function checkDreamGates(gates: DreamGates, directory: Store, { onlyLook = false } = {}): string | null {
  const now = directory.now().getTime();
  if (gates.off !== null) return gates.off;
  if (directory.readOnly) return "the directory is read-only";
  const last = lastDream(directory);
  const dreamer = findDreamer(directory, gates);
  // The running dream set the time, so the next check would only say that it was a moment ago.
  if (dreamer !== null) return `another dream is running (process ${dreamer})`;
  if (now - last < BETWEEN_DREAMS_MS) return `the last dream was ${spanOf(now - last)} ago; 24 h must pass`;
  // Only the file's time counts. Do not wait for one in the future: the clock was set back.
  const scan = openState(directory.path, { parents: true }).text("dream-scan");
  const ago = now - (scan.time()?.getTime() ?? 0);
  if (!onlyLook && ago >= 0 && ago < BETWEEN_SCANS_MS) return `sessions were counted ${spanOf(ago)} ago`;
  try {
    if (!onlyLook) {
      scan.write("");
      scan.touch(directory.now());
    }
    const sessions = gates.touchedSince(last);
    if (sessions >= MIN_SESSIONS) return null;
    return `${count(sessions, "other session")} since the last dream; ${MIN_SESSIONS} are needed`;
  } catch (error) {
    return (error as Error).message;
  }
}

function spanOf(ms: number): string {
  const minutes = Math.max(0, Math.floor(ms / 60_000));
  return minutes < 120 ? `${minutes} min` : `${Math.floor(minutes / 60)} h`;
}

/**
 * In a private memory directory, shared with Claude Code: its time is that of the last consolidation, its text the number of the
 * process that is working on it. Of several memdirs the directory's own lock lets one at a time look and write; against a program that knows
 * only this file, reading it again after writing decides.
 */
export const LOCK_FILE = ".consolidate-lock";

/** Claude Code never works on a team's store, which may be part of a repository: there it is state, which git does not see. */
function lockPath(directory: Store): string {
  return directory.scope === "team" ? statePath(directory, "consolidate-lock") : join(directory.path, LOCK_FILE);
}

/** No dream takes this long: a holder that is still there hangs, or its process ID belongs to another process. */
const STALE_MS = 3_600_000;

/** Larger than any process ID. */
const MAX_BYTES = 64;

export interface Processes {
  pid: number;
  isAlive: (pid: number) => boolean;
}

/** When the directory was last consolidated, in milliseconds; 0 for never. */
export function lastDream(directory: Store): number {
  return findLock(directory)?.mtimeMs ?? 0;
}

/** The process that is dreaming, or null. */
export function findDreamer(directory: Store, { isAlive }: Pick<Processes, "isAlive">): number | null {
  const lock = findLock(directory);
  if (!lock || lock.pid === null || directory.now().getTime() - lock.mtimeMs >= STALE_MS) return null;
  return isAlive(lock.pid) ? lock.pid : null;
}

/** The time of the last dream stays what it was when this throws. */
export async function withDreamLock<T>(directory: Store, processes: Processes, work: () => Promise<T>): Promise<T> {
  const before = await directory.change((pinned) => take(pinned, processes));
  const leave = (time: Date | null) =>
    directory
      .change((pinned) => release(pinned, processes.pid, time))
      .catch((error: Error) => directory.log(`dream: ${error.message}`));
  try {
    const result = await work();
    await leave(directory.now());
    return result;
  } catch (error) {
    await leave(before);
    throw error;
  }
}

/** The time of the last dream, null for none. */
function take(directory: Store, processes: Processes): Date | null {
  const refuse = (pid: number | null | undefined) => {
    const running = `another dream is running (process ${pid ?? "unknown"})`;
    throw new MemdirError("conflict", `${running}; try again when it has finished`);
  };
  const holder = findDreamer(directory, processes);
  if (holder !== null) refuse(holder);
  const before = findLock(directory);
  write(directory, String(processes.pid), directory.now());
  const now = findLock(directory);
  if (now?.pid !== processes.pid) refuse(now?.pid);
  return before && new Date(before.mtimeMs);
}

/** `time` is null if there was no file before. A lock that another process has taken in the meantime is left alone. */
function release(directory: Store, pid: number, time: Date | null): void {
  if (findLock(directory)?.pid !== pid) return;
  if (time === null) removeQuietly(lockPath(directory));
  else write(directory, "", time);
}

/** Renamed into place with its time: a link there is replaced and not followed, and no reader sees half of it. */
function write(directory: Store, body: string, time: Date): void {
  const temporary = writeTemporary(statePath(directory, "tmp"), body, PRIVATE_MODE, "dream", false);
  utimesSync(temporary, time, time);
  renameSync(temporary, lockPath(directory));
}

function findLock(directory: Store): { mtimeMs: number; pid: number | null } | null {
  const path = lockPath(directory);
  // One that is not for us to read is as good as none.
  return attempt(() => {
    const stat = lstatSync(path, { throwIfNoEntry: false });
    if (!stat?.isFile()) return null;
    const body = readRegular(path, { maxBytes: MAX_BYTES })?.toString("utf8").trim() ?? "";
    return { mtimeMs: stat.mtimeMs, pid: /^[1-9]\d*$/.test(body) ? Number(body) : null };
  }, null);
}
