/** The embedded database in a folder: kept over a restart, held by one process, with vectors where the extension is given. */

import { randomBytes } from "node:crypto";
import fs from "node:fs";
import path from "node:path";
import { expect, it } from "vitest";
import { openTeamData } from "../../../src/team/server/data.ts";
import { openPglite, type PgliteModule } from "../../../src/team/server/pglite.ts";
import { makeTemporary } from "../../temporary.ts";
import { find, makeTeam, put } from "./data-world.ts";

const now = () => new Date("2026-03-10T12:00:00.000Z");
const world = { now, randomBytes };
const load = () => import("@electric-sql/pglite");

function direction(at: number): Float32Array {
  const vector = new Float32Array(384);
  vector[at] = 1;
  return vector;
}

it("keeps a team in a folder, searches it by meaning, and lets one process in", async () => {
  const folder = path.join(makeTemporary("pglite", "memory"), "team");
  const { vector } = await import("@electric-sql/pglite-pgvector");
  const database = await openPglite(folder, { load, now, extensions: { vector } });
  const data = openTeamData(database, world);
  expect(await data.migrate()).toEqual(["2026-11-team", "vectors", "2026-11-operations", "vectors-without-search"]);
  expect(await database.hasVectors()).toBe(true);
  const { ann, team } = await makeTeam(data);
  const { ann: eve } = await makeTeam(data);
  await put(data, ann, "car.md", "my car is red", null, { vector: direction(1) });
  await put(data, ann, "boat.md", "the boat", null, { vector: direction(2) });
  await put(data, ann, "plain.md", "the zeppelin", null);
  await put(data, ann, "short.md", "bad vector", null, { vector: new Float32Array(3) });
  await put(data, eve, "theirs.md", "another's car", null, { vector: direction(1) });
  expect((await find(data, ann, "automobile", direction(1)))[0]).toMatchObject({ path: "car.md" });
  const both = await find(data, ann, "zeppelin", direction(2));
  expect(
    both
      .slice(0, 2)
      .map(({ path }) => path)
      .sort(),
  ).toEqual(["boat.md", "plain.md"]);
  expect(both.map(({ path }) => path)).not.toContain("theirs.md");
  expect((await find(data, ann, "boat", direction(2)))[0]?.path).toBe("boat.md");
  const seen = await database.transaction(team, (sql) => sql("select distinct team from memdir_vector"));
  expect(seen).toEqual([{ team }]);

  await expect(openPglite(folder, { load, now, lockTimeoutMs: 50 })).rejects.toMatchObject({
    code: "lock",
    message: expect.stringContaining("another process"),
  });
  await data.close();
  await data.close();

  // The same folder without the extension: nothing is lost, terms alone decide, and a vector goes with its memory.
  let bare: Awaited<ReturnType<PgliteModule["PGlite"]["create"]>> | null = null;
  const watched = async (): Promise<PgliteModule> => {
    const { PGlite } = await load();
    return {
      PGlite: {
        create: async (options) => {
          bare = await PGlite.create(options as object);
          return bare;
        },
      },
    };
  };
  const again = await openPglite(folder, { load: watched, now });
  const later = openTeamData(again, world);
  expect(await later.migrate()).toEqual([]);
  expect(await again.hasVectors()).toBe(false);
  expect((await find(later, ann, "car", direction(1)))[0]?.path).toBe("car.md");
  await put(later, ann, "boat.md", "the ferry", "1", { vector: direction(3) });
  const left = await again.transaction(team, (sql) => sql("select path from memdir_vector"));
  expect(left).toEqual([{ path: "car.md" }]);

  // A program of next year was here.
  const owner = bare as unknown as { query(text: string): Promise<unknown> };
  await owner.query("insert into memdir_migration values ('2031-01-later', now())");
  await expect(later.migrate()).rejects.toThrow("newer memdir (it knows 2031-01-later)");
  await later.close();
});

it("says what is wrong with a folder, and leaves it free", async () => {
  const top = makeTemporary("pglite", "memory");
  fs.writeFileSync(path.join(top, "file"), "");
  await expect(openPglite(path.join(top, "file"), { load, now })).rejects.toMatchObject({ code: "disk" });
  const missing = () => Promise.reject(new Error("Cannot find package"));
  const folder = path.join(top, "folder");
  await expect(openPglite(folder, { load: missing, now })).rejects.toThrow(/does not open: Cannot find package/);
  await expect(openPglite(folder, { load: missing, now, lockTimeoutMs: 50 })).rejects.toThrow("Cannot find package");
});
