import fs from "node:fs";
import { describe, expect, it } from "vitest";
import { makeWorld, note } from "../world.ts";

describe("rebuildIndex", () => {
  it("C10 deleting MEMORY.md and rebuilding brings back every line, those by hand too", async () => {
    const world = makeWorld();
    world.write("MEMORY.md", "# By hand\n\nProse.\n\n## User\n");
    const memdir = await world.open();
    for (const name of ["a", "b", "c"]) await memdir.save(note(name));
    const before = world.index();
    fs.rmSync(world.path("MEMORY.md"));
    const view = await memdir.rebuildIndex();
    expect(world.index()).toBe(before);
    expect(view.index).toBe(before.trim());
  });

  it("C10 also when the index was loaded in between, and so generated", async () => {
    const world = makeWorld();
    world.write("MEMORY.md", "# By hand\n\nProse.\n");
    const memdir = await world.open();
    for (const name of ["a", "b"]) await memdir.save(note(name));
    fs.rmSync(world.path("MEMORY.md"));
    await memdir.index();
    await memdir.rebuildIndex();
    for (const file of ["user_a.md", "user_b.md"]) expect(world.index().split(`(${file})`)).toHaveLength(2);
    expect(world.index()).toContain("# By hand\n\nProse.\n");
  });

  it("C10 without any state: every memory of every folder has one line, files without frontmatter none", async () => {
    const world = makeWorld();
    world.write("user_a.md", "---\nname: A\ndescription: d\ntype: user\n---\n");
    world.write("project/b.md", "---\nname: B\ntype: project\n---\n");
    world.write("auto/c.md", "no frontmatter\n");
    world.write("logs/2026/03/2026-03-01.md", "log");
    await (await world.open()).rebuildIndex();
    expect(world.index().trim().split("\n").sort()).toEqual(["- [A](user_a.md) — d", "- [B](project/b.md)"]);
  });

  it("dead pointers go, hand-written lines and headings stay", async () => {
    const world = makeWorld();
    world.write("a.md", "---\nname: A\ntype: user\n---\n");
    world.write(
      "MEMORY.md",
      "# T\n\n- [A by hand](a.md)\n- [Gone](gone.md) — dead\n- Gone too [gone.md]\n- a plain item\n- [site](https://x.example)\n",
    );
    const memdir = await world.open();
    await memdir.rebuildIndex();
    expect(world.index()).toBe("# T\n\n- [A by hand](a.md)\n- a plain item\n- [site](https://x.example)\n");
  });

  it("a line that stands twice goes once; two different lines of one file stay", async () => {
    const world = makeWorld();
    world.write("a.md", "x");
    world.write("MEMORY.md", "- One [a.md]\n- Two [a.md]\n- One [a.md]\n");
    await (await world.open()).rebuildIndex();
    expect(world.index()).toBe("- One [a.md]\n- Two [a.md]\n");
  });

  it("a file name in NFD keeps its line", async () => {
    const world = makeWorld();
    world.write("cafe\u0301.md", "---\nname: Coffee\ntype: user\n---\n");
    const memdir = await world.open();
    await memdir.rebuildIndex();
    await memdir.rebuildIndex();
    expect(world.index()).toMatch(/^- \[Coffee\]\(caf.{1,2}\.md\)\n$/u);
    expect((await memdir.lint()).filter(({ rule }) => rule === "index-dangling")).toEqual([]);
  });

  it("thousands of memories without an index: the cap holds and all are reachable", async () => {
    const world = makeWorld();
    for (let i = 0; i < 1000; i++) world.write(`m${i}.md`, `---\nname: m${i}\ntype: user\n---\n`);
    const view = await (await world.open()).rebuildIndex();
    expect(view.truncated).toBe(false);
    expect(view.notices.join()).toMatch(/moved to MEMORY\.more\.md/);
    const all = world.index() + world.read("MEMORY.more.md");
    expect(new Set(all.match(/\(m\d+\.md\)/g))).toHaveProperty("size", 1000);
    expect(all.match(/\(m\d+\.md\)/g)).toHaveLength(1000);
  });

  it("is the same a second time", async () => {
    const world = makeWorld();
    const memdir = await world.open();
    for (const name of ["a", "b"]) await memdir.save(note(name));
    const before = [world.index(), fs.statSync(world.path("MEMORY.md")).mtimeMs];
    await memdir.rebuildIndex();
    expect([world.index(), fs.statSync(world.path("MEMORY.md")).mtimeMs]).toEqual(before);
  });
});
