import fs from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { makeWorld, note } from "../world.ts";

describe("adopt", () => {
  async function start(count: number) {
    const world = makeWorld();
    const from = path.join(world.top, "elsewhere");
    fs.mkdirSync(from);
    for (let i = 0; i < count; i++)
      fs.writeFileSync(
        path.join(from, `user_m${i}.md`),
        `---\nname: m${i}\ndescription: d\ntype: user\n---\n\nTheirs ${i}.\n`,
      );
    return { world, from, memdir: await world.open() };
  }

  it("copies the memories with their lines' words, as one entry; nothing is removed there", async () => {
    const { world, from, memdir } = await start(2);
    fs.writeFileSync(path.join(from, "MEMORY.md"), "# Theirs\n- [Their words](user_m0.md) — x\n");
    const { undo, adopted } = await memdir.adopt(from);
    expect(adopted).toEqual(["user_m0.md", "user_m1.md"]);
    expect(world.index()).toContain("- [Their words](user_m0.md) — x\n");
    expect(world.index()).toContain("# Theirs\n");
    expect(fs.readdirSync(from)).toHaveLength(3);
    await memdir.undo(undo ?? "");
    expect(world.files()).toEqual([]);
  });

  it("overwrites nothing: another memory of the name gets a number, the same content is there already", async () => {
    const { world, from, memdir } = await start(2);
    world.write("user_m0.md", "mine");
    fs.copyFileSync(path.join(from, "user_m1.md"), world.path("user_m1.md"));
    expect(await memdir.adopt(from)).toMatchObject({ adopted: ["user_m0_2.md"], present: ["user_m1.md"] });
    expect(world.read("user_m0.md")).toBe("mine");
  });

  it("C13 three hundred at once stay under the cap", async () => {
    const { memdir, from } = await start(300);
    await memdir.save(note("mine"));
    const { notices } = await memdir.adopt(from);
    const view = await memdir.index();
    expect(view.truncated).toBe(false);
    expect(notices.join()).toMatch(/moved to MEMORY\.more\.md/);
    expect(view.overflow.length + view.index.split("\n").length - 1).toBe(301);
  });
});
