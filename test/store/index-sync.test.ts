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

  it("get a line with a later save, once they are a minute old", async () => {
    const world = makeWorld();
    const memdir = await world.open();
    await memdir.save(note("a"));
    world.write("theirs.md", FILE, { ageMs: 59_000 });
    await memdir.save(note("b"));
    expect(world.index()).not.toContain("theirs.md");
    world.age("theirs.md", 61_000);
    await memdir.save(note("c"));
    expect(world.index()).toContain("- [Theirs](theirs.md) — d\n");
    await memdir.save(note("d"));
    expect(world.index().match(/theirs\.md/g)).toHaveLength(1);
  });

  it("keep the line that their writer added meanwhile", async () => {
    const world = makeWorld();
    const memdir = await world.open();
    await memdir.save(note("a"));
    world.write("theirs.md", FILE, { ageMs: HOUR });
    fs.appendFileSync(world.path("MEMORY.md"), "- [In their words](theirs.md)\n");
    await memdir.save(note("b"));
    expect(world.index().match(/theirs\.md/g)).toHaveLength(1);
    expect(world.index()).toContain("- [In their words](theirs.md)\n");
  });

  it("C5 in folders, too", async () => {
    const world = makeWorld();
    const memdir = await world.open();
    world.write("project/old.md", FILE, { ageMs: HOUR });
    await memdir.save(note("a"));
    world.write("project/theirs.md", FILE, { ageMs: HOUR });
    await memdir.save(note("b"));
    await memdir.save(note("c"));
    expect(world.index()).toContain("(project/theirs.md)");
  });

  it.each(["issue#12.md", "note: x.md", "~draft.md", "a\u3000b.md", "a(1).md", "100%.md", "cafe\u0301.md"])(
    "%s gets one line, not one with every save",
    async (file) => {
      const world = makeWorld();
      const memdir = await world.open();
      world.write(file, FILE, { ageMs: HOUR });
      for (const name of ["a", "b"]) {
        await memdir.save(note(name));
        world.write(`other-${name}.md`, FILE.replace("Theirs", "Other"), { ageMs: HOUR });
      }
      await memdir.save(note("c"));
      await memdir.rebuildIndex();
      expect(world.index().match(/\[Theirs\]/g)).toHaveLength(1);
    },
  );

  it("one that is broken gets a line by its stem", async () => {
    const world = makeWorld();
    world.write("broken.md", "---\nname: x\n\nno end", { ageMs: HOUR });
    await (await world.open()).save(note("a"));
    expect(world.index()).toContain("- [broken](broken.md)\n");
  });
});
