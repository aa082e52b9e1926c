import fs from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { slugOf } from "../../src/project/locate.ts";
import { DAY, errorOf, HOUR, makeWorld, note } from "../world.ts";

function text(name: string, ...more: string[]): string {
  return `---\nname: ${name}\ntype: user\n${more.map((line) => `${line}\n`).join("")}---\n\nBody.\n`;
}

describe("list", () => {
  it("B4.9 B11.3 a row has type, name, description, file, scope and age; the index is none", async () => {
    const world = makeWorld();
    const memdir = await world.open();
    await memdir.save(note("a", { when: ["x"] }));
    world.age("user_a.md", 0);
    expect(await memdir.list()).toEqual([
      {
        file: "user_a.md",
        path: world.path("user_a.md"),
        scope: "project",
        type: "user",
        typeExplicit: true,
        name: "a",
        description: "about a",
        modified: world.now.toISOString(),
        ageDays: 0,
        age: "fresh",
        bytes: fs.statSync(world.path("user_a.md")).size,
        pinned: false,
        when: ["x"],
        problems: [],
        unreadable: false,
      },
    ]);
  });

  it("B2.1 by type; nothing is an empty list", async () => {
    const world = makeWorld();
    const memdir = await world.open();
    expect(await memdir.list()).toEqual([]);
    for (const type of ["user", "project"] as const) await memdir.save(note("a", { type }));
    expect((await memdir.list({ type: "project" })).map(({ file }) => file)).toEqual(["project_a.md"]);
  });

  it("C15 B7.6 private: the latest of mtime, modified and verified counts, so touch works", async () => {
    const world = makeWorld();
    const ago = (days: number) => new Date(world.now.getTime() - days * DAY).toISOString();
    world.write("mtime.md", text("mtime", `modified: ${ago(50)}`), { ageMs: 3 * DAY });
    world.write("modified.md", text("modified", `modified: ${ago(5)}`), { ageMs: 90 * DAY });
    world.write("verified.md", text("verified", `modified: ${ago(50)}`, `verified: ${ago(7)}`), { ageMs: 90 * DAY });
    world.write("plain.md", text("plain"), { ageMs: 2 * DAY - HOUR });
    const memdir = await world.open();
    const ages = async () => Object.fromEntries((await memdir.list()).map(({ name, ageDays }) => [name, ageDays]));
    expect(await ages()).toEqual({ mtime: 3, modified: 5, verified: 7, plain: 1 });
    world.age("verified.md", 0);
    expect((await ages()).verified).toBe(0);
  });

  it("C15 in a repository mtime never counts: modified and verified do, else the last commit", async () => {
    const world = makeWorld();
    const team = path.join(world.project, ".claude/memory");
    const put = (file: string, content: string) => fs.writeFileSync(path.join(team, file), content);
    fs.mkdirSync(team, { recursive: true });
    const ago = (days: number) => new Date(world.now.getTime() - days * DAY).toISOString();
    put("stamped.md", text("stamped", `modified: ${ago(20)}`));
    put("verified.md", text("verified", `modified: ${ago(20)}`, `verified: ${ago(10)}`));
    put("ö plain.md", text("plain"));
    const today = world.now;
    world.now = new Date(today.getTime() - 40 * DAY);
    world.git("add", "-A");
    world.git("commit", "-q", "-m", "memories");
    world.now = today;
    put("uncommitted.md", text("uncommitted", `created: ${ago(4)}`));
    const rows = await (await world.open({ scope: "team" })).list();
    expect(Object.fromEntries(rows.map(({ name, ageDays }) => [name, ageDays]))).toEqual({
      stamped: 20,
      verified: 10,
      plain: 40,
      uncommitted: 4,
    });
    expect(await (await world.open({ scope: "team" })).show("plain")).toMatchObject({ ageDays: 40, age: "old" });
  });

  it("C14 the names of ages can be set", async () => {
    const world = makeWorld({ settings: { ageDays: { recent: 1, stale: 2, old: 3 } } });
    for (const days of [0, 1, 2, 3]) world.write(`d${days}.md`, text(`d${days}`), { ageMs: days * DAY });
    expect((await (await world.open()).list()).map(({ age }) => age)).toEqual(["fresh", "recent", "stale", "old"]);
  });

  it("C3 older layouts are listed and never written", async () => {
    const world = makeWorld();
    const flat = path.join(world.home, ".claude/projects", slugOf(world.project));
    fs.mkdirSync(path.join(flat, "sessions"), { recursive: true });
    fs.writeFileSync(path.join(flat, "old-note.md"), text("old note"));
    fs.writeFileSync(path.join(flat, "sessions", "inner.md"), text("no memory"));
    const memdir = await world.open();
    expect((await memdir.list()).map(({ name }) => name)).toEqual(["old note"]);
    expect((await memdir.show("old note")).body).toBe("Body.");
    for (const work of [
      () => memdir.forget("old note"),
      () => memdir.rename("old note", "x"),
      () => memdir.edit("old note", text("old note"), text("x")),
    ]) {
      const error = await errorOf(work());
      expect(error).toMatchObject({ code: "usage" });
      expect(error.message).toMatch(/only read.*memdir adopt/);
    }
    await memdir.index();
    expect(fs.readdirSync(flat).sort()).toEqual(["old-note.md", "sessions"]);
  });
});

