/** `expires:` in the frontmatter, and lists by date, author, cue and scope. */

import { describe, expect, it } from "vitest";
import { dreamOffline } from "../../src/learn/dream-offline.ts";
import { DAY, errorOf, mainOf, makeWorld, note } from "../world.ts";

const FREEZE = { type: "project", body: "No deploys during the code freeze.", expires: "2026-03-12" } as const;

describe("a memory that expires", () => {
  it("is shown up to its last day, and not recalled after it", async () => {
    const world = makeWorld();
    const memdir = await world.open();
    await memdir.save(note("code freeze", FREEZE));
    await memdir.save(
      note("deploy freeze runbook", { type: "reference", body: "Deploys and the code freeze: ask ops." }),
    );
    const recalled = async () =>
      (await memdir.recall("may I deploy during the code freeze?")).memories.map(({ name }) => name);
    const [row] = (await memdir.list()).filter(({ name }) => name === "code freeze");
    expect(row?.expires).toBe("2026-03-13T00:00:00.000Z");
    world.now = new Date("2026-03-12T23:00:00Z");
    expect(await recalled()).toContain("code freeze");
    world.now = new Date("2026-03-13T00:00:00Z");
    expect(await recalled()).toEqual(["deploy freeze runbook"]);
    // From the cache of rows, too.
    expect((await (await world.open()).recall("the code freeze")).memories.map(({ name }) => name)).not.toContain(
      "code freeze",
    );
    expect((await memdir.list({ expired: false })).map(({ name }) => name)).toEqual(["deploy freeze runbook"]);
  });

  it("is a finding of health, and a dream retires it", async () => {
    const world = makeWorld();
    const memdir = await world.open();
    await memdir.save(note("code freeze", FREEZE));
    const plan = async () =>
      (await dreamOffline(mainOf(memdir))).ops.map((op) => [op.kind, "file" in op ? op.file : ""]);
    expect(await plan()).toEqual([]);
    world.now = new Date("2026-03-14T00:00:00Z");
    const { findings } = (await memdir.measure()).health;
    expect(findings.filter(({ kind }) => kind === "expired")).toMatchObject([
      { file: "project_code_freeze.md", detail: "it says that it expires on 2026-03-12" },
    ]);
    expect(await plan()).toEqual([["retire", "project_code_freeze.md"]]);
  });

  it("wants a date", async () => {
    const memdir = await makeWorld().open();
    for (const expires of ["soon", "12.3.2026", "2027-02-31", "2027-02-31T10:00:00Z", 3 as unknown as string])
      expect(await errorOf(memdir.save(note("x", { expires })))).toMatchObject({
        code: "usage",
        message: /2026-12-31/,
      });
  });
});

describe("an end that is not a date", () => {
  const text = (expires: string) =>
    `---\nname: a\ndescription: d\ntype: reference\nexpires: ${expires}\n---\n\nBody.\n`;
  const problem = 'expires is not a date: write it as "2026-12-31"';

  it("is a problem for lint and lists", async () => {
    const world = makeWorld();
    const bad = ["31.12.2020", "12.3.2026", "2027-02-31", "soon", "[2026-12-31]"];
    const good = ["2026-12-31", "2026-12-31 # the last day", "2026-12-31T10:00:00Z", "", "null", "~", "1970-01-01"];
    for (const [i, expires] of bad.entries()) world.write(`bad${i}.md`, text(expires));
    for (const [i, expires] of good.entries()) world.write(`good${i}.md`, text(expires));
    const memdir = await world.open();
    const found = (await memdir.lint()).filter(({ rule }) => rule === "format");
    expect(found.map(({ file, message }) => [file, message])).toEqual(bad.map((_, i) => [`bad${i}.md`, problem]));
    const listed = (await memdir.list()).filter(({ problems }) => problems.includes(problem));
    expect(listed.map(({ file }) => file).sort()).toEqual(bad.map((_, i) => `bad${i}.md`));
  });

  it("is refused in an edit, unless it was there before", async () => {
    const world = makeWorld();
    for (const [file, end] of [
      ["a.md", "2026-12-31"],
      ["odd.md", "nodate"],
    ] as const)
      world.write(file, text(end));
    const memdir = await world.open();
    const refused = await errorOf(memdir.edit("a.md", text("2026-12-31"), text("nodate")));
    expect(refused).toMatchObject({ code: "usage", message: `a.md was not changed: ${problem}` });
    expect(world.read("a.md")).toBe(text("2026-12-31"));
    const { notices } = await memdir.edit("odd.md", text("nodate"), text("nodate").replace("Body", "Text"));
    expect(notices).toContain(problem);
  });
});

describe("lists", () => {
  it("go by date, author, cue and scope", async () => {
    const world = makeWorld();
    const memdir = await world.open();
    await memdir.save(note("old", { when: ["A release is due"] }));
    world.now = new Date(world.now.getTime() + 5 * DAY);
    await memdir.save(note("new", { source: { by: "mcp:codex", session: null, message: null } }));
    world.age("user_old.md", 5 * DAY);
    world.age("user_new.md", 0);
    const names = async (filter: Parameters<typeof memdir.list>[0]) =>
      (await memdir.list(filter)).map(({ name }) => name);
    expect(await names({ since: "2026-03-15" })).toEqual(["new"]);
    expect(await names({ until: "2026-03-10" })).toEqual(["old"]);
    expect(await names({ since: new Date("2026-03-01"), until: "2026-03-15" })).toEqual(["new", "old"]);
    expect(await names({ by: "codex" })).toEqual(["new"]);
    expect(await names({ by: "user" })).toEqual(["old"]);
    expect(await names({ cue: "RELEASE" })).toEqual(["old"]);
    expect(await names({ scope: "team" })).toEqual([]);
    expect(await names({ scope: "project", type: "user" })).toEqual(["new", "old"]);
    // Of what states no type, `user` is a guess.
    world.write("plain.md", "Only words.\n");
    world.write("MEMORY.md", `${world.index()}- [plain](plain.md)\n`);
    expect(await names({ type: "user" })).toEqual(["new", "old"]);
    expect(await names({})).toContain("plain");
    for (const day of ["yesterday", "2026-02-30", "2026-13-01"]) {
      expect(await errorOf(memdir.list({ since: day }))).toMatchObject({ code: "usage" });
      expect(await errorOf(memdir.list({ until: day }))).toMatchObject({ code: "usage" });
    }
  });
});
