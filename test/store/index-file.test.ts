import fs from "node:fs";
import { describe, expect, it } from "vitest";
import { errorOf, HOUR, makeWorld, note, type World } from "../world.ts";

/** As an editor that writes a new file and renames it. */
function byRename(world: World, text: string): void {
  fs.writeFileSync(world.path("MEMORY.md.tmp"), text);
  fs.renameSync(world.path("MEMORY.md.tmp"), world.path("MEMORY.md"));
}

/** As an editor that truncates and writes in place. */
function inPlace(world: World, text: string): void {
  fs.writeFileSync(world.path("MEMORY.md"), text);
}

describe("MEMORY.md while others write it", () => {
  it.each([
    ["renames", byRename],
    ["writes in place", inPlace],
  ])("C10 an editor that %s an older text: our lines come back, its own stay", async (_, write) => {
    const world = makeWorld();
    const memdir = await world.open();
    await memdir.save(note("a"));
    const older = `# Mine\n\n${world.index()}`;
    await memdir.save(note("b"));
    write(world, `${older}A line by hand.\n`);
    await memdir.save(note("c"));
    expect(world.index()).toBe(
      "# Mine\n\n- [a](user_a.md) — about a\n- [b](user_b.md) — about b\nA line by hand.\n- [c](user_c.md) — about c\n",
    );
  });

  it.each([
    ["renamed", byRename],
    ["written in place", inPlace],
  ])("C10 an older text that was %s is mended at the next opening", async (_, write) => {
    const world = makeWorld();
    const memdir = await world.open();
    await memdir.save(note("a"));
    const older = world.index();
    await memdir.save(note("b"));
    write(world, older);
    await world.open();
    expect(world.index()).toBe("- [a](user_a.md) — about a\n- [b](user_b.md) — about b\n");
  });

  it("C10 words that another wrote for our memory stay through saves of others", async () => {
    const world = makeWorld();
    const memdir = await world.open();
    await memdir.save(note("a"));
    inPlace(world, "- [A in my words](user_a.md) — better\n");
    await memdir.save(note("b"));
    await memdir.save(note("a", { description: "new" }));
    expect(world.index()).toBe("- [A in my words](user_a.md) — better\n- [b](user_b.md) — about b\n");
  });

  it("C10 hand-written text and CRLF stay byte for byte through saves and forgets", async () => {
    const world = makeWorld();
    const hand =
      "# Memory Index\r\n\r\n<!-- do not touch -->\r\nProse  \r\n\r\n## Links\r\n- [site](https://x.example)\r\n";
    world.write("MEMORY.md", hand);
    const memdir = await world.open();
    await memdir.save(note("a"));
    await memdir.save(note("b"));
    await memdir.save(note("a", { description: "new" }));
    await memdir.forget("a");
    await memdir.forget("b");
    expect(world.index()).toBe(hand);
  });

  it("B2.14 the index never gets frontmatter, and keeps one that somebody gave it", async () => {
    const world = makeWorld();
    const memdir = await world.open();
    await memdir.save(note("a"));
    expect(world.index().startsWith("- ")).toBe(true);
    inPlace(world, "---\nx: y\n---\n");
    await memdir.save(note("b"));
    expect(world.index()).toMatch(/^---\nx: y\n---\n/);
  });

  it("the deleted line of a deleted memory does not come back", async () => {
    const world = makeWorld();
    const memdir = await world.open();
    await memdir.save(note("a"));
    await memdir.save(note("b"));
    fs.rmSync(world.path("user_a.md"));
    inPlace(world, "- [b](user_b.md) — about b\n");
    await memdir.save(note("c"));
    expect(world.index()).toBe("- [b](user_b.md) — about b\n- [c](user_c.md) — about c\n");
  });

  it("C10 a deleted MEMORY.md comes back whole with the next save", async () => {
    const world = makeWorld();
    world.write("MEMORY.md", "# By hand\n\nProse.\n");
    const memdir = await world.open();
    await memdir.save(note("a"));
    await memdir.save(note("b"));
    const before = world.index();
    fs.rmSync(world.path("MEMORY.md"));
    await memdir.save(note("c"));
    expect(world.index()).toBe(`${before}- [c](user_c.md) — about c\n`);
  });

  it("C10 also with a save that changes nothing", async () => {
    const world = makeWorld();
    const memdir = await world.open();
    await memdir.save(note("a"));
    fs.rmSync(world.path("MEMORY.md"));
    expect(await memdir.save(note("a"))).toMatchObject({ action: "unchanged" });
    expect(world.index()).toBe("- [a](user_a.md) — about a\n");
  });

  it("C10 also when .memdir is deleted with it, then without what was written by hand", async () => {
    const world = makeWorld();
    const memdir = await world.open();
    await memdir.save(note("a"));
    await memdir.save(note("b"));
    fs.rmSync(world.path("MEMORY.md"));
    fs.rmSync(world.path(".memdir"), { recursive: true });
    await memdir.save(note("c"));
    expect(world.index().trim().split("\n").sort()).toEqual([
      "- [a](user_a.md) — about a",
      "- [b](user_b.md) — about b",
      "- [c](user_c.md) — about c",
    ]);
  });

  it("C-12 a link is replaced, its target not touched", async () => {
    const world = makeWorld();
    const target = `${world.top}/target.md`;
    fs.writeFileSync(target, "private\n");
    world.write("x", "");
    fs.symlinkSync(target, world.path("MEMORY.md"));
    const memdir = await world.open();
    await memdir.save(note("a"));
    expect(fs.lstatSync(world.path("MEMORY.md")).isFile()).toBe(true);
    expect(world.index()).toBe("- [a](user_a.md) — about a\n");
    expect(fs.readFileSync(target, "utf8")).toBe("private\n");
  });

  it.each([
    ["before the first save", []],
    ["in the place of memdir's own index", ["earlier"]],
  ])("a link %s is back after undo, and undoing that writes the index again", async (_, earlier) => {
    const world = makeWorld();
    fs.mkdirSync(world.dir, { recursive: true });
    const memdir = await world.open();
    for (const name of earlier) await memdir.save(note(name));
    fs.rmSync(world.path("MEMORY.md"), { force: true });
    fs.writeFileSync(`${world.top}/target.md`, "private\n");
    fs.symlinkSync("../target.md", world.path("MEMORY.md"));
    const { undo, notices } = await memdir.save(note("a"));
    const written = fs.readFileSync(world.path("MEMORY.md"), "utf8");
    expect(notices[0]).toContain("undo brings the link back");
    const undone = await memdir.undo(undo ?? "");
    expect(fs.readlinkSync(world.path("MEMORY.md"))).toBe("../target.md");
    expect(fs.readFileSync(`${world.top}/target.md`, "utf8")).toBe("private\n");
    await memdir.undo(undone.undo);
    expect(fs.lstatSync(world.path("MEMORY.md")).isFile()).toBe(true);
    expect(fs.readFileSync(world.path("MEMORY.md"), "utf8")).toBe(written);
  });

  it("C-12 forget, rename, lint and doctor stand a link, too", async () => {
    const world = makeWorld();
    const target = `${world.top}/target.md`;
    fs.writeFileSync(target, "private\n");
    const memdir = await world.open();
    await memdir.save(note("a"));
    await memdir.save(note("b"));
    const relink = () => {
      fs.rmSync(world.path("MEMORY.md"));
      fs.symlinkSync(target, world.path("MEMORY.md"));
    };
    relink();
    expect(await memdir.lint()).toBeInstanceOf(Array);
    expect(await memdir.doctor()).toBeInstanceOf(Array);
    await memdir.rename("b", "c");
    relink();
    await memdir.forget("a");
    expect(world.index()).toBe("- [c](user_c.md) — about b\n");
    expect(fs.readFileSync(target, "utf8")).toBe("private\n");
  });

  it("a directory in its place is a clear error, and nothing is lost", async () => {
    const world = makeWorld({ settings: { index: { maxLines: 4 } } });
    const memdir = await world.open();
    for (const name of ["a", "b", "c", "d", "e"]) await memdir.save(note(name));
    expect((await memdir.index()).overflow).toContain("user_a.md");
    fs.rmSync(world.path("MEMORY.md"));
    fs.mkdirSync(world.path("MEMORY.md"));
    const before = [world.files(), world.read("MEMORY.more.md"), world.read("user_a.md")];
    for (const work of [
      () => memdir.save(note("f")),
      () => memdir.save(note("a", { description: "new" })),
      () => memdir.forget("a"),
      () => memdir.rename("a", "z"),
    ]) {
      const error = await errorOf(work());
      expect(error.code).toBe("disk");
      expect(error.message).toMatch(/MEMORY\.md.*(is a directory|is not a file|EISDIR).*move it away/);
      expect([world.files(), world.read("MEMORY.more.md"), world.read("user_a.md")]).toEqual(before);
    }
    expect(await memdir.list()).toHaveLength(5);
    expect(await memdir.doctor()).toBeInstanceOf(Array);
    fs.rmdirSync(world.path("MEMORY.md"));
    await memdir.save(note("f"));
    expect(world.index()).toContain("(user_f.md)");
  });
});

