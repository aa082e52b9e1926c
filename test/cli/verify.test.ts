/** `memdir verify` without a process. */

import fs from "node:fs";
import path from "node:path";
import { expect, it } from "vitest";
import { runOf } from "../../src/cli/run-verb.ts";
import { verify as verb } from "../../src/verbs/verify.ts";
import { makeWorld, type World } from "../world.ts";
import { type CallOptions, hearCall } from "./call.ts";

function movedWorld(): World {
  const world = makeWorld();
  fs.mkdirSync(path.join(world.project, "src"));
  fs.writeFileSync(path.join(world.project, "src/a.ts"), "export const one = 1;\n");
  world.git("add", "-A");
  world.git("commit", "-q", "-m", "one");
  world.git("mv", "src/a.ts", "src/b.ts");
  world.git("commit", "-q", "-m", "two");
  world.write("m.md", "---\nname: m\ndescription: d\ntype: project\n---\n\nSee src/a.ts.\n");
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
  expect(printed[0]).toMatch(/^m\.md:7: moved src\/a\.ts \(moved to src\/b\.ts by [0-9a-f]{10} on 2026-03-10\)$/);
  expect(printed).toContain("memdir verify --fix writes the new paths");
});

it("answers --json in the shape of the specification", async () => {
  const { code, answers } = await verify(movedWorld(), { json: true, args: ["m"] });
  expect(code).toBe(1);
  expect(answers[0]).toMatchObject({
    checked: 1,
    problems: [{ file: "m.md", line: 7, claim: "src/a.ts", kind: "path", verdict: "moved" }],
  });
});

it("ends with 0 when it is fixed", async () => {
  const world = movedWorld();
  const { code, printed } = await verify(world, { options: { fix: true } });
  expect(code).toBe(0);
  expect(printed.join("\n")).toMatch(/m\.md: fixed src\/a\.ts is now src\/b\.ts[\s\S]*memdir undo/);
  expect((await verify(world)).code).toBe(0);
});

it("counts every memory once, whatever was fixed, and offers --fix only to whoever has not used it", async () => {
  const world = movedWorld();
  const write = (name: string, body: string) =>
    world.write(`${name}.md`, `---\nname: ${name}\ndescription: d\ntype: project\n---\n\n${body}\n`);
  write("both", "See `src/a.ts` and `src/none.ts`, then `src/never.ts`.");
  write("right", "See `src/b.ts`.");
  write("plain", "Be kind.");
  const summary = async (options: CallOptions) => {
    const { code, printed } = await verify(world, options);
    const line = printed.find((text) => text.includes(" checked: ")) ?? "";
    const [checked = 0, ...counts] = (line.replace(/\(.*?\)|;.*/g, "").match(/\d+/g) ?? []).map(Number);
    expect(counts.reduce((sum, count) => sum + count)).toBe(checked);
    return { code, line, isOffered: printed.includes("memdir verify --fix writes the new paths") };
  };
  expect(await summary({ options: { "no-stamp": true } })).toMatchObject({
    code: 1,
    line: expect.stringMatching(/^4 memories checked: 1 holds, 2 with problems \(4 in all\), 1 with nothing/),
    isOffered: true,
  });
  expect(await summary({ options: { "no-stamp": true, fix: true } })).toMatchObject({
    code: 1,
    line: expect.stringMatching(/^4 memories checked: 1 holds, 1 fixed, 1 with problems \(2 in all\), 1 with nothing/),
    isOffered: false,
  });
  expect(await summary({ options: { "no-stamp": true } })).toMatchObject({
    code: 1,
    line: expect.stringMatching(/^4 memories checked: 2 hold, 1 with problems \(2 in all\), 1 with nothing/),
    isOffered: false,
  });
});

it("refuses a commit that is none", async () => {
  await expect(verify(movedWorld(), { options: { "changed-since": "nope" } })).rejects.toThrow(
    /the commit does not exist/,
  );
});
