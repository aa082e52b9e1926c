import fs from "node:fs";
import { describe, expect, it } from "vitest";
import type { Memdir } from "../../src/memdir.ts";
import { errorOf, HOUR, makeWorld, note, START } from "../world.ts";

// Made up from pieces, so that no scanner takes this file for a leak.
const SECRET = ["ghp", "wWPw5k4aXcaT4fNP0UcnZwJUVFk6LO0pINUx"].join("_");

const CLAUDE_FILE = `---
name: testing-policy
description: How tests are written here
# a comment of somebody
metadata:
  node_type: memory
  type: feedback
  originSessionId: 0b7e3f7c-1111-2222-3333-444455556666
  modified: 2026-01-05T10:00:00.000Z
---

Integration tests hit a real database.

**Why:** mocks hid a broken migration.
`;

describe("save", () => {
  it("B4.1 B4.2 B11.8 one call writes the file and its index line", async () => {
    const world = makeWorld();
    const memdir = await world.open();
    const saved = await memdir.save({
      type: "user",
      name: "Prefers tabs",
      description: "Tabs, not spaces",
      body: "Tabs.",
    });
    expect(saved).toEqual({
      file: "user_prefers_tabs.md",
      path: world.path("user_prefers_tabs.md"),
      action: "created",
      notices: [],
      undo: "1",
    });
    expect(world.read("user_prefers_tabs.md")).toBe(
      `---\nname: Prefers tabs\ndescription: Tabs, not spaces\ntype: user\ncreated: ${START}\nmodified: ${START}\n---\n\nTabs.\n`,
    );
    expect(world.index()).toBe("- [Prefers tabs](user_prefers_tabs.md) — Tabs, not spaces\n");
  });

  it("B1.12 B1.15 everything is plain files: one flat file per memory beside the index, private", async () => {
    const world = makeWorld();
    await (await world.open()).save(note("a"));
    expect(world.files()).toEqual(["MEMORY.md", "user_a.md"]);
    expect(fs.statSync(world.path("user_a.md")).mode & 0o777).toBe(0o600);
    expect(fs.statSync(world.dir).mode & 0o777).toBe(0o700);
  });

  it("every optional field is saved and read back", async () => {
    const world = makeWorld();
    const memdir = await world.open();
    const source = { by: "user", session: "s1", message: "m1" };
    await memdir.save(
      note("a", { when: ["writing tests", " naming:\nthings "], links: ["user_b"], pinned: true, source }),
    );
    const shown = await memdir.show("a");
    expect(shown).toMatchObject({ when: ["writing tests", "naming: things"], pinned: true, problems: [] });
    expect(shown.metadata).toMatchObject({ links: ["user_b"], source: "user session=s1 message=m1" });
  });

  it("a reference to a memory that is not there is pointed out, and kept", async () => {
    const world = makeWorld();
    const memdir = await world.open();
    await memdir.save(note("a"));
    const { notices, file } = await memdir.save(note("b", { links: ["a", "zzz"], supersedes: ["yyy"] }));
    expect(notices).toEqual([
      'no memory here is called "zzz": the reference to it counts once there is one',
      'no memory here is called "yyy": the reference to it counts once there is one',
    ]);
    expect(world.read(file)).toContain("zzz");
  });

  it("C7 pinned is written as YAML's true, as Claude Code reads it", async () => {
    const world = makeWorld();
    await (await world.open()).save(note("a", { pinned: true }));
    expect(world.read("user_a.md")).toMatch(/^pinned: true$/m);
  });

  it("the same name updates in place; created stays, modified moves", async () => {
    const world = makeWorld();
    const memdir = await world.open();
    await memdir.save(note("a"));
    world.now = new Date(world.now.getTime() + HOUR);
    const again = await memdir.save(note("a", { description: "new words" }));
    expect(again).toMatchObject({ file: "user_a.md", action: "updated", undo: "2" });
    expect(world.files()).toEqual(["MEMORY.md", "user_a.md"]);
    expect(world.read("user_a.md")).toContain(`created: ${START}\nmodified: ${world.now.toISOString()}\n`);
    expect(world.index()).toBe("- [a](user_a.md) — new words\n");
  });

  it("the same text again changes no byte", async () => {
    const world = makeWorld();
    const memdir = await world.open();
    await memdir.save(note("a", { when: ["x"] }));
    const before = [world.read("user_a.md"), world.index(), world.read(".memdir/journal.jsonl")];
    world.now = new Date(world.now.getTime() + HOUR);
    const again = await memdir.save(note("a", { when: ["x"] }));
    expect(again).toMatchObject({ action: "unchanged", undo: null });
    expect([world.read("user_a.md"), world.index(), world.read(".memdir/journal.jsonl")]).toEqual(before);
  });

  it("an update without a body or description keeps the old ones", async () => {
    const world = makeWorld();
    const memdir = await world.open();
    await memdir.save(note("a"));
    await memdir.save({ type: "user", name: "a", description: "only this", body: "" });
    expect(await memdir.show("a")).toMatchObject({ description: "only this", body: "Body of a." });
    await memdir.save({ type: "user", name: "a", body: "Only that." });
    expect(await memdir.show("a")).toMatchObject({ description: "only this", body: "Only that." });
  });

  it.each([
    ["a b", "a-b"],
    ["x".repeat(60), "x".repeat(61)],
    ["🎉 party", "party"],
  ])("B4.3 %j and %j slug alike and stay two memories", async (one, two) => {
    const world = makeWorld();
    const memdir = await world.open();
    const first = await memdir.save(note(one, { body: "one" }));
    const second = await memdir.save(note(two, { body: "two" }));
    expect(second).toMatchObject({ action: "created", file: first.file.replace(".md", "_2.md") });
    expect((await memdir.list()).map((row) => row.name).sort()).toEqual([one, two].sort());
    expect((await memdir.save(note(two, { body: "two, again" }))).file).toBe(second.file);
    expect((await memdir.save(note(one, { body: "one, again" }))).file).toBe(first.file);
    expect(world.index().trim().split("\n")).toHaveLength(2);
  });

  it("B4.3 the second of two names that slug alike is still found when the first is forgotten", async () => {
    const world = makeWorld();
    const memdir = await world.open();
    await memdir.save(note("a b"));
    await memdir.save(note("a-b"));
    await memdir.forget("user_a_b.md");
    expect(await memdir.save(note("a-b", { body: "new" }))).toMatchObject({
      action: "updated",
      file: "user_a_b_2.md",
    });
    expect((await memdir.list()).map((row) => row.file)).toEqual(["user_a_b_2.md"]);
  });

  it("a name is compared without case and composed; where both are there, the exact one is meant", async () => {
    const world = makeWorld();
    const memdir = await world.open();
    await memdir.save(note("Cafe\u0301 tabs"));
    expect(await memdir.save(note("caf\u00e9 Tabs", { body: "new" }))).toMatchObject({ action: "updated" });
    world.write("user_notes.md", "---\nname: Notes\ntype: user\n---\n");
    world.write("user_notes_2.md", "---\nname: notes\ntype: user\n---\n");
    expect((await memdir.save(note("notes"))).file).toBe("user_notes_2.md");
    expect((await memdir.save(note("Notes"))).file).toBe("user_notes.md");
  });

  it("B4.3 NFC and NFD of one name are one memory", async () => {
    const world = makeWorld();
    const memdir = await world.open();
    await memdir.save(note("café".normalize("NFC")));
    expect(await memdir.save(note("café".normalize("NFD"), { body: "new" }))).toMatchObject({ action: "updated" });
    expect(await memdir.list()).toHaveLength(1);
  });

  it("the same name of another type is another memory, with a notice", async () => {
    const world = makeWorld();
    const memdir = await world.open();
    await memdir.save(note("tests", { type: "user" }));
    const second = await memdir.save(note("tests", { type: "feedback" }));
    expect(second).toMatchObject({ action: "created", file: "feedback_tests.md" });
    expect(second.notices.join()).toMatch(/user_tests\.md has the same name and the type user/);
  });

  it.each(["user", "opinion", ""].slice(1))("B2.1 the type %j is refused", async (type) => {
    const world = makeWorld();
    const error = await errorOf((await world.open()).save(note("a", { type: type as "user" })));
    expect(error).toMatchObject({ code: "usage" });
    expect(error.message).toMatch(/use one of user, feedback, project, reference/);
    expect(fs.existsSync(world.dir)).toBe(false);
  });

  it("nothing to save is refused", async () => {
    const world = makeWorld();
    expect(await errorOf((await world.open()).save({ type: "user", name: "a", body: " \n" }))).toMatchObject({
      code: "usage",
    });
  });

  it.each(["../x", "/etc/passwd", "%2e%2e%2fx", "．．／x", "con", "x/../../y", "C:\\x"])(
    "B4.3 the name %j stays inside the directory",
    async (name) => {
      const world = makeWorld();
      const memdir = await world.open();
      const { file } = await memdir.save(note(name));
      expect(file).toMatch(/^user_[^/\\%.]+\.md$/);
      expect(world.files()).toEqual(["MEMORY.md", file]);
      expect(await memdir.save(note(name, { body: "new" }))).toMatchObject({ action: "updated", file });
    },
  );
});

