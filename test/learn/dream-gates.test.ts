import { spawnSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { isAlive } from "../../src/disk/fence.ts";
import {
  checkDreamGates,
  type DreamGates,
  findDreamer,
  LOCK_FILE,
  lastDream,
  withDreamLock,
} from "../../src/learn/dream-gates.ts";
import type { Store } from "../../src/store/store.ts";
import { DAY, HOUR, mainOf, makeWorld, note } from "../world.ts";

async function setUp(lock?: { body: string; ageMs: number }) {
  const world = makeWorld();
  const memdir = await world.open();
  await memdir.save(note("a"));
  if (lock) world.write(LOCK_FILE, lock.body, { ageMs: lock.ageMs });
  return { world, directory: mainOf(memdir) };
}

const deadPid = () => spawnSync(process.execPath, ["--version"]).pid;
const me = { pid: process.pid, isAlive };

/** Holds the lock until it is told how the dream ended. */
async function take(directory: Store, processes = me) {
  let end: (error: Error | null) => void = () => {};
  let isTaken = () => {};
  const taken = new Promise<void>((resolve) => {
    isTaken = resolve;
  });
  const work = () =>
    new Promise<void>((resolve, reject) => {
      end = (error) => (error ? reject(error) : resolve());
      isTaken();
    });
  const held = withDreamLock(directory, processes, work);
  await Promise.race([taken, held]);
  const finish = (error: Error | null) => {
    end(error);
    return held.catch(() => {});
  };
  return { done: () => finish(null), failed: () => finish(new Error("failed")) };
}

const isHeld = (directory: Store, processes = me) =>
  withDreamLock(directory, processes, async () => false).catch(({ code }) => code === "conflict");

describe("the gates of a dream", () => {
  const gates = (more: Partial<DreamGates> = {}) => {
    const asked: number[] = [];
    const touchedSince = (since: number) => {
      asked.push(since);
      return 5;
    };
    return { asked, world: { off: null, touchedSince, isAlive, ...more } };
  };

  it("B9.4 opens for a directory that was never consolidated, with enough sessions", async () => {
    const { directory } = await setUp();
    expect(checkDreamGates(gates().world, directory)).toBeNull();
  });

  it("is closed by the cheapest reason, and looks no further", async () => {
    const { directory } = await setUp({ body: "", ageMs: 23 * HOUR });
    const { asked, world } = gates();
    expect(checkDreamGates({ ...world, off: "dreaming is switched off" }, directory)).toBe("dreaming is switched off");
    expect(checkDreamGates(world, { ...directory, readOnly: true })).toBe("the directory is read-only");
    expect(checkDreamGates(world, directory)).toBe("the last dream was 23 h ago; 24 h must pass");
    expect(asked).toEqual([]);
  });

  it("counts sessions at most every ten minutes", async () => {
    const { world, directory } = await setUp({ body: "", ageMs: 2 * DAY });
    const { asked, world: few } = gates();
    const closed = "4 other sessions since the last dream; 5 are needed";
    const touchedSince = (since: number) => few.touchedSince(since) - 1;
    expect(checkDreamGates({ ...few, touchedSince }, directory)).toBe(closed);
    world.now = new Date(world.now.getTime() + 9 * 60_000);
    expect(checkDreamGates(few, directory)).toBe("sessions were counted 9 min ago");
    world.now = new Date(world.now.getTime() + 60_000);
    expect(checkDreamGates(few, directory)).toBeNull();
    expect(asked).toHaveLength(2);
  });

  it("is closed while somebody dreams", async () => {
    const { directory } = await setUp({ body: String(process.pid), ageMs: 1000 });
    expect(checkDreamGates(gates().world, directory)).toBe(`another dream is running (process ${process.pid})`);
  });

  it("is closed when sessions cannot be counted", async () => {
    const { directory } = await setUp();
    const touchedSince = () => {
      throw new Error("no such place");
    };
    expect(checkDreamGates(gates({ touchedSince }).world, directory)).toBe("no such place");
  });
});

describe("the lock of a dream", () => {
  it("holds this process's number and the time, and keeps the time when it is done", async () => {
    const { world, directory } = await setUp();
    const lock = await take(directory);
    expect(world.read(LOCK_FILE)).toBe(String(process.pid));
    expect(lastDream(directory)).toBe(world.now.getTime());
    await expect(take(directory)).rejects.toThrow(`another dream is running (process ${process.pid})`);
    await lock.done();
    expect(findDreamer(directory, me)).toBeNull();
    expect(lastDream(directory)).toBe(world.now.getTime());
  });

  it("rewinds the time after a failure, or leaves no file where there was none", async () => {
    const old = await setUp({ body: "", ageMs: 3 * DAY });
    await (await take(old.directory)).failed();
    expect(lastDream(old.directory)).toBe(old.world.now.getTime() - 3 * DAY);
    const fresh = await setUp();
    await (await take(fresh.directory)).failed();
    expect(fresh.world.exists(LOCK_FILE)).toBe(false);
  });

  it.each([
    ["a dead process", () => String(deadPid()), 1000, true],
    ["a process that lives", () => String(process.ppid), 59 * 60_000, false],
    ["a process that lives, for an hour", () => String(process.ppid), HOUR, true],
    ["nobody", () => "", 1000, true],
    ["nonsense", () => "-1 or so", 1000, true],
    ["something huge", () => "1".repeat(10_000), 1000, true],
  ])("held by %s", async (_, body, ageMs, free) => {
    const { directory } = await setUp({ body: body(), ageMs });
    expect(await isHeld(directory)).toBe(!free);
  });

  it("is taken by one of many", async () => {
    const { directory } = await setUp({ body: String(deadPid()), ageMs: 2 * DAY });
    const all = await Promise.all(
      Array.from({ length: 8 }, (_, i) =>
        take(directory, { pid: process.pid + i, isAlive: () => true }).catch(() => null),
      ),
    );
    expect(all.filter((lock) => lock !== null)).toHaveLength(1);
  });

  it("leaves it to whoever took it over", async () => {
    const { world, directory } = await setUp();
    const lock = await take(directory);
    world.write(LOCK_FILE, String(process.ppid));
    await lock.failed();
    expect(world.read(LOCK_FILE)).toBe(String(process.ppid));
  });

  it("replaces a link in its place and does not follow it", async () => {
    const { world, directory } = await setUp();
    const outside = path.join(world.top, "outside");
    fs.writeFileSync(outside, "mine");
    fs.symlinkSync(outside, world.path(LOCK_FILE));
    await (await take(directory)).done();
    expect(fs.readFileSync(outside, "utf8")).toBe("mine");
    expect(fs.lstatSync(world.path(LOCK_FILE)).isFile()).toBe(true);
  });
});
