import { expect, it } from "vitest";
import { readEvent } from "../../src/hooks/event.ts";
import { answerPrompt, prepare } from "../../src/hooks/prompt.ts";
import { findEmbed } from "../../src/meaning/meaning.ts";
import { readSurfaceLog } from "../../src/recall/surface-log.ts";
import { makeWorld } from "../world.ts";
import { makeHost } from "./host.ts";

it("prompts of one session that overlap are shown a memory once, and those of another session, too", async () => {
  const world = makeWorld();
  world.write("a.md", "---\nname: Deploy kubectl staging\ntype: project\n---\n\nDeploy with kubectl on staging.\n");
  const { host, faults } = makeHost(world);
  const prompt = "how do we deploy with kubectl to staging?";
  const ask = (session_id: string) => answerPrompt(readEvent({ prompt, session_id, cwd: world.project }), host());
  const answers = await Promise.all(["one", "one", "two", "one"].map(ask));
  expect(answers.map(({ out }) => out.includes("on staging."))).toEqual([true, false, true, false]);
  for (const { after } of answers) await after?.();
  expect(readSurfaceLog(world.dir)).toHaveLength(2);
  expect(faults).toEqual([]);
});

it.skipIf(findEmbed() === null)(
  "what a program saved before it ended has its vector when a client has connected",
  async () => {
    const world = makeWorld();
    world.write("a.md", "---\nname: staging\ndescription: d\ntype: project\n---\n\nIt is reset every night.\n");
    const env = { MEMDIR_MEANING: "1" };
    await prepare({ cwd: world.project }, makeHost(world, { env }).host());
    const { memories, embedded } = await (await world.open({ env: { ...world.env, ...env } })).warm();
    expect({ memories, embedded }).toEqual({ memories: 1, embedded: 0 });
  },
);
