/** The library as its README shows it: open, then a verb. Clock, environment and log come in as arguments. */

import fs from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { MemdirError, type OpenOptions, openMemdir } from "../src/index.ts";
import { makeTemporary } from "./temporary.ts";

const top = makeTemporary("open", "memory");

let count = 0;
function options(): OpenOptions & { cwd: string } {
  const root = path.join(top, String(++count));
  fs.mkdirSync(path.join(root, "project", ".git"), { recursive: true });
  const env = {
    HOME: path.join(root, "home"),
    PATH: process.env.PATH,
    MEMDIR_MANAGED_DIR: path.join(root, "managed"),
    // Making vectors takes longer than everything else here.
    MEMDIR_MEANING: "0",
  };
  return { cwd: path.join(root, "project"), env };
}

const note = (name: string, body = `About ${name}.`) => ({
  type: "user" as const,
  name,
  description: `Says ${name}`,
  body,
});

test("every verb once, from save to undo", async () => {
  const memdir = await openMemdir(options());
  expect(memdir.warnings).toEqual([]);
  expect(await memdir.list()).toEqual([]);

  const saved = await memdir.save({
    type: "feedback",
    name: "use pnpm",
    description: "Package manager",
    body: "Never npm.",
  });
  expect(saved).toEqual({
    file: "feedback_use_pnpm.md",
    path: path.join(memdir.location.dir, "feedback_use_pnpm.md"),
    action: "created",
    notices: [],
    undo: "1",
  });
  expect((await memdir.list({ type: "feedback" })).map((row) => row.name)).toEqual(["use pnpm"]);
  expect(await memdir.list({ type: "user" })).toEqual([]);
  expect(await memdir.survey()).toMatchObject({ rows: [{ file: saved.file }], skipped: [] });
  expect((await memdir.show("use pnpm")).body).toBe("Never npm.");
  expect((await memdir.search("NPM"))[0]).toMatchObject({ file: saved.file, line: "Never npm." });

  const { text, file } = await memdir.text("use pnpm");
  const edited = await memdir.edit(file, text, text.replace("Never npm.", "Only pnpm."));
  expect(edited.action).toBe("updated");
  await expect(memdir.edit(file, text, `${text}late`)).rejects.toMatchObject({ code: "conflict" });

  const renamed = await memdir.rename("use pnpm", "package manager");
  expect(renamed.file).toBe("feedback_package_manager.md");
  const gone = await memdir.forget("package manager", { reason: "no longer" });
  expect(gone).toMatchObject({ action: "removed", file: renamed.file });
  await expect(memdir.show("package manager")).rejects.toMatchObject({ code: "not-found" });
  expect(await memdir.undo()).toMatchObject({ undone: gone.undo, action: "forget", files: [renamed.file] });
  expect((await memdir.show("package manager")).body).toBe("Only pnpm.");
  expect((await memdir.history()).map((entry) => entry.action)).toEqual(["save", "edit", "rename", "forget", "undo"]);

  expect((await memdir.index()).index).toBe("- [package manager](feedback_package_manager.md) — Package manager");
  expect((await memdir.rebuildIndex()).lines).toBe(1);
  expect((await memdir.context([])).memory.dir).toBe(memdir.location.dir);
  expect((await memdir.lint()).map((problem) => problem.rule).sort()).toEqual(["how", "vague-description", "why"]);
  expect((await memdir.doctor()).every((check) => check.ok)).toBe(true);
  expect(await memdir.prune({ type: "user", olderThanDays: 1, dryRun: false })).toEqual({ memories: [], undo: null });
  expect(await memdir.findAdoptable()).toEqual({ orphans: [], older: [], top: null });
});

test("errors are MemdirErrors with a code", async () => {
  const memdir = await openMemdir(options());
  const error = await memdir.show("nothing").catch((e) => e);
  expect(error).toBeInstanceOf(MemdirError);
  expect(error).toMatchObject({ code: "not-found", message: expect.stringContaining("nothing") });
  await expect(memdir.save({ ...note("x"), type: "note" as "user" })).rejects.toMatchObject({ code: "usage" });
  await expect(memdir.save({ ...note("x"), body: "", description: "" })).rejects.toMatchObject({ code: "usage" });
  await expect(memdir.undo()).rejects.toMatchObject({ code: "not-found" });
  await expect(openMemdir({ ...options(), scope: "galaxy" })).rejects.toMatchObject({ code: "usage" });
  await expect(openMemdir({ ...options(), memoryDir: "/" })).rejects.toMatchObject({ code: "usage" });
});

