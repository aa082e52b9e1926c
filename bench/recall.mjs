// Recall measured on sets of memories and prompts, through the library as a host calls it: real files, real cache, real model of meaning.
// node bench/recall.mjs [--coding FILE]… [--real PROMPTS --mirror FOLDER] [--locomo FILE [--sessions]] [--languages]; the library must be built (npm run bench:recall does both).
// A file of cues (file name -> phrases) beside a coding set, named SET-cues.json, is used for a second run with cues.
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import process from "node:process";
import { pathToFileURL } from "node:url";
import { parseArgs } from "node:util";
import { codingRows, curveRows, measureCoding, readCoding } from "./recall-coding.mjs";
import { measureLanguages } from "./recall-languages.mjs";
import { measureLocomo } from "./recall-locomo.mjs";
import { measureReal } from "./recall-real.mjs";

const { values } = parseArgs({
  options: {
    coding: { type: "string", multiple: true, default: [] },
    real: { type: "string", multiple: true, default: [] },
    mirror: { type: "string", default: "." },
    locomo: { type: "string", multiple: true, default: [] },
    sessions: { type: "boolean", default: false },
    languages: { type: "boolean", default: false },
  },
});
const dist = path.resolve(import.meta.dirname, "../dist");
const { openMemdir } = await import(pathToFileURL(path.join(dist, "index.js")).href);
const root = fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), "memdir-recall-")));
const print = (...lines) => process.stdout.write(`${lines.join("\n")}\n`);

try {
  const world = { root, openMemdir, print };
  for (const file of values.coding) {
    const set = readCoding(file);
    for (const cues of set.cues ? [null, set.cues] : [null]) {
      const measured = await measureCoding(world, set, cues);
      print("", `## ${path.basename(file)}${cues ? ", with cues" : ""}`, "", ...codingRows(measured));
      print("", ...curveRows(measured));
    }
  }
  for (const file of values.real) {
    const { stores, together } = await measureReal(world, file, values.mirror);
    print("", `## ${path.basename(file)}, all stores`, "", ...codingRows(together), "", ...curveRows(together));
    for (const { repo, count, paths } of stores) print("", `### ${repo}, ${count} memories`, "", ...codingRows(paths));
  }
  const kinds = values.sessions ? ["sessions"] : ["sessions", "turns", "notes"];
  for (const file of values.locomo)
    print("", `## ${path.basename(file)}`, "", ...(await measureLocomo(world, file, kinds)));
  const hasSets = values.coding.length + values.real.length + values.locomo.length > 0;
  if (values.languages || !hasSets)
    print("", "## The same language on both sides", "", ...(await measureLanguages(world)));
} finally {
  fs.rmSync(root, { recursive: true, force: true });
}
