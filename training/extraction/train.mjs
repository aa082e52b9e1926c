#!/usr/bin/env node
// Trains the classifier of the offline extractor: train.mjs [--cv]. Writes src/learn/said-weights.ts; takes a minute or two.
// --cv: instead, measures each labelled set with what was learnt from everything else, as bench/learn.mjs does.
import { execFileSync } from "node:child_process";
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import process from "node:process";
import { loadSource } from "../bundle.mjs";
import { CLASSES } from "./data.mjs";
import { learnNetwork, learnWords } from "./fit.mjs";
import { makeSamples, openCache } from "./samples.mjs";

const root = path.join(import.meta.dirname, "../..");
/** Labelled conversations that are learnt from; the others are for looking only. */
const SETS = ["own", "second", "third", "fourth", "fifth", "sixth", "seventh", "ninth"];
const fileOf = (name) => path.join(root, `test/learn/data/extraction-${name}.json`);
/** From here on a sentence is kept, and from there on shown in the inbox; chosen for precision on what is not learnt from. */
const [SURE, UNSURE] = [0.85, 0.4];
const MODEL = { classes: CLASSES.length, hidden: 8, epochs: 10 };
/** Two networks agree better than one: their average is one network with all of their hidden units. */
const SEEDS = [1, 2];

const kit = await loadSource(path.join(import.meta.dirname, "features.ts"));
const cache = openCache(kit.findEmbed());
const samples = makeSamples(kit, SETS.map(fileOf), cache);
const kept = samples.filter(({ label }) => label > 0).length;
process.stdout.write(`${kept} sentences worth keeping, ${samples.length - kept} not\n`);

if (process.argv.includes("--cv")) await crossValidate();
else {
  const file = path.join(root, "src/learn/said-weights.ts");
  writeFileSync(file, learn(samples));
  execFileSync(path.join(root, "node_modules/.bin/biome"), ["format", "--write", file], { cwd: root });
}

async function crossValidate() {
  const sum = { right: 0, wrong: 0, found: 0, wanted: 0 };
  const both = { ...sum };
  for (const name of SETS) {
    const file = path.join(mkdtempSync(path.join(tmpdir(), "memdir-training-")), "said-weights.ts");
    writeFileSync(file, learn(samples.filter(({ source }) => source !== name)));
    const { measure, readLabelled } = await loadSource(path.join(import.meta.dirname, "kit.ts"), {
      "said-weights.ts": file,
    });
    const all = readLabelled(fileOf(name));
    for (const [total, withInbox] of [
      [sum, false],
      [both, true],
    ]) {
      const counts = (await measure(all, cache.embed, withInbox)).groups.get("all");
      for (const key of Object.keys(total)) total[key] += counts[key];
      process.stdout.write(`${name.padEnd(8)} ${format(counts)}${withInbox ? " with the inbox" : ""}\n`);
    }
  }
  cache.save();
  process.stdout.write(`all      ${format(sum)}\nall      ${format(both)} with the inbox\n`);
}

function format({ right, wrong, found, wanted }) {
  return `precision ${(right / (right + wrong)).toFixed(3)}, recall ${(found / wanted).toFixed(3)}`;
}

/** The networks side by side: hidden units of all, each of the outer weights divided by their number. */
function learn(some) {
  const models = SEEDS.map((seed) => learnNetwork(some, { ...MODEL, seed }));
  const inner = models.flatMap((model) => model.inner);
  const outer = CLASSES.map((_, c) => {
    const rows = models.map((model) => model.outer[c]);
    const added = rows.reduce((sum, row) => sum + row.at(-1), 0) / rows.length;
    return Float32Array.from([...rows.flatMap((row) => [...row.slice(0, -1)].map((x) => x / rows.length)), added]);
  });
  const words = learnWords(some, { classes: CLASSES.length, buckets: kit.BUCKETS });
  return `/** The weights of said-classifier.ts; written by training/extraction/train.mjs. */

export const CLASSIFIER = {
  sure: ${SURE},
  unsure: ${UNSURE},
  hidden: ${pack(inner)},
  out: ${pack(outer)},
  words: ${pack(words)},
};
`;
}

function pack(rows) {
  const scales = rows.map((row) => Math.max(...row.map(Math.abs)) / 127);
  const bytes = Buffer.from(rows.flatMap((row, i) => [...row].map((x) => Math.round(x / scales[i]) & 0xff)));
  return `{
    scales: [${scales.map((scale) => Number(scale.toPrecision(4))).join(", ")}],
    bytes:
      "${bytes.toString("base64")}",
  }`;
}
