import { spawnSync } from "node:child_process";
import { once } from "node:events";
import fs from "node:fs";
import path from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { loadNative } from "../../src/disk/fence.ts";
import { acquireLock, tryLock } from "../../src/disk/turns.ts";
import { MemdirError } from "../../src/errors.ts";
import { PATIENCE_MS } from "../until.ts";
import { bundleWorker, type Worker } from "./worker.ts";

let worker: Worker;
/** A process that has ended. */
let deadPid: number;
beforeAll(async () => {
  worker = await bundleWorker("lock.ts");
  deadPid = spawnSync(process.execPath, ["--version"]).pid;
});
afterAll(() => worker.close());

let directory: string;
let file: string;
let pidFile: string;
let count = 0;
beforeEach(() => {
  directory = path.join(worker.top, `d${count++}`);
  fs.mkdirSync(directory);
  file = path.join(directory, "lock");
  pidFile = `${file}.pid`;
});

/** The kinds that this machine has. */
const KINDS: [string, ReturnType<typeof loadNative>][] = [["pid", null]];
if (loadNative()) KINDS.unshift(["native", loadNative()]);

async function hold(kind: string, where = directory): Promise<{ pid: number; kill: () => Promise<void> }> {
  const child = worker.start("hold", where, kind);
  await once(child.stdout!, "data");
  return {
    pid: child.pid!,
    kill: async () => {
      child.kill("SIGKILL");
      await once(child, "exit");
    },
  };
}

async function failure(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    () => new Error("it did not fail"),
    (error: unknown) => error,
  );
}

function makeOld(minutes: number): void {
  const then = new Date(performance.timeOrigin + performance.now() - minutes * 60_000);
  fs.utimesSync(pidFile, then, then);
}

describe("between processes", () => {
  it.each([
    ["kernel locks", ["native", "native"]],
    ["pid files", ["pid", "pid"]],
    ["half and half", ["native", "pid"]],
  ])("8 processes count to 400 with %s", async (_, kinds) => {
    fs.writeFileSync(path.join(directory, "counter"), "0");
    await Promise.all(Array.from({ length: 8 }, (_, i) => worker.run("count", directory, kinds[i % 2]!, 50)));
    expect(fs.readFileSync(path.join(directory, "counter"), "utf8")).toBe("400");
    expect(fs.readdirSync(directory).sort()).toEqual(["counter", "lock"]);
  });

  it.each(KINDS.flatMap(([holder]) => KINDS.map(([waiter, native]) => [holder, waiter, native] as const)))(
    "C-20 a killed holder (%s) lets go (waiter: %s)",
    async (holder, _, native) => {
      const { kill } = await hold(holder);
      expect(tryLock(file, native)).toBeNull();
      const waiting = acquireLock(directory, { native, timeoutMs: PATIENCE_MS });
      await kill();
      (await waiting).release();
      expect(fs.readdirSync(directory)).toEqual(["lock"]);
    },
  );

  it.each(KINDS)("a timeout names the holder (%s)", async (kind, native) => {
    const { pid, kill } = await hold(kind);
    const error = await failure(acquireLock(directory, { native, timeoutMs: 50 }));
    expect(error).toBeInstanceOf(MemdirError);
    expect(error).toMatchObject({ code: "lock" });
    expect((error as Error).message).toContain(`process ${pid}`);
    expect((error as Error).message).toContain(directory);
    await kill();
    (await acquireLock(directory, { native })).release();
  });

  it("what many killed holders left is taken over by one waiter at a time", async () => {
    fs.writeFileSync(pidFile, `${deadPid} pid\n`);
    const outputs = await Promise.all(
      Array.from({ length: 4 }, () => worker.run("die", directory, "pid", deadPid, 100)),
    );
    const results = outputs.map((output) => JSON.parse(output) as { taken: number; clashes: number });
    expect(results.reduce((sum, { taken }) => sum + taken, 0)).toBe(400);
    expect(results.reduce((sum, { clashes }) => sum + clashes, 0)).toBe(0);
  });

  it.each(KINDS)("a directory that is replaced while waiting is locked anew (%s)", async (kind, native) => {
    const { kill } = await hold(kind);
    const waiting = acquireLock(directory, { native, timeoutMs: PATIENCE_MS });
    // By then it has looked once.
    await new Promise((done) => setImmediate(done));
    // One step, so that the waiter never sees it missing.
    fs.mkdirSync(`${directory}-new`);
    fs.renameSync(directory, `${directory}-old`);
    fs.renameSync(`${directory}-new`, directory);
    const lock = await waiting.catch(() => acquireLock(directory, { native }));
    expect(fs.readFileSync(pidFile, "utf8")).toContain(String(process.pid));
    expect(tryLock(file, native)).toBeNull();
    lock.release();
    await kill();
  });
});

