/** Verbs as the page calls them: on a memory's place, and in forms that cannot ask. */

import { expect, it } from "vitest";
import { DAY, errorOf, makeWorld, note } from "../world.ts";
import { call, makePage } from "./open-page.ts";

it("verbs that look for a memory by its name take its place too", async () => {
  const { memdir, page } = await makePage();
  await memdir.save(note("release day", { type: "project" }));
  const place = { directory: 0, file: "project_release_day.md" };
  expect(await call(page, "POST", "/api/why", place)).toMatchObject({ file: place.file, count: 0 });
  const moved = await call(page, "POST", "/api/promote", { ...place, "dry-run": true });
  expect(moved).toMatchObject({ kind: "promote", from: { file: place.file } });
  for (const verb of ["why", "promote"])
    expect((await errorOf(call(page, "POST", `/api/${verb}`, { ...place, file: "../x.md" }))).code).toBe("outside");
});

it("of two memories of one name, the one at the given place is moved; a form is told what would move", async () => {
  const world = makeWorld();
  const facts = (body: string) => note("release day", { type: "project", body });
  await (await world.open({ scope: "user" })).save(facts("Of the user."));
  const { memdir, page } = await makePage({ world });
  await memdir.save(facts("Of the project."));
  const file = "project_release_day.md";
  for (const [directory, whose] of [...memdir.directories.entries()].filter(([, { scope }]) => scope !== "team")) {
    const sent = { directory, file, "dry-run": true };
    expect(await call(page, "POST", "/api/promote", sent)).toMatchObject({ from: { scope: whose.scope, file } });
    const form = (await call(page, "POST", "/api/promote", { ...sent, say: true })) as { text: string };
    expect(form.text).toContain(whose.scope === "user" ? "Of the user." : "Of the project.");
  }
});

it("an empty form of prune names what could go and forgets nothing; with apply it says what went", async () => {
  const { world, page } = await makePage();
  const file = "project_old.md";
  world.write(file, "---\nname: old\ndescription: d\ntype: project\n---\n\nOld.\n", { ageMs: 200 * DAY });
  const prune = async (input: object) =>
    ((await call(page, "POST", "/api/prune", { ...input, say: true })) as { text: string }).text;
  for (const input of [{}, { type: "project" }, { suggest: true }]) {
    expect(await prune(input)).toMatch(/would forget project_old\.md \(200 days old\)[\s\S]*nothing was forgotten/);
    expect(world.exists(file)).toBe(true);
  }
  expect(await prune({ apply: true })).toMatch(/^forgot project_old\.md[\s\S]*forgot 1 memory/);
  expect(world.exists(file)).toBe(false);
  expect(await prune({})).toBe("Nothing needs to go.");
});
