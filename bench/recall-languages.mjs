// Prompts in Chinese and Japanese on memories in the same language: a set of our own, test/fixtures/recall-languages.json.
import fs from "node:fs";
import path from "node:path";
import { mean, openStore, percent, recallAt, writeStore } from "./recall-store.mjs";

export async function measureLanguages(world) {
  const file = path.resolve(import.meta.dirname, "../test/fixtures/recall-languages.json");
  const rows = ["| language | memories | prompts | R@5 | R@1 |", "| --- | ---: | ---: | ---: | ---: |"];
  for (const { language, memories, prompts } of JSON.parse(fs.readFileSync(file, "utf8"))) {
    const memdir = await openStore(world, writeStore(world.root, memories));
    const found = [];
    for (const { prompt, relevant } of prompts) {
      const { memories: order } = await memdir.recall(prompt, { limit: 5, model: false, everything: true });
      const files = order.map(({ file: name }) => name);
      found.push([recallAt(5, files, relevant), recallAt(1, files, relevant)]);
    }
    const share = (at) => percent(mean(found.map((pair) => pair[at])));
    rows.push(`| ${language} | ${memories.length} | ${prompts.length} | ${share(0)} | ${share(1)} |`);
  }
  return rows;
}
