import { appendFileSync, mkdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { lastCommitTimes } from "../../src/project/git.ts";
import { makeWorld, type World } from "../world.ts";

const at = (day: number) => Date.UTC(2026, 0, day);

function commit(world: World, day: number): void {
  world.now = new Date(at(day));
  world.git("add", "-A");
  world.git("commit", "-q", "-m", `day ${day}`);
}

it("gives every path the time of the last commit that changed it", async () => {
  const world = makeWorld();
  const file = (name: string) => join(world.project, "notes", name);
  mkdirSync(file("sub"), { recursive: true });
  for (const name of ["a.md", "b.md", "1700000000", 'sub/größe "x".md']) writeFileSync(file(name), name);
  writeFileSync(join(world.project, "outside.md"), "x");
  commit(world, 1);
  appendFileSync(file("b.md"), "more");
  commit(world, 2);
  writeFileSync(file("new.md"), "not committed");
  expect(Object.fromEntries(await lastCommitTimes(join(world.project, "notes")))).toEqual({
    "b.md": at(2),
    "a.md": at(1),
    "1700000000": at(1),
    'sub/größe "x".md': at(1),
  });
});

it("does not take a renamed file for a new one, nor its old name for the same file", async () => {
  const world = makeWorld();
  const file = (name: string) => join(world.project, name);
  writeFileSync(file("a.md"), "text of a");
  commit(world, 1);
  appendFileSync(file("a.md"), "more");
  commit(world, 2);
  renameSync(file("a.md"), file("b.md"));
  commit(world, 3);
  renameSync(file("b.md"), file("c.md"));
  writeFileSync(file("a.md"), "another text");
  commit(world, 4);
  const times = await lastCommitTimes(world.project);
  expect([times.get("c.md"), times.get("a.md")]).toEqual([at(2), at(4)]);
  // Moved and rewritten at once: that is a change.
  renameSync(file("c.md"), file("d.md"));
  writeFileSync(file("d.md"), "quite another text");
  commit(world, 5);
  expect((await lastCommitTimes(world.project)).get("d.md")).toBe(at(5));
});

it("gives a file that took a name over its own time", async () => {
  const world = makeWorld();
  const file = (name: string) => join(world.project, name);
  writeFileSync(file("a.md"), "text of a");
  commit(world, 1);
  writeFileSync(file("b.md"), "text of b");
  commit(world, 2);
  rmSync(file("b.md"));
  commit(world, 3);
  renameSync(file("a.md"), file("b.md"));
  commit(world, 4);
  expect((await lastCommitTimes(world.project)).get("b.md")).toBe(at(1));
});

it("is empty outside a repository, without commits and for a folder that is gone", async () => {
  const world = makeWorld();
  for (const folder of [world.home, world.project, join(world.top, "gone")])
    expect((await lastCommitTimes(folder)).size).toBe(0);
});
