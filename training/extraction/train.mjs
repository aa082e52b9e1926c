#!/usr/bin/env node
// Trains the classifier of the offline extractor: train.mjs [--cv]. Writes src/learn/said-weights.ts; takes a few minutes.
// --cv: instead, cross-validates by conversation in four parts and prints precision and recall of sentences.
import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import path from "node:path";
import process from "node:process";
import { loadSource } from "../bundle.mjs";
import { CLASSES } from "./data.mjs";
import { learnNetwork, predict } from "./fit.mjs";
import { makeSamples } from "./samples.mjs";

const root = path.join(import.meta.dirname, "../..");
/** Labelled conversations that are learnt from; the others (dev, blind, eighth) are for looking only. */
const SETS = ["own", "second", "third", "fourth", "fifth", "sixth", "seventh"];
/** From here on a sentence is kept, and from there on shown in the inbox; chosen for precision on what is not learnt from. */
const [SURE, UNSURE] = [0.98, 0.6];
const MODEL = { classes: CLASSES.length, hidden: 16, epochs: 16 };
/** Several networks agree better than one: their average is one network with all of their hidden units. */
const SEEDS = [1, 2];

const kit = await loadSource(path.join(import.meta.dirname, "features.ts"));
const samples = makeSamples(
  kit,
  SETS.map((name) => path.join(root, `test/learn/data/extraction-${name}.json`)),
);
const kept = samples.filter(({ label }) => label > 0).length;
process.stdout.write(`${kept} sentences worth keeping, ${samples.length - kept} not\n`);

if (process.argv.includes("--cv")) crossValidate();
else write(SEEDS.map((seed) => learnNetwork(samples, { ...MODEL, seed })));

function crossValidate() {
  const judged = [];
  for (let part = 0; part < 4; part++) {
    const isHeld = ({ group }) => hashOf(group) % 4 === part;
    const models = [
      learnNetwork(
        samples.filter((sample) => !isHeld(sample)),
        MODEL,
      ),
    ];
    judged.push(...samples.filter(isHeld).map((sample) => ({ sample, scores: average(models, sample) })));
  }
  const report = (name, list) => {
    const wanted = list.filter(({ sample }) => sample.label > 0).length;
    const at = [0.5, UNSURE, 0.8, 0.95, SURE].map((threshold) => {
      const over = list.filter(({ scores }) => 1 - scores[0] >= threshold);
      const right = over.filter(({ sample }) => sample.label > 0).length;
      return `${threshold}: ${(right / over.length).toFixed(2)} / ${(right / wanted).toFixed(2)}`;
    });
    process.stdout.write(
      `${name.padEnd(10)} ${String(wanted).padStart(5)} of ${String(list.length).padStart(5)}  ${at.join("  ")}\n`,
    );
  };
  process.stdout.write("precision / recall by threshold\n");
  report("all", judged);
  for (const key of ["language", "source"])
    for (const value of new Set(samples.map((sample) => sample[key])))
      report(
        value,
        judged.filter(({ sample }) => sample[key] === value),
      );
}

function average(models, sample) {
  const all = models.map((model) => predict(model, sample));
  return all[0].map((_, c) => all.reduce((sum, scores) => sum + scores[c], 0) / all.length);
}

function hashOf(text) {
  let hash = 7;
  for (const letter of text) hash = (hash * 31 + letter.charCodeAt(0)) >>> 0;
  return hash;
}

/** The networks side by side: hidden units of all, each of the outer weights divided by their number. */
function write(models) {
  const inner = models.flatMap((model) => model.inner);
  const outer = CLASSES.map((_, c) => {
    const rows = models.map((model) => model.outer[c]);
    const added = rows.reduce((sum, row) => sum + row.at(-1), 0) / rows.length;
    return Float32Array.from([...rows.flatMap((row) => [...row.slice(0, -1)].map((x) => x / rows.length)), added]);
  });
  const file = path.join(root, "src/learn/said-weights.ts");
  const text = `/** The weights of said-classifier.ts; written by training/extraction/train.mjs. */

export const CLASSIFIER = {
  sure: ${SURE},
  unsure: ${UNSURE},
  hidden: ${pack(inner)},
  out: ${pack(outer)},
};
`;
  writeFileSync(file, text);
  execFileSync(path.join(root, "node_modules/.bin/biome"), ["format", "--write", file], { cwd: root });
  process.stdout.write(`${path.relative(root, file)}: ${Math.round(text.length / 1024)} KB\n`);
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
