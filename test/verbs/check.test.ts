import fs from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { runOf } from "../../src/cli/command.ts";
import { check } from "../../src/verbs/doctor.ts";
import { hearCall } from "../cli/call.ts";
import { makeWorld, note } from "../world.ts";

test("problems of one part are not followed by the word of another that there is nothing to fix", async () => {
  const world = makeWorld();
  const memdir = await world.open();
  await memdir.save(note("rule", { type: "feedback", description: "Small commits", body: "Commits are kept small." }));
  const { call, printed } = hearCall(world, {});
  expect(await runOf(check)(call)).toBe(1);
  expect(printed.join("\n")).toMatch(/^Form: 2 to fix$/m);
  expect(printed.join("\n")).toMatch(/^Health: \d+ of 100$/m);
  expect(printed.join("\n")).not.toContain("Nothing to fix");
});

test("without memories there is no score, in words and in JSON", async () => {
  const world = makeWorld();
  const { call, printed } = hearCall(world, {});
  await runOf(check)(call);
  expect(printed.join("\n")).toMatch(/^Health: no score$/m);
  const { call: asProgram, answers } = hearCall(world, { json: true });
  await runOf(check)(asProgram);
  expect(answers[0].health).toMatchObject({ score: null, memories: 0 });
});

test("the health of every scope is shown, with what lowers it", async () => {
  const world = makeWorld();
  await (await world.open()).save(note("tea"));
  const team = path.join(world.project, ".claude", "memory");
  fs.mkdirSync(team, { recursive: true });
  const long = `---\nname: long\ndescription: d\ntype: user\n---\n\n${"word ".repeat(2000)}\n`;
  fs.writeFileSync(path.join(team, "long.md"), long);
  const { call, printed } = hearCall(world, {});
  await runOf(check)(call);
  expect(printed.join("\n")).toMatch(
    /^Health: project 100 of 100, team (\d+) of 100\n\1 of 100: .* 1 memory, team, .*\n +oversized +1 /m,
  );
});

test("holds all that doctor looks at, the model for learning too", async () => {
  const world = makeWorld({ settings: { learn: { model: "bogus/xyz" } } });
  const { call, answers } = hearCall(world, { json: true });
  expect(await runOf(check)(call)).toBe(1);
  expect(answers[0].install.checks).toContainEqual(expect.objectContaining({ name: "learning", ok: false }));
});

test("of many remarks of one kind some are shown, and how many more there are", async () => {
  const world = makeWorld();
  const memdir = await world.open();
  for (let i = 0; i < 8; i++) {
    await memdir.save(note(`rule ${i}`, { type: "feedback", description: `Small commits ${i}`, body: `Commit ${i}.` }));
  }
  const { call, printed } = hearCall(world, {});
  expect(await runOf(check)(call)).toBe(1);
  const text = printed.join("\n");
  expect(text).toMatch(/^Form: 16 to fix$/m);
  expect(text.match(/\(why\)$/gm)).toHaveLength(3);
  expect(text.match(/\(how\)$/gm)).toHaveLength(3);
  expect(text).toContain("and 10 more (5 of why, 5 of how): memdir lint lists them");
});
