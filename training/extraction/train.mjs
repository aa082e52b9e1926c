#!/usr/bin/env node
// Trains the classifier of the offline extractor: train.mjs [--cv]. Writes src/learn/said-weights.ts; takes a minute or two.
// --cv: instead, measures each labelled set with what was learnt from everything else, as bench/learn.mjs does; with
// --only=de,zh these folds only, so that several processes can share the work.
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
/** Labelled conversations, in the folds in which they are left out together: each was written by another writer or at another time. */
const FOLDS = [
  ["ninth"],
  ["tenth"],
  ["eleventh"],
  ["twelfth"],
  ...["de", "de-b", "de-c", "en-a", "en-b", "en-c", "en-d", "es", "es-b", "zh", "zh-b"].map((writer) => [
    `conversations/${writer}`,
  ]),
  ["turns", "fresh", "languages"],
  ["own", "second", "third"],
  ["fourth", "fifth", "sixth"],
  ["seventh", "eighth", "blind", "dev"],
];
function fileOf(name) {
  if (name.startsWith("conversations/")) return path.join(import.meta.dirname, `${name}.json`);
  return path.join(
    root,
    name === "dev" ? "test/fixtures/extraction-dev.json" : `test/learn/data/extraction-${name}.json`,
  );
}
/**
 * From these scores on a sentence is kept, by the type of memory, and from `UNSURE` on shown in the inbox; chosen for precision on what
 * is not learnt from. Of what is kept as a fact about the project much more is wrong at the same score: requirements of the program.
 */
const SURE = { feedback: 0.65, user: 0.8, project: 0.9, reference: 0.8 };
const UNSURE = 0.3;
/** The same for all types, to compare. */
const CURVE = [0.5, 0.6, 0.7, 0.8, 0.9];
const MODEL = { classes: CLASSES.length, hidden: 12, epochs: 10 };
/** Two networks agree better than one: their average is one network with all of their hidden units. */
const SEEDS = [1, 2];

const kit = await loadSource(path.join(import.meta.dirname, "features.ts"));
const cache = openCache(kit.findEmbed());
const samples = makeSamples(kit, FOLDS.flat().map(fileOf), cache);
const kept = samples.filter(({ label }) => label > 0 && CLASSES[label] !== "withdrawal").length;
process.stdout.write(`${kept} sentences worth keeping, ${samples.length - kept} not\n`);

if (process.argv.includes("--cv")) await crossValidate();
else {
  const file = path.join(root, "src/learn/said-weights.ts");
  writeFileSync(file, learn(samples));
  execFileSync(path.join(root, "node_modules/.bin/biome"), ["format", "--write", file], { cwd: root });
}

/** What is kept of each fold with what was learnt from the others, at several thresholds. */
async function crossValidate() {
  const sums = new Map();
  const add = (key, counts) => {
    const sum = sums.get(key) ?? { right: 0, wrong: 0, found: 0, wanted: 0 };
    for (const name of Object.keys(sum)) sum[name] += counts[name];
    sums.set(key, sum);
  };
  const [, only] = /--only=(.+)/.exec(process.argv.join(" ")) ?? [];
  for (const fold of FOLDS.filter(([name]) => !only || only.split(",").includes(path.basename(name)))) {
    const file = path.join(mkdtempSync(path.join(tmpdir(), "memdir-training-")), "said-weights.ts");
    writeFileSync(file, learn(samples.filter(({ source }) => !fold.some((name) => path.basename(name) === source))));
    const { measure, readLabelled } = await loadSource(path.join(import.meta.dirname, "kit.ts"), {
      "said-weights.ts": file,
    });
    const all = fold.flatMap((name) => readLabelled(fileOf(name)));
    for (const at of ["chosen", ...CURVE]) {
      const isChosen = at === "chosen";
      const sure = isChosen ? SURE : Object.fromEntries(Object.keys(SURE).map((type) => [type, at]));
      const figures = await measure(all, cache.embed, false, sure);
      const { all: total, ...parts } = Object.fromEntries(figures.groups);
      for (const key of ["all", ...(isChosen ? [fold[0]] : [])]) add(`${key} ${at}`, total);
      if (isChosen) for (const [part, counts] of Object.entries(parts)) add(`- ${part}`, counts);
      if (isChosen && process.argv.includes("--errors"))
        process.stdout.write(`${[...figures.wrong, "missed:", ...figures.missed, ...figures.forbidden].join("\n")}\n`);
    }
    add("all inbox", (await measure(all, cache.embed, true)).groups.get("all"));
  }
  cache.save();
  for (const [key, counts] of sums) process.stdout.write(`${key.padEnd(24)} ${format(counts)}\n`);
}

function format({ right, wrong, found, wanted }) {
  return `precision ${(right / (right + wrong)).toFixed(3)}, recall ${(found / wanted).toFixed(3)} (${right} right, ${wrong} wrong, ${wanted} wanted)`;
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
  sure: ${JSON.stringify(SURE)},
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