describe("save over files of others", () => {
  it("C7 a file of Claude Code changes only in the edited fields", async () => {
    const world = makeWorld();
    world.write("testing-policy.md", CLAUDE_FILE);
    const memdir = await world.open();
    const saved = await memdir.save({
      type: "feedback",
      name: "testing-policy",
      description: "Tests: real database",
      body: "",
    });
    expect(saved).toMatchObject({ file: "testing-policy.md", action: "updated" });
    expect(world.read("testing-policy.md")).toBe(
      CLAUDE_FILE.replace("description: How tests are written here", 'description: "Tests: real database"').replace(
        "2026-01-05T10:00:00.000Z",
        START,
      ),
    );
  });

  it("C7 new fields go under metadata where the file keeps its type", async () => {
    const world = makeWorld();
    world.write("testing-policy.md", CLAUDE_FILE);
    await (await world.open())
      .save({ type: "feedback", name: "testing-policy", body: "", description: "", when: ["testing"], pinned: true })
      .catch(() => null);
    await (await world.open()).save({ type: "feedback", name: "testing-policy", body: "New rule.", when: ["testing"] });
    const text = world.read("testing-policy.md");
    expect(text).toContain("metadata:\n  node_type: memory\n  type: feedback\n");
    expect(text).toContain("\n  when:\n    - testing\n");
    expect(text).toMatch(/---\n\nNew rule\.\n$/);
  });

  it("C7 CRLF stays CRLF", async () => {
    const world = makeWorld();
    world.write("testing-policy.md", CLAUDE_FILE.replaceAll("\n", "\r\n"));
    await (await world.open()).save({ type: "feedback", name: "testing-policy", body: "One.\nTwo." });
    const text = world.read("testing-policy.md");
    expect(text.replaceAll("\r\n", "")).not.toContain("\n");
    expect(text).toMatch(/\r\n\r\nOne\.\r\nTwo\.\r\n$/);
  });

  it.each(["user-prefers-tabs.md", "user_prefers-tabs.md", "prefers_tabs.md", "prefers-tabs.md"])(
    "C6 %s is found by its name and updated",
    async (file) => {
      const world = makeWorld();
      world.write(file, "---\nname: Prefers tabs\ndescription: d\ntype: user\n---\n\nOld.\n");
      const memdir = await world.open();
      expect(await memdir.save(note("Prefers tabs"))).toMatchObject({ file, action: "updated" });
      expect(await memdir.list()).toHaveLength(1);
    },
  );

  it.each(["user_role.md", "user/role.md"])(
    "C6 %s, whose file name says nothing of its name, is found by its index line",
    async (file) => {
      const world = makeWorld();
      world.write(file, "---\nname: Background and seniority\ndescription: d\ntype: user\n---\n\nOld.\n");
      world.write("MEMORY.md", `- [Background and seniority](${file}) — d\n`);
      const memdir = await world.open();
      expect(await memdir.save(note("Background and seniority"))).toMatchObject({ file, action: "updated" });
      expect(await memdir.list()).toHaveLength(1);
    },
  );

  it("C7 a broken file is refused and not touched", async () => {
    const world = makeWorld();
    const broken = "---\nname: tabs\n??? what\ntype: user\n---\n\nOld.\n";
    world.write("user_tabs.md", broken);
    const error = await errorOf((await world.open()).save(note("tabs")));
    expect(error).toMatchObject({ code: "broken" });
    expect(error.message).toMatch(/user_tabs\.md.*line 3.*by hand/);
    expect(world.read("user_tabs.md")).toBe(broken);
    expect(world.files()).toEqual(["user_tabs.md"]);
  });

  it("C7 a file whose frontmatter never ends is not overwritten either", async () => {
    const world = makeWorld();
    const broken = "---\nname: tabs\n\nOld.\n";
    world.write("user_tabs.md", broken);
    await (await world.open()).save(note("tabs")).catch(() => null);
    expect(world.read("user_tabs.md")).toBe(broken);
  });

  it("C7 invalid UTF-8 is refused and not touched", async () => {
    const world = makeWorld();
    const bytes = Buffer.concat([Buffer.from("---\nname: tabs\ntype: user\n---\n\n"), Buffer.from([0xff])]);
    world.write("user_tabs.md", bytes);
    expect(await errorOf((await world.open()).save(note("tabs")))).toMatchObject({ code: "broken" });
    expect(fs.readFileSync(world.path("user_tabs.md"))).toEqual(bytes);
  });

  it("C7 a file without frontmatter never gets one", async () => {
    const world = makeWorld();
    world.write("tabs.md", "Tabs.\n");
    const saved = await (await world.open()).save(note("tabs", { body: "Tabs, always." }));
    expect(saved).toMatchObject({ file: "tabs.md", action: "updated" });
    expect(world.read("tabs.md")).toBe("Tabs, always.\n");
  });

  it("a directory or a link in the way is passed by", async () => {
    const world = makeWorld();
    fs.mkdirSync(world.path("user_tabs.md"), { recursive: true });
    fs.writeFileSync(`${world.top}/elsewhere.md`, "mine");
    fs.symlinkSync(`${world.top}/elsewhere.md`, world.path("user_tabs_2.md"));
    expect(await (await world.open()).save(note("tabs"))).toMatchObject({ file: "user_tabs_3.md", action: "created" });
    expect(fs.readFileSync(`${world.top}/elsewhere.md`, "utf8")).toBe("mine");
  });
});

