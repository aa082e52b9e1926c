/** A program's own embedder, which may be remote; and what recall says when it went by words. */

import { expect, it } from "vitest";
import { openMemdir } from "../../src/index.ts";
import { makeWorld } from "../world.ts";
import { PNPM } from "./memories.ts";

const WORDS = ["pnpm", "package", "coffee", "weather"];

/** Each of the words is a direction, as in a model that knows nothing else. */
function vectorOf(text: string): Float32Array {
  const vector = new Float32Array(384);
  WORDS.forEach((word, i) => {
    vector[i] = text.toLowerCase().includes(word) ? 1 : 0.01;
  });
  const length = Math.hypot(...vector);
  return vector.map((value) => value / length);
}

async function open(embed: ((text: string) => Promise<Float32Array>) | undefined, env = {}) {
  const world = makeWorld({ env });
  const memdir = await openMemdir({ cwd: world.project, env: world.env, embed });
  await memdir.save(PNPM);
  return { world, memdir };
}

it("an embedder may answer later", async () => {
  const asked: string[] = [];
  const { memdir } = await open(async (text) => {
    await new Promise((done) => setTimeout(done, 1));
    asked.push(text);
    return vectorOf(text);
  });
  expect(await memdir.warm()).toMatchObject({ memories: 1, embedded: 1, left: 0 });
  const { method, warnings, memories } = await memdir.recall("which package manager, pnpm?");
  expect([method, warnings, memories.length]).toEqual(["hybrid", [], 1]);
  expect(asked).toContain("which package manager, pnpm?");
});

it.each([
  [async () => Promise.reject(new Error("429 from the embedder")), "429 from the embedder"],
  [async () => new Float32Array(1536), "must give a Float32Array of 384 numbers"],
])("an embedder that fails is a warning, and words do", async (embed, problem) => {
  const { memdir } = await open(embed);
  const { method, warnings, memories } = await memdir.recall("do we use pnpm or npm to install a package?");
  expect([method, memories.length]).toEqual(["lexical", 1]);
  expect(warnings.join()).toMatch(/recall went by words only/);
  expect(warnings.join()).toContain(problem);
});

it("words are no surprise where the program asked for them", async () => {
  const { memdir } = await open(undefined, { MEMDIR_MEANING: "0" });
  expect((await memdir.recall("pnpm or npm?")).warnings).toEqual([]);
});
