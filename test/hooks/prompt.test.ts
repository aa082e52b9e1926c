import { expect, it } from "vitest";
import { prepare } from "../../src/hooks/prompt.ts";
import { findEmbed } from "../../src/meaning/meaning.ts";
import { makeWorld } from "../world.ts";
import { makeHost } from "./host.ts";

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
