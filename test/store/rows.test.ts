import fs from "node:fs";
import { describe, expect, it } from "vitest";
import type { Memdir } from "../../src/memdir.ts";
import { walk } from "../../src/project/locate.ts";
import { appendEntries, readRowCache } from "../../src/store/row-cache.ts";
import type { RowEntry } from "../../src/store/row-entry.ts";
import { rewriteCache, scan } from "../../src/store/rows.ts";
import { DAY, mainOf, makeWorld, note, type World } from "../world.ts";

function text(name: string, more = ""): string {
  return `---\nname: ${name}\ndescription: d\ntype: user\n---\n\n${more}\n`;
}

/** Enough files that the row cache is worth writing, read by a clock that is past their times. */
async function cached(): Promise<{ world: World; memdir: Memdir; names: () => Promise<string[]> }> {
  const world = makeWorld();
  for (let i = 10; i < 40; i++) world.write(`m${i}.md`, text(`name ${i}`));
  world.now = new Date(Date.now() + DAY);
  const memdir = await world.open();
  // The cache is kept only where something was saved.
  await memdir.save(note("saved"));
  await memdir.forget("saved");
  await memdir.list();
  expect(world.exists(".memdir/rows.bin")).toBe(true);
  return { world, memdir, names: async () => (await memdir.list()).map((row) => row.name) };
}

describe("walk", () => {
  it("B4.9 C5 finds memories in every folder and none of what is none", () => {
    const world = makeWorld();
    const memories = ["a.md", "auto/b.md", "logs/c.md", "project/deep/d.md", "topics/e.md", "user/f.md"];
    const others = [
      "MEMORY.md",
      "MEMORY.more.md",
      "team/MEMORY.md",
      ".hidden.md",
      ".memdir/x.md",
      ".git/y.md",
      "logs/2026/03/2026-03-01.md",
      "logs/2026/03/01/abc-title.md",
      "a.MD",
      "a.txt",
      "md",
    ];
    for (const file of [...memories, ...others]) world.write(file, "x");
    expect(walk(world.dir).files).toEqual(memories);
    expect(walk(world.dir, false).files).toEqual(["a.md"]);
  });

  it("a directory called x.md is passed over with a reason, what lies in it is read", () => {
    const world = makeWorld();
    world.write("x.md/inner.md", "x");
    expect(walk(world.dir)).toMatchObject({
      files: ["x.md/inner.md"],
      links: [],
      skipped: [{ path: "x.md", reason: "a directory named like a memory" }],
    });
  });

  it("C-7 links are listed and not followed, not even to a folder", () => {
    const world = makeWorld();
    world.write("a.md", "x");
    fs.mkdirSync(`${world.top}/outside`);
    fs.writeFileSync(`${world.top}/outside/secret.md`, "x");
    fs.symlinkSync("a.md", world.path("link.md"));
    fs.symlinkSync("nowhere", world.path("dangling.md"));
    fs.symlinkSync(`${world.top}/outside`, world.path("folder"));
    const walked = walk(world.dir);
    expect(walked.files).toEqual(["a.md"]);
    expect(walked.links.sort()).toEqual(["dangling.md", "link.md"]);
  });

  it("a missing directory is empty; C-8 one that is a link itself is read", () => {
    const world = makeWorld();
    expect(walk(world.dir)).toMatchObject({ files: [], links: [], skipped: [] });
    world.write("a.md", "x");
    fs.symlinkSync(world.dir, `${world.top}/alias`);
    expect(walk(`${world.top}/alias`).files).toEqual(["a.md"]);
  });
});

describe("the row cache", () => {
  it("is used while nothing changed", async () => {
    const { world, memdir, names } = await cached();
    const directory = mainOf(memdir);
    const { entries } = readRowCache(directory, "all");
    const entry = entries.get("m10.md") as RowEntry;
    appendEntries(directory, [Object.assign(entry, { name: "from the cache" })]);
    expect(world.exists(".memdir/rows.bin")).toBe(true);
    expect(await names()).toContain("from the cache");
  });

  it("replaces those of earlier versions", async () => {
    const { world, memdir } = await cached();
    for (const name of ["headers.json", "recall.bin", "enforced.json"]) world.write(`.memdir/${name}`, "old");
    rewriteCache(mainOf(memdir), [], null);
    for (const name of ["headers.json", "recall.bin", "enforced.json"])
      expect(world.exists(`.memdir/${name}`)).toBe(false);
  });

  it("is not believed after a change of the same size with restored times", async () => {
    const { world, names } = await cached();
    const { atime, mtime } = fs.statSync(world.path("m10.md"));
    fs.writeFileSync(world.path("m10.md"), text("NAME 10"));
    fs.utimesSync(world.path("m10.md"), atime, mtime);
    expect(await names()).toContain("NAME 10");
  });

  it("is not believed after a file was replaced by rename", async () => {
    const { world, names } = await cached();
    const { atime, mtime } = fs.statSync(world.path("m10.md"));
    world.write("new", text("NAME 10"));
    fs.renameSync(world.path("new"), world.path("m10.md"));
    fs.utimesSync(world.path("m10.md"), atime, mtime);
    expect(await names()).toContain("NAME 10");
  });

  it("a damaged one costs time and nothing else", async () => {
    const { world, names } = await cached();
    const sound = fs.readFileSync(world.path(".memdir", "rows.bin"));
    const flipped = [0, 5, 9, 20, 45, 4096, 4100, 4110, 4200, 4300, 9000, sound.length - 3].map((at) =>
      Buffer.from(sound.map((byte, i) => (i === at ? byte ^ 255 : byte))),
    );
    const cut = [0, 7, 4095, 4096, 4200, 5000, sound.length - 16].map((length) => sound.subarray(0, length));
    for (const damaged of [...flipped, ...cut, Buffer.alloc(10_000, 7)]) {
      fs.writeFileSync(world.path(".memdir", "rows.bin"), damaged);
      expect(new Set(await names()).size).toBe(30);
      expect(new Set(await names()).size).toBe(30);
    }
  });

  it("a file changed within the clock's tick is not cached", async () => {
    const world = makeWorld();
    for (let i = 0; i < 30; i++) world.write(`m${i}.md`, text(`name ${i}`));
    world.now = new Date();
    const memdir = await world.open();
    await memdir.save(note("saved"));
    scan(mainOf(memdir));
    world.write("m1.md", text("NAME 1"));
    expect((await memdir.list()).map(({ name }) => name)).toContain("NAME 1");
  });
});

