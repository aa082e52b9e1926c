/** What `verify` makes of a finding by what came first: the memory's line, or the change. */

import fs from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import type { VerifyOptions } from "../../src/truth/verify.ts";
import { DAY, makeWorld, START, type World } from "../world.ts";

/** Sets the clock to so many days after the start. */
const at = (world: World, day: number) => {
  world.now = new Date(Date.parse(START) + day * DAY);
};
const put = (world: World, files: Record<string, string | null>) => {
  for (const [file, text] of Object.entries(files)) {
    const full = path.join(world.project, file);
    fs.mkdirSync(path.dirname(full), { recursive: true });
    if (text === null) fs.rmSync(full);
    else fs.writeFileSync(full, text);
  }
};
const commit = (world: World, day: number, files: Record<string, string | null>) => {
  at(world, day);
  put(world, files);
  world.git("add", "-A");
  world.git("commit", "-q", "-m", `day ${day}`);
};
const memory = (body: string, more = "") => `---\nname: m\ndescription: d\ntype: project\n${more}---\n\n${body}\n`;
/** A private memory, written on that day. */
const remember = (world: World, day: number, body: string, file = "m.md", more = "") => {
  const then = new Date(Date.parse(START) + day * DAY);
  world.write(file, memory(body, more));
  fs.utimesSync(world.path(file), then, then);
};
const verify = async (world: World, options: VerifyOptions = {}) => (await world.open()).verify(undefined, options);
const shown = async (world: World, options: VerifyOptions = {}) =>
  (await verify(world, options)).problems.map(({ claim, verdict }) => `${claim} ${verdict}`);

/** A shared memory; the store is in the repository. */
const TEAM = ".claude/memory/m.md";
const CODE = { "src/pool.ts": "export const drainPool = 1;\n", "src/main.ts": "start();\n" };

