/** Cues in the background: for which stores, how many at a time, and who decides. */

import fs from "node:fs";
import path from "node:path";
import { expect, it } from "vitest";
import type { Ask } from "../src/model/ask.ts";
import { enrichBeside, openLearning } from "../src/open-learn.ts";
import { makeWorld, note, type World } from "./world.ts";

/** Answers with one cue for each note. */
function openModel() {
  const asked: number[] = [];
  const ask: Ask = async ({ messages }) => {
    const count = JSON.stringify(messages).match(/<note number=/g)?.length ?? 0;
    asked.push(count);
    const cues = Object.fromEntries(Array.from({ length: count }, (_, i) => [i + 1, [`situation ${i}`]]));
    const usage = { input: 10, output: 5, cacheRead: 0, cacheWrite: 0 };
    return { ok: true, stop: "end", usage, content: [{ type: "text", text: JSON.stringify(cues) }] };
  };
  return { asked, model: { ask, provider: "p", name: "m", maxTokens: 1_000, takesTools: false } };
}

const setLearn = (world: World, learn: object) => {
  const file = path.join(world.home, ".claude", "memdir.json");
  fs.mkdirSync(path.dirname(file), { recursive: true });
  fs.writeFileSync(file, JSON.stringify({ learn }));
};
const signal = new AbortController().signal;

async function runs(world: World, times: number): Promise<number[]> {
  const { asked, model } = openModel();
  for (let i = 0; i < times; i++) await enrichBeside(await world.open(), model, signal);
  return asked;
}

const cuesIn = async (world: World, scope: string) =>
  (await (await world.open({ scope })).list()).filter(({ when }) => when.length > 0).length;

it("adds them to twenty memories at a time, until all have some; what it cost is in the ledger", async () => {
  const world = makeWorld();
  const memdir = await world.open();
  for (let i = 0; i < 23; i++) await memdir.save(note(`memory ${i}`));
  expect(await runs(world, 3)).toEqual([20, 3]);
  expect((await memdir.list()).every(({ when }) => when.length === 1)).toBe(true);
  const entries = openLearning(memdir).ledger.entries();
  expect(entries.map(({ kind, produced }) => [kind, produced])).toEqual([
    ["enrich", "20 enriched"],
    ["enrich", "3 enriched"],
  ]);
});

it("leaves a store in the repository alone, also where an earlier setting let it write there without asking", async () => {
  const world = makeWorld();
  await (await world.open({ scope: "team" })).save(note("release day", { type: "project", body: "On Tuesdays." }));
  expect(await runs(world, 1)).toEqual([]);
  setLearn(world, { teamMode: "auto" });
  expect(await runs(world, 1)).toEqual([]);
  expect(await cuesIn(world, "team")).toBe(0);
});

it.each([
  ["off", 0, 0],
  ["read-only", 0, 0],
  ["inbox", 1, 1],
] as const)(
  "with the mode %s nothing is written, and what is proposed is proposed once",
  async (mode, asked, waiting) => {
    const world = makeWorld();
    const memdir = await world.open();
    await memdir.save(note("one"));
    setLearn(world, { mode });
    expect(await runs(world, 2)).toHaveLength(asked);
    expect((await memdir.list())[0]?.when).toEqual([]);
    expect(openLearning(memdir).inbox.list()).toHaveLength(waiting);
  },
);

it("stops at the budget, with a line in the ledger", async () => {
  const world = makeWorld();
  const memdir = await world.open();
  await memdir.save(note("one"));
  setLearn(world, { tokensPerDay: 10 });
  expect(await runs(world, 1)).toEqual([1]);
  await memdir.save(note("two"));
  expect(await runs(world, 1)).toEqual([]);
  const [, stopped] = openLearning(memdir).ledger.entries();
  expect(stopped?.skipped).toContain("the daily budget is used up");
});
