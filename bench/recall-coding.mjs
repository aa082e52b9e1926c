// Coding sets: memories of one team, prompts by kind (paraphrase, overlap, misleading, language, none).
import fs from "node:fs";
import path from "node:path";
import { mean, openStore, percent, recallAt, writeStore } from "./recall-store.mjs";

export function readCoding(file) {
  const { memories, queries } = JSON.parse(fs.readFileSync(file, "utf8"));
  const cuesFile = file.replace(/\.json$/, "-cues.json");
  const cues = fs.existsSync(cuesFile) ? JSON.parse(fs.readFileSync(cuesFile, "utf8")) : null;
  return {
    name: path.basename(file, ".json"),
    memories,
    cues,
    queries: queries.map(({ q, relevant, kind }) => ({
      q,
      relevant,
      kind: kind ?? (relevant.length > 0 ? "all" : "none"),
    })),
  };
}

/** For every prompt the whole order and what a host would be shown. */
export async function measureCoding(world, set, cues) {
  const memories = set.memories.map(({ filename, ...memory }) => ({
    file: filename,
    ...memory,
    when: cues?.[filename] ?? [],
  }));
  const dir = writeStore(world.root, memories);
  const memdir = await openStore(world, dir);
  const paths = [];
  const full = async (q) => {
    const options = { limit: 5, model: false };
    const { memories: order, method } = await memdir.recall(q, { ...options, everything: true });
    const { memories: shown } = await memdir.recall(q, options);
    return { method, order, shown: shown.map(({ file }) => file) };
  };
  paths.push({ name: "full", answers: await answersOf(set, full) });
  const plain = await openStore(world, dir, { embed: null });
  const byWords = async (q) => {
    const { memories: order } = await plain.recall(q, { limit: 5, model: false, everything: true });
    const { memories: shown } = await plain.recall(q, { limit: 5, model: false });
    return { order, shown: shown.map(({ file }) => file) };
  };
  paths.push({ name: "words only", answers: await answersOf(set, byWords) });
  return paths;
}

async function answersOf(set, ask) {
  const answers = [];
  for (const query of set.queries) answers.push({ ...query, ...(await ask(query.q)) });
  return answers;
}

export function codingRows(paths) {
  const kinds = [...new Set(paths[0].answers.map(({ kind }) => kind))].filter((kind) => kind !== "none");
  return [
    `| path | ${kinds.map((kind) => `${kind} R@5`).join(" | ")} | all R@5 | shown: R@5 | precision | per prompt | none gets nothing |`,
    `| --- |${" ---: |".repeat(kinds.length + 5)}`,
    ...paths.map(({ name, answers }) => {
      const answerable = answers.filter(({ relevant }) => relevant.length > 0);
      const none = answers.filter(({ relevant }) => relevant.length === 0);
      const ranked = (of) => percent(mean(of.map(({ order, relevant }) => recallAt(5, filesOf(order), relevant))));
      const shown = answers.flatMap((answer) => answer.shown.map((file) => answer.relevant.includes(file)));
      return `| ${name} | ${kinds.map((kind) => ranked(answers.filter((a) => a.kind === kind))).join(" | ")} | ${ranked(answerable)} | ${percent(
        mean(answerable.map((a) => recallAt(5, a.shown, a.relevant))),
      )} | ${percent(mean(shown.map(Number)))} | ${(shown.length / answers.length).toFixed(2)} | ${percent(
        mean(none.map((a) => Number(a.shown.length === 0))),
      )} |`;
    }),
  ];
}

/** Every threshold that silences a share of the prompts that need nothing, and what it costs. */
export function curveRows(paths) {
  const rows = ["| path | threshold | none gets nothing | R@5 | precision |", "| --- | ---: | ---: | ---: | ---: |"];
  for (const { name, answers } of paths) {
    const best = ({ order }) => Math.max(-1, ...order.slice(0, 5).map(({ confidence }) => confidence));
    const none = answers.filter(({ relevant }) => relevant.length === 0);
    const answerable = answers.filter(({ relevant }) => relevant.length > 0);
    if (none.length === 0) continue;
    const floors = none.map(best).sort((a, b) => a - b);
    for (const share of [0, 0.2, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9]) {
      const floor = share === 0 ? -1 : floors[Math.ceil(share * floors.length) - 1] + 1e-6;
      const shown = answerable.map((answer) => {
        // As recall/score.ts does it.
        const limit = best(answer) < floor ? Infinity : Math.max(floor * 0.8, best(answer) * 0.65);
        return {
          ...answer,
          files: answer.order
            .slice(0, 5)
            .filter(({ confidence }) => confidence >= limit)
            .map(({ file }) => file),
        };
      });
      const right = shown.flatMap(({ files, relevant }) => files.map((file) => Number(relevant.includes(file))));
      const found = mean(shown.map(({ files, relevant }) => recallAt(5, files, relevant)));
      const silent = mean(none.map((answer) => Number(best(answer) < floor)));
      rows.push(`| ${name} | ${floor.toFixed(2)} | ${percent(silent)} | ${percent(found)} | ${percent(mean(right))} |`);
    }
  }
  return rows;
}

const filesOf = (order) => order.map(({ file }) => file);