describe("in a store in the repository, git knows when a line was written", () => {
  it("a line that is older than the removal is shown, with both days", async () => {
    const world = makeWorld();
    commit(world, 0, { ...CODE, [TEAM]: memory("See src/pool.ts.") });
    commit(world, 5, { "src/pool.ts": null });
    const { problems, hidden } = await verify(world);
    expect(problems).toMatchObject([
      {
        ...{ scope: "team", claim: "src/pool.ts", verdict: "gone", order: "after", confidence: 0.9 },
        ...{ written: "2026-03-10", changed: "2026-03-15" },
      },
    ]);
    expect(problems[0]?.evidence).toMatch(/^deleted by \w+ on 2026-03-15, after this was written on 2026-03-10$/);
    expect(hidden).toBe(0);
  });

  it("paths of a project that moved as a whole, with its store, hold where the store is now", async () => {
    const world = makeWorld();
    const text = memory("See src/pool.ts and src/gone.ts.\n\nMore lines make this file the same one after the move.");
    commit(world, 0, { ...CODE, "src/gone.ts": "", [TEAM]: text });
    const moved = Object.entries(CODE).map(([file, code]): [string, string] => [`app/${file}`, code]);
    const old = Object.fromEntries(Object.keys({ ...CODE, [TEAM]: 0, "src/gone.ts": 0 }).map((file) => [file, null]));
    commit(world, 5, { ...old, ...Object.fromEntries(moved), [`app/${TEAM}`]: text });
    const memdir = await world.open({ memoryDir: path.join(world.project, "app/.claude/memory") });
    const { problems } = await memdir.verify();
    expect(problems.map(({ claim, verdict }) => `${claim} ${verdict}`)).toEqual(["src/gone.ts gone"]);
  });

  it("a name in a file that grows beyond what is read has not been removed", async () => {
    const world = makeWorld();
    const large = (bytes: number) => `export function drainPool() {}\n${"// more of it\n".repeat(bytes / 14)}`;
    commit(world, 0, { "src/pool.ts": large(1 << 20), [TEAM]: memory("Call `drainPool` before you stop.") });
    commit(world, 5, { "src/pool.ts": large(5 << 20) });
    expect(await shown(world)).toEqual([]);
  });

  it("lines of a store that moved are as old as where they came from", async () => {
    const world = makeWorld();
    const text = memory("See src/pool.ts.\n\nMore lines make this file the same one after the move.");
    commit(world, 0, { ...CODE, "notes/m.md": text });
    commit(world, 5, { "src/pool.ts": null });
    commit(world, 8, { "notes/m.md": null, [TEAM]: text });
    expect((await verify(world)).problems).toMatchObject([{ claim: "src/pool.ts", written: "2026-03-10" }]);
  });

  it("what came after the line and has gone again is another thing of that name", async () => {
    const world = makeWorld();
    commit(world, 0, { "src/main.ts": "start();\n", [TEAM]: memory("See src/pool.ts and `drainPool`.") });
    commit(world, 2, CODE);
    commit(world, 5, { "src/pool.ts": null });
    expect(await shown(world)).toEqual([]);
    expect(await shown(world, { all: true })).toEqual(["src/pool.ts gone", "drainPool gone"]);
  });

  it("a removal later on the same day is less certain, and comes last", async () => {
    const world = makeWorld();
    commit(world, 0, { ...CODE, [TEAM]: memory("See src/pool.ts and src/main.ts.") });
    commit(world, 0.1, { "src/pool.ts": null });
    commit(world, 5, { "src/main.ts": null });
    const { problems } = await verify(world);
    expect(problems.map(({ claim, confidence }) => [claim, confidence])).toEqual([
      ["src/main.ts", 0.9],
      ["src/pool.ts", 0.6],
    ]);
    expect(problems[1]?.evidence).toMatch(/^deleted by \w+ on 2026-03-10, 2 hours after this was written$/);
  });

  it.each([
    ["younger than", "before", /before this was written on 2026-03-15$/],
    ["written by the commit of", "with", /by the commit that wrote this$/],
  ])("a line that is %s the removal is hidden", async (_, order, evidence) => {
    const world = makeWorld();
    commit(world, 0, CODE);
    if (order === "before") {
      commit(world, 2, { "src/pool.ts": null });
      commit(world, 5, { [TEAM]: memory("See src/pool.ts.") });
    } else commit(world, 5, { "src/pool.ts": null, [TEAM]: memory("See src/pool.ts.") });
    const { problems, hidden } = await verify(world);
    expect({ problems, hidden }).toEqual({ problems: [], hidden: 1 });
    const all = await verify(world, { all: true });
    expect(all).toMatchObject({ hidden: 0, problems: [{ claim: "src/pool.ts", verdict: "gone", order }] });
    expect(all.problems[0]?.confidence).toBeLessThan(0.6);
    expect(all.problems[0]?.evidence).toMatch(evidence);
  });

  it("an edit of another line, and a fresh checkout, do not make it younger; the same line in another file neither", async () => {
    const world = makeWorld();
    commit(world, 0, { ...CODE, [TEAM]: memory("See src/pool.ts.") });
    commit(world, 5, { "src/pool.ts": null });
    commit(world, 8, { [TEAM]: memory("See src/pool.ts.\n\nIt is fast.") });
    commit(world, 9, { [TEAM]: null, ".claude/memory/moved.md": memory("See src/pool.ts.\n\nIt is fast.") });
    const { problems } = await verify(world);
    expect(problems).toMatchObject([{ file: "moved.md", claim: "src/pool.ts", written: "2026-03-10" }]);
  });

  it("a line that was rewritten is as old as its words", async () => {
    const world = makeWorld();
    commit(world, 0, { ...CODE, [TEAM]: memory("See src/pool.ts.") });
    commit(world, 5, { "src/pool.ts": null });
    commit(world, 8, { [TEAM]: memory("See src/pool.ts, and mind the step.") });
    expect(await shown(world)).toEqual([]);
    expect(await shown(world, { all: true })).toEqual(["src/pool.ts gone"]);
  });
});

