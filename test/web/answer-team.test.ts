import fs from "node:fs";
import path from "node:path";
import { expect, it } from "vitest";
import type { TeamAnswer } from "../../src/web/api.ts";
import { makeWorld } from "../world.ts";
import { call, makePage, rowOf } from "./open-page.ts";

const team = async (page: Parameters<typeof call>[0]) => (await call(page, "GET", "/api/team")) as TeamAnswer;

it("nobody shares anything: an empty answer", async () => {
  const { page } = await makePage();
  expect(await team(page)).toEqual({ place: null, lastSync: null, people: [] });
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
  expect((await rowOf(page, "one")).author).toBe("test");
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
