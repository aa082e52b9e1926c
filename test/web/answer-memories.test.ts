import fs from "node:fs";
import { expect, it } from "vitest";
import { logSurfaced } from "../../src/recall/surface-log.ts";
import type { Page } from "../../src/web/answer.ts";
import { answerMemories } from "../../src/web/answer-memories.ts";
import type { MemoryList } from "../../src/web/api.ts";
import { DAY, errorOf, note } from "../world.ts";
import { call, HOSTILE, makePage, makeUserWorld, rowOf } from "./open-page.ts";

async function search(page: Page, q: string, quick = false): Promise<MemoryList["rows"]> {
  return ((await call(page, "GET", "/api/memories", { q, quick })) as MemoryList).rows;
}

it("lists every memory with its place, age, cues and how often it was recalled", async () => {
  const { world, memdir, page } = await makePage();
  await memdir.save(note("use pnpm", { type: "feedback", when: ["installing", "adding"], pinned: true }));
  world.write("old.md", "---\nname: old\ntype: project\n---\n\nOld.\n", { ageMs: 40 * DAY });
  const memories = [{ file: "feedback_use_pnpm.md", scope: "project", why: [] }];
  for (const prompt of ["a b", "c d"])
    logSurfaced(world.dir, { at: world.now, session: "s", door: "hook", prompt, memories });
  const { rows, skipped } = await answerMemories(page);
  expect(skipped).toEqual([]);
  expect(rows.find(({ name }) => name === "use pnpm")).toMatchObject({
    directory: 0,
    file: "feedback_use_pnpm.md",
    scope: "project",
    type: "feedback",
    when: ["installing", "adding"],
    pinned: true,
    verdict: null,
    recalled: 2,
    author: null,
    isReadOnly: false,
    problems: [],
  });
  expect((await rowOf(page, "old")).ageDays).toBe(40);
});

it("an empty directory has no rows and no hits", async () => {
  const { page } = await makePage();
  expect(await answerMemories(page)).toMatchObject({ rows: [], skipped: [] });
  expect(await search(page, "anything")).toEqual([]);
});

it("lists what cannot be read, links and text that looks like markup as what they are", async () => {
  const { world, page } = await makePage();
  world.write(
    "evil.md",
    `---\nname: "${HOSTILE.script}"\ndescription: ${HOSTILE.rtl}\ntype: user\n---\n\n${HOSTILE.image}\n`,
  );
  world.write("<img src=x>.md", "no frontmatter\n");
  world.write("binary.md", new Uint8Array([0xff, 0xfe, 0, 1]));
  world.write("huge.md", `---\nname: huge\ntype: user\n---\n${"x".repeat(2_000_000)}`);
  fs.mkdirSync(world.path("folder.md"));
  fs.symlinkSync("/etc/hostname", world.path("link.md"));
  const { rows, skipped } = (await call(page, "GET", "/api/memories")) as MemoryList;
  expect(rows.map(({ file }) => file).sort()).toEqual(
    ["<img src=x>.md", "binary.md", "evil.md", "huge.md", "link.md"].sort(),
  );
  expect(rows.find(({ file }) => file === "evil.md")?.name).toBe(HOSTILE.script);
  expect(rows.every((row) => !("problems" in row) && !("bytes" in row))).toBe(true);
  expect((await rowOf(page, "link")).problems[0]).toContain("symbolic link");
  expect(skipped.map(({ path }) => path)).toEqual([world.path("folder.md")]);
});

it("search gives places in the order of the real search; words are taken as they are", async () => {
  const { memdir, page } = await makePage();
  await memdir.save(note("deploy", { body: "Deploys go out on Friday." }));
  await memdir.save(note("other", { body: "Mentions a deploy." }));
  await memdir.save(note("third", { body: "Nothing." }));
  const found = await search(page, "deploy");
  expect(found.map(({ file }) => file)).toEqual(["user_deploy.md", "user_other.md"]);
  expect(found.map(({ line }) => line)).toEqual([undefined, "Mentions a deploy."]);
  expect(await search(page, "(((*[")).toEqual([]);
});

