/** The overview: how many memories there are, how healthy they are, what they cost and what was recalled. */

import { basename, join } from "node:path";
import { approximateTokens } from "../context/window.ts";
import { statOrNull } from "../disk/fence.ts";
import { costOf, countTokens } from "../learn/ledger.ts";
import type { Memdir } from "../memdir.ts";
import { openLearning } from "../open-learn.ts";
import { readSurfaceLog } from "../recall/surface-log.ts";
import { loadIndex } from "../store/store.ts";
import { sha256 } from "../text/hash.ts";
import { localDay } from "../text/local-day.ts";
import { chooseFirst, scoreHealth } from "../truth/health.ts";
import type { HealthFinding } from "../truth/health-findings.ts";
import { get, mainOf, openTitles, type Page, titleOf } from "./answer.ts";
import { answerMemories } from "./answer-memories.ts";
import { readContext } from "./answer-recall.ts";
import { AGES, type MemoryRow, type Overview, type RotView } from "./api.ts";

export const OVERVIEW_ROUTES = [
  get("/api/overview", {}, async (page): Promise<Overview> => {
    const { rows } = await answerMemories(page);
    return {
      total: rows.length,
      byType: countBy(rows, ({ type }) => type),
      byScope: countBy(rows, ({ scope }) => scope),
      byAge: countAges(rows),
      index: viewIndex(page.memdir),
      context: await viewContext(page.memdir),
      cost: viewCost(page),
      recalled: viewRecalled(page.memdir, rows),
    };
  }),
  /** Apart, as it reads every memory where one has changed. */
  get("/api/rot", {}, async (page) => viewRot(page, (await answerMemories(page)).rows)),
];

function countBy(rows: readonly MemoryRow[], keyOf: (row: MemoryRow) => string): Record<string, number> {
  const counts = new Map<string, number>();
  for (const row of rows) counts.set(keyOf(row), (counts.get(keyOf(row)) ?? 0) + 1);
  return Object.fromEntries(counts);
}

function countAges(rows: readonly MemoryRow[]): Overview["byAge"] {
  return AGES.map(({ label, days }, at) => {
    const from = AGES[at - 1]?.days ?? Number.NEGATIVE_INFINITY;
    return { label, count: rows.filter(({ ageDays }) => ageDays >= from && ageDays < days).length };
  });
}

function viewIndex(memdir: Memdir): Overview["index"] {
  const main = mainOf(memdir);
  const { lines, chars, truncated } = loadIndex({ ...main, readOnly: true }, { generate: true });
  const { maxLines, maxChars } = main.limits;
  return { lines, maxLines, chars, maxChars, isCut: truncated };
}

/** In the order in which it is sent; of one kind the largest first. */
async function viewContext(memdir: Memdir): Promise<Overview["context"]> {
  const { instructions, memory } = await readContext(memdir, []);
  const section = await memdir.prompt({ withIndex: false, makeDirectory: false });
  const sources = ["managed", "user", "project", "local"] as const;
  const files = sources.flatMap((source) =>
    instructions
      .filter((file) => file.source === source)
      .sort((a, b) => b.size - a.size)
      .map(({ path, content }) => measure(`${basename(path)} (${source})`, content)),
  );
  return [measure("memory section", section), ...files, measure("memory index", memory.index ?? "")].filter(
    ({ bytes }) => bytes > 0,
  );
}

function measure(part: string, text: string): Overview["context"][0] {
  return { part, bytes: Buffer.byteLength(text), tokens: approximateTokens(text) };
}

/** As many as a person reads next to the advice. */
const MAX_NAMED = 20;

