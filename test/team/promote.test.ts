/** A memory moves to the team and back: written first, removed then, safe to stop in between. */

import fs from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import type { Directory } from "../../src/store/directory.ts";
import { errorOf, mainOf, makeWorld, note, type World } from "../world.ts";
import { demote, promote } from "./move.ts";

async function openBoth(world: World): Promise<{ own: Directory; team: Directory }> {
  return { own: mainOf(await world.open()), team: mainOf(await world.open({ scope: "team" })) };
}

const teamFile = (world: World, ...names: string[]) => path.join(world.project, ".claude", "memory", ...names);

test("promote moves every byte, indexes it there, and says in both journals where it went", async () => {
  const world = makeWorld();
  const memdir = await world.open();
  await memdir.save(note("release day", { type: "project" }));
  await memdir.save(note("other", { type: "project" }));
  const before = world.read("project_release_day.md");
  const { own, team } = await openBoth(world);
  const result = await promote(own, team, "release day");
  expect(result).toMatchObject({
    kind: "promote",
    from: { scope: "project", file: "project_release_day.md" },
    to: { scope: "team", file: "project_release_day.md" },
    notices: [],
  });
  expect(fs.readFileSync(teamFile(world, "project_release_day.md"), "utf8")).toBe(before);
  expect(fs.readFileSync(teamFile(world, "MEMORY.md"), "utf8")).toContain("project_release_day.md");
  expect(world.exists("project_release_day.md")).toBe(false);
  expect(world.index()).not.toContain("release_day");
  expect(world.index()).toContain("project_other.md");
  const reasons = (await (await world.open()).history("project_release_day.md")).map(({ reason }) => reason);
  expect(reasons).toContain("promoted to team: project_release_day.md");
  expect(reasons).toContain("promoted from project: project_release_day.md");
});

test("demote is the way back", async () => {
  const world = makeWorld();
  await (await world.open()).save(note("release day", { type: "project" }));
  const before = world.read("project_release_day.md");
  const { own, team } = await openBoth(world);
  await promote(own, team, "release day");
  await demote(team, own, "release day");
  expect(world.read("project_release_day.md")).toBe(before);
  expect(world.index()).toContain("project_release_day.md");
  expect(fs.existsSync(teamFile(world, "project_release_day.md"))).toBe(false);
});

test("undo of both entries restores everything, and undo of one loses nothing", async () => {
  const world = makeWorld();
  await (await world.open()).save(note("release day", { type: "project" }));
  const before = world.read("project_release_day.md");
  const { own, team } = await openBoth(world);
  const { undo } = await promote(own, team, "release day");
  const memdir = await world.open();
  await memdir.undo(undo.removed);
  expect(world.read("project_release_day.md")).toBe(before);
  expect(fs.existsSync(teamFile(world, "project_release_day.md"))).toBe(true);
  await memdir.undo(`team:${undo.written}`);
  expect(fs.existsSync(teamFile(world, "project_release_day.md"))).toBe(false);
  expect(world.index()).toContain("project_release_day.md");
});

test("stopped between the steps it is in both places, and running it again ends it", async () => {
  const world = makeWorld();
  await (await world.open()).save(note("release day", { type: "project" }));
  const { own, team } = await openBoth(world);
  const stopped = promote(own, team, "release day", () => {
    throw new Error("killed");
  });
  await expect(stopped).rejects.toThrow("killed");
  expect(world.exists("project_release_day.md")).toBe(true);
  const result = await promote(own, team, "release day");
  expect(result.undo.written).toBeNull();
  expect(world.exists("project_release_day.md")).toBe(false);
  expect(fs.existsSync(teamFile(world, "project_release_day.md"))).toBe(true);
});

test("another text of that name and type there is a conflict that names it; another type is not", async () => {
  const world = makeWorld();
  await (await world.open()).save(note("release day", { type: "project", body: "Tuesday." }));
  const shared = await world.open({ scope: "team" });
  await shared.save(note("release day", { type: "project", body: "Friday." }));
  const { own, team } = await openBoth(world);
  const error = await errorOf(promote(own, team, "release day"));
  expect(error).toMatchObject({ code: "conflict", message: expect.stringContaining("project_release_day.md") });
  expect(world.read("project_release_day.md")).toContain("Tuesday");
  expect(fs.readFileSync(teamFile(world, "project_release_day.md"), "utf8")).toContain("Friday");

  await (await world.open()).save(note("wiki", { type: "reference" }));
  await shared.save(note("wiki", { type: "project" }));
  expect((await promote(own, team, "reference_wiki.md")).to.file).toBe("reference_wiki.md");
});

