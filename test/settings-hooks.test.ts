/** Settings of the hooks, and who may set them. */

import fs from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { makeFixture } from "./project/fixture.ts";
import { makeWorld } from "./world.ts";

/** As the user's own file sets them. */
const read = (hooks: unknown) => {
  const f = makeFixture();
  f.put({ "home/.claude/memdir.json": hooks === undefined ? {} : { hooks } });
  const { hooks: config, problems } = f.config(f.top);
  return { config, problems: problems.map((problem) => problem.replace(f.at("home/.claude/"), "")) };
};
const { config: HOOK_DEFAULTS } = read(undefined);

describe("hooks", () => {
  it("have defaults: nothing is copied, nothing asks a model while a person waits", () => {
    expect(read(undefined).problems).toEqual([]);
    expect(HOOK_DEFAULTS).toEqual({
      stop: "detached",
      archive: false,
      deadlineMs: 1000,
      enforce: true,
      sync: false,
      prefetch: false,
    });
  });

  it("take what fits and name what does not", () => {
    const whole = { stop: "continue", archive: true, deadlineMs: 300, enforce: false, sync: true, prefetch: true };
    expect(read(whole)).toEqual({ config: whole, problems: [] });
    const { config, problems } = read({ stop: "later", archive: "yes", deadlineMs: 0, enforce: null, prefetch: 1 });
    expect(config).toEqual(HOOK_DEFAULTS);
    expect(problems).toHaveLength(4);
    expect(problems[0]).toBe('memdir.json: hooks: "stop" must be one of detached, continue, off; it is ignored');
    expect(read([1]).problems).toHaveLength(1);
  });

  it("are the user's own: a repository does not switch off their rules", async () => {
    const world = makeWorld({ settings: { hooks: { stop: "off" } } });
    fs.mkdirSync(path.join(world.project, ".claude"));
    const file = path.join(world.project, ".claude", "memdir.json");
    fs.writeFileSync(file, JSON.stringify({ hooks: { enforce: false, archive: true } }));
    const { config } = await world.open();
    expect(config.hooks).toEqual({ ...HOOK_DEFAULTS, stop: "off" });
    expect(config.problems).toEqual([expect.stringContaining('"hooks" is not taken from a repository')]);
  });
});
