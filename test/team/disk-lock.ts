/** One writer at a time in a shared folder: processes of one machine by its own lock, machines by a file that only one can make. */

import { linkSync, lstatSync, readFileSync, renameSync, statSync } from "node:fs";
import { hostname } from "node:os";
import { dirname, join } from "node:path";
import { removeQuietly, writeTemporary } from "../../src/disk/fence.ts";
import { acquireLock } from "../../src/disk/turns.ts";
import { MemdirError } from "../../src/errors.ts";

/** No call takes this long: a file that was not touched for so long is a dead machine's. */
const STALE_MS = 60_000;

/** Longer than the calls of several machines in a row. */
const TIMEOUT_MS = 30_000;

let counter = 0;

/** `check` throws when the lock was taken away meanwhile: to be asked right before anything is moved into place. */
export async function withFolderLock<T>(
  folder: string,
  signal: AbortSignal | undefined,
  work: (check: () => void) => T,
): Promise<T> {
  const lock = await acquireLock(folder, signal ? { signal } : {});
  const path = join(folder, "writer");
  const line = `${hostname()} ${process.pid} ${process.hrtime.bigint().toString(36)}-${counter++}`;
  try {
    await take(path, line, folder, signal);
    try {
      return work(() => {
        if (holderOf(path) !== line)
          throw new MemdirError("network", `another machine took ${folder} over: run it again`);
      });
    } finally {
      if (holderOf(path) === line) removeQuietly(path);
    }
  } finally {
    lock.release();
  }
}

async function take(path: string, line: string, folder: string, signal: AbortSignal | undefined): Promise<void> {
  const started = performance.now();
  for (let round = 0; !create(path, line); round++) {
    signal?.throwIfAborted();
    clearStale(path, folder);
    if (performance.now() - started > TIMEOUT_MS)
      throw new MemdirError("network", `${holderOf(path) ?? "another machine"} has been writing in ${folder} for long`);
    await new Promise((done) => setTimeout(done, Math.min(200, 5 * (round + 1))));
  }
}

/** Whole or not at all: a writer that is killed here must not leave a file that names nobody. */
function create(path: string, line: string): boolean {
  const whole = writeTemporary(join(dirname(path), "tmp"), line, 0o644, "writer", false);
  try {
    linkSync(whole, path);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return false;
    throw error;
  } finally {
    removeQuietly(whole);
  }
}

/** A holder of this machine that is not the one who has the machine's lock is dead; others are told by the drive's own clock. */
function clearStale(path: string, folder: string): void {
  const holder = holderOf(path);
  const stat = statSync(path, { throwIfNoEntry: false });
  if (holder === null || !stat) return;
  const ours = holder.startsWith(`${hostname()} `);
  if (!ours && clockOf(folder) - stat.mtimeMs < STALE_MS) return;
  // Moved away first: of two that clear up only one gets it, and it looks at what it got.
  const aside = `${path}-${process.pid}-${counter++}`;
  try {
    renameSync(path, aside);
    const got = holderOf(aside);
    if (got !== holder && !lstatSync(path, { throwIfNoEntry: false })) renameSync(aside, path);
    else removeQuietly(aside);
  } catch {
    // Somebody else was faster.
  }
}

function holderOf(path: string): string | null {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return null;
  }
}

/** What the machine that holds the disk takes for now. */
function clockOf(folder: string): number {
  const probe = writeTemporary(join(folder, "tmp"), "", 0o600, "clock", false);
  try {
    return statSync(probe).mtimeMs;
  } finally {
    removeQuietly(probe);
  }
}
