/** Wrong input from programs without types, and from models: a `MemdirError` that says what to do, never a raw TypeError. */

import fs from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { openAiMemory } from "../../src/ai.ts";
import { openAnthropicMemory } from "../../src/anthropic.ts";
import * as api from "../../src/index.ts";
import { type Library, MemdirError, openMemdir } from "../../src/index.ts";
import { openMemoryTool } from "../../src/memory-tool/memory-tool.ts";
import { errorOf, makeWorld } from "../world.ts";
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
  warm: 1,
  prompt: 1,
  instructions: 1,
  measure: 2,
  propose: 2,
  permit: 1,
  approveImports: 1,
  settle: 1,
  trust: 1,
  tools: 1,
};

/** Fields of options, with the arguments before them. */
const OPTIONS: Readonly<Record<string, readonly [before: readonly unknown[], ...fields: string[]]>> = {
  list: [[], "scope", "since", "until", "by", "cue"],
  recall: [["pnpm?"], "limit", "maxBytes", "exclude", "session", "signal", "tools", "messages", "timeoutMs"],
  prefetch: [["pnpm?"], "session", "signal", "exclude"],
  warm: [[], "signal", "onProgress", "budgetMs"],
  prompt: [[], "section"],
  prune: [[], "files", "type", "olderThanDays"],
  forget: [["nothing"], "reason"],
  verify: [["use pnpm"], "signal", "onProgress"],
  context: [[["a.ts"]], "addDirs"],
  tools: [[], "only"],
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

  it.each(Object.entries(OPTIONS))("options of %s", async (method, [before, ...fields]) => {
    const memdir = await open();
    const call = (memdir as unknown as Record<string, (...given: unknown[]) => unknown>)[method] as (
      ...given: unknown[]
    ) => unknown;
    for (const wrong of WRONG) {
      expect([wrong, await rawError(() => call(...before, wrong))]).toEqual([wrong, null]);
      for (const field of fields) {
        const error = await rawError(() => call(...before, { [field]: wrong }));
        expect([field, wrong, error]).toEqual([field, wrong, null]);
      }
    }
  });

  it("what is merged or proposed", async () => {
    const memdir = await open();
    const requests = [...WRONG, { text: "x" }, { text: "x", base: {} }, { text: "x", base: "y" }];
    for (const wrong of requests) {
      const merge = () => memdir.merge("use pnpm", "other", wrong as never);
      const propose = () => memdir.propose(memdir.directories[0] as never, wrong as never);
      expect([wrong, await rawError(merge), await rawError(propose)]).toEqual([wrong, null, null]);
    }
  });

  it("recall answers with a warning, and rejects for nothing", async () => {
    const memdir = await open();
    for (const wrong of [null, { session: 3 }, { signal: "now" }, { exclude: [3] }])
      expect(await memdir.recall("pnpm?", wrong as never)).toMatchObject({
        ...{ memories: [], considered: 2 },
        warnings: [expect.stringMatching(/^recall failed: recall: /)],
      });
  });

  it("verbs", async () => {
    const { verbs } = await open();
    for (const [name, verb] of Object.entries(verbs) as [string, (...given: unknown[]) => unknown][]) {
      if (name === "verify" || name === "lint") continue; // slow, and bound as the others are
      for (const wrong of WRONG)
        for (const given of [[wrong], [{}, wrong], [{}, { signal: wrong }], [{}, { onProgress: wrong }]])
          expect([name, given, await rawError(() => verb(...given))]).toEqual([name, given, null]);
    }
  });

  it("functions and entries", async () => {
    const memdir = await open();
    const { MemdirError: _, openMemdir: __, ...functions } = api;
    const named = Object.entries({ ...functions, openMemoryTool, openAiMemory, openAnthropicMemory });
    for (const [name, each] of named) {
      const call = each as (...given: unknown[]) => unknown;
      if (typeof each !== "function") continue;
      for (const wrong of WRONG) {
        expect([name, wrong, await rawError(() => call(wrong))]).toEqual([name, wrong, null]);
        if (/Memory|MemoryTool/.test(name) && name.startsWith("open"))
          expect([name, wrong, await rawError(() => call(memdir, wrong))]).toEqual([name, wrong, null]);
      }
    }
  });

  it("commands of the memory tool", async () => {
    const handlers = Object.entries(openMemoryTool(await open())) as [string, (given: unknown) => unknown][];
    for (const [name, handle] of handlers)
      for (const wrong of WRONG) {
        const all = { path: wrong, old_path: wrong, new_path: wrong, file_text: wrong, insert_line: wrong };
        for (const given of [wrong, all, { path: "/memories/a.md", old_str: wrong, insert_text: wrong }])
          expect([name, wrong, await rawError(() => handle(given))]).toEqual([name, wrong, null]);
      }
  });

  it.each([
    [null],
    [3],
    [{ settingSources: 3 }],
    [{ now: () => {} }],
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

it("an option and a type that do not exist are refused, not passed over", async () => {
  const world = makeWorld();
  const options = { cwd: world.project, env: world.env };
  await expect(openMemdir({ ...options, bogus: 1 } as typeof options)).rejects.toThrow(/there is no option "bogus" \(/);
  const memdir = await openMemdir(options);
  await expect(memdir.list({ type: "x" as "user" })).rejects.toThrow('"x" is not a type: use one of user, feedback');
});

it("what decides about a project takes what it names, and nothing is written for anything else", async () => {
  const world = makeWorld();
  const memdir = await openMemdir({ cwd: world.project, env: world.env });
  const written = () => fs.readdirSync(path.join(world.home, ".claude"));
  const call = (work: (...given: unknown[]) => unknown, ...given: unknown[]) => errorOf((async () => work(...given))());
  for (const wrong of [undefined, null, 5, "", " "])
    expect((await call(memdir.permit as never, wrong)).message).toBe("permit: kind must be a text that is not empty");
  expect((await call(memdir.settle as never, "all")).message).toMatch(/^settle: way must be "separate", "share" or/);
  for (const name of ["lint", "doctor", "approveImports"] as const)
    expect((await call(memdir[name], 5)).message).toBe(`${name}: it takes no argument`);
  expect(written()).toEqual([]);
  memdir.permit("Read");
  expect((await openMemdir({ cwd: world.project, env: world.env })).permitted).toEqual(["Read"]);
});

it("a verb's input that must be given is missed; a limit below 0 is named", async () => {
  const memdir = await open();
  expect((await errorOf(memdir.verbs.recall())).message).toBe('"prompt" is missing');
  expect((await memdir.recall("pnpm", { limit: -1 })).warnings[0]).toMatch(/`limit` must be a number from 0/);
});

it("functions name themselves in what they refuse", () => {
  const { ageInDays, ageInWords, ageName, redactSecrets } = api as unknown as Record<
    string,
    (...given: unknown[]) => unknown
  >;
  for (const [name, work] of Object.entries({ ageInDays, ageInWords, ageName, redactSecrets })) {
    expect(() => work?.()).toThrow(MemdirError);
    expect(() => work?.("x", 5)).toThrow(new RegExp(`^${name}: `));
  }
});

it("a request that is none and a prompt that is none are named", async () => {
  const world = makeWorld();
  const memdir = await openMemdir({ cwd: world.project, env: world.env });
  for (const wrong of [5, "text", null, undefined])
    await expect(memdir.save(wrong as never)).rejects.toMatchObject({ message: "save: request must be an object" });
  for (const wrong of [undefined, 5, {}])
    expect((await memdir.recall(wrong as never)).warnings).toEqual(["recall failed: recall: prompt must be a text"]);
});
