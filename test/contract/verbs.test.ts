/** Every verb of the table keeps the contract. */

import { expect, it } from "vitest";
import { VERBS } from "../../src/table/table.ts";
import { note, type World } from "../world.ts";
import { type Sample, testVerb } from "./test-verb.ts";

const tea = async (world: World) => {
  await (await world.open()).save(note("tea", { body: "The user drinks green tea." }));
};

const SAMPLES: Readonly<Record<string, Sample>> = {
  save: { input: { text: "Use pnpm, never npm: the lockfile is pnpm's." } },
  list: { input: { type: "user" }, given: tea },
  show: { input: { name: "tea" }, given: tea },
  search: { input: { words: "green tea" }, given: tea },
  recall: { input: { prompt: "what does the user drink, tea?" }, given: tea },
  // Without a terminal there is no editor.
  edit: { input: { name: "tea" }, given: tea, fails: true },
  forget: { input: { name: "tea", reason: "gone cold" }, given: tea },
  rename: { input: { name: "tea", to: "green tea" }, given: tea },
  undo: { input: {}, given: tea },
  history: { input: { name: "tea" }, given: tea },
  check: { input: {}, given: tea },
  doctor: { input: {}, given: tea },
  lint: { input: {}, given: tea },
  verify: { input: { name: "tea", "no-stamp": true }, given: tea },
  health: { input: { all: true }, given: tea },
  prune: { input: { "older-than": 1, type: "user" }, given: tea },
  index: { input: { rebuild: true }, given: tea },
  why: { input: { name: "tea" }, given: tea },
  context: { input: {}, given: tea },
  prompt: { input: { section: "saving" } },
  adopt: { input: { from: "nowhere" }, fails: true },
  trust: { input: {}, fails: true },
};

it("has a sample for every verb", () => {
  expect(Object.keys(SAMPLES).sort()).toEqual(VERBS.map(({ name }) => name).sort());
});

for (const row of VERBS) testVerb(row, SAMPLES[row.name] ?? { input: {} });
