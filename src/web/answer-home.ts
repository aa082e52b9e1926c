/** Home: what waits for a person, what changed since they were here, what a model will be given; and how healthy the memories are. */

import { basename } from "node:path";
import { startOfDay } from "../learn/ledger.ts";
import { approximateTokens } from "../model/cost.ts";
import { readSurfaceLog } from "../recall/surface-log.ts";
import { openListing } from "../store/store.ts";
import { localDay } from "../text/local-day.ts";
import { adviceFor, wholePoints } from "../truth/health.ts";
import { HEALTH_KINDS } from "../truth/health-findings.ts";
import { ledger } from "../verbs/ledger.ts";
import { capitalise, contextOf, get, type KnownRow, mainOf, type Page, TIME, titleOf } from "./answer.ts";
import { daysUntil, readEvents } from "./answer-activity.ts";
import { answerMemories } from "./answer-memories.ts";
import { readContext } from "./answer-recall.ts";
import { readHealth } from "./health.ts";
import { readQueue } from "./review-queue.ts";
import { keyOf } from "./shapes.ts";

export const HOME_ROUTES = [
  get("/api/home", { since: TIME }, viewHome),
  get("/api/waiting", {}, viewWaiting),
  get("/api/health", {}, viewHealth),
];

export async function viewWaiting(page: Page) {
  const { counts } = await readQueue(page);
  // A memory without cues is no task: most stores have many, and a model writes them on the side.
  const { cues: _, ...tasks } = counts;
  return { review: Object.values(tasks).reduce((sum, count) => sum + count, 0), counts };
}

/** `since`: when the person was here last. */
export async function viewHome(page: Page, { since }: { since?: string | undefined }, signal: AbortSignal) {
  const { rows } = await answerMemories(page);
  return {
    total: rows.length,
    scopes: new Set(rows.map(({ scope }) => scope)).size,
    changed: await viewChanged(page, since),
    given: await viewGiven(page, rows, signal),
    cost: await viewCost(page, signal),
  };
}

/** As many as a person reads at a glance. */
const MAX_EVENTS = 8;
/** A person who was never here sees what happened lately. */
const FIRST_DAYS = 7;

/** What happened since the person was here, or in the last week; recalls are counted. */
async function viewChanged(page: Page, since: string | undefined) {
  const fromMs = since === undefined ? page.now().getTime() - FIRST_DAYS * 86_400_000 : Date.parse(since);
  const events = (await readEvents(page)).sort((a, b) => b.ms - a.ms);
  const recalls = events.filter(({ ms, event }) => event.kind === "recall" && ms >= fromMs);
  const others = events.filter(({ event }) => event.kind !== "recall");
  const count = others.filter(({ ms }) => ms >= fromMs).length;
  return {
    since: new Date(fromMs).toISOString(),
    // Where nothing changed, what changed last says more than nothing.
    events: others.slice(0, count === 0 ? MAX_EVENTS / 2 : Math.min(count, MAX_EVENTS)).map(({ event }) => event),
    count,
    recalls: recalls.length,
    sessions: new Set(recalls.flatMap(({ event }) => event.session ?? [])).size,
  };
}

const MAX_MOST = 5;

/** What fills a model's context at the start, in the order in which it is sent, of one kind the largest first; and what recall adds most often. */
async function viewGiven(page: Page, rows: readonly KnownRow[], signal: AbortSignal) {
  const { memdir } = page;
  const { instructions, memory } = await readContext(page, [], signal);
  const section = await memdir.prompt({ withIndex: false, makeDirectory: false });
  const sources = ["managed", "user", "project", "local"] as const;
  const files = sources.flatMap((source) =>
    instructions
      .filter((file) => file.source === source)
      .sort((a, b) => b.size - a.size)
      .map(({ path, content }) => measure(`${basename(path)} (${source})`, content)),
  );
  const index = memory.index ?? "";
  const parts = [measure("memory section", section), ...files, measure("memory index", index)];
  const isListed = openListing(index);
  const most = rows.filter(({ recalled }) => recalled > 0).sort((a, b) => b.recalled - a.recalled);
  const { limits } = mainOf(memdir);
  return {
    context: parts.filter(({ bytes }) => bytes > 0),
    index: {
      ...{ lines: index === "" ? 0 : index.trimEnd().split("\n").length, maxLines: limits.maxLines },
      /** How many memories it names. */
      listed: rows.filter((row) => row.directory === 0 && isListed(row)).length,
      isCut: memory.truncated,
    },
    most: most.slice(0, MAX_MOST).map((row) => ({ ...titleOf(row), count: row.recalled })),
    /** Since when recalls are logged. */
    since: readSurfaceLog(mainOf(memdir).path)[0]?.at ?? null,
  };
}

function measure(part: string, text: string) {
  return { part, bytes: Buffer.byteLength(text), tokens: approximateTokens(text) };
}

/** As many as a person reads next to the advice. */
const MAX_NAMED = 6;

/** `score` is null before the first measurement, and `isComplete` false while there is one. */
export async function viewHealth(page: Page) {
  const { last, isComplete } = await readHealth(page);
  if (last === null) return { score: null, memories: 0, parts: [], isComplete };
  const { byKey } = await answerMemories(page);
  const points = wholePoints(last);
  const parts = HEALTH_KINDS.flatMap((kind) => {
    const these = last.findings.filter((finding) => finding.kind === kind);
    // A memory may have one problem several times.
    const keys = [...new Set(these.map(keyOf))];
    if (keys.length === 0) return [];
    const memories = keys.flatMap((key) => byKey.get(key) ?? []);
    const { text } = adviceFor(kind, keys.length, these[0]?.file ?? "");
    return [
      {
        ...{ kind, count: keys.length, points: points[kind] ?? 0, says: capitalise(text) },
        memories: memories.slice(0, MAX_NAMED).map(titleOf),
      },
    ];
  });
  return { score: last.score, memories: last.memories, parts: parts.sort((a, b) => b.points - a.points), isComplete };
}

/** Of background work in this month, as the ledger counts it. */
async function viewCost(page: Page, signal: AbortSignal) {
  const now = page.now();
  const { entries } = await ledger.run(page.memdir, { days: now.getDate() }, contextOf(page, signal));
  const calls = entries
    .filter(({ skipped }) => skipped === null)
    .map((entry) => ({ ...entry, day: localDay(new Date(entry.at)) }));
  const sum = (some: typeof calls) => ({
    cost: some.reduce((total, { cost }) => total + (cost ?? 0), 0),
    /** Also of models without a price. */
    tokens: some.reduce((total, { tokens }) => total + tokens, 0),
  });
  const kinds = [...new Set(calls.map(({ kind }) => kind))];
  const days = daysUntil(startOfDay(now, 1 - now.getDate()), now);
  return {
    month: localDay(now).slice(0, 7),
    ...sum(calls),
    byDay: days.map((day) => ({ day, ...sum(calls.filter((call) => call.day === day)) })),
    byKind: kinds.map((kind) => ({ kind, ...sum(calls.filter((call) => call.kind === kind)) })),
    /** Models without a known price, which are not included in the costs. */
    unpriced: [...new Set(calls.flatMap(({ cost, model }) => (cost === null ? [model] : [])))],
  };
}
