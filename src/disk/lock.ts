/**
 * One writer at a time, between processes: a kernel lock that dies with its holder, plus a pid file.
 *
 * The kernel lock is taken first where the native module loads. The pid file is always taken too, so that a process without
 * the module is excluded as well. Whoever holds the kernel lock knows that a pid file of another kernel-locking process is a
 * dead one's and takes it over at once; a pid file of a process without the module counts while that process lives.
 */

import {
  closeSync,
  constants,
  fstatSync,
  openSync,
  readFileSync,
  renameSync,
  statSync,
  unlinkSync,
  writeSync,
} from "node:fs";
import { join } from "node:path";
import { diskError, MemdirError } from "../errors.ts";
import { removeQuietly } from "./atomic.ts";
import { loadNative, type Native } from "./native.ts";

export interface Lock {
  release(): void;
}

export interface LockOptions {
  timeoutMs?: number;
  native?: Native | null;
  signal?: AbortSignal;
}

/** Longer than any change of ours takes; a writer that waits longer says who holds the lock. */
const TIMEOUT_MS = 30_000;

/** Nobody holds the lock this long: a pid that old belongs to another program by now. */
const TOO_OLD_MS = 5 * 60_000;

/** Writers of this process wait for one another here, so that only one of them polls the kernel. */
const queues = new Map<string, Promise<void>>();

export async function acquireLock(directory: string, options: LockOptions = {}): Promise<Lock> {
  const path = join(directory, "lock");
  const before = queues.get(path) ?? Promise.resolve();
  let leave = () => {};
  const mine = new Promise<void>((done) => {
    leave = done;
  });
  const tail = before.then(() => mine);
  queues.set(path, tail);
  await before;
  const finish = () => {
    if (queues.get(path) === tail) queues.delete(path);
    leave();
  };
  try {
    const lock = await poll(path, options);
    return {
      release: () => {
        lock.release();
        finish();
      },
    };
  } catch (error) {
    finish();
    throw error;
  }
}

async function poll(path: string, options: LockOptions): Promise<Lock> {
  const native = options.native === undefined ? loadNative() : options.native;
  const timeoutMs = options.timeoutMs ?? TIMEOUT_MS;
  const started = performance.now();
  for (let round = 0; ; round++) {
    options.signal?.throwIfAborted();
    const lock = tryLock(path, native);
    if (lock) return lock;
    if (performance.now() - started > timeoutMs) throw busy(path, timeoutMs);
    // Short at first for a writer that is about to finish; spread out so that many waiters do not move in step.
    const ceiling = Math.min(12, 1 + round);
    await new Promise((done) => setTimeout(done, 1 + Math.random() * ceiling));
  }
}

/** The lock, or null when somebody else has it. */
export function tryLock(path: string, native: Native | null): Lock | null {
  const fd = open(path);
  try {
    if (native && !native.tryLock(fd)) {
      closeSync(fd);
      return null;
    }
    // The directory may have been removed or replaced while we waited: a lock on a file that is gone protects nothing.
    const there = statSync(path, { throwIfNoEntry: false });
    const held = fstatSync(fd);
    const owned =
      there && there.ino === held.ino && there.dev === held.dev && takePidFile(`${path}.pid`, native !== null);
    if (!owned) {
      closeSync(fd);
      return null;
    }
  } catch (error) {
    closeSync(fd);
    throw diskError(error, "lock", path);
  }
  return {
    release: () => {
      removeQuietly(`${path}.pid`);
      // Closing gives the kernel lock back.
      closeSync(fd);
    },
  };
}

function open(path: string): number {
  try {
    return openSync(path, constants.O_RDWR | constants.O_CREAT | (constants.O_NOFOLLOW ?? 0), 0o600);
  } catch (error) {
    throw diskError(error, "open the lock", path);
  }
}

function takePidFile(path: string, kernelLocked: boolean): boolean {
  if (createPidFile(path, kernelLocked)) return true;
  const holder = readHolder(path);
  if (holder === null) return createPidFile(path, kernelLocked);
  const dead = kernelLocked && holder.kernelLocked ? true : isDead(holder);
  if (!dead) return false;
  // Moved aside, not removed: only one of several waiters succeeds in moving it.
  const aside = `${path}.${process.pid}`;
  try {
    renameSync(path, aside);
    unlinkSync(aside);
  } catch {
    return false;
  }
  return createPidFile(path, kernelLocked);
}

function createPidFile(path: string, kernelLocked: boolean): boolean {
  let fd: number;
  try {
    fd = openSync(path, "wx", 0o600);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return false;
    throw error;
  }
  try {
    writeSync(fd, `${process.pid} ${kernelLocked ? "kernel" : "pid"}\n`);
  } catch (error) {
    removeQuietly(path);
    throw error;
  } finally {
    closeSync(fd);
  }
  return true;
}

interface Holder {
  pid: number;
  kernelLocked: boolean;
  ageMs: number;
}

function readHolder(path: string): Holder | null {
  try {
    const [pid, kind] = readFileSync(path, "utf8").trim().split(" ");
    // File times are wall-clock times, so their age is too.
    const ageMs = performance.timeOrigin + performance.now() - statSync(path).mtimeMs;
    return { pid: Number(pid), kernelLocked: kind === "kernel", ageMs };
  } catch {
    return null;
  }
}

function isDead(holder: Holder): boolean {
  if (holder.ageMs > TOO_OLD_MS) return true;
  // A holder that died between creating and filling the file.
  if (!Number.isInteger(holder.pid) || holder.pid <= 0) return holder.ageMs > 1000;
  try {
    process.kill(holder.pid, 0);
    return false;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "ESRCH";
  }
}

function busy(path: string, timeoutMs: number): MemdirError {
  const holder = readHolder(`${path}.pid`);
  const who = holder ? `process ${holder.pid}` : "another process";
  return new MemdirError(
    "lock",
    `${who} has been writing in ${path.replace(/[/\\]\.memdir[/\\]lock$/, "")} for over ${timeoutMs / 1000} s: end it, or wait and try again`,
  );
}
