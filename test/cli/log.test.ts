/** `memdir log` as the command line calls it, on a world of its own. */

import { describe, expect, test } from "vitest";
import { runOf } from "../../src/cli/command.ts";
import { log as verb } from "../../src/verbs/log.ts";
import { errorOf, makeWorld } from "../world.ts";
import { hearCall } from "./call.ts";

const run = runOf(verb);

function open() {
  const world = makeWorld();
  const printed: string[] = [];
  const answers: unknown[] = [];
  const call = async (args: string[], json = false) => {
    const heard = hearCall(world, { args, json, input: "from\nstandard input\n" });
    const code = await run(heard.call);
    printed.push(...heard.printed);
    answers.push(...heard.answers);
    return code;
  };
  return { world, printed, answers, call };
}

const TODAY = "logs/2026/03/2026-03-10.md";

describe("memdir log", () => {
  test("B9.3 appends a line to today's log", async () => {
    const { world, printed, call } = open();
    expect(await call(["the build", "moved"])).toBe(0);
    expect(world.read(TODAY)).toBe("- 12:00 the build moved\n");
    expect(printed).toEqual([`logged in ${world.path("logs", "2026", "03", "2026-03-10.md")}`]);
    expect(world.index()).toBe("");
  });

  test("answers with the path and the line", async () => {
    const { world, answers, call } = open();
    await call(["-"], true);
    expect(answers).toEqual([
      { path: world.path("logs", "2026", "03", "2026-03-10.md"), line: "- 12:00 from\n  standard input" },
    ]);
  });

  test("without a text it shows today's, and makes nothing", async () => {
    const { world, printed, answers, call } = open();
    await call([]);
    await call([], true);
    expect(printed.join("\n")).toMatch(/^Nothing logged today\.\nLog something: memdir log/);
    expect(answers).toEqual([[]]);
    expect(world.files()).toEqual([]);

    world.write("logs/2026/03/2026-03-09.md", "- 12:00 yesterday\n");
    world.write("logs/2026/03/2026-03-11.md", "- 12:00 tomorrow\n");
    await call(["one"]);
    printed.length = 0;
    await call([]);
    expect(printed).toEqual([world.path("logs", "2026", "03", "2026-03-10.md"), "- 12:00 one"]);
    await call([], true);
    expect(answers[1]).toEqual([{ day: "2026-03-10", path: world.path(TODAY), text: "- 12:00 one\n" }]);
  });

  test.each([
    [["  "], "usage"],
    [["key ghp_16C7e42F292c6912E7710c838347Ae178B4a"], "secret"],
  ])("refuses %j", async (args, code) => {
    const { world, call } = open();
    expect((await errorOf(call(args))).code).toBe(code);
    expect(world.files()).toEqual([]);
  });
});
