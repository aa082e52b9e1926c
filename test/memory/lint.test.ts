import fs from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { DAY, makeWorld, note, type World } from "../world.ts";

const SECRET = ["ghp", "wWPw5k4aXcaT4fNP0UcnZwJUVFk6LO0pINUx"].join("_");

async function rules(world: World): Promise<string[]> {
  return (await (await world.open()).lint()).map(({ file, rule }) => `${file}: ${rule}`);
}

function text(fields: string, body = "Body."): string {
  return `---\n${fields}\n---\n\n${body}\n`;
}

const GOOD = "name: a\ndescription: tabs for indentation in Go files\ntype: user";

describe("lint", () => {
  it("a good memory and a good index have no problems", async () => {
    const world = makeWorld();
    world.write("a.md", text(GOOD));
    world.write("MEMORY.md", "# Memory Index\n\n- [a](a.md) — d\n");
    expect(await (await world.open()).lint()).toEqual([]);
    expect(await (await makeWorld().open()).lint()).toEqual([]);
  });

  it("B2.13 the three required fields; a name may differ from the file", async () => {
    const world = makeWorld();
    world.write("empty.md", text("x: y"));
    world.write("other.md", text(GOOD));
    world.write(
      "user_prefers_tabs.md",
      text("name: Prefers tabs\ndescription: tabs for indentation in Go files\ntype: user"),
    );
    world.write(
      "user_prefers_tabs_2.md",
      text("name: prefers TABS\ndescription: tabs for indentation in Go files\ntype: user"),
    );
    world.write(
      "prefers-tabs.md",
      text("name: Prefers tabs\ndescription: tabs for indentation in Go files\ntype: user"),
    );
    expect(await rules(world)).toEqual(["empty.md: format", "empty.md: name", "empty.md: description"]);
  });

  it("B2.1 another type is named", async () => {
    const world = makeWorld();
    world.write("a.md", text("name: a\ndescription: tabs for indentation in Go files\ntype: opinion"));
    expect(await (await world.open()).lint()).toMatchObject([
      { rule: "format", message: expect.stringContaining('"opinion"'), scope: "project" },
    ]);
  });

  it.each(["feedback", "project"])(
    "B2.15 C33 a %s memory wants Why and How to apply, in bold or as headings",
    async (type) => {
      const world = makeWorld();
      const fields = (name: string) => `name: ${name}\ndescription: tabs for indentation in Go files\ntype: ${type}`;
      world.write("bare.md", text(fields("bare"), "Rule."));
      world.write("bold.md", text(fields("bold"), "Rule.\n\n**Why:** x\n**How to apply:** y"));
      world.write("headings.md", text(fields("headings"), "# Rule\nx\n# Why\ny\n# How to Apply\nz"));
      expect(await rules(world)).toEqual(["bare.md: why", "bare.md: how"]);
    },
  );

  it.each(["user", "reference"])("B2.16 a %s memory is free-form", async (type) => {
    const world = makeWorld();
    world.write(
      "a.md",
      text(`name: a\ndescription: tabs for indentation in Go files\ntype: ${type}`, "Anything, since yesterday."),
    );
    expect(await rules(world)).toEqual([]);
  });

  it("B2.18 relative dates of project memories, counted from when they were written", async () => {
    const world = makeWorld();
    const fields =
      "name: a\ndescription: tabs for indentation in Go files\ntype: project\nmodified: 2026-01-05T12:00:00.000Z";
    world.write("a.md", text(fields, "The freeze begins tomorrow.\n\n**Why:** x\n**How to apply:** y"));
    const [problem] = await (await world.open()).lint();
    expect(problem).toMatchObject({ rule: "relative-date", message: expect.stringContaining("2026-01-06") });
    expect(world.read("a.md").split("\n")[(problem?.line ?? 0) - 1]).toContain("tomorrow");
  });

  it("B2.18 without a date in its head a shared memory counts from its commit, and not from the checkout", async () => {
    const world = makeWorld();
    const folder = path.join(world.project, ".claude", "memory");
    fs.mkdirSync(folder, { recursive: true });
    const fields = "name: a\ndescription: tabs for indentation in Go files\ntype: project";
    const file = path.join(folder, "a.md");
    fs.writeFileSync(file, text(fields, "The freeze begins tomorrow.\n\n**Why:** x\n**How to apply:** y"));
    const real = world.now;
    world.now = new Date("2026-01-05T12:00:00.000Z");
    world.git("add", "-A");
    world.git("commit", "-q", "-m", "memory");
    world.now = real;
    fs.utimesSync(file, real, real);
    const relative = (await (await world.open()).lint()).filter(({ rule }) => rule === "relative-date");
    expect(relative).toMatchObject([{ scope: "team", message: expect.stringContaining("2026-01-06") }]);
  });

  it("B2.18 without any, a private memory counts from its file's time", async () => {
    const world = makeWorld();
    const fields = "name: a\ndescription: tabs for indentation in Go files\ntype: project";
    const body = "The freeze begins tomorrow.\n\n**Why:** x\n**How to apply:** y";
    world.write("a.md", text(fields, body), { ageMs: 10 * DAY });
    const [problem] = await (await world.open()).lint();
    expect(problem).toMatchObject({ rule: "relative-date", message: expect.stringContaining("2026-03-01") });
  });

  it("links and supersedes that lead nowhere; what was forgotten since is still superseded", async () => {
    const world = makeWorld();
    const memdir = await world.open();
    await memdir.save(note("old"));
    await memdir.save(note("new", { supersedes: ["old", "never was"], links: ["nowhere", "https://example.org/x"] }));
    const dead = async () => (await memdir.lint()).filter(({ rule }) => rule === "dead-link");
    const found = await dead();
    expect(found.map(({ message }) => message.split(",")[0])).toEqual([
      '`links` refers to "nowhere"',
      '`supersedes` refers to "never was"',
    ]);
    await memdir.forget("old");
    expect(await dead()).toEqual(found);
  });

  it("B2.19 one memory per file: a long body is pointed out", async () => {
    const world = makeWorld();
    world.write("a.md", text(GOOD, "x".repeat(8001)));
    expect(await rules(world)).toEqual(["a.md: size"]);
  });

  it("secrets by rule and line of the file, anywhere in it, the value never", async () => {
    const world = makeWorld();
    world.write("a.md", text(GOOD, `First.\n${SECRET}`));
    world.write("b.md", text(`name: b\ndescription: ${SECRET}\ntype: user`));
    const problems = await (await world.open()).lint();
    expect(problems.map(({ file, rule, line }) => [file, rule, line])).toEqual([
      ["a.md", "secret", 8],
      ["b.md", "secret", 3],
    ]);
    expect(JSON.stringify(problems)).not.toContain(SECRET);
  });

  it("what cannot be parsed or read is a problem, not a crash", async () => {
    const world = makeWorld();
    world.write("broken.md", "---\nname: broken\n");
    world.write(
      "bytes.md",
      Buffer.concat([
        Buffer.from(text("name: bytes\ndescription: tabs for indentation in Go files\ntype: user")),
        Buffer.from([0xff]),
      ]),
    );
    fs.symlinkSync("nowhere.md", world.path("dangling.md"));
    const found = await rules(world);
    expect(found).toContain("broken.md: format");
    expect(found).toContain("bytes.md: format");
    expect(found).toContain("dangling.md: unreadable");
  });

  it("an index that points to a directory or a link is linted all the same", async () => {
    const world = makeWorld();
    world.write("x.md/inner.md", text("name: inner\ndescription: tabs for indentation in Go files\ntype: user"));
    fs.symlinkSync("nowhere.md", world.path("dangling.md"));
    world.write("MEMORY.md", "- [x](x.md)\n- [y](dangling.md)\n- [inner](x.md/inner.md)\n");
    const found = await rules(world);
    expect(found).toContain("MEMORY.md: index-dangling");
    expect(await (await world.open()).doctor()).toBeInstanceOf(Array);
  });

  it("C11 B4.18 the index: long lines, dead pointers, prose", async () => {
    const world = makeWorld();
    world.write("a.md", text(GOOD));
    world.write(
      "MEMORY.md",
      `# Index\n- [a](a.md) — ${"x".repeat(200)}\n- [gone](gone.md)\n\nOne.\nTwo.\nThree.\nFour.\nFive.\n`,
    );
    const problems = await (await world.open()).lint();
    expect(problems.map(({ rule, line }) => [rule, line])).toEqual([
      ["index-line-length", 2],
      ["index-dangling", 3],
      ["index-prose", 8],
    ]);
  });

  it("B4.18 a few words and headings are no prose", async () => {
    const world = makeWorld();
    world.write("MEMORY.md", "# Index\n\nKeep it short.\n\n## User\n<!-- note -->\n");
    expect(await rules(world)).toEqual([]);
  });
});

