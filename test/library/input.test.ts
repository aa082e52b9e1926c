/** Wrong input from programs without types, and from models: a `MemdirError` that says what to do, never a raw TypeError. */

import { describe, expect, it } from "vitest";
import { type Library, MemdirError, openMemdir } from "../../src/index.ts";
import { makeWorld } from "../world.ts";
import { PNPM } from "./memories.ts";

const WRONG: readonly unknown[] = [
  undefined,
  null,
  3,
  true,
  "",
  " ",
  "\ud800",
  "\0",
  [],
  {},
  { name: 1 },
  Symbol("s"),
  () => {},
];
/** Those that take a name, a text or an object; each is called with one wrong value for every place. */
const PLACES: Readonly<Record<string, number>> = {
  save: 1,
  list: 1,
  show: 1,
  text: 1,
  edit: 3,
  put: 3,
  forget: 2,
  rename: 2,
  merge: 3,
  prune: 1,
  history: 1,
  undo: 1,
  search: 1,
  recall: 1,
  prefetch: 1,
  verify: 1,
  adopt: 1,
  context: 1,
};

async function open(): Promise<Library> {
  const world = makeWorld();
  const memdir = await openMemdir({ cwd: world.project, env: world.env });
  await memdir.save(PNPM);
  await memdir.save({ ...PNPM, name: "other" });
  return memdir;
}

/** What it ended with that is not a `MemdirError`; null for an answer. */
async function rawError(work: () => unknown): Promise<unknown> {
  try {
    await work();
    return null;
  } catch (error) {
    return error instanceof MemdirError && error.message.length > 10 ? null : error;
  }
}

describe("wrong input", () => {
  it.each(Object.entries(PLACES))("%s", async (method, places) => {
    const memdir = await open();
    const call = (memdir as unknown as Record<string, (...given: unknown[]) => unknown>)[method] as () => unknown;
    const right = ["use pnpm", "base", "text"];
    for (const wrong of WRONG) {
      for (let place = 0; place < places; place++) {
        const given = right.slice(0, places).map((value, i) => (i === place ? wrong : value));
        const label =
          typeof wrong === "symbol" ? "symbol" : typeof wrong === "function" ? "function" : JSON.stringify(wrong);
        expect([label, place, await rawError(() => call(...(given as [])))]).toEqual([label, place, null]);
      }
    }
  });

  it.each([
    [null],
    [3],
    [{ cwd: 3 }],
    [{ cwd: "" }],
    [{ scope: 3 }],
    [{ memoryDir: 3 }],
    [{ embed: "x" }],
    [{ cwd: "/no/such/folder" }],
  ])("openMemdir %j", async (options) => {
    const error = await openMemdir(options as never).catch((error: unknown) => error);
    expect(error).toBeInstanceOf(MemdirError);
  });

  it("tools check what a model sends", async () => {
    for (const { name, run } of await (await open()).tools()) {
      for (const wrong of WRONG) {
        expect([name, await rawError(() => run(wrong))]).toEqual([name, null]);
        expect([name, await rawError(() => run({ name: wrong, prompt: wrong, id: wrong, scope: wrong }))]).toEqual([
          name,
          null,
        ]);
      }
    }
  });
});

it("openMemdir without arguments opens the memory of the process's directory", async () => {
  const memdir = await openMemdir();
  expect(memdir.location.project.cwd).toBe(process.cwd());
});