it("finds by meaning what does not hold the word, and half a word by its letters", async () => {
  const embed = (text: string) => {
    const values = new Float32Array(384);
    values[/pnpm|package manager/.test(text) ? 0 : 1] = 1;
    return values;
  };
  const { memdir, page } = await makePage({ open: { embed } });
  await memdir.save(note("tool", { description: "pnpm", body: "pnpm it is" }));
  await memdir.save(note("zebra", { description: "stripes", body: "Stripes." }));
  await memdir.warm();
  expect((await search(page, "package manager")).map(({ file }) => file)).toEqual(["user_tool.md"]);
  expect((await search(page, "zeb")).map(({ file }) => file)).toContain("user_zebra.md");
});

it("lists and searches 500 memories", async () => {
  const { world, page } = await makePage();
  for (let i = 0; i < 500; i++) {
    world.write(`m${i}.md`, `---\nname: memory ${i}\ndescription: about ${i}\ntype: project\n---\n\nBody ${i}.\n`);
  }
  expect((await answerMemories(page)).rows.length).toBe(500);
  expect((await search(page, "memory 499"))[0]).toMatchObject({ directory: 0, file: "m499.md" });
});

it("while somebody types, every memory that holds the words: more words first, then weightier places, then the young", async () => {
  const { world, page } = await makePage();
  const write = (file: string, name: string, body: string, ageMs: number) =>
    world.write(file, `---\nname: ${name}\ntype: project\n---\n\n${body}\n`, { ageMs });
  write("a.md", "deploy", "Nothing.", DAY);
  write("b.md", "other", "Of a DEPLOY to staging.", DAY);
  write("c.md", "third", "A deploy.", 3 * DAY);
  write("d.md", "fourth", "A deploy.", 2 * DAY);
  write("e.md", "fifth", "Nothing.", DAY);
  const files = async (q: string) => (await search(page, q, true)).map(({ file }) => file);
  expect(await files("ﾃﾞdeplo")).toEqual([]);
  expect(await files("deplo")).toEqual(["a.md", "b.md", "d.md", "c.md"]);
  expect(await files("staging deploy deploy")).toEqual(["b.md", "a.md", "d.md", "c.md"]);
  expect(await files("(((*[")).toEqual([]);
  expect((await files("  ")).length).toBe(5);
});

it("keeps texts only while somebody tells of changes", async () => {
  const { world, page } = await makePage();
  const find = async () => (await search(page, "word", true)).map(({ file }) => file);
  world.write("a.md", "---\nname: a\ntype: project\n---\n\nA word.\n");
  expect(await find()).toEqual(["a.md"]);
  world.write("b.md", "---\nname: b\ntype: project\n---\n\nA word.\n");
  expect((await find()).sort()).toEqual(["a.md", "b.md"]);
  page.kept.version = 1;
  await find();
  fs.rmSync(world.path("a.md"));
  expect((await find()).sort()).toEqual(["a.md", "b.md"]);
  page.kept.version = 2;
  expect(await find()).toEqual(["b.md"]);
});

it("memories of the same file name in two directories have places of their own", async () => {
  const { memdir, page } = await makePage({ world: await makeUserWorld("same") });
  await memdir.save(note("same"));
  const user = memdir.directories.findIndex(({ scope }) => scope === "user");
  const { rows } = await answerMemories(page);
  expect(rows.map(({ directory }) => directory)).toEqual([0, user]);
  expect((await search(page, "same")).map(({ directory }) => directory).sort()).toEqual([0, user]);
});

it("start tells the version, the project and whether anything may be changed", async () => {
  const { world, page } = await makePage({ readOnly: true });
  expect(await call(page, "GET", "/api/start")).toMatchObject({
    version: "1.2.3",
    project: "project",
    readOnly: true,
  });
  await world.open();
  expect((await answerMemories(page)).rows.every(({ isReadOnly }) => isReadOnly)).toBe(true);
});

it("refuses parameters that are none", async () => {
  const { page } = await makePage();
  for (const query of [
    {},
    { directory: "x", file: "a.md" },
    { directory: -1, file: "a" },
    { directory: 0, file: "" },
  ]) {
    expect((await errorOf(call(page, "GET", "/api/memory", query))).code).toBe("usage");
  }
});
