import fs from "node:fs";
import { describe, expect, it } from "vitest";
import { errorOf, HOUR, makeWorld, note } from "../world.ts";

describe("rename", () => {
  it("changes name, file and line in one entry; created stays", async () => {
    const world = makeWorld();
    const memdir = await world.open();
    await memdir.save(note("old"));
    const before = world.read("user_old.md");
    world.now = new Date(world.now.getTime() + HOUR);
    const renamed = await memdir.rename("old", "New name");
    expect(renamed).toMatchObject({ file: "user_new_name.md", action: "updated", notices: [] });
    expect(world.files()).toEqual(["MEMORY.md", "user_new_name.md"]);
    expect(world.read("user_new_name.md")).toBe(
      before.replace("name: old", "name: New name").replace(/modified: .*/, `modified: ${world.now.toISOString()}`),
    );
    expect(world.index()).toBe("- [New name](user_new_name.md) — about old\n");
    expect(await memdir.history()).toHaveLength(2);
  });

  it("C10 a hand-worded line keeps its words and its place and gets the new target", async () => {
    const world = makeWorld();
    world.write("notes.md", "---\nname: notes\ntype: user\n---\n");
    world.write("MEMORY.md", "# T\n- [My words](notes.md) — mine\n- Short [notes.md]\nend\n");
    await (await world.open()).rename("notes", "better");
    expect(world.index()).toBe("# T\n- [My words](user_better.md) — mine\n- Short [user_better.md]\nend\n");
  });

  it("stays in its folder", async () => {
    const world = makeWorld();
    world.write("project/x.md", "---\nname: x\ntype: project\n---\n");
    expect((await (await world.open()).rename("x", "y")).file).toBe("project/project_y.md");
  });

  it("refuses a name whose file exists, and changes nothing", async () => {
    const world = makeWorld();
    const memdir = await world.open();
    await memdir.save(note("a"));
    await memdir.save(note("b"));
    const error = await errorOf(memdir.rename("a", "B"));
    expect(error).toMatchObject({ code: "conflict" });
    expect(error.message).toMatch(/user_b\.md exists already/);
    expect((await memdir.list()).map(({ name }) => name)).toEqual(["a", "b"]);
  });

  it("the same name is no change; another case is one", async () => {
    const world = makeWorld();
    const memdir = await world.open();
    await memdir.save(note("tabs"));
    expect(await memdir.rename("tabs", " tabs ")).toMatchObject({ action: "unchanged", undo: null });
    expect(await memdir.rename("tabs", "Tabs")).toMatchObject({ action: "updated", file: "user_tabs.md" });
    expect(world.index()).toBe("- [Tabs](user_tabs.md) — about tabs\n");
  });

  it("a broken file is refused; one without frontmatter only moves", async () => {
    const world = makeWorld();
    world.write("bad.md", "---\nname: bad\n");
    world.write("plain.md", "text\n");
    const memdir = await world.open();
    expect(await errorOf(memdir.rename("bad", "good"))).toMatchObject({ code: "broken" });
    await memdir.rename("plain", "fancy");
    expect(world.read("user_fancy.md")).toBe("text\n");
  });

  it("points out memories that still link to the old name", async () => {
    const world = makeWorld();
    const memdir = await world.open();
    await memdir.save(note("a"));
    await memdir.save(note("b", { body: "See [[a]]." }));
    await memdir.save(note("c", { body: "See [this](user_a.md)." }));
    const { notices } = await memdir.rename("a", "z");
    expect(notices).toEqual(["user_b.md, user_c.md still link to the old name"]);
    expect(world.read("user_b.md")).toContain("[[a]]");
  });

  it("no name leads out of the directory", async () => {
    const world = makeWorld();
    const memdir = await world.open();
    await memdir.save(note("a"));
    await memdir.rename("a", "../../evil");
    expect(world.files()).toEqual(["MEMORY.md", "user_evil.md"]);
    expect(fs.existsSync(`${world.home}/evil.md`)).toBe(false);
  });
});