describe("secrets", () => {
  it("are refused by rule and line; the value is nowhere", async () => {
    const world = makeWorld();
    const memdir = await world.open();
    const error = await errorOf(memdir.save(note("deploy", { body: `First.\n\ntoken: ${SECRET}\n` })));
    expect(error).toMatchObject({ code: "secret", details: ["github-token in line 3"] });
    expect(error.message).toMatch(/github-token in line 3.*--redact/);
    expect(
      JSON.stringify([error.message, error.details, String(error.cause), error.stack, world.logged]),
    ).not.toContain(SECRET);
    expect(world.grep(SECRET)).toEqual([]);
    expect(fs.existsSync(world.dir)).toBe(false);
  });

  it("every one of them is named", async () => {
    const world = makeWorld();
    const other = ["sk-ant-api03", "Zx9".repeat(31)].join("-");
    const error = await errorOf(
      (await world.open()).save(note("deploy", { body: `${SECRET}\n${other}AA`, description: SECRET })),
    );
    expect(error.details).toHaveLength(3);
    expect(error.message).toContain("in the description");
  });

  it.each([
    ["name", { name: `key ${SECRET}` }],
    ["description", { description: `key ${SECRET}` }],
    ["cue", { when: [`using ${SECRET}`] }],
    ["link", { links: [`https://x/?token=${SECRET}`] }],
    ["source", { source: { by: "tool", session: SECRET, message: null } }],
    ["reason", { reason: `because of ${SECRET}` }],
  ])("are found in the %s as well", async (_, more) => {
    const world = makeWorld();
    const error = await errorOf((await world.open()).save(note("a", more)));
    expect(error.code).toBe("secret");
    expect(error.message).not.toContain(SECRET);
    expect(world.grep(SECRET)).toEqual([]);
  });

  it("are found in the new name of a rename and in a reason to forget", async () => {
    const world = makeWorld();
    const memdir = await world.open();
    await memdir.save(note("a"));
    await memdir.rename("a", `key ${SECRET}`).catch((error) => expect(error.code).toBe("secret"));
    expect(world.grep(SECRET)).toEqual([]);
  });

  it("redact saves with the value masked and says so", async () => {
    const world = makeWorld();
    const saved = await (await world.open()).save(
      note("deploy", { body: `token: ${SECRET}`, description: `uses ${SECRET}`, redact: true }),
    );
    expect(saved.notices).toEqual(["masked: github-token in the description", "masked: github-token in line 1"]);
    expect(world.read("user_deploy.md")).toContain("token: [redacted: github-token]");
    expect(world.index()).toContain("uses (redacted: github-token)".replace(/[()]/g, (c) => (c === "(" ? "[" : "]")));
    expect(world.grep(SECRET)).toEqual([]);
  });
});

