/** The merge driver in process: what git would hand it, and what it leaves behind. */

import fs from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { driveMerge, type MergeCall } from "../../src/team/merge-driver.ts";
import { makeWorld, type World } from "../world.ts";

const FILE = ".claude/memory/project_x.md";

function memory(body: string, more = ""): string {
  return `---\nname: x\ntype: project\n${more}---\n\n${body}\n`;
}

const SECTIONS = "# Build\n\nRun make.\n\n# Deploy\n\nOn Tuesdays.";

async function merge(world: World, texts: (string | Buffer)[], more: Partial<MergeCall> = {}) {
  const names = [".merge_file_base", ".merge_file_ours", ".merge_file_theirs"];
  for (const [i, name] of names.entries()) fs.writeFileSync(path.join(world.project, name), texts[i] as string);
  const [base, ours, theirs] = names as [string, string, string];
  fs.mkdirSync(path.join(world.project, ".claude/memory"), { recursive: true });
  const end = await driveMerge(
    { kind: "memory", base, ours, theirs, path: FILE, ...more },
    { root: world.project, env: world.env },
  );
  const at = (name: string) => path.join(world.project, name);
  return {
    ...end,
    result: fs.readFileSync(at(".merge_file_ours"), "utf8"),
    beside: fs.readdirSync(at(".claude/memory")),
    read: (name: string) => fs.readFileSync(at(`.claude/memory/${name}`), "utf8"),
  };
}

test("different sections are merged, and nothing lies beside", async () => {
  const world = makeWorld();
  const texts = [SECTIONS, SECTIONS.replace("make", "ninja"), SECTIONS.replace("Tuesdays", "Fridays")];
  const { code, message, result, beside } = await merge(
    world,
    texts.map((text) => memory(text)),
  );
  expect({ code, message, beside }).toEqual({ code: 0, message: "", beside: [] });
  expect(result).toBe(memory("# Build\n\nRun ninja.\n\n# Deploy\n\nOn Fridays."));
  expect(fs.readdirSync(world.project).filter((name) => name.startsWith(".memdir"))).toEqual([]);
});

test("the same section: ours stays a whole memory, theirs is a copy beside it, once however often it is tried", async () => {
  const world = makeWorld();
  const texts = ["Tuesdays.", "Mondays.", "Fridays."].map((text) => memory(text));
  for (let round = 0; round < 2; round++) {
    const { code, message, result, beside, read } = await merge(world, texts);
    expect(code).toBe(1);
    expect(result).toBe(memory("Mondays."));
    expect(beside).toEqual([expect.stringMatching(/^project_x-conflict-[0-9a-f]{8}\.md$/)]);
    expect(read(beside[0] as string)).toContain("Fridays.");
    expect(message).toContain(`.claude/memory/${beside[0]}`);
    expect(message).toContain(`git add ${FILE}`);
  }
});

test("both add a memory of one name: no base, both are kept", async () => {
  const { code, result, beside } = await merge(makeWorld(), ["", memory("Ours."), memory("Theirs.")]);
  expect({ code, result }).toEqual({ code: 1, result: memory("Ours.") });
  expect(beside).toHaveLength(1);
});

test("the index is merged as a set of lines and never conflicts", async () => {
  const line = (name: string) => `- [${name}](project_${name}.md) — about ${name}\n`;
  const base = `# Team memory\n${line("a")}${line("b")}`;
  const { code, result } = await merge(
    makeWorld(),
    [base, `${base}${line("ours")}`, `# Team memory\n${line("b")}${line("theirs")}`],
    { kind: "index", path: ".claude/memory/MEMORY.md" },
  );
  expect(code).toBe(0);
  expect(result.split("\n").filter(Boolean).sort()).toEqual(
    ["# Team memory", line("b"), line("ours"), line("theirs")].map((text) => text.trim()).sort(),
  );
});