describe("in a private store", () => {
  it.each([
    ["older", 3, ["src/pool.ts gone"]],
    ["younger", 7, []],
  ])("the journal knows: %s", async (_, day, expected) => {
    const world = makeWorld();
    commit(world, 0, CODE);
    const save = async () =>
      (await world.open()).save({ type: "project", name: "pool", description: "d", body: "See src/pool.ts." });
    if (day < 5) {
      at(world, day);
      await save();
    }
    commit(world, 5, { "src/pool.ts": null });
    if (day > 5) {
      at(world, day);
      await save();
    }
    at(world, 9);
    expect(await shown(world)).toEqual(expected);
    expect(await shown(world, { all: true })).toEqual(["src/pool.ts gone"]);
  });

  it("a line keeps its day when another one is added after the removal", async () => {
    const world = makeWorld();
    commit(world, 0, CODE);
    const save = async (body: string) =>
      (await world.open()).save({ type: "project", name: "pool", description: "d", body });
    at(world, 3);
    await save("See src/pool.ts.");
    commit(world, 5, { "src/pool.ts": null });
    at(world, 7);
    await save("See src/pool.ts.\n\nBegin in src/main.ts.");
    const { problems } = await verify(world);
    expect(problems).toMatchObject([{ claim: "src/pool.ts", written: "2026-03-13", order: "after" }]);
  });

  it("what verify fixes in a line does not make the rest of it new", async () => {
    const world = makeWorld();
    commit(world, 0, { ...CODE, "src/drain.ts": "export const drain = 1;\n".repeat(9) });
    at(world, 3);
    const body = "See src/pool.ts and src/drain.ts.";
    await (await world.open()).save({ type: "project", name: "pool", description: "d", body });
    commit(world, 5, {
      "src/pool.ts": null,
      "src/drain.ts": null,
      "lib/drain.ts": "export const drain = 1;\n".repeat(9),
    });
    at(world, 7);
    expect(await shown(world)).toEqual(["src/pool.ts gone", "src/drain.ts moved"]);
    expect(await shown(world, { fix: true })).toEqual(["src/pool.ts gone"]);
    const { problems } = await verify(world);
    expect(problems).toMatchObject([{ claim: "src/pool.ts", written: "2026-03-13", order: "after" }]);
    await (await world.open()).rename("pool", "pools");
    expect((await verify(world)).problems).toMatchObject([{ claim: "src/pool.ts", written: "2026-03-13" }]);
    commit(world, 8, { "lib/drain.ts": null });
    expect(await shown(world)).toEqual(["src/pool.ts gone", "lib/drain.ts gone"]);
  });

  it.each([
    ["modified, before created and the file's time", "created: 2026-03-11\nmodified: 2026-03-18\n", 0, []],
    ["created, before the file's time", "created: 2026-03-11\n", 9, ["src/pool.ts gone"]],
    ["the file's time", "", 2, ["src/pool.ts gone"]],
    ["the file's time, which is later", "", 9, []],
  ])("without a journal it counts %s", async (_, head, day, expected) => {
    const world = makeWorld();
    commit(world, 0, CODE);
    commit(world, 5, { "src/pool.ts": null });
    world.write("m.md", memory("See src/pool.ts.", head));
    const then = new Date(Date.parse(START) + day * DAY);
    fs.utimesSync(world.path("m.md"), then, then);
    at(world, 10);
    expect(await shown(world)).toEqual(expected);
  });
});

/** What the code says on day 0 and on day 5; the memory is of day 2. */
async function judge(
  body: string,
  before: Record<string, string>,
  after: Record<string, string | null>,
  options: VerifyOptions = {},
): Promise<string[]> {
  const world = makeWorld();
  commit(world, 0, { ...CODE, ...before });
  remember(world, 2, body);
  commit(world, 5, after);
  return shown(world, options);
}

