import fs from "node:fs";
import path from "node:path";
import { expect, it } from "vitest";
import { makeConflictCopy } from "../../src/team/conflict-copy.ts";
import type { TeamAnswer } from "../../src/web/api.ts";
import { makeWorld, note } from "../world.ts";
import { call, makePage, rowOf } from "./open-page.ts";

const team = async (page: Parameters<typeof call>[0]) => (await call(page, "GET", "/api/team")) as TeamAnswer;

it("nobody shares anything: an empty answer", async () => {
  const { page } = await makePage();
  expect(await team(page)).toEqual({ place: null, lastSync: null, people: [], rows: [], conflicts: [] });
});

it("who wrote what in the repository, and what nobody has committed yet", async () => {
  const world = makeWorld();
  const dir = path.join(world.project, ".claude", "memory");
  fs.mkdirSync(dir, { recursive: true });
  fs.writeFileSync(path.join(dir, "one.md"), "---\nname: one\ntype: project\n---\n\nOne.\n");
  world.git("init", "-q");
  world.git("add", ".");
  world.git("commit", "-qm", "one");
  fs.writeFileSync(path.join(dir, "two.md"), "---\nname: two\ntype: project\n---\n\nTwo.\n");
  const { page } = await makePage({ world });
  const answer = await team(page);
  expect(answer.place).toEqual({ kind: "repository", where: dir });
  expect(answer.people).toMatchObject([{ name: "test", memories: 1 }]);
  expect(answer.rows.map(({ name, author }) => [name, author]).sort()).toEqual([
    ["one", "test"],
    ["two", ""],
  ]);
  expect((await rowOf(page, "one")).author).toBe("test");
});

it("conflicts side by side, also where the original is broken or gone", async () => {
  const { world, memdir, page } = await makePage();
  await memdir.save(note("shared", { type: "project" }));
  const copy = makeConflictCopy(
    "project_shared.md",
    world.read("project_shared.md").replace("Body of", "Their body of"),
  );
  world.write(copy.path, copy.text);
  world.write("lost-conflict-0123abcd.md", "---\nname: lost\nconflict_with: nobody\ntype: user\n---\n\nx\n");
  world.write("plain-conflict-0123abcd.md", "no frontmatter\n");
  const { conflicts } = await team(page);
  expect(conflicts.length).toBe(1);
  expect(conflicts[0]).toMatchObject({
    ours: { directory: 0, file: "project_shared.md", name: "shared" },
    copy: { file: copy.path },
  });
  expect(conflicts[0]!.diff.filter(({ kind }) => kind === "added")).toEqual([
    { kind: "added", text: "Their body of shared." },
  ]);
  // Theirs is kept: in its place, under its name, and the copy goes.
  const { ours, copy: theirs, left, right } = conflicts[0]!;
  const [keep, other] = [ours, theirs].map(({ directory, file }) => ({ directory, file }));
  await call(page, "POST", "/api/merge", { keep, other, text: right, left, right });
  const kept = world.read("project_shared.md");
  expect(kept).toContain("Their body of shared.");
  expect(kept).toContain("name: shared\n");
  expect(kept).not.toContain("conflict");
  expect(world.exists(copy.path)).toBe(false);
});

it("an entry about the server that cannot be used is no failure", async () => {
  const world = makeWorld();
  fs.writeFileSync(
    path.join(world.home, ".claude", "memdir.json"),
    JSON.stringify({ teams: { [world.project]: "not an address" } }),
  );
  const { page } = await makePage({ world });
  expect((await team(page)).place).toBeNull();
});
