/** Files of a memory directory as an agent's tools write them. */

import fs from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { errorOf, makeWorld, note } from "../world.ts";

const TEXT = "---\nname: quiet\ndescription: No deploys at night\ntype: feedback\n---\n\nNever deploy at night.\n";

describe("put", () => {
  it("writes a new file, its index line and a journal entry that undo takes back", async () => {
    const world = makeWorld();
    const memdir = await world.open();
    const result = await memdir.put(world.path("feedback_quiet.md"), TEXT, null);
    expect(result).toMatchObject({ file: "feedback_quiet.md", action: "created" });
    expect(world.read("feedback_quiet.md")).toContain("Never deploy at night.");
    expect(world.index()).toContain("- [quiet](feedback_quiet.md)");
    await memdir.undo();
    expect(world.exists("feedback_quiet.md")).toBe(false);
    expect(world.index()).not.toContain("feedback_quiet.md");
  });

  it("changes a file only if it is what the caller saw", async () => {
    const world = makeWorld();
    const memdir = await world.open();
    await memdir.put(world.path("a.md"), TEXT, null);
    const base = world.read("a.md");
    expect((await errorOf(memdir.put(world.path("a.md"), "new", null))).code).toBe("conflict");
    expect((await errorOf(memdir.put(world.path("a.md"), "new", "something else"))).code).toBe("conflict");
    await memdir.put(world.path("a.md"), base.replace("night", "noon"), base);
    expect(world.read("a.md")).toContain("noon");
  });

  it.each([
    ["feedback_still.md", TEXT, /feedback_quiet.md is a feedback memory called "quiet" already/],
    ["notes/other.md", TEXT.replace("name: quiet", "name: QUIET"), /called "quiet" already/],
    [
      "Feedback_Quiet.md",
      TEXT.replace("name: quiet", "name: other"),
      /Feedback_Quiet.md was not saved: feedback_quiet/,
    ],
    ["cafe\u0301.md", TEXT.replace("name: quiet", "name: bar"), /was not saved: café.md has the same name/],
  ])("refuses %s for its namesake", async (file, text, message) => {
    const world = makeWorld();
    const memdir = await world.open();
    await memdir.put(world.path("feedback_quiet.md"), TEXT, null);
    await memdir.put(world.path("café.md"), TEXT.replace("name: quiet", "name: café"), null);
    const before = [world.files(), world.index()];
    const error = await errorOf(memdir.put(world.path(file), text, null));
    expect(error).toMatchObject({ code: "conflict", message: expect.stringMatching(message) });
    expect([world.files(), world.index()]).toEqual(before);
  });

  it("refuses an edit that takes another memory's name; namesakes of an earlier day can still be edited", async () => {
    const world = makeWorld();
    world.write("one.md", TEXT);
    world.write("two.md", TEXT);
    world.write("three.md", TEXT.replace("name: quiet", "name: three"));
    const memdir = await world.open();
    expect((await memdir.put(world.path("two.md"), `${TEXT}More.\n`, TEXT)).action).toBe("updated");
    const base = world.read("three.md");
    expect((await errorOf(memdir.put(world.path("three.md"), TEXT, base))).code).toBe("conflict");
    // Of another type it is another memory.
    const project = TEXT.replace("type: feedback", "type: project");
    expect((await memdir.put(world.path("three.md"), project, base)).action).toBe("updated");
  });

  it("takes MEMORY.md over like an editor's version, and no memory is forgotten", async () => {
    const world = makeWorld();
    const memdir = await world.open();
    await memdir.save(note("one"));
    const base = world.index();
    await memdir.put(world.path("MEMORY.md"), "# My notes\n\nA line by hand.\n", base);
    expect(world.index()).toContain("A line by hand.");
    expect((await world.open()).directories).toBeDefined();
    expect(world.index()).toContain("user_one.md");
  });

  it("goes as deep as lists look, and no deeper; what is deeper already can be changed", async () => {
    const world = makeWorld();
    const memdir = await world.open();
    const deep = "d/".repeat(8);
    await memdir.put(world.path(`${deep}x.md`), TEXT, null);
    expect(await memdir.list()).toHaveLength(1);
    const refusal = { code: "usage", message: expect.stringContaining("more than 8 folders deep") };
    expect(await errorOf(memdir.put(world.path(`${deep}e/y.md`), "text\n", null))).toMatchObject(refusal);
    expect(world.exists(`${deep}e`)).toBe(false);
    world.write(`${deep}e/old.md`, "text");
    await memdir.put(world.path(`${deep}e/old.md`), "text, changed\n", "text");
    expect(world.read(`${deep}e/old.md`)).toBe("text, changed\n");
  });

  it("refuses secrets, other files, hidden folders and everything outside", async () => {
    const world = makeWorld();
    const memdir = await world.open();
    await memdir.save(note("one"));
    const token = `ghp_${"aB3dE6gH9jK2mN5pQ8sT1vW4yZ7bC0eF3hJ6"}`;
    const secret = await errorOf(memdir.put(world.path("key.md"), `token ${token}`, null));
    expect(secret.code).toBe("secret");
    expect(secret.message).not.toContain(token);
    expect((await errorOf(memdir.put(world.path("MEMORY.md"), token, world.index()))).code).toBe("secret");
    for (const file of ["x.txt", ".memdir/journal.md", ".hidden/x.md", "x"]) {
      expect((await errorOf(memdir.put(world.path(file), "text", null))).code, file).toBe("usage");
    }
    expect((await errorOf(memdir.put(path.join(world.project, "x.md"), "text", null))).code).toBe("outside");
    fs.symlinkSync(world.project, world.path("away"));
    expect((await errorOf(memdir.put(world.path("away", "x.md"), "text", null))).code).toBe("outside");
    expect(fs.existsSync(path.join(world.project, "x.md"))).toBe(false);
  });
});

describe("permitted", () => {
  it("what was allowed for always is kept for the project, in the user's own file", async () => {
    const world = makeWorld();
    const memdir = await world.open();
    expect(memdir.permitted).toEqual([]);
    memdir.permit("edit");
    memdir.permit("bash git status");
    memdir.permit("edit");
    expect((await world.open()).permitted).toEqual(["edit", "bash git status"]);
    const other = path.join(world.top, "other");
    fs.mkdirSync(other);
    expect((await world.open({ cwd: other })).permitted).toEqual([]);
  });

  it("a repository cannot allow itself anything", async () => {
    const world = makeWorld();
    fs.mkdirSync(path.join(world.project, ".claude"));
    const file = path.join(world.project, ".claude", "memdir.json");
    fs.writeFileSync(file, JSON.stringify({ permitted: { [world.project]: ["all"] } }));
    const memdir = await world.open();
    expect(memdir.permitted).toEqual([]);
    expect(memdir.warnings.join()).toContain('"permitted" is not taken from a repository');
  });
});