describe("what is gone", () => {
  it("is told of a removal that is not committed, whenever the memory was written", async () => {
    const world = makeWorld();
    commit(world, 0, CODE);
    put(world, { "src/pool.ts": null });
    remember(world, 3, "See src/pool.ts.");
    at(world, 5);
    expect((await verify(world)).problems).toMatchObject([
      {
        claim: "src/pool.ts",
        verdict: "gone",
        evidence: expect.stringContaining("not committed yet"),
        confidence: 0.9,
      },
    ]);
  });

  it("is not told of a path that git ignores, though it was once tracked", async () => {
    const build = { "out/app.js": "run();\n" };
    const ignored = { "out/app.js": null, ".gitignore": "out/\n" };
    expect(await judge("See out/app.js.", build, ignored, { all: true })).toEqual([]);
    expect(await judge("See out/app.js.", build, { "out/app.js": null })).toEqual(["out/app.js gone"]);
  });

  it("is not told of a folder whose files git only stopped tracking", async () => {
    const data = { "data/app.db": "rows\n", "data/app.db-wal": "log\n" };
    const gone = { "data/app.db": null, "data/app.db-wal": null };
    expect(await judge("Never empty data/ by hand.", data, { ...gone, ".gitignore": "data/*.db*\n" })).toEqual([]);
    expect(await judge("Never empty data/ by hand.", data, gone)).toEqual(["data/ gone"]);
  });

  it("is not told of an ignored path beside one that git will not look at", async () => {
    const world = makeWorld();
    commit(world, 0, { ...CODE, "out/app.js": "run();\n", "real/a.ts": "a();\n" });
    fs.symlinkSync("real", path.join(world.project, "link"), "dir");
    remember(world, 2, "See link/b.ts, real/a.ts, `](../../../../other.md)` and out/app.js.");
    commit(world, 5, { "out/app.js": null, "real/a.ts": null, ".gitignore": "out/\n" });
    expect(await shown(world, { all: true })).toEqual(["real/a.ts gone"]);
  });

  it("is not told of a name that only a virtual environment had", async () => {
    const own = "def fillWheel():\n  pass\n";
    const venv = ".venv/lib/python3.12/site-packages/pip/wheel.py";
    expect(await judge("Call `fillWheel()`.", { [venv]: own }, { [venv]: null }, { all: true })).toEqual([]);
    expect(await judge("Call `fillWheel()`.", { "pip/wheel.py": own }, { "pip/wheel.py": null })).toEqual([
      "fillWheel gone",
    ]);
  });

  it("is not told of a line number that another file of that name has", async () => {
    const files = { "src/a/tools.ts": "one();\n", "src/b/tools.ts": "one();\n".repeat(50) };
    const shorter = { "src/a/tools.ts": "two();\n" };
    expect(await judge("See `tools.ts:40`.", files, shorter)).toEqual([]);
    expect(await judge("See `tools.ts:60`.", files, shorter)).toEqual(["tools.ts changed"]);
  });

  it("is told of a line number only where the file changed since", async () => {
    const file = { "src/tools.ts": "one();\n".repeat(50) };
    const shorter = { "src/tools.ts": "one();\n" };
    expect(await judge("See src/tools.ts:40.", file, shorter)).toEqual(["src/tools.ts changed"]);
    expect(await judge("See src/tools.ts:60.", file, { "src/main.ts": "other();\n" })).toEqual([]);
  });

  it("is not told of what a heading further up calls not built", async () => {
    const text = "## Not yet built\n\n### This week\n\n- src/pool.ts: the pool";
    expect(await judge(text, CODE, { "src/pool.ts": null }, { all: true })).toEqual([]);
  });

  it.each([
    ["in the commit that removed it", 5],
    ["later", 8],
  ])("is hidden where the memory names it again %s", async (_, day) => {
    const world = makeWorld();
    commit(world, 0, { ...CODE, [TEAM]: memory("Draining is in src/pool.ts.") });
    commit(world, 5, { "src/pool.ts": null, "src/main.ts": "stop();\n" });
    expect(await shown(world)).toEqual(["src/pool.ts gone"]);
    const again = memory("Draining is in src/pool.ts.\n\nSeit heute gibt es `pool.ts` nicht mehr.");
    if (day === 5) {
      world.git("reset", "-q", "--hard", "HEAD~1");
      commit(world, 5, { "src/pool.ts": null, "src/main.ts": "stop();\n", [TEAM]: again });
    } else commit(world, day, { [TEAM]: again });
    expect(await shown(world)).toEqual([]);
    const [finding] = (await verify(world, { all: true })).problems;
    expect(finding?.evidence).toMatch(/; line 9 names it as well, and was written since$/);
  });

  it("is told where the memory was edited since without naming it again", async () => {
    const world = makeWorld();
    commit(world, 0, { ...CODE, [TEAM]: memory("Draining is in src/pool.ts.") });
    commit(world, 5, { "src/pool.ts": null });
    commit(world, 8, { [TEAM]: memory("Draining is in src/pool.ts.\n\nThe pool has other users: src/main.ts.") });
    expect(await shown(world)).toEqual(["src/pool.ts gone"]);
  });

  const KEPT = { "src/pool.ts": "export const other = 1;\n" };

  it.each([
    ["a string", { "src/main.ts": 'call("drainPool");\n' }],
    ["a page", { "web/index.html": '<button onclick="drainPool()">drain</button>\n' }],
    ["generated code", { "gen/api.pb.go": "// Code generated by protoc. DO NOT EDIT.\nfunc drainPool() {}\n" }],
    ["minified code", { "public/app.min.js": `var drainPool=1;${"x();".repeat(400)}\n` }],
  ])("is not told of a name that is still in %s", async (_, files) => {
    expect(await judge("Call `drainPool`.", files, KEPT, { all: true })).toEqual([]);
    expect(await judge("Call `drainPool`.", {}, KEPT)).toEqual(["drainPool gone"]);
  });

  it("is told of a name that only a comment still has", async () => {
    expect(await judge("Call `drainPool`.", { "src/main.ts": "// like drainPool\nstart();\n" }, KEPT)).toEqual([
      "drainPool gone",
    ]);
  });

  it("is not told of what is struck through", async () => {
    const gone = { "src/pool.ts": null };
    expect(await judge("~~See src/pool.ts. Call `drainPool`.~~ See src/main.ts.", {}, gone, { all: true })).toEqual([]);
    expect(await judge("~~No.~~ See src/pool.ts.", {}, gone)).toEqual(["src/pool.ts gone"]);
  });

  it("is hidden where a bare name may be that of a file that is left, and told where none is", async () => {
    const two = { "config.ts": "export const a = 1;\n", "b/config.ts": "export const b = 2;\n" };
    expect(await judge("Look into `config.ts`.", two, { "config.ts": null })).toEqual([]);
    expect(await judge("Look into `config.ts`.", two, { "config.ts": null }, { all: true })).toEqual([
      "config.ts gone",
    ]);
    const gone = { "config.ts": null, "b/config.ts": null };
    expect(await judge("Look into `config.ts`.", two, gone)).toEqual(["config.ts gone"]);
  });

  it("of branches and tags is told where the memory declares them", async () => {
    const world = makeWorld();
    commit(world, 0, CODE);
    world.git("tag", "v1.0.0");
    world.write("m.md", memory("Work on the `develop` branch, tagged v2.0.0.", 'claims:\n  - "branch: develop"\n'));
    at(world, 5);
    expect(await shown(world)).toEqual(["develop gone"]);
    world.write("m.md", memory("Work on the `develop` branch, tagged v2.0.0."));
    expect(await verify(world, { all: true })).toMatchObject({ problems: [], hidden: 0 });
  });
});