describe("at once", () => {
  test("100 saves in one process: every memory, every line once, in order of the journal", async () => {
    const memdir = await openMemdir(options());
    const names = Array.from({ length: 100 }, (_, i) => `note ${i}`);
    const results = await Promise.all(names.map((name) => memdir.save(note(name))));
    expect(new Set(results.map((result) => result.file)).size).toBe(100);
    expect(new Set(results.map((result) => result.undo)).size).toBe(100);
    expect((await memdir.list()).map((row) => row.name).sort()).toEqual([...names].sort());
    const lines = (await memdir.index()).index.split("\n");
    expect(lines).toHaveLength(100);
    for (const { file } of results) expect(lines.filter((line) => line.includes(`(${file})`))).toHaveLength(1);
    expect(await memdir.history()).toHaveLength(100);
  });

  test("100 saves of one name make one memory; 20 names that slug alike make 20", async () => {
    const memdir = await openMemdir(options());
    await Promise.all(Array.from({ length: 100 }, (_, i) => memdir.save(note("same", `Text ${i}`))));
    expect(await memdir.list()).toHaveLength(1);
    const alike = Array.from({ length: 20 }, (_, i) => `a${"!".repeat(i)}b`);
    await Promise.all(alike.map((name) => memdir.save(note(name.replace("ab", "a b")))));
    expect(await memdir.list()).toHaveLength(21);
  });

  test("two Memdir objects on one directory see each other's changes", async () => {
    const where = options();
    const [one, two] = await Promise.all([openMemdir(where), openMemdir(where)]);
    await Promise.all(Array.from({ length: 20 }, (_, i) => (i % 2 ? one : two).save(note(`shared ${i}`))));
    expect(await one.list()).toHaveLength(20);
    expect(await two.list()).toEqual(await one.list());
    const gone = await one.forget("shared 3");
    await expect(two.show("shared 3")).rejects.toMatchObject({ code: "not-found" });
    await two.undo(gone.undo as string);
    expect((await one.show("shared 3")).body).toBe("About shared 3.");
    expect((await one.index()).index.split("\n")).toHaveLength(20);
  });

  test("two projects of one home do not see each other", async () => {
    const where = options();
    const other = path.join(path.dirname(where.cwd), "other");
    fs.mkdirSync(path.join(other, ".git"), { recursive: true });
    const [one, two] = await Promise.all([openMemdir(where), openMemdir({ ...where, cwd: other })]);
    await Promise.all([one.save(note("mine")), two.save(note("yours"))]);
    expect((await one.list()).map((row) => row.name)).toEqual(["mine"]);
    expect((await two.list()).map((row) => row.name)).toEqual(["yours"]);
  });
});