describe("what is hard to read", () => {
  it("a 10 MB memory is listed by its head and shown whole", async () => {
    const world = makeWorld();
    world.write("big.md", text("Big one", "x".repeat(10 << 20)));
    const memdir = await world.open();
    expect(await memdir.list()).toMatchObject([{ name: "Big one", bytes: 10 * 2 ** 20 + 50, problems: [] }]);
    expect((await memdir.show("big")).body).toHaveLength(10 << 20);
  });

  it("a long frontmatter is read to its end; one without end is a row with its problem", async () => {
    const world = makeWorld();
    world.write("long.md", `---\n# ${"x".repeat(20_000)}\nname: Long\ntype: user\n---\nBody\n`);
    world.write("endless.md", `---\nname: Endless\n${"x: y\n".repeat(200_000)}`);
    const rows = await (await world.open()).list();
    expect(rows.find(({ file }) => file === "long.md")).toMatchObject({ name: "Long", type: "user", problems: [] });
    expect(rows.find(({ file }) => file === "endless.md")?.problems[0]).toMatch(/no closing/);
  });

  it("a character across the edge of the head is no broken UTF-8", async () => {
    const world = makeWorld();
    const head = text("A").trimEnd();
    for (let i = 0; i < 4; i++)
      world.write(`a${i}.md`, `${head}\n\n${"x".repeat(8192 - head.length - 4 + i)}${"€😀".repeat(4000)}`);
    for (const row of await (await world.open()).list()) expect(row.problems).toEqual([]);
  });

  it("invalid UTF-8 is a row with its problem", async () => {
    const world = makeWorld();
    world.write("bad.md", Buffer.concat([Buffer.from(text("Bad")), Buffer.from([0xff])]));
    expect(await (await world.open()).list()).toMatchObject([
      { name: "Bad", problems: [expect.stringMatching(/UTF-8/)] },
    ]);
  });

  it("links are rows that say so", async () => {
    const world = makeWorld();
    world.write("a.md", text("A"));
    fs.symlinkSync("nowhere.md", world.path("dangling.md"));
    const memdir = await world.open();
    const { rows, skipped } = await memdir.survey();
    expect(rows.map(({ file, unreadable }) => [file, unreadable])).toEqual([
      ["a.md", false],
      ["dangling.md", true],
    ]);
    expect(rows[1]?.problems[0]).toMatch(/symbolic link/);
    expect(skipped).toEqual([]);
    expect(await memdir.search("A")).toHaveLength(1);
  });

  it("links are as old as the disk says", async () => {
    const world = makeWorld();
    fs.mkdirSync(world.dir, { recursive: true });
    fs.symlinkSync("nowhere.md", world.path("dangling.md"));
    const written = new Date(world.now.getTime() - 3 * DAY);
    fs.lutimesSync(world.path("dangling.md"), written, written);
    expect(await (await world.open()).list()).toMatchObject([{ file: "dangling.md", ageDays: 3, bytes: 0 }]);
  });

  it.skipIf(process.getuid?.() === 0)("a file without permission is a row that says so", async () => {
    const world = makeWorld();
    world.write("closed.md", text("Closed"));
    fs.chmodSync(world.path("closed.md"), 0);
    expect(await (await world.open()).list()).toMatchObject([{ file: "closed.md", unreadable: true }]);
  });

  it("a directory called x.md is told in the survey", async () => {
    const world = makeWorld();
    world.write("x.md/inner.md", text("Inner"));
    const { rows, skipped } = await (await world.open()).survey();
    expect(rows.map(({ file }) => file)).toEqual(["x.md/inner.md"]);
    expect(skipped).toEqual([{ path: "x.md", reason: "a directory named like a memory" }]);
  });
});