describe("a value", () => {
  const ten = { "src/db.ts": "export const poolSize = 10;\n" };
  const twentyFive = { "src/db.ts": "export const poolSize = 25;\n" };

  it("that changed after it was written is told, with where and from what", async () => {
    const world = makeWorld();
    commit(world, 0, ten);
    remember(world, 2, "`poolSize` is 10.");
    commit(world, 5, twentyFive);
    expect((await verify(world)).problems).toMatchObject([
      {
        ...{ claim: "poolSize", kind: "value", verdict: "changed", order: "after", confidence: 0.9 },
        evidence: expect.stringMatching(/^src\/db\.ts:1 says 25, changed from 10 by \w+ on 2026-03-15, after/),
      },
    ]);
  });

  it("that changed before it was written is hidden", async () => {
    const world = makeWorld();
    commit(world, 0, ten);
    commit(world, 1, twentyFive);
    remember(world, 2, "`poolSize` is 10.");
    expect(await shown(world)).toEqual([]);
    expect(await shown(world, { all: true })).toEqual(["poolSize changed"]);
  });

  it.each([
    ["is the same", "`poolSize` is 10.", ten, { "src/main.ts": "stop();\n" }],
    ["is the same in other words", "`poolSize` is 10,000.", {}, { "src/db.ts": "export const poolSize = 10_000;\n" }],
    ["was never stated", "`poolSize` is 7.", ten, twentyFive],
    ["is not stated at all", "`poolSize` is 10.", {}, { "src/db.ts": "export const poolSize = measure();\n" }],
    ["is stated twice, differently", "`poolSize` is 10.", ten, { ...twentyFive, "src/b.ts": "const poolSize = 30;\n" }],
    ["another file stated", "`poolSize` is 10.", { "a.ts": "const poolSize = 10;\n" }, { "a.ts": "", ...twentyFive }],
    ["was another", "`poolSize` was 10.", ten, twentyFive],
  ])("that %s is no finding", async (_, body, before, after) => {
    expect(await judge(body, before, after, { all: true })).toEqual([]);
  });

  it("of the file that the memory names counts, whatever others say", async () => {
    const other = { "src/other.ts": "export const poolSize = 99;\n" };
    expect(await judge("poolSize 10 in src/db.ts.", { ...ten, ...other }, twentyFive)).toEqual(["poolSize changed"]);
  });

  it("in tests does not count", async () => {
    const tests = { "test/db.test.ts": "const poolSize = 3;\n" };
    expect(await judge("`poolSize` is 10.", { ...ten, ...tests }, twentyFive)).toEqual(["poolSize changed"]);
  });
});

