/** `context` and `prompt` only show: they write nothing. */

import fs from "node:fs";
import { expect, it } from "vitest";
import { runOf } from "../../src/cli/command.ts";
import { context, prompt } from "../../src/verbs/context.ts";
import { hearCall } from "../cli/call.ts";
import { makeWorld } from "../world.ts";

it.each([
  ["context", runOf(context)],
  ["prompt", runOf(prompt)],
] as const)("%s shows a missing index as it would be generated, and writes nothing", async (name, run) => {
  const world = makeWorld();
  world.write("tea.md", "---\nname: tea\ndescription: what to drink\ntype: project\n---\n\nGreen.\n");
  const { call, printed } = hearCall(world, {});
  await run(call);
  expect(printed.join("\n")).toContain(name === "context" ? "MEMORY.md: 1 line" : "(tea.md) — what to drink");
  expect(world.files()).toEqual(["tea.md"]);
});

it("without a store none is made", async () => {
  const world = makeWorld();
  const { call, printed } = hearCall(world, {});
  await runOf(context)(call);
  await runOf(prompt)(call);
  expect(printed.join("\n")).toContain("MEMORY.md: no index");
  expect(fs.existsSync(world.dir)).toBe(false);
});
