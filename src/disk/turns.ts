/** Whose turn it is: long work in short pieces, so that the host's timers, requests and Ctrl-C are not held up, and one writer at a time. */

import { closeSync, constants, fstatSync, lstatSync, openSync, readFileSync, statSync, writeSync } from "node:fs";
import { join } from "node:path";
import { attempt, diskError, MemdirError, onDisk } from "../errors.ts";
import { isAlive, loadNative, type Native, removeQuietly } from "./fence.ts";

/** Longer than this at a time would be noticed in a host that answers others meanwhile. */
const PIECE_MS = 2;

/** Everything of this process that wants to go on, the longest waiting first. */
const begun: (() => void)[] = [];
/** What has not begun. Of hundreds of calls at once most stay here, hold nothing, and wait for no lock. */
const others: (() => void)[] = [];
let isGoing = false;

/** Lets everything else that waits have its turn. One of ours goes on in each round of the event loop, however many there are: together they would hold it up. */
export function yieldTurn(): Promise<void> {
  return queueUp(begun);
}

/** The same for what begins, and for what nobody waits for: after what has begun. */
export function waitForTurn(): Promise<void> {
  return queueUp(others);
}

function queueUp(queue: (() => void)[]): Promise<void> {
  return new Promise((done) => {
    queue.push(done);
    if (!isGoing) setImmediate(goOn);
    isGoing = true;
  });
}

function goOn(): void {
  (begun.shift() ?? others.shift())?.();
  isGoing = begun.length + others.length > 0;
  if (isGoing) setImmediate(goOn);
}

/** However short a call is, before and after it the host's timers and requests have their turn. */
export function yielding<T extends object>(calls: T): T {
  const wrapped = Object.entries(calls).map(([name, call]) => {
    // Those that answer at once have nothing to wait for.
    if (call?.constructor !== AsyncFunction) return [name, call];
    const run = async (...given: unknown[]) => {
      await waitForTurn();
      return call(...given).finally(yieldTurn);
    };
    return [name, run];
  });
  return Object.fromEntries(wrapped);
}

const AsyncFunction = (async () => {}).constructor;

/** To be called between pieces of work: yields when the last turn is long enough ago. */
export function openBreath(ticks: () => number = () => performance.now()): () => Promise<void> | undefined {
  let last = ticks();
  return () => {
    if (ticks() - last < PIECE_MS) return undefined;
    return yieldTurn().then(() => {
      last = ticks();
    });
  };
}

/** Runs steps to their end, a piece at a time. */
export async function runInPieces<T>(steps: Generator<void, T>): Promise<T> {
  const breathe = openBreath();
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
    const turn = breathe();
    if (turn) await turn;
  }
}

/** Runs them at once, for callers that cannot wait. */
export function runAtOnce<T>(steps: Generator<void, T>): T {
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
  }
}

// --- One writer at a time, between processes: a kernel lock that dies with its holder, plus a pid file. The kernel lock is taken first
// where the native module loads. The pid file is always taken too, so that a process without the module is excluded as well. Whoever
// holds the kernel lock knows that a pid file of another kernel-locking process is a dead one's and takes it over at once; a pid file
// of a process without the module counts while that process lives.

export interface Lock {
  release(): void;
}

interface LockOptions {
  timeoutMs?: number;
  native?: Native | null;
  signal?: AbortSignal;
  /** The folder's name for people, where `directory` is only a handle on it. */
  name?: string;
  /** The lock's name in the folder; `lock` is the folder's own. */
  file?: string;
}

/** Longer than any change of ours takes; a writer that waits longer says who holds the lock. */
const TIMEOUT_MS = 30_000;

/** Nobody holds the lock this long: a pid that old belongs to another program by now. */
const TOO_OLD_MS = 5 * 60_000;

/** Writers of this process wait for one another here, so that only one of them polls the kernel. */
const queues = new Map<string, Promise<void>>();

export async function acquireLock(directory: string, options: LockOptions = {}): Promise<Lock> {
  const { file = "lock" } = options;
  const path = join(directory, file);
  const name = join(options.name ?? directory, file);
  const before = queues.get(name) ?? Promise.resolve();
  let leave = () => {};
  const mine = new Promise<void>((done) => {
    leave = done;
  });
  const tail = before.then(() => mine);
  queues.set(name, tail);
  void tail.then(() => {
    if (queues.get(name) === tail) queues.delete(name);
  });
  const started = performance.now();
  try {
    await turn(before, name, options);
    // Else the writers of a queue would all follow one another without a pause.
    await yieldTurn();
    const lock = await poll(path, name, options, started);
    return {
      release: () => {
        lock.release();
        leave();
      },
    };
  } catch (error) {
    leave();
    throw error;
  }
}

/** Waits for the writers of this process, no longer than for those of others. */
async function turn(before: Promise<void>, path: string, options: LockOptions): Promise<void> {
  const { timeoutMs = TIMEOUT_MS, signal } = options;
  signal?.throwIfAborted();
  let stop = () => {};
  const tooLate = new Promise<never>((_, fail) => {
    const timer = setTimeout(() => fail(busy(path, timeoutMs)), timeoutMs);
    const abort = () => fail(signal?.reason);
    signal?.addEventListener("abort", abort);
    stop = () => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", abort);
    };
  });
  try {
    await Promise.race([before, tooLate]);
  } finally {
    stop();
  }
}