describe("files that others drop in", () => {
  const FILE = "---\nname: Theirs\ndescription: d\ntype: user\n---\n";

  it("are not listed on the side: doctor names them, rebuilding lists them, and undo reverts that", async () => {
    const world = makeWorld();
    const memdir = await world.open();
    await memdir.save(note("a"));
    world.write("theirs.md", FILE, { ageMs: HOUR });
    world.write("project/theirs.md", FILE, { ageMs: HOUR });
    world.write("README.md", "No frontmatter.\n", { ageMs: HOUR });
    await memdir.save(note("b"));
    const before = world.index();
    expect(before).not.toContain("theirs.md");
    const missing = (await memdir.doctor()).find(({ name }) => name === "index-missing");
    expect(missing).toMatchObject({ ok: false, fix: "memdir index --rebuild" });
    expect(missing?.detail).toContain("project/theirs.md, theirs.md");
    const { undo, notices } = await memdir.rebuildIndex();
    expect(notices).toEqual(["added project/theirs.md, theirs.md"]);
    expect(world.index()).toBe(`${before}- [Theirs](project/theirs.md) — d\n- [Theirs](theirs.md) — d\n`);
    expect((await memdir.history()).at(-1)).toMatchObject({ action: "index", files: [] });
    await memdir.undo(undo ?? "");
    expect(world.index()).toBe(before);
  });

  it("keep the line that their writer added", async () => {
    const world = makeWorld();
    const memdir = await world.open();
    await memdir.save(note("a"));
    world.write("theirs.md", FILE, { ageMs: HOUR });
    fs.appendFileSync(world.path("MEMORY.md"), "- [In their words](theirs.md)\n");
    await memdir.save(note("b"));
    await memdir.rebuildIndex();
    expect(world.index().match(/theirs\.md/g)).toHaveLength(1);
    expect(world.index()).toContain("- [In their words](theirs.md)\n");
  });

  it.each(["issue#12.md", "note: x.md", "~draft.md", "a\u3000b.md", "a(1).md", "100%.md", "cafe\u0301.md"])(
    "%s gets one line, not one with every rebuild",
    async (file) => {
      const world = makeWorld();
      const memdir = await world.open();
      await memdir.save(note("a"));
      world.write(file, FILE, { ageMs: HOUR });
      await memdir.rebuildIndex();
      expect(await memdir.rebuildIndex()).toMatchObject({ undo: null, notices: [] });
      expect(world.index().match(/\[Theirs\]/g)).toHaveLength(1);
    },
  );

  it("are listed with the first save where there is no index at all, and undo removes it again", async () => {
    const world = makeWorld();
    world.write("theirs.md", FILE, { ageMs: HOUR });
    world.write("broken.md", "---\nname: x\n\nno end", { ageMs: HOUR });
    world.write("README.md", "No frontmatter.\n", { ageMs: HOUR });
    const memdir = await world.open();
    const { undo } = await memdir.save(note("a"));
    expect(world.index()).toBe("- [a](user_a.md) — about a\n- [broken](broken.md)\n- [Theirs](theirs.md) — d\n");
    await memdir.undo(undo ?? "");
    expect(world.files()).toEqual(["README.md", "broken.md", "theirs.md"]);
    await memdir.save(note("b"));
    expect(world.index()).toContain("(theirs.md)");
  });
});
