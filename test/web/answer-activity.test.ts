import fs from "node:fs";
import { expect, it } from "vitest";
import { openLearning } from "../../src/open-learn.ts";
import { logSurfaced } from "../../src/recall/surface-log.ts";
import type { BulkAnswer, LastChange, Timeline } from "../../src/web/api.ts";
import { propose } from "../learn/proposals.ts";
import { DAY, errorOf, HOUR, note } from "../world.ts";
import { call, HOSTILE, makePage } from "./open-page.ts";

const timeline = async (page: Parameters<typeof call>[0], query = {}) =>
  (await call(page, "GET", "/api/timeline", query)) as Timeline;

it("changes, recalls and extractions, newest first, with their days", async () => {
  const { world, memdir, page } = await makePage();
  await memdir.save(note("a"));
  world.now = new Date(world.now.getTime() + 2 * DAY);
  const memories = [
    { file: "user_a.md", scope: "project", why: [] },
    { file: "gone.md", scope: "project", why: [] },
  ];
  logSurfaced(world.dir, { at: world.now, session: "s1", door: "hook", prompt: "p q", memories });
  world.now = new Date(world.now.getTime() + HOUR);
  const { ledger, inbox } = openLearning(memdir);
  const usage = { input: 1, output: 1, cacheRead: 0, cacheWrite: 0 };
  ledger.spend({
    at: world.now.toISOString(),
    kind: "extraction",
    session: "s1",
    model: "m/x",
    usage,
    produced: "2 saved",
    skipped: null,
  });
  ledger.skip("extraction", null, "too soon");
  await inbox.add(propose({ at: new Date(world.now.getTime() + 1_000).toISOString(), name: HOSTILE.script }));
  await memdir.forget("a", { reason: "outdated" });
  const { events, days, counts, hasMore } = await timeline(page);
  expect(hasMore).toBe(false);
  expect(events.map(({ kind, says, by }) => `${kind}: ${says} (${by})`)).toEqual([
    `extraction: Proposed “${HOSTILE.script}”, which waits for review (extraction)`,
    "change: Forgot (web: outdated)",
    "extraction: Learnt from a session: 2 saved (m/x)",
    "recall: Recalled (hook)",
    "change: Saved (web)",
  ]);
  expect(counts).toEqual({ change: 2, recall: 1, extraction: 2, dream: 0, sync: 0 });
  expect(events[3]?.session).toBe("s1");
  expect(events[3]?.memories.map(({ name }) => name)).toEqual(["a", "gone"]);
  // A month, without gaps, is the least that a chart shows.
  expect([days.length, days[0]?.day]).toEqual([30, "2026-02-11"]);
  expect(days.slice(-3).map(({ day, change, recall, extraction }) => [day, change, recall, extraction])).toEqual([
    ["2026-03-10", 1, 0, 0],
    ["2026-03-11", 0, 0, 0],
    ["2026-03-12", 1, 1, 2],
  ]);
});

it("comes from a moment on backwards, as many as are asked for", async () => {
  const { world, memdir, page } = await makePage();
  for (let i = 0; i < 4; i++) await memdir.save(note(`a${i}`));
  world.now = new Date(world.now.getTime() + HOUR);
  for (let i = 0; i < 3; i++) await memdir.save(note(`b${i}`));
  const first = await timeline(page, { limit: 3 });
  expect([first.events.length, first.hasMore]).toEqual([3, true]);
  const second = await timeline(page, { limit: 20, before: first.events.at(-1)?.at });
  expect([second.events.length, second.hasMore]).toEqual([4, false]);
  expect(second.days).toEqual(first.days);
  for (const query of [{ before: "yesterday-ish" }, { limit: "many" }]) {
    expect((await errorOf(timeline(page, query))).code).toBe("usage");
  }
});

it("nothing yet, and journals that somebody broke", async () => {
  const { world, memdir, page } = await makePage();
  expect(await timeline(page)).toMatchObject({ events: [], days: [], hasMore: false });
  await memdir.save(note("a"));
  fs.appendFileSync(world.path(".memdir/journal.jsonl"), '{"id":"9"}\n{"id":"10","at":"never","files":[]}\nnot json\n');
  fs.writeFileSync(world.path(".memdir/surfaced.jsonl"), '{"at":1}\nnull\n');
  expect((await timeline(page)).events.map(({ says }) => says)).toEqual(["Saved"]);
});

it("days go back half a year and not further", async () => {
  const { world, memdir, page } = await makePage();
  await memdir.save(note("a"));
  world.now = new Date(world.now.getTime() + 300 * DAY);
  await memdir.save(note("b"));
  const { events, days } = await timeline(page);
  expect(events.length).toBe(2);
  expect([days.length, days.reduce((sum, { change }) => sum + change, 0)]).toEqual([30, 1]);
});

it("says what undo would undo, by the names of its memories", async () => {
  const { memdir, page } = await makePage();
  expect(await call(page, "GET", "/api/last")).toBeNull();
  await memdir.save(note("deploys"));
  await memdir.forget("deploys");
  const last = (await call(page, "GET", "/api/last")) as LastChange;
  expect(last).toMatchObject({ by: "web", says: "Forgot “deploys”" });
  await call(page, "POST", "/api/undo", { id: last.id });
  expect(await call(page, "GET", "/api/last")).toMatchObject({ says: "Saved “deploys”" });
});

it("forgets several at once, as one change", async () => {
  const { world, memdir, page } = await makePage();
  for (const name of ["a", "b", "c"]) await memdir.save(note(name));
  const before = world.files();
  const done = (await call(page, "POST", "/api/bulk", {
    action: "forget",
    memories: ["0/user_a.md", "0/user_c.md"],
  })) as BulkAnswer;
  expect(done.message).toBe("Forgot 2 memories");
  expect(world.exists("user_a.md") || world.exists("user_c.md")).toBe(false);
  expect(done.entries.length).toBe(1);
  await call(page, "POST", "/api/undo", { id: done.entries[0] });
  expect(world.files()).toEqual(before);
  const outside = { action: "forget", memories: ["0/../../x.md"] };
  expect((await errorOf(call(page, "POST", "/api/bulk", outside))).code).toMatch(/usage|not-found|outside/);
});
