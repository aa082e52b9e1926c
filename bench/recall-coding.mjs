// Sets of prompts with the memories that should be shown: invented teams (prompts by kind: paraphrase, overlap, misleading, language, none), and real stores.
import fs from "node:fs";
import path from "node:path";
import { mean, openStore, percent, recallAt, writeStore } from "./recall-store.mjs";

/** As src/recall/confidence.ts has them. */
const [SHARE_OF_BEST, SHARE_WITHOUT_CUES] = [0.7, 0.85];
const THRESHOLDS = [0.05, 0.1, 0.15, 0.17, 0.2, 0.25, 0.3, 0.4, 0.5];

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

/** For every prompt the first five of the order, and what a host would be shown, with meaning and by words only. */
export async function measureCoding(world, { memories, queries }, cues) {
  const dir = writeStore(
    world.root,
    memories.map(({ filename, ...memory }) => ({
      file: filename,
      ...memory,
      when: cues?.[filename] ?? memory.cues ?? [],
    })),
  );
  return measureStore(world, dir, queries);
}

export async function measureStore(world, dir, queries) {
  const paths = [];
  for (const [name, options] of [
    ["full", {}],
    ["words only", { embed: null }],
  ]) {
    const memdir = await openStore(world, dir, options);
    const answers = [];
    for (const query of queries) {
      const ask = { limit: 5, model: false };
      const { memories: order } = await memdir.recall(query.q, { ...ask, everything: true });
      const { memories: shown } = await memdir.recall(query.q, ask);
      answers.push({ ...query, order, shown: shown.map(({ file }) => file) });
    }
    paths.push({ name, answers });
  }
  return paths;
}

/** R@5 of the order; silent, found, at least one right and precision of what is shown; then R@5 and what is shown by kind. */
export function codingRows(paths) {
  const kinds = [...new Set(paths[0].answers.map(({ kind }) => kind))].filter((kind) => kind !== "none");
  return [
    `| path | R@5 | silent | found | at least one right | precision | per prompt | ${kinds.map((kind) => `${kind}: R@5 · found`).join(" | ")} |`,
    `| --- |${" ---: |".repeat(kinds.length + 6)}`,
    ...paths.map(({ name, answers }) => {
      const all = figuresOf(answers, ({ shown }) => shown);
      const byKind = kinds.map((kind) =>
        figuresOf(
          answers.filter((answer) => answer.kind === kind),
          ({ shown }) => shown,
        ),
      );
      const cells = [all.ranked, all.silent, all.found, all.one].map(percent);
      return `| ${[name, ...cells, all.precision.toFixed(2), all.perPrompt.toFixed(2), ...byKind.map(({ ranked, found }) => `${percent(ranked)} · ${percent(found)}`)].join(" | ")} |`;
    }),
  ];
}

/** What each threshold for the best memory would give: silent · found · precision. By words only the scale is another. */
export function curveRows([full]) {
  const cell = (answers, threshold) => {
    const { silent, found, precision } = figuresOf(answers, ({ order }) => shownAt(order, threshold));
    return `${(100 * silent).toFixed(0)} · ${(100 * found).toFixed(0)} · ${precision.toFixed(2)}`;
  };
  return [
    `| threshold | ${full.name} |`,
    "| ---: | --- |",
    ...THRESHOLDS.map((threshold) => `| ${threshold.toFixed(2)} | ${cell(full.answers, threshold)} |`),
  ];
}

function shownAt(order, threshold) {
  const [best] = order.toSorted((a, b) => b.confidence - a.confidence);
  const share = best?.when.length > 0 ? SHARE_OF_BEST : SHARE_WITHOUT_CUES;
  const least = Math.max(threshold, (best?.confidence ?? 0) * share);
  return order.filter(({ confidence }) => confidence >= least).map(({ file }) => file);
}

function figuresOf(answers, shownOf) {
  const asked = answers.filter(({ relevant }) => relevant.length > 0);
  const none = answers.filter(({ relevant }) => relevant.length === 0);
  const right = answers.flatMap((answer) => shownOf(answer).map((file) => Number(answer.relevant.includes(file))));
  const found = asked.map((answer) => recallAt(5, shownOf(answer), answer.relevant));
  return {
    ranked: mean(
      asked.map(({ order, relevant }) =>
        recallAt(
          5,
          order.map(({ file }) => file),
          relevant,
        ),
      ),
    ),
    silent: mean(none.map((answer) => Number(shownOf(answer).length === 0))),
    found: mean(found),
    one: mean(found.map((share) => Number(share > 0))),
    precision: mean(right),
    perPrompt: right.length / Math.max(1, answers.length),
  };
}
