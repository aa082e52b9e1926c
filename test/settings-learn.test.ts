/** Settings of learning, and who may set them. */

import fs from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { makeFixture } from "./project/fixture.ts";
import { makeWorld } from "./world.ts";

/** As the user's own file sets them. */
const read = (learn: unknown, env: Record<string, string> = {}) => {
  const f = makeFixture();
  f.put({ "home/.claude/memdir.json": learn === undefined ? {} : { learn } });
  const { learn: config, problems } = f.config(f.top, env);
  return { config, problems: problems.map((problem) => problem.replace(f.at("home/.claude/"), "")) };
};
const { config: LEARN_DEFAULTS } = read(undefined);

describe("learn", () => {
  it("B11.17 has defaults of its own and no flags from elsewhere", () => {
    expect(read(undefined).problems).toEqual([]);
    expect(LEARN_DEFAULTS).toMatchObject({ mode: "auto", teamMode: "inbox" });
  });

  it("takes what fits and names what does not", () => {
    const prices = { "anthropic/*": { input: 3, output: 15 } };
    const { config, problems } = read({
      mode: "inbox",
      everyTurns: 0,
      tokensPerDay: 5,
      prices,
      notes: "yes",
      costPerDay: 0,
    });
    expect(config).toMatchObject({ mode: "inbox", everyTurns: 1, tokensPerDay: 5, notes: true, costPerDay: 0 });
    expect(config.prices["anthropic/*"]).toEqual({ input: 3, output: 15, cacheRead: 3, cacheWrite: 3 });
    expect(problems).toHaveLength(2);
    expect(read({ prices: { x: { input: -1, output: 1 } } }).problems[0]).toContain("prices");
    expect(read([1]).problems).toHaveLength(1);
  });

  it("the environment has the last word on the mode", () => {
    expect(read({ mode: "inbox" }, { MEMDIR_LEARN: "off" }).config.mode).toBe("off");
    expect(read({ mode: "inbox" }, { MEMDIR_LEARN: "0" }).config.mode).toBe("off");
    expect(read({ mode: "inbox" }, { MEMDIR_LEARN: "often" })).toMatchObject({
      config: { mode: "inbox" },
      problems: [expect.stringContaining("MEMDIR_LEARN")],
    });
  });

  it("a repository decides nothing", async () => {
    const world = makeWorld();
    fs.mkdirSync(path.join(world.project, ".claude"));
    fs.writeFileSync(
      path.join(world.project, ".claude", "memdir.json"),
      JSON.stringify({ learn: { tokensPerDay: 9e9 } }),
    );
    const memdir = await world.open();
    expect(memdir.config.learn.tokensPerDay).toBe(LEARN_DEFAULTS.tokensPerDay);
    expect(memdir.warnings.join()).toContain('"learn" is not taken from a repository');
  });
});
