#!/usr/bin/env node
// Learns which lines are records of past work: train.mjs. Writes src/truth/past-work-weights.ts from lines.txt; takes seconds.
import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import process from "node:process";
import { loadSource } from "../bundle.mjs";

const root = path.join(import.meta.dirname, "../..");
/** How much the weights are held back: the best on lines left out in turn; 10 is nearly as good. */
const DECAY = 3;

const { featuresOf, findEmbed } = await loadSource(path.join(import.meta.dirname, "features.ts"));
const embed = findEmbed();
const known = new Map();
const embedOnce = (text) => known.get(text) ?? known.set(text, embed(text)).get(text);
const samples = readFileSync(path.join(import.meta.dirname, "lines.txt"), "utf8")
  .split("\n")
  .flatMap((line) => {
    const [, sign, file = "", headings = "", text = ""] = /^([+-]) (?:<([^>]+)> ?)?(.*?)\| (.*)$/.exec(line) ?? [];
    const over = headings.trim() === "" ? [] : headings.trim().split(" / ");
    const dense = (name) => Float64Array.from([...featuresOf({ text, over }, name, embedOnce), 1]);
    // Once more without the name: many a memory's name says nothing.
    return sign ? [...new Set([file, ""])].map((name) => ({ label: Number(sign === "+"), dense: dense(name) })) : [];
  });
const statements = samples.filter(({ label }) => label === 1).length;
process.stdout.write(`${statements} statements, ${samples.length - statements} records\n`);

const row = learn(samples);
const add = row.pop();
const scale = Math.max(...row.map(Math.abs)) / 127;
const bytes = Buffer.from(Int8Array.from(row, (x) => Math.round(x / scale)).buffer).toString("base64");
const file = path.join(root, "src/truth/past-work-weights.ts");
writeFileSync(
  file,
  `/** The weights of past-work.ts; written by training/records/train.mjs. */\n\nexport const WEIGHTS = ${JSON.stringify({ add: Number(add.toFixed(4)), scale: Number(scale.toPrecision(5)), bytes })};\n`,
);
execFileSync(path.join(root, "node_modules/.bin/biome"), ["format", "--write", file], { cwd: root });

/** Ridge regression on the difference from the mean label. */
function learn(all) {
  const mean = all.reduce((sum, { label }) => sum + label, 0) / all.length;
  const size = all[0].dense.length;
  /** The last column is the right side. */
  const rows = Array.from({ length: size }, (_, i) =>
    Float64Array.from({ length: size + 1 }, (_, j) => (i === j ? DECAY : 0)),
  );
  for (const { dense, label } of all) {
    for (const [i, row] of rows.entries()) {
      for (let j = 0; j < size; j++) row[j] += dense[i] * dense[j];
      row[size] += dense[i] * (label - mean);
    }
  }
  return solve(rows);
}

/** Gaussian elimination; the matrix is symmetric and positive, so no rows are exchanged. */
function solve(rows) {
  const size = rows.length;
  for (const [i, pivot] of rows.entries()) {
    for (let below = i + 1; below < size; below++) {
      const row = rows[below];
      const factor = row[i] / pivot[i];
      for (let j = i; j <= size; j++) row[j] -= factor * pivot[j];
    }
  }
  const found = new Array(size).fill(0);
  for (let i = size - 1; i >= 0; i--) {
    let known = 0;
    for (let j = i + 1; j < size; j++) known += found[j] * rows[i][j];
    found[i] = (rows[i][size] - known) / rows[i][i];
  }
  return found;
}
