/** `dream --apply`: which steps of the plan that was shown are applied, and when nothing is. */

import fs from "node:fs";
import path from "node:path";
import { expect, it } from "vitest";
import { runOf } from "../../src/cli/command.ts";
import { dream as verb } from "../../src/verbs/dream.ts";
import { type CallOptions, hearCall } from "../cli/call.ts";
import { memoryText } from "../learn/dream-mess.ts";
import { errorOf, makeWorld, type World } from "../world.ts";

const run = runOf(verb);

async function dream(world: World, options: CallOptions["options"] = {}, more: CallOptions = {}) {
  const heard = hearCall(world, { options, ...more });
  const code = await run(heard.call);
  return { code, ...heard };
}
const refused = (world: World, options: CallOptions["options"]) =>
  errorOf(run(hearCall(world, { options }).call) as Promise<unknown>);

/** Of memories and the index; the lock stays as the time of the last dream. */
const contentOf = (world: World) =>
  Object.fromEntries(
    world
      .files()
      .filter((file) => file.endsWith(".md"))
      .map((file) => [file, world.read(file)]),
  );

/** Two memories that others supersede: a plan of two steps. */
function twoSteps(): World {
  const world = makeWorld();
  world.write("argo.md", memoryText("project", "argo", "Argo rolls out everything.", "supersedes: [helm]\n"));
  world.write("helm.md", memoryText("project", "helm", "Charts are rolled out by hand."));
  world.write("npm.md", memoryText("reference", "npm", "Packages come from the old registry."));
  world.write("pnpm.md", memoryText("reference", "pnpm", "A mirror serves tarballs.", "supersedes: [npm]\n"));
  return world;
}

it.each([
  ["--apply alone", { apply: true }],
  ["--apply with two of them", { apply: true, only: "1", all: true }],
  ["--only without --apply", { only: "1" }],
  ["--all without --apply", { all: true }],
  ["--if-due without --all", { apply: true, only: "1", "if-due": true }],
])("%s is a usage error, and changes nothing", async (_, options) => {
  const world = twoSteps();
  await dream(world, { plan: true });
  const before = contentOf(world);
  expect((await refused(world, options)).code).toBe("usage");
  expect(contentOf(world)).toEqual(before);
});

it.each([
  [{ only: "1" }, ["argo.md", "npm.md", "pnpm.md"]],
  [{ only: "2" }, ["argo.md", "helm.md", "pnpm.md"]],
  [{ skip: "1" }, ["argo.md", "helm.md", "pnpm.md"]],
  [{ only: "1, 2" }, ["argo.md", "pnpm.md"]],
  [{ all: true }, ["argo.md", "pnpm.md"]],
])("--apply with %j applies these steps as one change, and undo restores every byte", async (steps, left) => {
  const world = twoSteps();
  const before = contentOf(world);
  const plan = await dream(world, { plan: true }, { json: true });
  expect(plan.answers[0].plan.map(({ files }: { files: string[] }) => files[0])).toEqual(["helm.md", "npm.md"]);
  expect(contentOf(world)).toEqual(before);
  const { code, answers } = await dream(world, { apply: true, ...steps }, { json: true });
  expect(code).toBe(0);
  expect(answers[0].applied).toBe(true);
  expect(Object.keys(contentOf(world)).filter((file) => file !== "MEMORY.md")).toEqual(left);
  const memdir = await world.open();
  expect(await memdir.history()).toHaveLength(1);
  await memdir.undo(answers[0].undo);
  expect(contentOf(world)).toEqual(before);
});

it("refuses steps that the plan does not have, and steps of no plan", async () => {
  const world = twoSteps();
  expect(await refused(world, { apply: true, only: "1" })).toMatchObject({
    code: "not-found",
    message: expect.stringContaining("memdir dream --plan"),
  });
  await dream(world, { plan: true });
  for (const only of ["3", "0", "x", "1;2", ","])
    expect(await refused(world, { apply: true, only })).toMatchObject({ code: "usage" });
  expect(world.exists("helm.md")).toBe(true);
  await dream(world, { apply: true, only: "1" });
  // A plan is applied once: its numbers would mean other steps now.
  expect((await refused(world, { apply: true, only: "2" })).code).toBe("not-found");
  expect(world.exists("npm.md")).toBe(true);
});

