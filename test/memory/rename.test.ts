import fs from "node:fs";
import { describe, expect, it } from "vitest";
import { errorOf, HOUR, makeWorld, note } from "../world.ts";

describe("rename", () => {
  it("changes name, file and line in one entry; what it says, and when it was said, stays", async () => {
    const world = makeWorld();
    const memdir = await world.open();
    await memdir.save(note("old"));
    const before = world.read("user_old.md");
    world.now = new Date(world.now.getTime() + HOUR);
    const renamed = await memdir.rename("old", "New name");
    expect(renamed).toMatchObject({ file: "user_new_name.md", action: "updated", notices: [] });
    expect(world.files()).toEqual(["MEMORY.md", "user_new_name.md"]);
    expect(world.read("user_new_name.md")).toBe(before.replace("name: old", "name: New name"));
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

  it("a name that a memory of another type has is pointed out, and the way to tell them apart works", async () => {
    const memdir = await makeWorld().open();
    await memdir.save(note("eq", { type: "project" }));
    await memdir.save(note("other"));
    const { notices } = await memdir.rename("other", "eq");
    expect(notices.join()).toMatch(/project_eq\.md has the same name and the type project/);
    expect((await errorOf(memdir.show("eq"))).message).toMatch(/user_eq\.md \(project\); give the file name$/);
  });

  it("a secret as a name is refused with what rename can do", async () => {
    const memdir = await makeWorld().open();
    await memdir.save(note("a"));
    const secret = `ghp_${"aB3dE6gH9jK2mN5pQ8sT1vW4yZ7bC0eF3hJ6"}`;
    const { code, message } = await errorOf(memdir.rename("a", secret));
    expect(code).toBe("secret");
    expect(message).toMatch(/^not renamed, .*in the name; choose another name$/);
    expect(message).not.toContain(secret);
  });

  it("links in the text of other memories and its own follow, in one change that one undo reverts", async () => {
    const world = makeWorld();
    const memdir = await world.open();
    await memdir.save(note("a", { body: "I am [[a]]." }));
    const body = 'See [[a]], [[user_a|that one]], [[b]], [this](user_a.md#part) and [that](./user_a.md "A").';
    await memdir.save(note("b", { body, description: "more than [[a]] says" }));
    const then = new Date(world.now.getTime() - 48 * HOUR);
    fs.utimesSync(`${world.dir}/user_b.md`, then, then);
    const before = world.files().map((file) => world.read(file));
    const { notices } = await memdir.rename("a", "z");
    expect(notices).toEqual(["references to it were updated in user_b.md"]);
    const next = 'See [[z]], [[user_z|that one]], [[b]], [this](user_z.md#part) and [that](./user_z.md "A").';
    expect(world.read("user_b.md")).toBe(before[2]?.replace(body, next).replace("than [[a]]", "than [[z]]"));
    expect(world.index()).toContain("(user_b.md) — more than [[z]] says\n");
    expect(world.read("user_z.md")).toContain("I am [[z]].");
    expect(fs.statSync(`${world.dir}/user_b.md`).mtime).toEqual(then);
    await memdir.undo();
    expect(world.files().map((file) => world.read(file))).toEqual(before);
  });

  it("code stays as it is, and so does every other byte", async () => {
    const world = makeWorld();
    world.write("a.md", "---\nname: a\ntype: user\n---\n");
    const code = "```sh\n[[a]] (a.md)\n```\n\n    [[a]]\n\n~~~\n[x](a.md)\n~~~\nand `[[a]]` or ``[x](a.md)``\n";
    const text = (link: string) =>
      `\uFEFF---\r\nname: b  \r\ntype: user\r\n---\r\n${code}- one\r\n\r\n    ${link}\r\n[\`a.md\`](${link}.md)  `;
    world.write("b.md", text("a").replace("    a\r", "    [[a]]\r"));
    await (await world.open()).rename("a", "z");
    expect(world.read("b.md")).toBe(text("user_z").replace("    user_z\r", "    [[user_z]]\r"));
  });

  it("a file that is not UTF-8 or cannot be parsed keeps its bytes", async () => {
    const world = makeWorld();
    world.write("a.md", "---\nname: a\ntype: user\n---\n");
    const latin = Buffer.from("---\nname: b\ntype: user\nlinks: [a]\n---\nf\xfcr [[a]]\n", "latin1");
    fs.writeFileSync(`${world.dir}/b.md`, latin);
    world.write("c.md", "---\nname: c\n[[a]]\n");
    const { notices } = await (await world.open()).rename("a", "z");
    expect(notices).toEqual([]);
    expect(fs.readFileSync(`${world.dir}/b.md`)).toEqual(latin);
    expect(world.read("c.md")).toBe("---\nname: c\n[[a]]\n");
  });

  it("beside it in a folder, a link has no folder; a name that no wiki link can hold becomes the file's", async () => {
    const world = makeWorld();
    world.write("project/x.md", "---\nname: an x\ntype: project\n---\n");
    world.write("project/y.md", "---\nname: y\ntype: project\n---\n[x](x.md) [[an x]]\n");
    world.write("z.md", "---\nname: z\ntype: project\n---\n[x](project/x.md) [[project/x]]\n");
    await (await world.open()).rename("an x", "C# [new]");
    const stem = world
      .files()
      .find((file) => file.startsWith("project/project_"))
      ?.slice(8, -3);
    expect(world.read("project/y.md")).toContain(`\n[x](${stem}.md) [[${stem}]]\n`);
    expect(world.read("z.md")).toContain(`\n[x](project/${stem}.md) [[project/${stem}]]\n`);
  });

  it("links and supersedes of other memories follow, in one change that one undo reverts", async () => {
    const world = makeWorld();
    const memdir = await world.open();
    await memdir.save(note("old"));
    await memdir.save(note("new", { supersedes: ["old"] }));
    await memdir.save(note("third", { links: ["user_old.md", "other", "[[Old]]"], supersedes: ["user_old"] }));
    const before = world.files().map((file) => world.read(file));
    const { notices } = await memdir.rename("old", "older way");
    expect(notices).toEqual(["references to it were updated in user_new.md, user_third.md"]);
    expect((await memdir.show("new")).metadata.supersedes).toEqual(["older way"]);
    expect((await memdir.show("third")).metadata).toMatchObject({
      links: ["user_older_way.md", "other", "[[older way]]"],
      supersedes: ["user_older_way"],
    });
    await memdir.undo();
    expect(world.files().map((file) => world.read(file))).toEqual(before);
  });

  it("of two memories with one name, a reference follows the one that it means", async () => {
    const world = makeWorld();
    const memdir = await world.open();
    await memdir.save(note("old", { type: "project" }));
    await memdir.save(note("old"));
    await memdir.save(note("new", { supersedes: ["old", "user_old"] }));
    await memdir.rename("user_old.md", "older");
    expect((await memdir.show("new")).metadata.supersedes).toEqual(["old", "user_older"]);
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
