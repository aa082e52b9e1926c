/** The verbs as typed methods of the library. */

import { expect, it } from "vitest";
import { openMemdir } from "../../src/index.ts";
import { errorOf, makeWorld } from "../world.ts";

it("has every verb with its input checked and its result typed", async () => {
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