describe("C-20 the pid file", () => {
  const kinds = KINDS;

  it.each(kinds)("of a process that lives counts (%s)", (_, native) => {
    fs.writeFileSync(pidFile, `${process.ppid} pid\n`);
    expect(tryLock(file, native)).toBeNull();
    expect(fs.readFileSync(pidFile, "utf8")).toBe(`${process.ppid} pid\n`);
  });

  it.each(kinds)("of a process that is dead does not (%s)", (_, native) => {
    fs.writeFileSync(pidFile, `${deadPid} pid\n`);
    const lock = tryLock(file, native);
    expect(lock).not.toBeNull();
    expect(fs.readFileSync(pidFile, "utf8")).toContain(String(process.pid));
    lock?.release();
    expect(fs.readdirSync(directory)).toEqual(["lock"]);
  });

  it.each(kinds)("that is too old does not, whoever has the number now (%s)", (_, native) => {
    fs.writeFileSync(pidFile, `${process.ppid} pid\n`);
    makeOld(4);
    expect(tryLock(file, native)).toBeNull();
    makeOld(6);
    const lock = tryLock(file, native);
    expect(lock).not.toBeNull();
    lock?.release();
  });

  it.each(kinds)("that is empty or nonsense counts for a second only (%s)", (_, native) => {
    for (const content of ["", "nonsense\n", "-1 pid\n", "0 pid"]) {
      fs.writeFileSync(pidFile, content);
      // From the future: it is fresh, however slow this machine is.
      makeOld(-1);
      expect(tryLock(file, native)).toBeNull();
      makeOld(0.1);
      const lock = tryLock(file, native);
      expect(lock, content).not.toBeNull();
      lock?.release();
    }
  });

  it.skipIf(!loadNative())(
    "of a kernel lock that nobody holds does not, even if the number was given out again",
    () => {
      fs.writeFileSync(pidFile, `${process.ppid} kernel\n`);
      const lock = tryLock(file, loadNative());
      expect(lock).not.toBeNull();
      lock?.release();
    },
  );

  it("is left to its new owner by a holder that was too slow", () => {
    const slow = tryLock(file, null);
    makeOld(6);
    const next = tryLock(file, null);
    expect(next).not.toBeNull();
    slow?.release();
    expect(fs.existsSync(pidFile)).toBe(true);
    expect(tryLock(file, null)).toBeNull();
    next?.release();
    expect(fs.existsSync(pidFile)).toBe(false);
  });

  it("is left to its owner by a holder whose directory was replaced", () => {
    const before = tryLock(file, null);
    fs.renameSync(directory, `${directory}-old`);
    fs.mkdirSync(directory);
    const next = tryLock(file, null);
    before?.release();
    expect(tryLock(file, null)).toBeNull();
    next?.release();
  });

  it("is left to its next owner when a lock is released twice", () => {
    const first = tryLock(file, null);
    first?.release();
    const second = tryLock(file, null);
    expect(() => first?.release()).not.toThrow();
    expect(tryLock(file, null)).toBeNull();
    second?.release();
  });
});

describe.each(KINDS)("in one process (%s)", (_, native) => {
  it("50 at once run one at a time and in order", async () => {
    let inside = 0;
    const order: number[] = [];
    await Promise.all(
      Array.from({ length: 50 }, async (_, i) => {
        const lock = await acquireLock(directory, { native });
        expect(++inside).toBe(1);
        await new Promise((done) => setImmediate(done));
        order.push(i);
        inside--;
        lock.release();
      }),
    );
    expect(order).toEqual(Array.from({ length: 50 }, (_, i) => i));
    expect(fs.readdirSync(directory)).toEqual(["lock"]);
  });

  it("one that fails does not stop those behind it", async () => {
    const first = await acquireLock(directory, { native });
    const aborted = acquireLock(directory, { native, signal: AbortSignal.abort(new Error("stop")) });
    const third = acquireLock(directory, { native });
    aborted.catch(() => {});
    setTimeout(() => first.release(), 20);
    expect(await failure(aborted)).toMatchObject({ message: "stop" });
    (await third).release();
  });

  it("waiting for this process ends in time, too, and names it", async () => {
    const first = await acquireLock(directory, { native });
    const error = await failure(acquireLock(directory, { native, timeoutMs: 50 }));
    first.release();
    expect(error).toMatchObject({ code: "lock" });
    expect((error as Error).message).toContain(`process ${process.pid}`);
    (await acquireLock(directory, { native })).release();
  });

  it("waiting for this process can be called off", async () => {
    const first = await acquireLock(directory, { native });
    const stop = new AbortController();
    const waiting = failure(acquireLock(directory, { native, signal: stop.signal }));
    stop.abort(new Error("stop"));
    const error = await waiting;
    first.release();
    expect(error).toMatchObject({ message: "stop" });
    (await acquireLock(directory, { native })).release();
  });

  it("another spelling of the directory is the same lock", async () => {
    fs.symlinkSync(directory, `${directory}-link`);
    const first = await acquireLock(directory, { native });
    expect(tryLock(path.join(`${directory}-link`, "lock"), native)).toBeNull();
    first.release();
    (await acquireLock(`${directory}-link`, { native })).release();
  });

  it("no directory, or a link in the place of the lock, is an error that names it", async () => {
    const missing = await failure(acquireLock(path.join(directory, "none"), { native, timeoutMs: 50 }));
    expect(missing).toMatchObject({ code: "disk" });
    fs.symlinkSync(path.join(directory, "elsewhere"), file);
    const linked = await failure(acquireLock(directory, { native, timeoutMs: 50 }));
    expect(linked).toMatchObject({ code: "disk" });
    expect((linked as Error).message).toContain(file);
    expect(fs.existsSync(path.join(directory, "elsewhere"))).toBe(false);
  });
});