describe("an option", () => {
  const parse = (...options: string[]) => options.map((each) => `parse("--${each}");\n`).join("");

  it.each([
    ["of a program that the sentence names, and that is still there", "Run `ship --dry-boat`.", parse("fast"), true],
    ["of a program that is gone", "Run `ship --dry-boat`.", null, false],
    ["of a program that the sentence does not name", "Run `kayak --dry-boat`.", parse("fast"), false],
  ])("%s", async (_, body, code, isShown) => {
    const before = { "tools/ship.ts": parse("dry-boat", "fast") };
    expect(await judge(body, before, { "tools/ship.ts": code })).toEqual(isShown ? ["--dry-boat gone"] : []);
    expect(await judge(body, before, { "tools/ship.ts": code }, { all: true })).toContain("--dry-boat gone");
  });
});

it("what a rule file or a sample project loses is not what the project loses", async () => {
  const own = JSON.stringify({ dependencies: { "bull-queue": "5.0.0" } }, null, 2);
  const removed = (file: string, after: string | null) =>
    judge("The worker uses `bull-queue`.", { [file]: own }, { [file]: after });
  expect(await removed("package.json", "{}")).toEqual(["bull-queue gone"]);
  expect(await removed("packages/worker/package.json", "{}")).toEqual(["bull-queue gone"]);
  expect(await removed("skills/audit/sample/package.json", null)).toEqual([]);
  const rule = { ".cursor/rules/guide.mdc": "Use BigScript everywhere.\n" };
  expect(await judge("Written in `BigScript`.", rule, { ".cursor/rules/guide.mdc": null })).toEqual([]);
});

