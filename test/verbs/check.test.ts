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