describe("the world is an argument", () => {
  test("the clock stamps files, journal and ages (B7.1, C14)", async () => {
    const where = options();
    let time = new Date("2031-05-06T07:08:09.000Z");
    const memdir = await openMemdir({ ...where, now: () => time, by: "test" });
    const { path: file } = await memdir.save(note("timed"));
    expect((await memdir.show("timed")).metadata).toMatchObject({
      created: "2031-05-06T07:08:09.000Z",
      modified: "2031-05-06T07:08:09.000Z",
    });
    expect((await memdir.history())[0]).toMatchObject({ at: "2031-05-06T07:08:09.000Z", by: "test" });
    fs.utimesSync(file, time, time);
    const ages = [];
    for (const days of [0, 1, 2, 7, 8, 30, 31]) {
      time = new Date(Date.parse("2031-05-06T07:08:09.000Z") + days * 86_400_000);
      const [row] = await memdir.list();
      ages.push([row?.ageDays, row?.age]);
    }
    expect(ages).toEqual([
      [0, "fresh"],
      [1, "fresh"],
      [2, "recent"],
      [7, "recent"],
      [8, "stale"],
      [30, "stale"],
      [31, "old"],
    ]);
  });

  test("the environment decides, the process's own does not", async () => {
    const where = options();
    const dir = path.join(top, "by-env");
    const memdir = await openMemdir({ ...where, env: { ...where.env, MEMDIR_MEMORY_DIR: dir } });
    expect(memdir.location).toMatchObject({ dir, source: "env", via: "MEMDIR_MEMORY_DIR" });
    expect((await openMemdir(where)).location.source).toBe("computed");
    const refused = await openMemdir({ ...where, env: { ...where.env, MEMDIR_MEMORY_DIR: "../up" } });
    expect(refused.warnings[0]).toMatch(/^MEMDIR_MEMORY_DIR .* is not used/);
  });

  test.skipIf(process.platform === "win32" || process.getuid?.() === 0)(
    "a directory that cannot be read is named in the warnings",
    async () => {
      const memoryDir = path.join(top, "closed");
      fs.mkdirSync(memoryDir, { mode: 0 });
      const { warnings } = await openMemdir({ ...options(), memoryDir });
      expect(warnings).toEqual([expect.stringContaining(`${memoryDir} cannot be read`)]);
    },
  );

  test("memoryDir and scope choose the directory that is written to", async () => {
    const where = options();
    const dir = path.join(top, "by-option");
    const memdir = await openMemdir({ ...where, memoryDir: dir });
    expect((await memdir.save(note("x"))).path).toBe(path.join(dir, "user_x.md"));
    const user = await openMemdir({ ...where, scope: "user" });
    expect((await user.save(note("x"))).path).toBe(path.join(where.env?.HOME as string, ".claude/memory/user_x.md"));
  });

  test("the log hears what nobody else is told, and standard output nothing", async () => {
    const where = options();
    const heard: string[] = [];
    const memdir = await openMemdir({ ...where, log: (message) => heard.push(message) });
    await memdir.save({ ...note("long"), description: "x".repeat(300) });
    expect(heard).toEqual([expect.stringContaining("user_long.md")]);
  });

  test("reading makes nothing", async () => {
    const where = options();
    const memdir = await openMemdir(where);
    await memdir.list();
    await memdir.search("x");
    await memdir.index();
    await memdir.history();
    await memdir.lint();
    await memdir.doctor();
    expect(fs.existsSync(where.env?.HOME as string)).toBe(false);
  });
});

describe("a host goes on with its own work", () => {
  test("while verbs run: each gives its timers a turn", async () => {
    const memdir = await openMemdir(options());
    const { dir } = memdir.location;
    await memdir.save(note("first"));
    for (let i = 0; i < 1000; i++)
      fs.writeFileSync(path.join(dir, `m${i}.md`), `---\nname: Note ${i}\ntype: project\n---\n\nPart ${i}.\n`);
    const verbs: Record<string, (i: number) => Promise<unknown>> = {
      recall: () => memdir.recall("which part is note 17 about", { model: false }),
      save: (i) => memdir.save(note(`new ${i}`)),
      list: () => memdir.list(),
      search: () => memdir.search("part"),
      show: (i) => memdir.show(`m${i}`),
      text: (i) => memdir.text(`m${i}`),
      rename: (i) => memdir.rename(`new ${i}`, `other ${i}`),
      forget: (i) => memdir.forget(`other ${i}`),
      history: () => memdir.history(),
      undo: () => memdir.undo(),
    };
    let fired = 0;
    let turns = 0;
    let immediate: NodeJS.Immediate;
    const count = () => {
      turns++;
      immediate = setImmediate(count);
    };
    const timer = setInterval(() => fired++, 1);
    count();
    try {
      for (const [verb, run] of Object.entries(verbs)) {
        for (let i = 0; i < 3; i++) {
          const before = turns;
          await run(i);
          expect([verb, turns > before]).toEqual([verb, true]);
        }
      }
      // How often depends on the machine.
      expect(fired).toBeGreaterThan(0);
    } finally {
      clearInterval(timer);
      clearImmediate(immediate!);
    }
  });

  test("while a long verb runs, not only when it is over", async () => {
    const memdir = await openMemdir(options());
    const { dir } = memdir.location;
    fs.mkdirSync(dir, { recursive: true });
    for (let i = 0; i < 1000; i++)
      fs.writeFileSync(path.join(dir, `m${i}.md`), `---\nname: n${i}\ntype: user\n---\n\nB.\n`);
    let turns = 0;
    let isOver = false;
    const count = () => {
      turns++;
      if (!isOver) setImmediate(count);
    };
    const listing = memdir.list();
    setImmediate(count);
    expect(await listing).toHaveLength(1000);
    isOver = true;
    expect(turns).toBeGreaterThan(2);
  });
});
