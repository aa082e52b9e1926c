/** The verbs as typed functions: those on memories of a Memdir, and all of them. */

import { expect, it } from "vitest";
import { openMemdir } from "../../src/index.ts";
import { openVerbs } from "../../src/library/verbs.ts";
import { VERBS } from "../../src/verbs/table.ts";
import { errorOf, makeWorld } from "../world.ts";

it("a Memdir has the verbs on memories, their input checked and their result typed", async () => {
  const world = makeWorld();
  const { verbs } = await openMemdir({ cwd: world.project, env: world.env, now: () => world.now });
  const { file, type, name } = await verbs.save({ text: "Use pnpm, never npm: the lockfile is pnpm's." });
  expect({ file, type, name }).toEqual({
    file: "feedback_use_pnpm_never_npm.md",
    type: "feedback",
    name: "Use pnpm, never npm",
  });
  expect((await verbs.list()).rows.map((row) => row.file)).toEqual([file]);
  const { score, memories } = await verbs.health();
  expect([memories, score > 50]).toEqual([1, true]);
  // @ts-expect-error: a type that is none
  expect(await errorOf(verbs.list({ type: "banana" }))).toMatchObject({
    code: "usage",
    message: expect.stringMatching(/must be one of user, .*, not "banana"/),
  });
  expect(await errorOf(verbs.edit({ name: "x" }))).toMatchObject({ code: "usage" });
  // @ts-expect-error: no such input
  expect(await errorOf(verbs.show({ nmae: "x" }))).toMatchObject({ code: "usage" });
});

it("stops when its signal is aborted", async () => {
  const world = makeWorld();
  const { verbs } = await openMemdir({ cwd: world.project, env: world.env });
  await expect(verbs.save({ text: "Never." }, { signal: AbortSignal.abort() })).rejects.toThrow();
  expect((await verbs.list()).rows).toEqual([]);
});

it("memdir/verbs has every command, on the same memories", async () => {
  const world = makeWorld();
  const options = { cwd: world.project, env: world.env, now: () => world.now };
  const [memdir, verbs] = [await openMemdir(options), await openVerbs(options)];
  expect(Object.keys(verbs)).toEqual(VERBS.map(({ name }) => name));
  const { file } = await memdir.verbs.save({ text: "Use pnpm, never npm: the lockfile is pnpm's." });
  expect((await verbs.export({ output: "exported/" })).exported).toEqual([file]);
  expect((await verbs.check()).form.problems).toEqual([]);
  expect((await memdir.list()).map((row) => row.file)).toEqual([file]);
  expect(await errorOf(openVerbs({ cwd: "" }))).toMatchObject({ code: "usage" });
});