describe("notices", () => {
  it("B2.18 a relative date in a project memory is pointed out with the date it means", async () => {
    const world = makeWorld();
    const saved = await (await world.open()).save(
      note("freeze", {
        type: "project",
        description: "starts tomorrow",
        body: "Fact.\n\nThe freeze ends next Friday.",
      }),
    );
    expect(saved.action).toBe("created");
    expect(saved.notices.join("\n")).toMatch(/description: "tomorrow" means 2026-03-11/);
    expect(saved.notices.join("\n")).toMatch(/line 3: "next Friday" means 2026-03-(13|20)/);
  });

  it("B2.18 only in project memories", async () => {
    const world = makeWorld();
    expect((await (await world.open()).save(note("a", { body: "Since yesterday." }))).notices).toEqual([]);
  });

  it("C11 an index line over 200 characters is pointed out and not cut", async () => {
    const world = makeWorld();
    const description = "word ".repeat(60).trim();
    const saved = await (await world.open()).save(note("a", { description }));
    expect(saved.notices).toHaveLength(1);
    expect(saved.notices[0]).toMatch(/index line has \d+ characters.*150/);
    expect(world.index()).toContain(description);
  });
});

describe("scopes", () => {
  it("C23 a team memory lies in the repository, readable for others, with its own index", async () => {
    const world = makeWorld();
    const memdir = await world.open({ scope: "team" });
    const saved = await memdir.save(note("a"));
    expect(saved.path).toBe(`${world.project}/.claude/memory/user_a.md`);
    expect(fs.statSync(saved.path).mode & 0o777).toBe(0o644);
    expect(fs.readFileSync(`${world.project}/.claude/memory/MEMORY.md`, "utf8")).toBe("- [a](user_a.md) — about a\n");
    expect(world.git("status", "--porcelain", "-uall")).not.toContain(".memdir");
  });

  it("C-9 the same file name in two scopes is two memories", async () => {
    const world = makeWorld();
    for (const scope of ["user", "team", "project"])
      await (await world.open({ scope })).save(note("a", { body: scope }));
    const rows = await (await world.open()).list();
    expect(rows.map((row) => row.scope).sort()).toEqual(["project", "team", "user"]);
    expect(new Set(rows.map((row) => row.path)).size).toBe(3);
  });
});

