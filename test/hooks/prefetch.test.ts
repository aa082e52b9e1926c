/** `memdir prefetch`, what a prompt hook starts beside a turn, called in process. */

import fs from "node:fs";
import { describe, expect, it } from "vitest";
import { start as run } from "../../src/cli/prefetch.ts";
import { awaitPrefetch, takePrefetch } from "../../src/hooks/prefetch.ts";
import type { SideQuery } from "../../src/recall/select.ts";
import { readSurfaced, writeSurfaced } from "../../src/recall/surface-log.ts";
import { hearCall } from "../cli/call.ts";
import { makeWorld, type World } from "../world.ts";

const PROMPT = "how do we deploy with kubectl to staging?";

function makePlace(): World {
  const world = makeWorld();
  for (const name of ["deploy", "pool"]) {
    world.write(`${name}.md`, `---\nname: ${name}\ndescription: About ${name}\ntype: project\n---\n\nThe ${name}.\n`);
  }
  return world;
}

async function prefetch(world: World, input: unknown, ask: SideQuery | null) {
  const text = typeof input === "string" ? input : JSON.stringify(input);
  const { call, printed, warned } = hearCall(world, { args: ["-"], options: { prefetch: true }, input: text });
  const code = await run({ ...call, open: () => world.open({ ask }) });
  expect({ code, printed, warned }).toEqual({ code: 0, printed: [], warned: [] });
}

const choosing: SideQuery = async () => JSON.stringify({ selected_memories: ["pool.md"] });

describe("recall beside a turn", () => {
  it("leaves what the model chose for the session", async () => {
    const world = makePlace();
    awaitPrefetch(world.dir, "one", { id: "p1", nowMs: 0 });
    await prefetch(world, { session: "one", id: "p1", prompt: PROMPT }, choosing);
    expect(takePrefetch(world.dir, "one")).toEqual([world.path("pool.md")]);
  });

  it("leaves nothing that the session has seen, nor for a prompt that is past", async () => {
    const world = makePlace();
    const surfaced = readSurfaced(world.dir, "one");
    surfaced.surface([{ path: world.path("pool.md"), content: "x" }]);
    writeSurfaced(world.dir, "one", surfaced);
    awaitPrefetch(world.dir, "one", { id: "p1", nowMs: 0 });
    await prefetch(world, { session: "one", id: "p1", prompt: PROMPT }, choosing);
    expect(takePrefetch(world.dir, "one")).toEqual([]);
    awaitPrefetch(world.dir, "two", { id: "p2", nowMs: 0 });
    await prefetch(world, { session: "two", id: "p1", prompt: PROMPT }, choosing);
    expect(takePrefetch(world.dir, "two")).toEqual([]);
  });

  it("without a model, or with one that fails, has nothing to add", async () => {
    const world = makePlace();
    const failing: SideQuery = async () => {
      throw new Error("overloaded");
    };
    for (const ask of [null, failing]) {
      awaitPrefetch(world.dir, "one", { id: "p1", nowMs: 0 });
      await prefetch(world, { session: "one", id: "p1", prompt: PROMPT }, ask);
      expect(takePrefetch(world.dir, "one")).toEqual([]);
    }
  });

  it.each(["", "null", "[]", "garbage", "{}", '{"session":"","id":"a","prompt":"b"}', '{"session":1}'])(
    "told %j does nothing",
    async (input) => {
      const world = makeWorld();
      await prefetch(world, input, choosing);
      expect(fs.existsSync(world.dir)).toBe(false);
    },
  );
});