/** Measured again only when a memory, a verdict, an instruction file or the day has changed. */
async function viewRot({ memdir, now, kept }: Page, rows: readonly MemoryRow[]): Promise<RotView> {
  const told = await (await memdir.instructions()).load();
  const of = sha256(
    JSON.stringify([
      localDay(now()),
      told.map(({ path, content }) => [path, content]),
      rows.map(({ directory, file, bytes, modified, verdict, recalled }) => [
        ...[directory, file, bytes, modified, verdict?.state, recalled > 0],
        statOrNull(join(memdir.directories[directory]?.path ?? "", file))?.mtimeMs,
      ]),
      loadIndex({ ...mainOf(memdir), readOnly: true }, { generate: true }).index,
    ]),
  );
  if (kept.rot?.of !== of) kept.rot = { of, rot: await measureAll(memdir) };
  return kept.rot.rot;
}

/** All directories that can be changed, taken as one. */
async function measureAll(memdir: Memdir): Promise<RotView> {
  const findings: (HealthFinding & { directory: number })[] = [];
  let memories = 0;
  for (const [at, directory] of memdir.directories.entries()) {
    if (directory.readOnly && at > 0) continue;
    const { health } = await memdir.measure(directory);
    memories += health.memories;
    findings.push(...health.findings.map((finding) => ({ ...finding, directory: at })));
  }
  const find = openTitles(memdir);
  const apart = findings.map((finding) => ({ ...finding, file: `${finding.directory}/${finding.file}` }));
  return {
    score: scoreHealth(apart, memories),
    first: chooseFirst(findings).map(({ kind, count, text, command }) => ({
      title: text,
      todo: command,
      count,
      memories: findings
        .filter((finding) => finding.kind === kind)
        .slice(0, MAX_NAMED)
        .map(({ directory, file }) => find(directory, file)),
    })),
  };
}

function viewCost({ memdir, now: clock }: Page): Overview["cost"] {
  const now = clock();
  const first = new Date(now.getFullYear(), now.getMonth(), 1);
  const spent = openLearning(memdir).ledger.entries({ since: first });
  const calls = spent.flatMap(({ at, kind, model, usage, skipped }) => {
    const cost = costOf(model, usage, memdir.config.learn.prices);
    return skipped === null ? [{ day: localDay(new Date(at)), kind, model, tokens: countTokens(usage), cost }] : [];
  });
  const sum = (some: typeof calls) => ({
    cost: some.reduce((total, { cost }) => total + (cost ?? 0), 0),
    tokens: some.reduce((total, { tokens }) => total + tokens, 0),
  });
  const kinds = [...new Set(calls.map(({ kind }) => kind))];
  const ofKind = kinds.map((kind) => ({ kind, ...sum(calls.filter((call) => call.kind === kind)) }));
  return {
    month: localDay(now).slice(0, 7),
    total: sum(calls).cost,
    byDay: daysUntil(first, now).map((day) => ({ day, ...sum(calls.filter((call) => call.day === day)) })),
    byKind: Object.fromEntries(ofKind.map(({ kind, cost }) => [kind, cost])),
    tokensByKind: Object.fromEntries(ofKind.map(({ kind, tokens }) => [kind, tokens])),
    unpriced: [...new Set(calls.flatMap(({ cost, model }) => (cost === null ? [model] : [])))],
  };
}

/** Every calendar day from the first to the last. */
export function daysUntil(first: Date, last: Date): string[] {
  const days: string[] = [];
  for (let at = 0; ; at++) {
    const day = new Date(first.getFullYear(), first.getMonth(), first.getDate() + at);
    if (day.getTime() > last.getTime()) return days;
    days.push(localDay(day));
  }
}

const MAX_MOST = 10;

function viewRecalled(memdir: Memdir, rows: readonly MemoryRow[]): Overview["recalled"] {
  const [first] = readSurfaceLog(mainOf(memdir).path);
  const never = rows.filter(({ recalled }) => recalled === 0);
  const most = rows.filter(({ recalled }) => recalled > 0).sort((a, b) => b.recalled - a.recalled);
  return {
    most: most.slice(0, MAX_MOST).map((row) => ({ ...titleOf(row), count: row.recalled })),
    never: never.slice(0, MAX_NAMED).map(titleOf),
    neverCount: never.length,
    since: first?.at ?? null,
  };
}
