import { expect, it, onTestFinished } from "vitest";
import type { LiveEvent } from "../../src/web/api.ts";
import { openLive } from "../../src/web/live.ts";
import { PATIENT, until } from "../until.ts";
import { makeWorld, note } from "../world.ts";
import { startStub } from "./stub-page.ts";

const QUICK = { settleMs: 10, pollMs: 20 };

it("tells the page of a change on disk, after a greeting", async () => {
  const world = makeWorld();
  await (await world.open()).save(note("a"));
  const { page, enter } = await startStub({ world, watching: QUICK });
  const response = await fetch(`${page.url}/api/live`, { headers: { cookie: await enter() } });
  expect(response.headers.get("content-type")).toBe("text/event-stream; charset=utf-8");
  const events = readEvents(response.body as ReadableStream<Uint8Array>);
  expect((await events.next()).value).toEqual({ kind: "hello", jobs: [], generation: 0 });
  let told: LiveEvent | undefined;
  void events.next().then(({ value }) => {
    told = value;
  });
  let times = 0;
  // Again and again: the directory may not be watched yet.
  await until(() => {
    world.write("b.md", `by hand, ${++times}`);
    return told;
  });
  expect(told).toEqual({ kind: "changed", directory: expect.any(Number) });
});

it("lets four tabs of a browser listen, and takes another when one leaves", async () => {
  const live = openLive([], { jobs: () => [], generation: () => 0, log: () => {} });
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
  const live = openLive([], { jobs: () => [], generation: () => 0, log: () => {}, heartbeatMs: 5 });
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