it.each([
  ["a step of the work, and not what the line relies on", "Changed files: src/pool.ts, src/draft.ts.", []],
  ["shown where the line speaks of today", "The parts are src/pool.ts and src/draft.ts.", ["src/draft.ts gone"]],
])("what came with the line and went on the same day was %s", async (_, body, further) => {
  const world = makeWorld();
  commit(world, 0, CODE);
  commit(world, 1, { "src/draft.ts": "draft();\n", [TEAM]: memory(body) });
  commit(world, 1.1, { "src/draft.ts": null, "src/pool.ts": null });
  expect(await shown(world)).toEqual(["src/pool.ts gone", ...further]);
  expect(await shown(world, { all: true })).toContain("src/draft.ts gone");
});

describe("a plan", () => {
  const body = "We will add `src/queue.ts` for jobs.";
  const queue = { "src/queue.ts": "export const q = 1;\n" };

  it("whose file was added after it was written is built", async () => {
    const world = makeWorld();
    commit(world, 0, CODE);
    remember(world, 2, body);
    commit(world, 5, queue);
    expect((await verify(world)).problems).toMatchObject([
      {
        ...{ claim: "src/queue.ts", verdict: "built", order: "after" },
        evidence: expect.stringMatching(/^src\/queue\.ts was added by \w+ on 2026-03-15, after this/),
      },
    ]);
  });

  it.each([
    ["of what is missing, by its heading", "## Not yet built\n\n- `src/queue.ts`: the jobs", true],
    ["to make it, as an open item", "- [ ] create `src/queue.ts`", true],
    ["that only uses it", "We will add jobs through `src/queue.ts`.", false],
    ["that is a standing rule of a checklist", "- [ ] Log every run in `src/queue.ts` before you leave", false],
    ["of something that it is a part of", "## Next steps\n\n- Tidy up, see `src/queue.ts`", false],
  ])("%s", async (_, said, isBuilt) => {
    const world = makeWorld();
    commit(world, 0, CODE);
    remember(world, 2, said);
    commit(world, 5, queue);
    expect(await shown(world, { all: true })).toEqual(isBuilt ? ["src/queue.ts built"] : []);
  });

  it("whose file was there before, or is not there yet, is no finding", async () => {
    expect(await judge(body, queue, { "src/main.ts": "stop();\n" }, { all: true })).toEqual([]);
    expect(await judge(body, {}, { "src/main.ts": "stop();\n" }, { all: true })).toEqual([]);
    const world = makeWorld();
    commit(world, 0, CODE);
    commit(world, 1, queue);
    remember(world, 2, body);
    expect(await shown(world)).toEqual([]);
  });
});

describe("what is not the project's own", () => {
  it.each([
    ["a link into a folder that git ignores", "See [the talk](talks/monday.md)."],
    ["a variable that the memory's own script sets", 'PORT_FILE="/tmp/port"\ncat "$PORT_FILE"'],
    ["what the memory calls superseded", "`src/main.ts` supersedes the old `src/pool.ts`."],
  ])("%s is no finding", async (_, body) => {
    const world = makeWorld();
    const code = { ...CODE, "src/port.ts": "export const PORT_FILE = 1;\n" };
    commit(world, 0, { ...code, ".gitignore": "talks/\n", [TEAM]: memory(body) });
    commit(world, 5, { "src/port.ts": null, "src/pool.ts": null });
    expect(await shown(world)).toEqual([]);
  });
});

