/** `memdir why`: when a memory came up, by which door, for which reasons. */

import { expect, test } from "vitest";
import { runOf } from "../../src/cli/command.ts";
import { type Door, logSurfaced } from "../../src/recall/surface-log.ts";
import { why } from "../../src/verbs/why.ts";
import { errorOf, HOUR, makeWorld, note, type World } from "../world.ts";
import { hearCall } from "./call.ts";

const run = runOf(why);

function surface(world: World, file: string, hoursAgo: number, session: string | null, door: Door = "hook"): void {
  const at = new Date(world.now.getTime() - hoursAgo * HOUR);
  logSurfaced(world.dir, {
    at,
    session,
    door,
    prompt: "secret words",
    memories: [{ file, scope: "project", why: ["words: tea", "age: \x1b[2Jtoday"] }],
  });
}

async function makeTea(): Promise<World> {
  const world = makeWorld();
  await (await world.open()).save(note("tea"));
  return world;
}

test("the latest first, with sessions, doors and reasons", async () => {
  const world = await makeTea();
  surface(world, "user_tea.md", 50, "one");
  surface(world, "user_other.md", 40, "one");
  surface(world, "user_tea.md", 1, "two", "mcp");
  const { call, printed } = hearCall(world, { args: ["tea"] });
  expect(await run(call)).toBe(0);
  expect(printed).toEqual([
    "user_tea.md was shown 2 times since 2026-03-08, in 2 sessions",
    "  2026-03-10 11:00 (today) by the MCP server in session two",
    "    words: tea",
    "    age: today",
    "  2026-03-08 10:00 (2 days ago) by a host's hook in session one",
    "    words: tea",
    "    age: today",
  ]);
});

test("--json has all of them, and never the prompt", async () => {
  const world = await makeTea();
  for (let at = 30; at > 0; at--) surface(world, "user_tea.md", at, null, "cli");
  const { call, answers } = hearCall(world, { args: ["tea"], json: true });
  await run(call);
  expect(answers[0]).toMatchObject({ file: "user_tea.md", scope: "project", count: 30, since: expect.any(String) });
  expect(answers[0].surfaced[0]).toEqual({
    at: "2026-03-10T11:00:00.000Z",
    session: null,
    door: "cli",
    why: ["words: tea", "age: \x1b[2Jtoday"],
  });
  expect(JSON.stringify(answers)).not.toContain("secret words");
});

test("one that never came up, one that is gone, one that never was", async () => {
  const world = await makeTea();
  const first = hearCall(world, { args: ["tea"] });
  await run(first.call);
  expect(first.printed[0]).toBe("user_tea.md: nothing has been shown to a model here yet");
  surface(world, "user_gone.md", 5, "one");
  const again = hearCall(world, { args: ["tea"] });
  await run(again.call);
  expect(again.printed[0]).toBe("user_tea.md: not shown since 2026-03-10");
  const gone = hearCall(world, { args: ["user_gone"] });
  await run(gone.call);
  expect(gone.printed[0]).toBe("user_gone.md was shown once since 2026-03-10, in one session");
  expect(await errorOf(run(hearCall(world, { args: ["never"] }).call))).toMatchObject({ code: "not-found" });
});
