import fs from "node:fs";
import path from "node:path";
import { expect, it, onTestFinished } from "vitest";
import type { LiveEvent } from "../../src/web/api.ts";
import { openLive } from "../../src/web/live.ts";
import { type WatchOptions, watchDirectory } from "../../src/web/watch.ts";
import { makeTemporary } from "../temporary.ts";
import { makeWorld, note } from "../world.ts";
import { startStub } from "./stub-page.ts";

const QUICK = { settleMs: 10, lookMs: 20 };
const PATIENT = { timeout: 5000, interval: 5 };

it("tells the page of a change on disk, after a greeting", async () => {
  const world = makeWorld();
  await (await world.open()).save(note("a"));
  const { page, enter } = await startStub({ world, watching: QUICK });
  const response = await fetch(`${page.url}/api/live`, { headers: { cookie: await enter() } });
  expect(response.headers.get("content-type")).toBe("text/event-stream; charset=utf-8");
  const events = readEvents(response.body as ReadableStream<Uint8Array>);
  expect((await events.next()).value).toEqual({ kind: "hello", jobs: [] });
  world.write("b.md", "by hand");
  expect((await events.next()).value).toEqual({ kind: "changed", directory: expect.any(Number) });
});

/** What each way of watching sees; the last one only looks. */
const WAYS: [string, Pick<WatchOptions, "seesTree" | "watch">][] = [
  ["folder by folder", { seesTree: false }],
  ["a whole tree", { seesTree: true }],
  ["only looking", { watch: null }],
  ["a system that refuses", { watch: refusing("ENOSPC") }],
];

it.each(WAYS)("sees what a person changes, by %s", async (_, way) => {
  const { folder, changes, settle } = await watchTemporary(way);
  const at = (...names: string[]) => path.join(folder, ...names);
  const steps: [string, () => void][] = [
    ["a new file", () => fs.writeFileSync(at("a.md"), "1")],
    ["a longer file", () => fs.writeFileSync(at("a.md"), "12")],
    ["a file renamed into place", () => fs.renameSync(at("a.md"), at("b.md"))],
    ["a folder", () => fs.mkdirSync(at("deep"))],
    ["a file in it", () => fs.writeFileSync(at("deep", "c.md"), "3")],
    ["one that goes", () => fs.rmSync(at("b.md"))],
    ["the journal", () => fs.writeFileSync(at(".memdir", "journal.jsonl"), "{}\n")],
    ["a proposal", () => fs.writeFileSync(at(".memdir", "inbox", "1.json"), "{}")],
  ];
  for (const [what, change] of steps) {
    const before = changes();
    change();
    await expect.poll(changes, { ...PATIENT, message: what }).toBeGreaterThan(before);
    await settle();
  }
});

it.each(WAYS)("is not disturbed by our own caches, locks and half-written files, by %s", async (_, way) => {
  const { folder, changes, settle } = await watchTemporary(way);
  const before = changes();
  for (const name of ["rows.bin", "lock", "ledger.jsonl", "tmp/x", "images/y", "journal.jsonl.tmp"]) {
    fs.writeFileSync(path.join(folder, ".memdir", name), "x");
  }
  await settle();
  expect(changes()).toBe(before);
});

it("waits for a directory that is not there yet, and finds one that was made anew", async () => {
  const folder = path.join(makeTemporary("watch", "memory"), "later");
  let count = 0;
  const watched = watchDirectory({ path: folder, recursive: true, onChange: () => count++, log: () => {}, ...QUICK });
  onTestFinished(() => watched.close());
  await pause(30);
  fs.mkdirSync(folder);
  await expect.poll(() => count, PATIENT).toBe(1);
  await pause(40);
  fs.writeFileSync(path.join(folder, "a.md"), "1");
  await expect.poll(() => count, PATIENT).toBe(2);
  fs.renameSync(folder, `${folder}-old`);
  fs.mkdirSync(folder);
  await expect.poll(() => count, PATIENT).toBeGreaterThan(2);
  await pause(60);
  const before = count;
  fs.writeFileSync(path.join(folder, "b.md"), "1");
  await expect.poll(() => count, PATIENT).toBeGreaterThan(before);
});