test("what we cannot read git merges by lines: binary, huge", async () => {
  const world = makeWorld();
  const latin = (text: string) => Buffer.from(text, "latin1");
  const lines = "a\nb\nc\nd\ne\n";
  const good = await merge(world, [
    latin(`caf\xe9\n${lines}`),
    latin(`caf\xe9\n0${lines}`),
    latin(`caf\xe9\n${lines}f\n`),
  ]);
  expect(good).toMatchObject({ code: 0, message: expect.stringContaining("not UTF-8") });
  expect(fs.readFileSync(path.join(world.project, ".merge_file_ours"), "latin1")).toBe(`caf\xe9\n0${lines}f\n`);

  const huge = "line of a very long memory\n".repeat(50_000);
  expect((await merge(world, [huge, `${huge}end\n`, `start\n${huge}`])).code).toBe(0);
  const both = await merge(world, [huge, `${huge}ours\n`, `${huge}theirs\n`]);
  expect(both.code).toBe(1);
  for (const part of ["ours\n", "theirs\n", "<<<<<<< ours"]) expect(both.result).toContain(part);
  const index = await merge(world, [huge, `${huge}ours\n`, `${huge}theirs\n`], { kind: "index" });
  expect(index).toMatchObject({ code: 0, result: `${huge}ours\ntheirs\n` });
});

test("without git either, ours stays and it is a conflict", async () => {
  const world = makeWorld();
  fs.writeFileSync(path.join(world.project, "b"), "");
  fs.writeFileSync(path.join(world.project, "o"), Buffer.from([0xff, 0x00]));
  fs.writeFileSync(path.join(world.project, "t"), "text");
  const call = { kind: "memory", base: "b", ours: "o", theirs: "t", path: FILE } as const;
  expect((await driveMerge(call, { root: world.project, env: { PATH: "/nowhere" } })).code).toBe(1);
  expect((await driveMerge(call, { root: world.project, env: world.env })).code).toBe(1);
  expect(fs.readFileSync(path.join(world.project, "o"))).toEqual(Buffer.from([0xff, 0x00]));
});

test("nothing outside the checkout is read or written", async () => {
  const world = makeWorld();
  const outside = path.join(world.top, "outside.md");
  fs.writeFileSync(outside, memory("Mine."));
  const texts = ["Tuesdays.", "Mondays.", "Fridays."].map((text) => memory(text));
  for (const ours of [outside, "../outside.md"]) expect((await merge(world, texts, { ours })).code).toBe(1);
  expect(fs.readFileSync(outside, "utf8")).toBe(memory("Mine."));

  const led = await merge(world, texts, { path: "../escaped/x.md" });
  expect(led).toMatchObject({ code: 1, result: expect.stringContaining("<<<<<<< ours") });
  expect(fs.existsSync(path.join(world.top, "escaped"))).toBe(false);
});

test.skipIf(process.platform === "win32")(
  "links are not followed: of a side, of the folder, in the copy's place",
  async () => {
    const world = makeWorld();
    const texts = ["Tuesdays.", "Mondays.", "Fridays."].map((text) => memory(text));
    const outside = path.join(world.top, "outside");
    fs.mkdirSync(outside);
    const first = await merge(world, texts);
    const copy = path.join(world.project, ".claude/memory", first.beside[0] as string);
    fs.rmSync(copy);
    fs.writeFileSync(path.join(outside, "x.md"), "mine");
    fs.symlinkSync(path.join(outside, "x.md"), copy);
    await merge(world, texts);
    expect(fs.readFileSync(path.join(outside, "x.md"), "utf8")).toBe("mine");

    fs.rmSync(path.join(world.project, ".claude"), { recursive: true });
    fs.symlinkSync(outside, path.join(world.project, ".claude"));
    fs.mkdirSync(path.join(outside, "memory"));
    const end = await merge(world, texts);
    expect(end.code).toBe(1);
    expect(fs.readdirSync(path.join(outside, "memory"))).toEqual([]);
    expect(end.result).toContain("Fridays.");

    fs.symlinkSync(path.join(outside, "x.md"), path.join(world.project, "link"));
    expect((await merge(world, texts, { ours: "link" })).code).toBe(1);
    expect(fs.readFileSync(path.join(outside, "x.md"), "utf8")).toBe("mine");
  },
);