test("a file name that is taken there, in whatever case, is not overwritten", async () => {
  const world = makeWorld();
  world.write("NOTE.md", "---\nname: ours\ntype: project\n---\n\nOurs.\n");
  fs.mkdirSync(teamFile(world), { recursive: true });
  fs.writeFileSync(teamFile(world, "note.md"), "---\nname: theirs\ntype: project\n---\n\nTheirs.\n");
  const { own, team } = await openBoth(world);
  expect((await promote(own, team, "ours")).to.file).toBe("project_ours.md");
  expect(fs.readFileSync(teamFile(world, "note.md"), "utf8")).toContain("Theirs");
});

test("what may not travel stays, with the reason", async () => {
  const world = makeWorld();
  const memdir = await world.open();
  await memdir.save(note("who I am", { type: "user" }));
  world.write(
    "project_key.md",
    `---\nname: key\ntype: project\n---\n\nghp_${"r7Kq2ZpX9vLm4TnB8wYc3HdJ6sFg1QaE5uRk"}\n`,
  );
  world.write("broken.md", "---\nname: broken\ntype: project\n");
  const { own, team } = await openBoth(world);
  expect(await errorOf(promote(own, team, "who I am"))).toMatchObject({
    code: "usage",
    message: expect.stringMatching(/memdir edit user_who_i_am.md/),
  });
  expect((await errorOf(promote(own, team, "key"))).code).toBe("secret");
  expect((await errorOf(promote(own, team, "broken"))).code).toBe("broken");
  expect((await errorOf(promote(own, team, "nothing"))).code).toBe("not-found");
  expect((await errorOf(promote(team, team, "nothing"))).code).toBe("not-found");
  expect(fs.existsSync(teamFile(world))).toBe(false);
});

test("links to what stays private, and from what stays with the team, are pointed out", async () => {
  const world = makeWorld();
  const memdir = await world.open();
  await memdir.save(note("private one", { type: "project" }));
  await memdir.save(note("linked by field", { type: "project" }));
  await memdir.save(note("shared already", { type: "project" }));
  await memdir.save(
    note("main", { type: "project", body: "See [[private one]] and [[shared already]].", links: ["linked by field"] }),
  );
  const { own, team } = await openBoth(world);
  await promote(own, team, "shared already");
  const { notices } = await promote(own, team, "main");
  expect(notices).toEqual([
    expect.stringContaining('"linked by field" (project_linked_by_field.md), which stays private'),
    expect.stringContaining('"private one"'),
  ]);
  const back = await demote(team, own, "shared already");
  expect(back.notices).toEqual(["project_main.md of the team still links to it: others will not find it"]);
});

test("an edit that comes in between is kept", async () => {
  const world = makeWorld();
  await (await world.open()).save(note("release day", { type: "project" }));
  const { own, team } = await openBoth(world);
  const late = promote(own, team, "release day", () =>
    world.write("project_release_day.md", "---\nname: release day\ntype: project\n---\n\nNew.\n"),
  );
  expect(await errorOf(late)).toMatchObject({ code: "conflict", message: expect.stringContaining("changed while") });
  expect(world.read("project_release_day.md")).toContain("New.");
});

test("CRLF, a byte order mark and folders survive", async () => {
  const world = makeWorld();
  const text = "\uFEFF---\r\nname: win\r\ntype: reference\r\n---\r\n\r\nLine.\r\n";
  world.write("reference/win.md", text);
  const { own, team } = await openBoth(world);
  expect((await promote(own, team, "win")).to.file).toBe("reference/win.md");
  expect(fs.readFileSync(teamFile(world, "reference", "win.md"), "utf8")).toBe(text);
});

test.skipIf(process.platform === "win32")("a link in the team's directory is not followed or replaced", async () => {
  const world = makeWorld();
  await (await world.open()).save(note("release day", { type: "project" }));
  fs.mkdirSync(teamFile(world), { recursive: true });
  const target = path.join(world.top, "elsewhere.md");
  fs.writeFileSync(target, "mine");
  fs.symlinkSync(target, teamFile(world, "project_release_day.md"));
  const { own, team } = await openBoth(world);
  expect((await promote(own, team, "release day")).to.file).toBe("project_release_day_2.md");
  expect(fs.readFileSync(target, "utf8")).toBe("mine");
});