it("does not follow links out of the directory", async () => {
  const { folder, changes, settle } = await watchTemporary({ seesTree: false });
  const outside = makeTemporary("outside", "memory");
  fs.symlinkSync(outside, path.join(folder, "link"));
  await settle();
  const before = changes();
  fs.writeFileSync(path.join(outside, "a.md"), "x");
  await settle();
  expect(changes()).toBe(before);
});

it("gathers many changes into few, and says nothing once it is closed", async () => {
  const { folder, changes, settle, close } = await watchTemporary({ seesTree: false }, { settleMs: 100, lookMs: 1000 });
  for (let i = 0; i < 100; i++) fs.writeFileSync(path.join(folder, `${i}.md`), "x");
  await expect.poll(changes, PATIENT).toBeGreaterThan(0);
  await settle();
  close();
  const before = changes();
  expect(before).toBeLessThan(10);
  fs.writeFileSync(path.join(folder, "late.md"), "x");
  await settle();
  expect(changes()).toBe(before);
});

it("lets four tabs of a browser listen, and takes another when one leaves", async () => {
  const live = openLive({ directories: [], jobs: () => [], log: () => {} });
  onTestFinished(() => live.close());
  const tabs = Array.from({ length: 4 }, () => live.join("ann"));
  expect(tabs.every((tab) => tab !== null)).toBe(true);
  expect(live.join("ann")).toBeNull();
  expect(live.join("bob")).not.toBeNull();
  await tabs[0]?.cancel();
  expect(live.join("ann")).not.toBeNull();
  for (let i = 0; i < 27; i++) expect(live.join(`s${i}`)).not.toBeNull();
  expect(live.join("late")).toBeNull();
});

it("answers a tab too many so that it does not come again", async () => {
  const { page, enter } = await startStub();
  const cookie = await enter();
  const open = () => fetch(`${page.url}/api/live`, { headers: { cookie } });
  const tabs = await Promise.all([open(), open(), open(), open()]);
  expect(tabs.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
  expect((await open()).status).toBe(204);
  await tabs[0]?.body?.cancel();
  await expect.poll(async () => (await open()).status, PATIENT).toBe(200);
});

it("keeps a stream alive, and lets go of a tab that reads nothing", async () => {
  const live = openLive({ directories: [], jobs: () => [], log: () => {}, heartbeatMs: 5 });
  onTestFinished(() => live.close());
  const reader = live.join("ann")?.getReader();
  await reader?.read();
  expect(new TextDecoder().decode((await reader?.read())?.value)).toBe(":\n\n");
  const asleep = live.join("bob") as ReadableStream<Uint8Array>;
  for (let i = 0; i < 300; i++) live.tell({ kind: "changed", directory: 0 });
  let chunks = 0;
  for await (const _ of asleep) chunks++;
  expect(chunks).toBeLessThanOrEqual(256);
  live.close();
  live.close();
  expect(live.join("ann")).toBeNull();
  live.tell({ kind: "changed", directory: 0 });
});

async function watchTemporary(way: Pick<WatchOptions, "seesTree" | "watch">, quick = QUICK) {
  const folder = makeTemporary("watch", "memory");
  for (const name of ["tmp", "images", "inbox"]) fs.mkdirSync(path.join(folder, ".memdir", name), { recursive: true });
  let count = 0;
  const { close } = watchDirectory({
    path: folder,
    recursive: true,
    onChange: () => count++,
    log: () => {},
    ...way,
    ...quick,
  });
  onTestFinished(close);
  const settle = () => pause(50);
  await settle();
  return { folder, changes: () => count, settle, close };
}

function refusing(code: string): NonNullable<WatchOptions["watch"]> {
  return (() => {
    throw Object.assign(new Error(code), { code });
  }) as unknown as NonNullable<WatchOptions["watch"]>;
}

async function* readEvents(stream: ReadableStream<Uint8Array>): AsyncGenerator<LiveEvent, undefined> {
  let text = "";
  for await (const chunk of stream) {
    text += Buffer.from(chunk).toString("utf8");
    const parts = text.split("\n\n");
    text = parts.pop() ?? "";
    for (const part of parts) if (part.startsWith("data: ")) yield JSON.parse(part.slice("data: ".length));
  }
  return undefined;
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