describe("calls of programs without types", () => {
  const half = "half \ud83d here";

  it.each([
    ["save()", (memdir: Memdir) => memdir.save(undefined as never), "type"],
    ["save({})", (memdir: Memdir) => memdir.save({} as never), "type"],
    ["a number as type", (memdir: Memdir) => memdir.save({ ...note("a"), type: 1 as never }), "type"],
    ["no name", (memdir: Memdir) => memdir.save({ ...note("a"), name: undefined as never }), "name"],
    ["no body", (memdir: Memdir) => memdir.save({ ...note("a"), body: undefined as never }), "body"],
    ["a number as body", (memdir: Memdir) => memdir.save({ ...note("a"), body: 1 as never }), "body"],
    ["cues that are no list", (memdir: Memdir) => memdir.save({ ...note("a"), when: "now" as never }), "when"],
    ["a cue that is no text", (memdir: Memdir) => memdir.save({ ...note("a"), when: [1 as never] }), "when"],
    ["NUL in the name", (memdir: Memdir) => memdir.save(note("a\0b")), "name"],
    ["NUL in the description", (memdir: Memdir) => memdir.save(note("a", { description: "a\0b" })), "description"],
    ["NUL in the body", (memdir: Memdir) => memdir.save(note("a", { body: "a\0b" })), "body"],
    ["half a character in the name", (memdir: Memdir) => memdir.save(note(half)), "name"],
    ["half a character in the body", (memdir: Memdir) => memdir.save(note("a", { body: half })), "body"],
    ["half a character in a cue", (memdir: Memdir) => memdir.save(note("a", { when: [half] })), "when"],
    ["show()", (memdir: Memdir) => memdir.show(undefined as never), "name"],
    ["show({})", (memdir: Memdir) => memdir.show({} as never), "name"],
    ["a place without a file", (memdir: Memdir) => memdir.show({ directory: 0 } as never), "file"],
    ["forget(null)", (memdir: Memdir) => memdir.forget(null as never), "name"],
    ["rename without a new name", (memdir: Memdir) => memdir.rename("one", undefined as never), "new name"],
    ["rename with half a character", (memdir: Memdir) => memdir.rename("one", half), "new name"],
  ])("%s: usage, and the field is named", async (_, call, field) => {
    const world = makeWorld();
    const memdir = await world.open();
    await memdir.save(note("one"));
    const before = world.files();
    const error = await errorOf(call(memdir));
    expect(error.code).toBe("usage");
    expect(error.message).toContain(field);
    expect(world.files()).toEqual(before);
  });
});