it("a memory that changed since the plan was shown: nothing is written", async () => {
  const world = twoSteps();
  await dream(world, { plan: true });
  fs.appendFileSync(world.path("helm.md"), "\nNot for staging.\n");
  const before = contentOf(world);
  const error = await refused(world, { apply: true, skip: "2" });
  expect(error).toMatchObject({ code: "conflict", message: expect.stringContaining("nothing was written") });
  expect(contentOf(world)).toEqual(before);
});

it("on a terminal asks about each step; without one it shows the plan only", async () => {
  const world = twoSteps();
  const questions: string[] = [];
  const ask = async (question: string) => {
    questions.push(question);
    return question.startsWith("Step 2");
  };
  const { printed } = await dream(world, {}, { ask });
  expect(questions).toHaveLength(2);
  expect(printed.join("\n")).toMatch(/1 retired; memdir undo \S+ reverts it$/);
  expect([world.exists("helm.md"), world.exists("npm.md")]).toEqual([true, false]);
  const declined = await dream(world, {}, { ask: async () => false });
  expect(declined.printed.at(-1)).toBe("nothing was changed");
  const shown = await dream(world);
  expect(shown.printed.join("\n")).toContain("--apply --only");
  expect(world.exists("helm.md")).toBe(true);
});

it("who leaves at a step is asked no more, and nothing is applied", async () => {
  const world = twoSteps();
  const before = contentOf(world);
  for (const [answers, left] of [
    [[null], "you left at step 1 of 2"],
    [[true, null], "you left at step 2 of 2"],
  ] as const) {
    const given: (boolean | null)[] = [...answers];
    const ask = async () => {
      if (given.length === 0) throw new Error("asked again");
      return given.shift() as boolean | null;
    };
    const { printed } = await dream(world, {}, { ask });
    expect(printed.at(-1)).toBe(`nothing was changed: ${left}`);
    expect(contentOf(world)).toEqual(before);
  }
});

it("works in the scope that holds the memories", async () => {
  const world = makeWorld();
  const team = path.join(world.project, ".claude", "memory");
  fs.mkdirSync(team, { recursive: true });
  const put = (file: string, text: string) => fs.writeFileSync(path.join(team, file), text);
  put("argo.md", memoryText("project", "argo", "Argo rolls out everything.", "supersedes: [helm]\n"));
  put("helm.md", memoryText("project", "helm", "Charts are rolled out by hand."));
  const call = (options: CallOptions["options"]) => {
    const heard = hearCall(world, { options, json: true });
    return { ...heard, call: { ...heard.call, open: (more = {}) => world.open(more) } };
  };
  const planned = call({ plan: true });
  await run(planned.call);
  expect(planned.answers[0].plan).toMatchObject([{ op: "retire", files: expect.arrayContaining(["helm.md"]) }]);
  await run(call({ apply: true, only: "1" }).call);
  expect(fs.existsSync(path.join(team, "helm.md"))).toBe(false);
  expect(world.exists("")).toBe(false);
  expect(world.git("status", "--porcelain", "--untracked-files=all")).not.toMatch(/\.memdir|plan|lock/);
  const status = call({ status: true });
  await run(status.call);
  expect(status.answers[0]).toMatchObject({ last: world.now.toISOString(), running: null });
});

it("a plan of one step offers that step, one of several the first or all others", async () => {
  const [two, one] = [twoSteps(), twoSteps()];
  fs.rmSync(one.path("npm.md"));
  const offer = async (world: World) => (await dream(world, { plan: true })).printed.at(-1);
  expect(await offer(two)).toContain("--only 1 applies the first step, --skip 1 all others, as one change");
  expect(await offer(one)).toContain("--only 1 applies it, as one change");
});