describe("show", () => {
  it("has the body and every field", async () => {
    const world = makeWorld();
    world.write("a.md", text("a", "custom: [x, y]", "metadata:", "  node_type: memory"));
    expect(await (await world.open()).show("a")).toMatchObject({
      body: "Body.",
      metadata: { name: "a", type: "user", custom: ["x", "y"], metadata: { node_type: "memory" } },
    });
  });
});

describe("find", () => {
  it("by file, path, stem, name, in any case and normalisation, the most exact first", async () => {
    const world = makeWorld();
    world.write("user_tabs.md", text("Prefers Tabs"));
    world.write("project/café.md".normalize("NFD"), text("Kaffee"));
    const memdir = await world.open();
    for (const name of ["user_tabs.md", "user_tabs", "Prefers Tabs", " prefers   tabs ", "USER_TABS"])
      expect((await memdir.show(name)).file).toBe("user_tabs.md");
    for (const name of ["project/café.md", "project/café", "café", "kaffee", "café".normalize("NFD")])
      expect((await memdir.show(name)).name).toBe("Kaffee");
    world.write("user_other.md", text("user_tabs"));
    expect((await memdir.show("user_tabs.md")).file).toBe("user_tabs.md");
  });

  it("a name that two memories have is ambiguous, with both and a way out", async () => {
    const world = makeWorld();
    await (await world.open({ scope: "team" })).save(note("a"));
    const memdir = await world.open();
    await memdir.save(note("a"));
    for (const name of ["a", "user_a.md"]) {
      const error = await errorOf(memdir.show(name));
      expect(error).toMatchObject({ code: "ambiguous" });
      expect(error.message).toMatch(/user_a\.md \(project\), user_a\.md \(team\).*--scope/);
    }
    expect((await (await world.open({ scope: "team" })).show("a")).scope).toBe("team");
  });

  it("an unknown name is not found, with what is near", async () => {
    const world = makeWorld();
    const memdir = await world.open();
    await memdir.save(note("Prefers tabs"));
    expect((await errorOf(memdir.show("tabs please"))).message).toMatch(/did you mean user_prefers_tabs\.md/);
    expect(await errorOf(memdir.show("zzz"))).toMatchObject({ code: "not-found" });
    expect(await errorOf(memdir.show(" "))).toMatchObject({ code: "usage" });
  });

  it.each(["../x", "/etc/passwd", "..", "a/../../b", "a\0b", "%2e%2e%2fx", "．．／x", "C:\\x"])(
    "the name %j is refused as leading elsewhere",
    async (name) => {
      const world = makeWorld();
      expect(await errorOf((await world.open()).show(name))).toMatchObject({ code: "outside" });
    },
  );

  it("a name with such characters that is a memory's is found", async () => {
    const world = makeWorld();
    const memdir = await world.open();
    await memdir.save(note("../x and 100%"));
    expect((await memdir.show("../x and 100%")).name).toBe("../x and 100%");
  });
});

describe("search", () => {
  it("B6.22 finds words in name, description, cues and body, more words first, and shows the line", async () => {
    const world = makeWorld();
    const memdir = await world.open();
    await memdir.save(note("database tests", { body: "x" }));
    await memdir.save(note("b", { body: "First.\nThe Database is real in TESTS.\n" }));
    await memdir.save(note("c", { body: "only tests", when: ["touching the database"] }));
    await memdir.save(note("d", { description: "tests only", body: "x" }));
    await memdir.save(note("e", { body: "nothing" }));
    const hits = await memdir.search("database TESTS");
    expect(hits.map(({ file }) => file)).toEqual(["user_database_tests.md", "user_c.md", "user_b.md", "user_d.md"]);
    expect(hits.find(({ file }) => file === "user_b.md")?.line).toBe("The Database is real in TESTS.");
    expect(hits.every(({ score }) => score > 0 && score <= 1)).toBe(true);
  });

  it("without regard to width and composition", async () => {
    const world = makeWorld();
    const memdir = await world.open();
    await memdir.save(note("a", { body: "Ｆｕｌｌ cafe\u0301 日本語テスト" }));
    for (const word of ["full", "CAFÉ", "日本語"]) expect(await memdir.search(word)).toHaveLength(1);
    expect(await memdir.search("zzz")).toEqual([]);
    expect(await errorOf(memdir.search(" "))).toMatchObject({ code: "usage" });
  });
});

describe("capacity", () => {
  it("B11.19 is bounded by the index, not by the number of files: what has no line there is listed, found and recalled", async () => {
    const world = makeWorld();
    const memdir = await world.open();
    for (let i = 0; i < 230; i++)
      world.write(
        `project_note_${i}.md`,
        `---\nname: note ${i}\ndescription: about subject${i}\ntype: project\n---\n\nText ${i}.\n`,
      );
    await memdir.save({ type: "user", name: "late", description: "the newest one", body: "Quokkas are tidy." });
    expect(world.index().split("\n").filter(Boolean).length).toBeLessThanOrEqual(200);
    expect(await memdir.list()).toHaveLength(231);
    expect((await memdir.search("subject7"))[0]?.name).toBe("note 7");
    const { memories } = await memdir.recall("what do we know about subject199?", { model: false });
    expect(memories.map(({ name }) => name)).toContain("note 199");
  });
});
