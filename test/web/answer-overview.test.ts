import fs from "node:fs";
import path from "node:path";
import { expect, it } from "vitest";
import { openLearning } from "../../src/open-learn.ts";
import { logSurfaced } from "../../src/recall/surface-log.ts";
import type { ContextAnswer, Overview, RotView } from "../../src/web/api.ts";
import { DAY, errorOf, note } from "../world.ts";
import { call, makePage } from "./open-page.ts";

const overview = async (page: Parameters<typeof call>[0]) => (await call(page, "GET", "/api/overview")) as Overview;
const rotOf = async (page: Parameters<typeof call>[0]) => (await call(page, "GET", "/api/rot")) as RotView;

it("an empty project is a whole answer of nothing, and looking makes no files", async () => {
  const { world, page } = await makePage();
  const view = await overview(page);
  expect(view).toMatchObject({ total: 0, byType: {}, byScope: {} });
  expect(await rotOf(page)).toEqual({ score: 100, first: [] });
  expect(view.byAge.map(({ label }) => label)).toEqual(["today", "this week", "this month", "this quarter", "older"]);
  expect(view.recalled).toEqual({ most: [], never: [], neverCount: 0, since: null });
  expect(view.cost).toMatchObject({ month: "2026-03", total: 0 });
  expect(world.files()).toEqual([]);
});

it("counts by type, scope and age, the index against its cap, and what fills the context", async () => {
  const { world, memdir, page } = await makePage();
  fs.writeFileSync(path.join(world.project, "CLAUDE.md"), "Use tabs.\n");
  await memdir.save(note("a", { type: "feedback" }));
  world.write("old.md", "---\nname: old\ntype: project\n---\n\nOld.\n", { ageMs: 20 * DAY });
  world.write("older.md", "---\nname: older\ntype: project\n---\n\nOlder.\n", { ageMs: 200 * DAY });
  const view = await overview(page);
  expect(view.total).toBe(3);
  expect(view.byType).toEqual({ feedback: 1, project: 2 });
  expect(view.byScope).toEqual({ project: 3 });
  expect(view.byAge.map(({ count }) => count)).toEqual([1, 0, 1, 0, 1]);
  expect(view.index).toMatchObject({ maxLines: 200, maxChars: 25_000, isCut: false });
  expect(view.index.lines).toBeGreaterThan(0);
  expect(view.context.map(({ part }) => part)).toEqual(["memory section", "CLAUDE.md (project)", "memory index"]);
  expect(view.context.every(({ bytes, tokens }) => bytes > 0 && tokens > 0)).toBe(true);
});

it("the score takes all directories together, and what to do first names the memories", async () => {
  const { world, memdir, page } = await makePage();
  await memdir.save(note("one", { body: "The build uses pnpm and needs node twenty two installed." }));
  await memdir.save(note("two", { body: "The build uses pnpm and needs node twenty two installed." }));
  const rot = await rotOf(page);
  expect(rot.score).toBeLessThan(100);
  const double = rot.first.find(({ todo }) => todo === "memdir dream --plan");
  expect(double?.count).toBe(1);
  expect(double?.memories[0]).toMatchObject({ directory: 0 });
  expect(["one", "two"]).toContain(double?.memories[0]?.name);
  await memdir.forget("two");
  const mended = await rotOf(page);
  expect(mended.score).toBeGreaterThan(rot.score);
  expect(mended.first.some(({ todo }) => todo === "memdir dream --plan")).toBe(false);
  expect(world.logged).toEqual([]);
});

it("cost comes by day and kind of this month; a model without a price is named and in no sum", async () => {
  const price = { input: 10, output: 10, cacheRead: 0, cacheWrite: 0 };
  const { world, memdir, page } = await makePage({ settings: { learn: { prices: { "a/*": price } } } });
  const { ledger } = openLearning(memdir);
  const usage = { input: 50_000, output: 50_000, cacheRead: 0, cacheWrite: 0 };
  const spend = (at: Date, model: string, kind: "extraction" | "dream") =>
    ledger.spend({ at: at.toISOString(), kind, session: null, model, usage, produced: "", skipped: null });
  spend(world.now, "a/b", "extraction");
  spend(new Date(world.now.getTime() - 2 * DAY), "a/b", "dream");
  spend(new Date(world.now.getTime() - 40 * DAY), "a/b", "dream");
  spend(world.now, "unknown/x", "dream");
  ledger.skip("extraction", null, "budget");
  const cost = (await overview(page)).cost;
  expect(cost.total).toBeCloseTo(2);
  expect(cost.byKind).toEqual({ extraction: 1, dream: 1 });
  expect(Object.keys(cost.tokensByKind)).toEqual(["extraction", "dream"]);
  expect(cost.byDay.length).toBe(10);
  expect(cost.byDay.at(-1)).toEqual({ day: "2026-03-10", cost: 1, tokens: 200_000 });
  expect(cost.unpriced).toEqual(["unknown/x"]);
});

it("tells what was recalled most and what never, also of hundreds", async () => {
  const { world, page } = await makePage();
  for (let i = 0; i < 300; i++) world.write(`m${i}.md`, `---\nname: m${i}\ntype: user\n---\n\nBody ${i}.\n`);
  const seen = (file: string) => [{ file, scope: "project", why: [] }];
  const log = (file: string) =>
    logSurfaced(world.dir, { at: world.now, session: null, door: "agent", prompt: "p q", memories: seen(file) });
  log("m7.md");
  log("m7.md");
  log("m8.md");
  log("gone.md");
  const { recalled } = await overview(page);
  expect(recalled.most.map(({ name, count }) => [name, count])).toEqual([
    ["m7", 2],
    ["m8", 1],
  ]);
  expect(recalled.neverCount).toBe(298);
  expect(recalled.never.length).toBe(20);
  expect(recalled.since).toBe(world.now.toISOString());
});

it("context: loaded and not loaded with reasons, what a touch adds, and the index", async () => {
  const { world, memdir, page } = await makePage();
  fs.writeFileSync(path.join(world.project, "CLAUDE.md"), "Root.\n@more.md\n");
  fs.writeFileSync(path.join(world.project, "more.md"), "More.\n");
  fs.mkdirSync(path.join(world.project, "sub"));
  fs.writeFileSync(path.join(world.project, "sub/CLAUDE.md"), "Nested <script>alert(1)</script>.\n");
  await memdir.save(note("a"));
  const plain = (await call(page, "GET", "/api/context")) as ContextAnswer;
  expect(plain.loaded.map(({ path: file }) => path.basename(file))).toEqual(["CLAUDE.md", "more.md"]);
  expect(plain.loaded[1]?.reason).toContain("imported by");
  expect(plain.added).toEqual([]);
  expect(plain.index?.text).toContain("user_a.md");
  const touched = (await call(page, "GET", "/api/context", { touch: "sub/x.ts" })) as ContextAnswer;
  expect(touched.added.map(({ text }) => text)).toEqual(["Nested <script>alert(1)</script>.\n"]);
  for (const touch of ["../../etc/passwd", "/etc/passwd", "a\0b"]) {
    expect((await errorOf(call(page, "GET", "/api/context", { touch }))).code).toBe("outside");
  }
});
