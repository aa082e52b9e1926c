/** `memdir verify` without a process. */

import fs from "node:fs";
import path from "node:path";
import { expect, it } from "vitest";
import { runOf } from "../../src/cli/command.ts";
import { verify as verb } from "../../src/verbs/verify.ts";
import { DAY, makeWorld, START, type World } from "../world.ts";
import { type CallOptions, hearCall } from "./call.ts";

/** Made ten days ago, moved today, and remembered in between. */
function movedWorld(): World {
  const world = makeWorld();
  world.now = new Date(Date.parse(START) - 10 * DAY);
  fs.mkdirSync(path.join(world.project, "src"));
  fs.writeFileSync(path.join(world.project, "src/a.ts"), "export const one = 1;\n");
  world.git("add", "-A");
  world.git("commit", "-q", "-m", "one");
  world.now = new Date(START);
  world.git("mv", "src/a.ts", "src/b.ts");
  world.git("commit", "-q", "-m", "two");
  world.write("m.md", "---\nname: m\ndescription: d\ntype: project\n---\n\nSee src/a.ts.\n", { ageMs: 5 * DAY });
  return world;
}

const run = runOf(verb);

async function verify(world: World, options: CallOptions = {}) {
  const heard = hearCall(world, options);
  return { ...heard, code: await run(heard.call) };
}

it("ends with 1 and says where, what and why", async () => {
  const { code, printed } = await verify(movedWorld());
  expect(code).toBe(1);
  expect(printed[0]).toMatch(
    /^m\.md:7: moved src\/a\.ts \(moved to src\/b\.ts by [0-9a-f]{10} on 2026-03-10, after this was written on 2026-03-05; 90 % sure\)$/,
  );
  expect(printed).toContain("memdir verify --fix writes the new paths");
});

it("answers --json in the shape of the specification", async () => {
  const { code, answers } = await verify(movedWorld(), { json: true, args: ["m"] });
  expect(code).toBe(1);
  expect(answers[0]).toMatchObject({
    checked: 1,
    problems: [{ file: "m.md", line: 7, claim: "src/a.ts", kind: "path", verdict: "moved", confidence: 0.9 }],
    hidden: 0,
  });
});

it("ends with 0 when it is fixed", async () => {
  const world = movedWorld();
  const { code, printed } = await verify(world, { options: { fix: true } });
  expect(code).toBe(0);
  expect(printed.join("\n")).toMatch(/m\.md: fixed src\/a\.ts is now src\/b\.ts[\s\S]*memdir undo/);
  expect((await verify(world)).code).toBe(0);
});

it("says how many memories have problems, and offers --fix only to whoever has not used it", async () => {
  const world = movedWorld();
  const write = (name: string, body: string) =>
    world.write(`${name}.md`, `---\nname: ${name}\ndescription: d\ntype: project\n---\n\n${body}\n`, {
      ageMs: 5 * DAY,
    });
  write("both", "See `src/a.ts` and `[[none]]`, then `src/never.ts`.\n\nSee [that](nowhere.md).");
  write("right", "See `src/b.ts`.");
  write("plain", "Be kind.");
  const summary = async (options: CallOptions) => {
    const { code, printed } = await verify(world, options);
    const line = printed.find((text) => text.includes(" checked: ")) ?? "";
    return { code, line, isOffered: printed.includes("memdir verify --fix writes the new paths"), printed };
  };
  expect(await summary({})).toMatchObject({
    code: 1,
    line: "4 memories checked: 2 with problems (3 in all), 1 with everything they name still there",
    isOffered: true,
    printed: expect.arrayContaining(["1 less certain finding: memdir verify --all"]),
  });
  expect(await summary({ options: { all: true } })).toMatchObject({
    line: expect.stringContaining("(4 in all)"),
    printed: expect.not.arrayContaining([expect.stringContaining("less certain")]),
  });
  expect(await summary({ options: { fix: true } })).toMatchObject({
    code: 1,
    line: "4 memories checked: 1 with problems, 1 with all problems fixed, 1 with everything they name still there",
    isOffered: false,
    printed: expect.arrayContaining(["2 problems fixed in 2 memories"]),
  });
  expect(await summary({})).toMatchObject({
    code: 1,
    line: "4 memories checked: 1 with problems, 2 with everything they name still there",
    isOffered: false,
  });
});

it("writes no memory unless it is told to stamp, and stamping can be undone", async () => {
  const world = movedWorld();
  world.write("right.md", "---\nname: right\ndescription: d\ntype: project\n---\n\nSee src/b.ts.\n", { ageMs: DAY });
  const texts = () => ["m.md", "right.md"].map((file) => world.read(file));
  const before = texts();
  await verify(world);
  await verify(world, { options: { all: true } });
  expect(texts()).toEqual(before);
  expect(await (await world.open()).history()).toEqual([]);
  const { printed } = await verify(world, { options: { stamp: true } });
  expect(printed.join("\n")).toContain("; 1 stamped as checked");
  expect(world.read("m.md")).toBe(before[0]);
  expect(world.read("right.md")).toContain(`verified: ${START}`);
  await (await world.open()).undo();
  expect(texts()).toEqual(before);
});

it("refuses a commit that is none", async () => {
  await expect(verify(movedWorld(), { options: { "changed-since": "nope" } })).rejects.toThrow(
    /the commit does not exist/,
  );
});
