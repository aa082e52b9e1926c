import fs from "node:fs";
import { describe, expect, it } from "vitest";
import { errorOf, HOUR, makeWorld, note } from "../world.ts";

const SECRET = ["ghp", "wWPw5k4aXcaT4fNP0UcnZwJUVFk6LO0pINUx"].join("_");

async function start() {
  const world = makeWorld();
  const memdir = await world.open();
  await memdir.save(note("a"));
  world.now = new Date(world.now.getTime() + HOUR);
  const { text } = await memdir.text("a");
  return { world, memdir, text };
}

describe("edit", () => {
  it("writes the text as it was given, moves modified and the index line", async () => {
    const { world, memdir, text } = await start();
    const edited = text.replace("about a", "in other words").replace("Body of a.", "Another body.\n\n\n");
    expect(await memdir.edit("a", text, edited)).toMatchObject({ action: "updated", notices: [] });
    expect(world.read("user_a.md")).toBe(edited.replace(/modified: .*/, `modified: ${world.now.toISOString()}`));
    expect(world.index()).toBe("- [a](user_a.md) — in other words\n");
  });

  it("the same text is no change", async () => {
    const { memdir, text } = await start();
    expect(await memdir.edit("a", text, text)).toMatchObject({ action: "unchanged", undo: null });
  });

  it("a file that is not UTF-8 is refused with what to do, and not as changed meanwhile", async () => {
    const { world, memdir } = await start();
    const bytes = Buffer.from("---\nname: latin\ntype: user\n---\n\ncaf\xe9\n", "latin1");
    fs.writeFileSync(world.path("latin.md"), bytes);
    const { text } = await memdir.text("latin");
    const error = await errorOf(memdir.edit("latin", text, `${text}More.\n`));
    expect(error).toMatchObject({ code: "broken", message: expect.stringMatching(/^latin\.md .*save it as UTF-8/) });
    expect(fs.readFileSync(world.path("latin.md"))).toEqual(bytes);
  });

  it("keeps a modified that the person set", async () => {
    const { world, memdir, text } = await start();
    await memdir.edit("a", text, text.replace(/modified: .*/, "modified: 2020-01-01T00:00:00.000Z"));
    expect(world.read("user_a.md")).toContain("modified: 2020-01-01T00:00:00.000Z");
  });

  it("C7 a file with frontmatter and no modified gets one, a file without frontmatter does not", async () => {
    const { world, memdir } = await start();
    world.write("with.md", "---\nname: with\ntype: user\n---\n\nOld.\n");
    world.write("without.md", "Old.\n");
    world.write("MEMORY.md", `${world.index()}- [without](without.md)\n`);
    await memdir.edit("with", world.read("with.md"), world.read("with.md").replace("Old", "New"));
    await memdir.edit("without", "Old.\n", "New.\n");
    expect(world.read("without.md")).toBe("New.\n");
    expect(world.read("with.md")).toContain(`modified: ${world.now.toISOString()}`);
  });

  it("refuses when the file changed meanwhile, and overwrites nothing", async () => {
    const { world, memdir, text } = await start();
    world.write("user_a.md", `${text}Theirs.\n`);
    const error = await errorOf(memdir.edit("a", text, `${text}Mine.\n`));
    expect(error).toMatchObject({ code: "conflict" });
    expect(error.message).toMatch(/changed while it was edited/);
    expect(world.read("user_a.md")).toBe(`${text}Theirs.\n`);
  });

  it("refuses text that broke the frontmatter, lets one mend a broken file", async () => {
    const { world, memdir, text } = await start();
    expect(await errorOf(memdir.edit("a", text, text.replace("name: a", "name a")))).toMatchObject({ code: "broken" });
    world.write("bad.md", "---\nname bad\ntype: user\n---\n");
    await memdir.edit("bad", world.read("bad.md"), "---\nname: bad\ntype: user\n---\n");
    expect((await memdir.show("bad")).problems).toEqual([]);
  });

  it("refuses a head that lost its first line, and says what a memory without a name is called", async () => {
    const { world, memdir, text } = await start();
    const error = await errorOf(memdir.edit("a", text, text.replace("---\n", "")));
    expect(error).toMatchObject({ code: "usage", message: expect.stringMatching(/its first line must be ---/) });
    expect(world.read("user_a.md")).toBe(text);
    const { file } = await memdir.rename("a", "Deploys on Monday");
    const named = world.read(file);
    const { notices } = await memdir.edit(file, named, named.replace(/^name: .*/m, "name:"));
    expect(notices).toEqual([
      'without a name it is called user_deploys_on_monday: links to "Deploys on Monday" lead nowhere',
    ]);
  });

  it("secrets are refused by rule and line, or masked", async () => {
    const { world, memdir, text } = await start();
    const edited = `${text}\n${SECRET}\n`;
    const error = await errorOf(memdir.edit("a", text, edited));
    expect(error).toMatchObject({ code: "secret", details: ["github-token in line 11"] });
    expect(world.grep(SECRET)).toEqual([]);
    expect((await memdir.edit("a", text, edited, { redact: true })).notices).toEqual([
      "masked: github-token in line 11",
    ]);
    expect(world.read("user_a.md")).toContain("[redacted: github-token]");
    expect(world.grep(SECRET)).toEqual([]);
  });
});
