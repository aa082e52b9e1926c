/** A team that shares through its server and through the repository: two directories of one scope, each with its own journal. */

import fs from "node:fs";
import path from "node:path";
import { expect, it } from "vitest";
import { makeWorld, note } from "../world.ts";

it("a change in either is taken back in its own journal", async () => {
  const world = makeWorld();
  const repository = path.join(world.project, ".claude", "memory");
  fs.mkdirSync(repository, { recursive: true });
  await (await world.open({ scope: "team" })).save(note("committed", { type: "project" }));
  const teams = { [world.project]: "https://memory.example/acme/app" };
  fs.writeFileSync(path.join(world.home, ".claude", "memdir.json"), JSON.stringify({ teams }));
  await (await world.open({ scope: "team" })).save(note("served", { type: "project" }));
  const memdir = await world.open();
  const ids = (await memdir.history()).map(({ id }) => id).sort();
  expect(ids).toEqual(["team:1", "team@repository:1"]);
  await memdir.undo("team@repository:1");
  expect((await memdir.list()).map(({ name }) => name)).toEqual(["served"]);
  const forgotten = await memdir.forget("served");
  expect(forgotten.undo).toBe("team:2");
  await memdir.undo("team:2");
  expect((await memdir.list()).map(({ name }) => name)).toEqual(["served"]);
});
