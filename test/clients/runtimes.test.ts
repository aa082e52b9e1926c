/** The library on other runtimes than the Node of the tests: a save, a recall, an undo, and a store that two runtimes write to at once. */

import { spawn } from "node:child_process";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { findClient, isRequired } from "../../scripts/install-clients.mjs";
import { makeWorld, type World } from "../world.ts";

const PROGRAM = path.resolve(import.meta.dirname, "smoke.mjs");

async function run(command: readonly string[], world: World, ...args: string[]): Promise<string> {
  const [program = "", ...before] = command;
  const env = { ...(world.env as Record<string, string>), NO_COLOR: "1", DENO_NO_UPDATE_CHECK: "1" };
  const child = spawn(program, [...before, PROGRAM, ...args], { cwd: world.project, env });
  const [out, err]: [string[], string[]] = [[], []];
  child.stdout.setEncoding("utf8").on("data", (chunk: string) => out.push(chunk));
  child.stderr.setEncoding("utf8").on("data", (chunk: string) => err.push(chunk));
  const code = await new Promise((done) => child.on("close", done));
  expect([code, err.join("")]).toEqual([0, ""]);
  return out.join("").trim();
}

const NODE = [process.execPath];

describe.each(["node-22", "node-24", "bun", "deno"])("%s", (name) => {
  const found = findClient(name);
  const command = found ? [found.program, ...found.args, ...(name === "deno" ? ["run", "--allow-all"] : [])] : [];
  if (!found) it.runIf(isRequired())("is installed", () => expect.fail(`${name} is not installed`));

  it.runIf(found)("saves, lists, recalls, undoes", async () => {
    const world = makeWorld();
    expect(JSON.parse(await run(command, world, "smoke"))).toEqual({
      saved: "feedback_use_pnpm.md",
      listed: 1,
      recalled: ["use pnpm"],
      refused: "secret",
      afterUndo: 0,
    });
  });

  it.runIf(found)("loses nothing beside Node in the same store", async () => {
    const world = makeWorld();
    await Promise.all([run(command, world, "many", "a"), run(NODE, world, "many", "b")]);
    const memdir = await world.open();
    expect(await memdir.list()).toHaveLength(40);
    expect((await memdir.doctor()).filter(({ ok }) => !ok)).toEqual([]);
  });
});
