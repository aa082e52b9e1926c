/** Many projects at work in one process leave the host's event loop its turns. */

import { expect, it } from "vitest";
import { openMemdir } from "../../src/index.ts";
import { makeWorld } from "../world.ts";
import { PNPM } from "./memories.ts";

it("ends one call in each round of the event loop, however many there are", async () => {
  const memdirs = await Promise.all(
    Array.from({ length: 4 }, () => {
      const { project, env } = makeWorld();
      return openMemdir({ cwd: project, env, embed: null });
    }),
  );
  let round = 0;
  const count = () => {
    round++;
    timer = setImmediate(count);
  };
  let timer = setImmediate(count);
  const inRounds = async (call: (memdir: (typeof memdirs)[0], i: number) => Promise<unknown>) => {
    const ended: number[] = [];
    const calls = memdirs.flatMap((memdir) => Array.from({ length: 8 }, (_, i) => call(memdir, i)));
    await Promise.all(calls.map((each) => each.then(() => ended.push(round))));
    return { calls: calls.length, rounds: new Set(ended).size };
  };
  expect(await inRounds((memdir, i) => memdir.save({ ...PNPM, name: `use pnpm ${i}` }))).toEqual({
    calls: 32,
    rounds: 32,
  });
  expect(await inRounds((memdir) => memdir.recall("installing a package"))).toEqual({ calls: 32, rounds: 32 });
  clearImmediate(timer);
});
