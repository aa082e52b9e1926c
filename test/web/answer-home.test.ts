import fs from "node:fs";
import path from "node:path";
import { expect, it } from "vitest";
import { openLearning } from "../../src/open-learn.ts";
import { logSurfaced } from "../../src/recall/surface-log.ts";
import type { ContextAnswer, HealthView, Home, Waiting } from "../../src/web/api.ts";
import { DAY, errorOf, note } from "../world.ts";
import { call, makePage } from "./open-page.ts";

const home = async (page: Parameters<typeof call>[0], query = {}) =>
  (await call(page, "GET", "/api/home", query)) as Home;
const healthOf = async (page: Parameters<typeof call>[0]) => (await call(page, "GET", "/api/health")) as HealthView;

it("an empty project is a whole answer of nothing, and looking makes no files", async () => {
  const { world, page } = await makePage();
  const view = await home(page);
  expect(view).toMatchObject({ total: 0, scopes: 0, changed: { events: [], count: 0, recalls: 0 } });
  expect(view.given.most).toEqual([]);
  expect(view.cost).toMatchObject({ month: "2026-03", cost: 0, tokens: 0 });
  expect(await healthOf(page)).toEqual({ score: 100, memories: 0, parts: [], isComplete: true });
  expect((await call(page, "GET", "/api/waiting")) as Waiting).toMatchObject({ review: 0 });
  expect(world.files()).toEqual([]);
});

it("what the model is given: parts of the context, and how many memories the index names", async () => {
  const { world, memdir, page } = await makePage();
  fs.writeFileSync(path.join(world.project, "CLAUDE.md"), "Use tabs.\n");
  await memdir.save(note("a", { type: "feedback" }));
  await memdir.save(note("b"));
  const { total, given } = await home(page);
  expect(total).toBe(2);
  expect(given.index).toMatchObject({ maxLines: 200, listed: 2, isCut: false });
  expect(given.index.lines).toBeGreaterThan(0);
  expect(given.context.map(({ part }) => part)).toEqual(["memory section", "CLAUDE.md (project)", "memory index"]);
  expect(given.context.every(({ bytes, tokens }) => bytes > 0 && tokens > 0)).toBe(true);
});

it("what changed since a time, by names; before that, what changed last", async () => {
  const { world, memdir, page } = await makePage();
  await memdir.save(note("early"));
  const before = new Date(world.now.getTime() + 1000).toISOString();
  world.now = new Date(world.now.getTime() + DAY);
  expect((await home(page, { since: before })).changed).toMatchObject({ count: 0, since: before });
  expect((await home(page, { since: before })).changed.events[0]?.memories[0]?.name).toBe("early");
  await memdir.save(note("late"));
  const { changed } = await home(page, { since: before });
  expect(changed.count).toBe(1);
  expect(changed.events.map(({ says, memories }) => [says, memories[0]?.name])).toEqual([["Saved", "late"]]);
  expect((await errorOf(call(page, "GET", "/api/home", { since: "yesterday" }))).code).toBe("usage");
});

it("health takes all directories together and is explained by its parts, which name the memories", async () => {
  const { world, memdir, page } = await makePage();
  await memdir.save(note("one", { body: "The build uses pnpm and needs node twenty two installed." }));
  await memdir.save(note("two", { body: "The build uses pnpm and needs node twenty two installed." }));
  const health = await healthOf(page);
  expect(health.score).toBeLessThan(100);
  const double = health.parts.find(({ kind }) => kind.endsWith("duplicate"));
  expect(double).toMatchObject({ count: 1, memories: [{ directory: 0 }] });
  const lost = health.parts.map(({ points }) => points);
  expect(lost.every(Number.isInteger)).toBe(true);
  expect(lost.reduce((sum, points) => sum + points, 0)).toBe(100 - (health.score ?? 0));
  expect(["one", "two"]).toContain(double?.memories[0]?.name);
  await memdir.forget("two");
  const fixed = await healthOf(page);
  expect(fixed.score).toBeGreaterThan(health.score ?? 100);
  expect(fixed.parts.some(({ kind }) => kind.endsWith("duplicate"))).toBe(false);
  expect(world.logged).toEqual([]);
});

it("while somebody watches, health is measured beside the request, once for each version, and its end is told", async () => {
  const { memdir, page } = await makePage();
  await memdir.save(note("one"));
  let runs = 0;
  const told: string[] = [];
  page.kept.version = 1;
  page.tell = ({ kind }) => told.push(kind);
  page.measureApart = async () => {
    runs++;
    return [{ dir: memdir.directories[0]?.path ?? "", memories: 4, findings: [] }];
  };
  expect(await healthOf(page)).toMatchObject({ score: null, isComplete: false });
  await expect.poll(() => told).toEqual(["health"]);
  expect(await healthOf(page)).toMatchObject({ score: 100, memories: 4, isComplete: true });
  expect(runs).toBe(1);
  page.kept.version = 2;
  expect(await healthOf(page)).toMatchObject({ score: 100, isComplete: false });
  await expect.poll(() => runs).toBe(2);
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
  const { cost } = await home(page);
  expect(cost.cost).toBeCloseTo(2);
  expect(cost.byKind.map((each) => [each.kind, each.cost])).toEqual([
    ["extraction", 1],
    ["dream", 1],
  ]);
  expect(cost.byDay.length).toBe(10);
  expect(cost.byDay.at(-1)).toEqual({ day: "2026-03-10", cost: 1, tokens: 200_000 });
  expect(cost.unpriced).toEqual(["unknown/x"]);
});

it("tells what was recalled most, also of hundreds", async () => {
  const { world, page } = await makePage();
  for (let i = 0; i < 300; i++) world.write(`m${i}.md`, `---\nname: m${i}\ntype: user\n---\n\nBody ${i}.\n`);
  const seen = (file: string) => [{ file, scope: "project", why: [] }];
  const log = (file: string) =>
    logSurfaced(world.dir, { at: world.now, session: null, door: "agent", prompt: "p q", memories: seen(file) });
  log("m7.md");
  log("m7.md");
  log("m8.md");
  log("gone.md");
  const { given, changed } = await home(page);
  expect(changed.recalls).toBe(4);
  expect(given.most.map(({ name, count }) => [name, count])).toEqual([
    ["m7", 2],
    ["m8", 1],
  ]);
  expect(given.since).toBe(world.now.toISOString());
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
  expect(plain.index?.bytes).toBeGreaterThan(0);
  const touched = (await call(page, "GET", "/api/context", { touch: "sub/x.ts" })) as ContextAnswer;
  expect(touched.added.map(({ text }) => text)).toEqual(["Nested <script>alert(1)</script>.\n"]);
  for (const touch of ["../../etc/passwd", "/etc/passwd", "a\0b"]) {
    expect((await errorOf(call(page, "GET", "/api/context", { touch }))).code).toBe("outside");
  }
});