async function poll(path: string, name: string, options: LockOptions, started: number): Promise<Lock> {
  const native = options.native === undefined ? loadNative() : options.native;
  const timeoutMs = options.timeoutMs ?? TIMEOUT_MS;
  for (let round = 0; ; round++) {
    options.signal?.throwIfAborted();
    const lock = tryLock(path, native);
    if (lock) return lock;
    if (performance.now() - started > timeoutMs) throw busy(name, timeoutMs);
    // Short at first for a writer that is about to finish; spread out so that many waiters do not move in step.
    const ceiling = Math.min(12, 1 + round);
    await new Promise((done) => setTimeout(done, 1 + Math.random() * ceiling));
  }
}

/** The lock, or null when somebody else has it. */
export function tryLock(path: string, native: Native | null): Lock | null {
  const fd = open(path);
  let pidLine: string | null = null;
  try {
    if (!native || native.tryLock(fd)) {
      // The directory may have been removed or replaced while we waited: a lock on a file that is gone protects nothing.
      const there = statSync(path, { throwIfNoEntry: false });
      const held = fstatSync(fd);
      const same = there?.ino === held.ino && there.dev === held.dev;
      if (same) pidLine = takePidFile(`${path}.pid`, native !== null);
    }
  } catch (error) {
    throw diskError(error, "lock", path);
  } finally {
    if (pidLine === null) closeSync(fd);
  }
  if (pidLine === null) return null;
  let released = false;
  return {
    release: () => {
      if (released) return;
      released = true;
      // If it took too long or the directory was replaced, the file is somebody else's by now.
      if (readHolder(`${path}.pid`)?.line === pidLine) removeQuietly(`${path}.pid`);
      // Closing gives the kernel lock back.
      closeSync(fd);
    },
  };
}

function open(path: string): number {
  return onDisk("open the lock", path, () =>
    openSync(path, constants.O_RDWR | constants.O_CREAT | (constants.O_NOFOLLOW ?? 0), 0o600),
  );
}

let counter = 0;

/** The line that was written into the pid file, or null when somebody else has it. */
function takePidFile(path: string, kernelLocked: boolean): string | null {
  // The last word tells this holder from an earlier one of the same process.
  const line = `${process.pid} ${kernelLocked ? "kernel" : "pid"} ${process.hrtime.bigint().toString(36)}-${counter++}`;
  if (createPidFile(path, line)) return line;
  if (!isLeftOver(path, kernelLocked)) return null;
  // One waiter at a time clears up, and looks again before it does: else a slow one would remove the next holder's file.
  const guard = `${path}.clear`;
  if (!createPidFile(guard, line)) {
    if (isLeftOver(guard, false)) removeQuietly(guard);
    return null;
  }
  try {
    if (!isLeftOver(path, kernelLocked)) return null;
    removeQuietly(path);
    return createPidFile(path, line) ? line : null;
  } finally {
    removeQuietly(guard);
  }
}

function isLeftOver(path: string, kernelLocked: boolean): boolean {
  // We never make a link: somebody else did, and it stands for no holder.
  if (lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink()) return true;
  const holder = readHolder(path);
  return holder !== null && ((kernelLocked && holder.kernelLocked) || isDead(holder));
}

function createPidFile(path: string, line: string): boolean {
  let fd: number;
  try {
    fd = openSync(path, "wx", 0o600);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return false;
    throw error;
  }
  try {
    writeSync(fd, `${line}\n`);
  } catch (error) {
    removeQuietly(path);
    throw error;
  } finally {
    closeSync(fd);
  }
  return true;
}

function readHolder(path: string) {
  const read = () => {
    const line = readFileSync(path, "utf8").trim();
    const [pid, kind] = line.split(" ");
    // File times are wall-clock times, so their age is too.
    const ageMs = performance.timeOrigin + performance.now() - statSync(path).mtimeMs;
    return { line, pid: Number(pid), kernelLocked: kind === "kernel", ageMs };
  };
  return attempt(read, null);
}

function isDead(holder: NonNullable<ReturnType<typeof readHolder>>): boolean {
  if (holder.ageMs > TOO_OLD_MS) return true;
  // A holder that died between creating and filling the file.
  if (!Number.isInteger(holder.pid) || holder.pid <= 0) return holder.ageMs > 1000;
  return !isAlive(holder.pid);
}

function busy(path: string, timeoutMs: number): MemdirError {
  const holder = readHolder(`${path}.pid`);
  const who = holder ? `process ${holder.pid}` : "another process";
  return new MemdirError(
    "lock",
    `${who} has been writing in ${path.replace(/[/\\]\.memdir[/\\]lock$/, "")} for over ${timeoutMs / 1000} s: end it, or wait and try again`,
  );
}