describe("wording", () => {
  it("C31 is looked at by the same verb: a vague description, a wrong type, what an instruction file says already", async () => {
    const world = makeWorld();
    const rule = "Always run the database migrations through the release script, never by hand on the server.";
    fs.writeFileSync(`${world.project}/CLAUDE.md`, `# Rules\n\n- ${rule}\n`);
    world.write("a.md", text("name: a\ndescription: notes\ntype: user"));
    world.write("b.md", text("name: b\ndescription: how database migrations are run\ntype: user", rule));
    world.write("MEMORY.md", "- [a](a.md) — notes\n- [b](b.md) — how database migrations are run\n");
    expect(await rules(world)).toEqual(["a.md: vague-description", "b.md: wrong-type", "b.md: restated"]);
  });
});

describe("an enforce block", () => {
  const body = "Never.\n\n**Why:** it hurts.\n\n**How to apply:** always.";
  const feedback = "name: a\ndescription: tabs for indentation in Go files\ntype: feedback";

  it("that can be used is no problem, any other is", async () => {
    const world = makeWorld();
    world.write("a.md", text(`${feedback}\nenforce:\n  tool: Bash\n  pattern: git push -f`, body));
    world.write("MEMORY.md", "- [a](a.md) — d\n");
    expect(await rules(world)).toEqual([]);
    world.write("a.md", text(`${feedback}\nenforce:\n  tool: Bash\n  pattern: git (push`, body));
    expect(await rules(world)).toEqual(["a.md: enforce"]);
    world.write("a.md", text(`${GOOD}\nenforce:\n  tools: Bash`));
    expect(await rules(world)).toEqual(["a.md: enforce", "a.md: enforce", "a.md: enforce"]);
  });
});
