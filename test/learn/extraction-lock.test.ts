import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import fs from "node:fs";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { lockFile, readCursor, takeExtractionLock } from "../../src/learn/extraction-gates.ts";
import { bundleWorker, type Worker } from "../disk/worker.ts";
import { mainOf, makeWorld, type World } from "../world.ts";
import { DONE, extract, FILE, openExtractionDesk, TALK, write } from "./extraction-desk.ts";

let worker: Worker;
beforeAll(async () => {
  worker = await bundleWorker("../../learn/extraction-locked.ts");
});
afterAll(() => worker.close());

const SESSION = "0b5e7c1a-0000-4000-8000-000000000001";

async function openDirectory(): Promise<{
  world: World;
  take: (session?: string, native?: null) => (() => void) | null;
}> {
  const world = makeWorld();
  const directory = mainOf(await world.open());
  return { world, take: (session = SESSION, native) => takeExtractionLock(directory, session, native) };
}

/** What it says first. */
async function started(child: ChildProcess): Promise<string> {
  const [data] = await once(child.stdout as NodeJS.ReadableStream, "data");
  return String(data).trim();
}

async function kill(child: ChildProcess): Promise<void> {
  child.kill("SIGKILL");
  await once(child, "exit");
}

const stateOf = (world: World) => fs.readdirSync(world.path(".memdir")).filter((name) => name.startsWith("extract-"));

describe("the lock of an extraction", () => {
  it("is one per session, and gone when it is given back", async () => {
    const { world, take } = await openDirectory();
    const release = take();
    expect(release).not.toBeNull();
    expect(take()).toBeNull();
    const other = take("another session/../..\0");
    expect(other).not.toBeNull();
    other?.();
    release?.();
    release?.(); // twice is once
    expect(stateOf(world)).toEqual([]);
    take()?.();
  });

  it.each(["native", "pid"])("holds against other processes and dies with its holder (%s)", async (how) => {
    const { world, take } = await openDirectory();
    const native = how === "pid" ? null : undefined;
    const child = worker.start(world.dir, SESSION, how);
    expect(await started(child)).toBe("held");
    expect(take(SESSION, native)).toBeNull();
    const second = worker.start(world.dir, SESSION, how);
    expect(await started(second)).toBe("busy");
    await kill(child);
    const release = take(SESSION, native);
    expect(release).not.toBeNull();
    release?.();
    expect(stateOf(world)).toEqual([]);
  });

  it("holds between processes with and without the native module", async () => {
    const { world, take } = await openDirectory();
    const child = worker.start(world.dir, SESSION, "pid");
    expect(await started(child)).toBe("held");
    expect(take()).toBeNull();
    await kill(child);
    take()?.();
  });

  it("of ten processes at once one has it", async () => {
    const { world } = await openDirectory();
    const children = Array.from({ length: 10 }, () => worker.start(world.dir, SESSION));
    const said = await Promise.all(children.map(started));
    expect(said.filter((word) => word === "held")).toHaveLength(1);
    await Promise.all(children.filter((_, i) => said[i] === "held").map(kill));
  });

  it.skipIf(process.platform === "win32")("goes through no link", async () => {
    const { world, take } = await openDirectory();
    const elsewhere = path.join(world.top, "elsewhere");
    fs.mkdirSync(elsewhere);
    fs.mkdirSync(world.dir, { recursive: true });
    fs.symlinkSync(elsewhere, world.path(".memdir"));
    expect(() => take()).toThrow(/link/);
    fs.rmSync(world.path(".memdir"));
    fs.mkdirSync(world.path(".memdir"));
    fs.writeFileSync(path.join(elsewhere, "file"), "precious");
    fs.symlinkSync(path.join(elsewhere, "file"), world.path(".memdir", lockFile(SESSION)));
    expect(() => take()).toThrow();
    fs.rmSync(world.path(".memdir", lockFile(SESSION)));
    fs.symlinkSync(path.join(elsewhere, "file"), world.path(".memdir", `${lockFile(SESSION)}.pid`));
    take()?.();
    expect(fs.readFileSync(path.join(elsewhere, "file"), "utf8")).toBe("precious");
    expect(fs.readdirSync(elsewhere)).toEqual(["file"]);
  });
});

describe("an extraction", () => {
  it("B8.7 leaves a session to the process that is at it, and says so", async () => {
    const desk = await openExtractionDesk();
    const release = takeExtractionLock(desk.learning.directory, SESSION);
    const result = await extract(desk, { session: SESSION, messages: TALK });
    expect(result).toMatchObject({
      skipped: "another process is extracting from this session",
      failed: null,
      turns: 0,
    });
    expect(desk.skips).toEqual(["another process is extracting from this session"]);
    expect(desk.server.requests).toEqual([]);
    expect(readCursor(desk.disk.dir, SESSION)).toBeNull();
    release?.();
  });

  it("looks at the cursor again when it has the lock: who had it before may have moved it", async () => {
    const desk = await openExtractionDesk();
    const { gates } = desk.learning;
    // Asked before the lock is taken: another process moves the cursor in between.
    desk.learning.gates = (session) => {
      fs.mkdirSync(desk.disk.path(".memdir", "cursors"), { recursive: true });
      fs.writeFileSync(desk.disk.path(".memdir", "cursors", `${SESSION}.json`), JSON.stringify({ message: "a1" }));
      return gates(session);
    };
    const result = await extract(desk, { session: SESSION, messages: TALK });
    expect(result.skipped).toBe("nothing is new since the last time");
    expect(desk.server.requests).toEqual([]);
    expect(stateOf(desk.disk)).toEqual([]);
  });

  it("gives the lock back when it fails, and takes none for what the gates stop", async () => {
    const desk = await openExtractionDesk();
    const take = () => takeExtractionLock(desk.learning.directory, SESSION);
    desk.server.queue({ status: 400 });
    expect((await extract(desk, { session: SESSION, messages: TALK })).failed).not.toBeNull();
    const release = take();
    expect(release).not.toBeNull();
    expect((await extract(desk, { session: SESSION, messages: [] })).skipped).toMatch(/nothing is new/);
    release?.();
    fs.rmSync(desk.disk.path(".memdir"), { recursive: true });
    fs.writeFileSync(desk.disk.path(".memdir"), "");
    expect((await extract(desk, { session: SESSION, messages: TALK })).failed).toMatch(/\.memdir/);
  });

  it("with nothing left to look at clears up after one that was killed while it gave the lock back", async () => {
    const desk = await openExtractionDesk();
    takeExtractionLock(desk.learning.directory, SESSION)?.();
    fs.writeFileSync(desk.disk.path(".memdir", `${lockFile(SESSION)}.pid`), "999999999 kernel x\n");
    await extract(desk, { session: SESSION, messages: [] });
    expect(stateOf(desk.disk)).toEqual([]);
  });

  it("that writes what is there already is done: the one before it was killed before its cursor moved", async () => {
    const desk = await openExtractionDesk();
    desk.server.queue(write(FILE), { status: 400 }, write("feedback_again.md"), DONE);
    expect((await extract(desk, { session: SESSION, messages: TALK })).saved).toHaveLength(1);
    const result = await extract(desk, { session: SESSION, messages: TALK });
    expect(result).toMatchObject({ failed: null, saved: [] });
    expect(readCursor(desk.disk.dir, SESSION)?.message).toBe("a1");
  });
});
