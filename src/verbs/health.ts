/** `health`: one score for all memories of a store, what brings it down, and what to do first. */

import type { Memdir } from "../memdir.ts";
import { findTopMemory } from "../project/scopes.ts";
import { INDEX_FILE, indexPath, peekIndex, type Store } from "../store/store.ts";
import { type Measured, wholePoints } from "../truth/health.ts";
import { HEALTH_KINDS, type HealthFinding, type HealthKind } from "../truth/health-findings.ts";
import {
  barOf,
  bold,
  type Context,
  countMemories,
  dim,
  flag,
  good,
  type Line,
  type Span,
  verb,
  warn,
} from "../verb.ts";

const LABELS: Record<HealthKind, string> = {
  secret: "secrets",
  unreadable: "unreadable",
  false: "out of date",
  duplicate: "duplicates",
  expired: "expired",
  "near-duplicate": "near-duplicates",
  restated: "in instructions",
  oversized: "oversized",
  unlinked: "not in the index",
  "dead-link": "dead links",
  "never-recalled": "never recalled",
};

/** From the first on all is well; below the second something is wrong. */
const GOOD = 80;
const POOR = 50;

export const health = verb({
  args: [],
  input: { all: flag("list every finding") },
  about: "Scores each store out of 100, and shows what lowers the score and what to do first.",
  examples: ["health"],
  run: measureAll,
  json: scoreOrNull,
  say: ({ others, top, ...main }, { input, call }) => [
    ...sayScore(main),
    ...(top === null ? [] : [`This repository keeps memories in ${top}: ${call(`health --memory-dir ${top}`)}`]),
    ...[main, ...others].flatMap(({ noIndex }): Line[] => (noIndex === null ? [] : [warn(noIndex)])),
    ...sayCues(main),
    ...sayFirst(main),
    ...(input.all ? sayAll(main) : []),
    ...others.flatMap((other) => ["", ...sayScore(other), ...(input.all ? sayAll(other) : [])]),
  ],
});

/** `cued`: how many memories have cues. `noIndex`: that there is none for them, and what to do; null where all is well. */
export type MeasuredStore = Measured & { cued: number; noIndex: string | null };

/** The headline is that of the scope that holds the most memories; the first one where none holds any. */
export async function measureAll(memdir: Memdir, _: unknown, { progress }: Context) {
  const measured: MeasuredStore[] = [];
  for (const directory of memdir.directories) {
    const { health, memories } = await memdir.measure(directory, progress("reading memories"));
    const cued = memories.filter(({ memory }) => memory.when.length > 0).length;
    measured.push({ ...health, cued, noIndex: memories.length === 0 ? null : sayMissing(directory) });
  }
  const [main, ...others] = measured.sort((a, b) => b.memories - a.memories) as [MeasuredStore, ...MeasuredStore[]];
  // Memories that are there but not in use are of interest where none are.
  const top = main.memories > 0 ? null : findTopMemory(memdir.location.project, memdir.directories);
  return { ...main, others: others.filter(({ memories }) => memories > 0), top };
}

/** As it is said: without memories there is no score. */
export function scoreOrNull<M extends MeasuredStore>(measured: M) {
  return { ...measured, score: measured.memories > 0 ? measured.score : null };
}

function sayMissing(directory: Store): string | null {
  if (directory.readOnly || peekIndex(indexPath(directory)).trim() !== "") return null;
  const rebuild = `memdir index --rebuild${directory.scope === "project" ? "" : ` --scope ${directory.scope}`}`;
  const why = `${INDEX_FILE} is missing or empty, so sessions start without these memories`;
  return `${directory.scope}: ${why}; ${rebuild} writes it`;
}

export function sayScore({ score, memories, scope, dir, counts, points, noIndex }: MeasuredStore): Line[] {
  const words = score >= GOOD ? "in good health" : score >= POOR ? "needs some care" : "needs a lot of care";
  const tone = score >= GOOD ? good : score >= POOR ? bold : warn;
  const kinds = HEALTH_KINDS.filter((kind) => counts[kind] > 0);
  const nothing = memories === 0 ? "There are no memories here yet." : "Nothing to fix.";
  const costs = wholePoints({ score, points });
  const bars = kinds.map((kind): Span[] => {
    const bar = barOf(counts[kind] / Math.max(1, memories));
    const isBad = HEALTH_KINDS.indexOf(kind) <= HEALTH_KINDS.indexOf("false");
    const cost = costs[kind] ? `-${costs[kind]}` : "0";
    // The bar comes last: that is what a narrow terminal cuts.
    return [`  ${LABELS[kind]}`, String(counts[kind]), cost, isBad ? warn(bar) : bar];
  });
  return [
    [
      memories > 0 ? tone(`${score} of 100: ${words}`) : "no score",
      dim(`  ${countMemories(memories)}, ${scope}, ${dir}`),
    ],
    ...(kinds.length > 0 ? [{ rows: bars, right: [1, 2] }] : noIndex === null ? [nothing] : []),
  ];
}

/** The unseen coding set in docs/recall.md: prompts in other words than the memory's, found among the first five. */
const FOUND = { withCues: 74, without: 50 };

function sayCues({ memories, cued }: MeasuredStore): Line[] {
  if (memories === 0) return [];
  const share = `Cues: ${cued} of ${countMemories(memories)} (${Math.floor((100 * cued) / memories)} %).`;
  if (cued === memories) return [share];
  const worth = `A prompt in other words finds its memory ${FOUND.withCues} % of the time with cues, ${FOUND.without} % without`;
  return [`${share} ${worth}: memdir enrich adds them.`];
}

function sayFirst({ first, findings }: Measured): Line[] {
  if (first.length === 0) return [];
  const lines = first.flatMap(({ kind, text, command }, at): Line[] => {
    const example = findings.find((each) => each.kind === kind) as HealthFinding;
    return [`  ${at + 1}. ${text}`, dim(`     ${example.file}: ${example.detail}`), `     ${command}`];
  });
  return ["", bold("What to do first"), ...lines];
}

function sayAll({ findings }: Measured): Line[] {
  const lines = findings.map(({ kind, file, detail }) => `  ${LABELS[kind]}: ${file}: ${detail}`);
  return lines.length > 0 ? ["", bold("Everything"), ...lines] : [];
}