describe("a link", () => {
  it("to nothing is gone, by two brackets and by a path", async () => {
    const world = makeWorld();
    commit(world, 0, CODE);
    remember(world, 2, "See [[no such memory]] and [that one](project_nowhere.md).");
    // A name in brackets may be that of a memory elsewhere, or of one that is yet to be written.
    expect(await shown(world)).toEqual(["project_nowhere.md gone"]);
    expect((await shown(world, { all: true })).sort()).toEqual(["no such memory gone", "project_nowhere.md gone"]);
  });

  it.each(["use pnpm", "use-pnpm", "use_pnpm", "feedback_use_pnpm", "feedback-use-pnpm.md", "Use PNPM"])(
    "to [[%s]] finds the memory",
    async (link) => {
      const world = makeWorld();
      const text = "---\nname: use pnpm\ndescription: d\ntype: feedback\n---\n\nUse it.\n";
      world.write("feedback_use_pnpm.md", text);
      remember(world, 2, `See [[${link}]].`);
      expect(await shown(world, { all: true })).toEqual([]);
      fs.rmSync(world.path("feedback_use_pnpm.md"));
      expect(await shown(world, { all: true })).toEqual([`${link} gone`]);
    },
  );

  it("is found in another scope, too", async () => {
    const world = makeWorld();
    commit(world, 0, { [TEAM]: memory("Text.").replace("name: m", "name: shared thing") });
    remember(world, 2, "See [[shared thing]].");
    expect(await shown(world, { all: true })).toEqual([]);
  });
});

describe("a deadline", () => {
  it.each([
    ["that was ahead when it was written", "The freeze ends on 2026-03-14.", ["2026-03-14"]],
    ["that was past when it was written", "The freeze ends on 2026-03-11.", []],
    ["of an event", "The outage on 2026-03-14 took an hour.", []],
    ["that is still ahead", "The freeze ends on 2026-03-24.", []],
    ["that begins a range", "Shipping 2026-03-14 – 2026-03-30.", []],
    ["in a condition", "If it ships after 2026-03-14, use the new form.", []],
    ["of an old plan", "It was planned for 2026-03-14.", []],
  ])("%s", async (_, body, expected) => {
    const world = makeWorld();
    commit(world, 0, CODE);
    remember(world, 2, body);
    at(world, 7);
    // The day of a plan passes without a change to the plan: shown on request only.
    expect(await shown(world)).toEqual([]);
    expect((await verify(world, { all: true })).problems.filter(({ order }) => order === "after")).toMatchObject(
      expected.map((claim) => ({ claim, verdict: "expired" })),
    );
  });

  it("that is declared is shown", async () => {
    const world = makeWorld();
    remember(world, 2, "Text.", "a.md", 'claims:\n  - "date: 2026-03-14"\n');
    at(world, 7);
    expect(await shown(world)).toEqual(["2026-03-14 expired"]);
  });
});

it("writes no memory and no history, whatever it finds", async () => {
  const world = makeWorld();
  commit(world, 0, { ...CODE, [TEAM]: memory("See src/main.ts.") });
  remember(world, 2, "See src/main.ts.", "holds.md");
  remember(world, 2, "See src/pool.ts.", "gone.md");
  commit(world, 5, { "src/pool.ts": null });
  const texts = () => [
    ...world.files().map((file) => world.read(file)),
    fs.readFileSync(path.join(world.project, TEAM)),
  ];
  const before = texts();
  for (const options of [{}, { all: true }]) {
    const { stamped, undo, fixed } = await verify(world, options);
    expect({ stamped, undo, fixed }).toEqual({ stamped: 0, undo: [], fixed: [] });
  }
  expect(texts()).toEqual(before);
  expect(world.git("status", "--porcelain", "--", TEAM)).toBe("");
  expect((await verify(world, { stamp: true })).stamped).toBe(2);
});

describe("a path in other letters", () => {
  it("is the file that exists", async () => {
    const world = makeWorld();
    commit(world, 0, { ...CODE, "docs/GUIDE.md": "a\n", "docs/guide.md": "b\n" });
    remember(world, 2, "See docs/GUIDE.md.");
    commit(world, 3, { "docs/GUIDE.md": null });
    expect(await shown(world, { all: true })).toEqual([]);
  });
});
