/** A dream: tidies up memories by a plan that a model makes or, without one, offline rules. */

import { existsSync } from "node:fs";
import { relative, sep } from "node:path";
import { isAlive } from "../disk/atomic.ts";
import { diskError, MemdirError } from "../errors.ts";
import { readLogs } from "../memory/daily-log.ts";
import type { LoopResult } from "../model/agent-loop.ts";
import { NO_USAGE, type Usage } from "../model/ask.ts";
import { buildDreamCorrection, buildDreamRequest, DREAM_SYSTEM, PLAN_SCHEMA, readPlan } from "../prompts/dream.ts";
import { neutraliseTags } from "../recall/neutral.ts";
import { formatManifest } from "../recall/select.ts";
import { findText, isDailyLog, type Store } from "../store/store.ts";
import { editFields } from "../text/frontmatter.ts";
import { localDay } from "../text/local-day.ts";
import { findSecrets, redactSecrets } from "../text/secrets.ts";
import { countAnswers } from "./budget.ts";
import { applyPlan } from "./dream-apply.ts";
import { checkPlan } from "./dream-check.ts";
import { checkDreamGates, type DreamGates, lastDream, type Processes, takeDreamLock } from "./dream-gates.ts";
import { dreamOffline, findDeadLines } from "./dream-offline.ts";
import {
  countOps,
  describeOp,
  makePlan,
  namedFiles,
  type Op,
  type Plan,
  parseOps,
  type Snapshot,
  takeSnapshot,
} from "./dream-plan.ts";
import { countTokens, type Ledger } from "./ledger.ts";
import type { LearningModel } from "./model-extractor.ts";
import { askTwice, openFencedTools, say } from "./side-task.ts";

/** The cost is reported even if there is no plan. */
type Planned = { usage: Usage; turns: number } & ({ plan: Plan } | { problem: string });

export interface DreamOptions extends DreamGates, Processes {
  /** Ignores the gates. */
  force?: boolean;
  signal?: AbortSignal | undefined;
}

export interface DreamReport {
  /** Why nothing was done, or null. */
  skipped: string | null;
  plan: Plan | null;
  /** The journal entry, for undo. */
  entry: string | null;
  /** "2 merged, 1 retired". */
  produced: string;
  usage: Usage;
}

/** Where a dream happens, and where its cost is recorded. */
type Dreaming = { directory: Store; ledger: Pick<Ledger, "spend"> };

/**
 * Gates, lock, plan, check, apply; without a model by rules. Never throws: an error becomes the reason, and the next
 * dream may try again.
 */
export async function dream(
  { directory, ledger }: Dreaming,
  model: LearningModel | null,
  options: DreamOptions,
): Promise<DreamReport> {
  const report: DreamReport = { skipped: null, plan: null, entry: null, produced: "nothing", usage: NO_USAGE };
  try {
    if (!existsSync(directory.path)) throw new Error("there are no memories yet");
    const gate = options.force ? null : checkDreamGates(options, directory);
    if (gate && !gate.open) throw new Error(gate.reason);
    const sinceMs = lastDream(directory);
    await withDreamLock(directory, options, async () => {
      const planned = await planDream(directory, model, { ...options, sinceMs });
      report.usage = planned.usage;
      if ("problem" in planned) throw new Error(planned.problem);
      report.plan = planned.plan;
      const { entry } = await applyPlan(directory, planned.plan);
      Object.assign(report, { entry: entry?.id ?? null, produced: countOps(planned.plan) });
    });
  } catch (error) {
    report.skipped = (error as Error).message;
    directory.log(`dream: ${report.skipped}`);
  }
  noteDream(ledger, model, report.usage, report.produced);
  return report;
}

/** The time of the last dream stays what it was when this throws. */
async function withDreamLock<T>(directory: Store, processes: Processes, work: () => Promise<T>): Promise<T> {
  const lock = await takeDreamLock(directory, processes);
  if ("heldBy" in lock)
    throw new MemdirError(
      "conflict",
      `another dream is running (process ${lock.heldBy ?? "unknown"}); try again when it has finished`,
    );
  let isDone = false;
  try {
    const result = await work();
    isDone = true;
    return result;
  } finally {
    await (isDone ? lock.done() : lock.failed()).catch((error: Error) => directory.log(`dream: ${error.message}`));
  }
}

interface PlanOptions {
  /** When logs were last distilled; taking the lock overwrites it. */
  sinceMs?: number;
  maxTurns?: number;
  signal?: AbortSignal | undefined;
}

/** What would be done; nothing is written. */
export async function planDream(
  directory: Store,
  model: LearningModel | null,
  options: PlanOptions = {},
): Promise<Planned> {
  if (model) return dreamWithModel(directory, model, options);
  return { plan: await dreamOffline(directory), usage: NO_USAGE, turns: 0 };
}

/** One to list, some to read, one to answer. */
const MAX_TURNS = 10;

/** A few tokens per memory: more than 500 are rare. */
const MANIFEST_CHARS = 80_000;

/** About a month of notes. Older ones are left to the model to read. */
const LOG_CHARS = 80_000;

/** All the text that a model without tools is shown; about 25,000 tokens. */
const TEXT_CHARS = 100_000;

/**
 * Must not throw because of the model. If a plan cannot be read or does not pass the check, the model is asked once
 * more. Without tools it is shown the memories instead of reading them, and can change no others.
 */
async function dreamWithModel(
  directory: Store,
  { ask, maxTokens, takesTools = true }: LearningModel,
  { sinceMs = lastDream(directory), maxTurns = MAX_TURNS, signal }: PlanOptions,
): Promise<Planned> {
  const snapshot = takeSnapshot(directory);
  const hints = await dreamOffline(directory);
  const texts = takesTools ? null : await findTexts(directory, hints);
  const judged: { plan: Plan | null; problems: string[] } = { plan: null, problems: [] };
  const result = await askTwice(
    countAnswers(ask),
    {
      system: [{ text: DREAM_SYSTEM, cache: true }],
      messages: [say(await buildRequest(directory, sinceMs, hints, texts))],
      ...(texts === null
        ? { tools: openFencedTools(directory.path, null, ["Read", "Glob", "Grep"]), maxTurns }
        : { tools: [], maxTurns: 1, schema: PLAN_SCHEMA }),
      maxTokens,
      ...(signal && { signal }),
    },
    async (answer) => {
      Object.assign(judged, { plan: null, problems: [] }, await judge(answer, snapshot, directory, texts));
      const problems = judged.problems.map(neutraliseTags);
      return judged.plan ? null : buildDreamCorrection(problems, texts !== null);
    },
  );
  const { usage, turns } = result;
  const failure = failureOf(result);
  if (failure !== null) return { problem: redactSecrets(failure), usage, turns };
  if (judged.plan) return { plan: judged.plan, usage, turns };
  const some = judged.problems.slice(0, 3).join("; ");
  return { problem: `the model's plan could not be used, even after a second attempt: ${some}`, usage, turns };
}

interface Shown {
  file: string;
  text: string;
}

/** As many memories as there is room for: those that rules found something about, then the newest. */
async function findTexts(directory: Store, hints: Plan): Promise<Shown[]> {
  const { rows } = await directory.rows();
  const hinted = new Set(hints.ops.flatMap(namedFiles));
  const order = rows.toSorted(
    (a, b) => Number(hinted.has(b.file)) - Number(hinted.has(a.file)) || (a.modified < b.modified ? 1 : -1),
  );
  let room = TEXT_CHARS;
  return order.flatMap(({ file }) => {
    const text = findText(directory, file);
    if (text === null || text.length > room || findSecrets(text).length > 0) return [];
    room -= text.length;
    return [{ file, text: neutraliseTags(text) }];
  });
}

async function buildRequest(directory: Store, sinceMs: number, hints: Plan, texts: Shown[] | null): Promise<string> {
  const { rows } = await directory.rows();
  const { manifest, left } = formatManifest(rows, { maxChars: MANIFEST_CHARS });
  const logs: { file: string; text: string }[] = [];
  const since = sinceMs > 0 ? localDay(new Date(sinceMs)) : undefined;
  let room = LOG_CHARS;
  for (const { path, text } of [...readLogs(directory, since === undefined ? {} : { since })].reverse()) {
    if (text.length > room) break;
    room -= text.length;
    const file = relative(directory.path, path).split(sep).join("/");
    logs.unshift({ file: neutraliseTags(file).replaceAll('"', "'"), text: neutraliseTags(text) });
  }
  return buildDreamRequest({
    today: directory.now().toISOString().slice(0, 10),
    manifest,
    left,
    findings: hints.ops.map((op) => neutraliseTags(describeOp(op))),
    logs,
    texts,
  });
}

function failureOf({ ended, error }: LoopResult): string | null {
  if (ended === "error") return error?.message ?? "the model did not answer";
  if (ended === "aborted") return "it was stopped";
  return ended === "refused" ? "the model declined to plan" : null;
}

async function judge(
  { text, ended }: LoopResult,
  snapshot: Snapshot,
  directory: Store,
  texts: Shown[] | null,
): Promise<{ plan: Plan } | { problems: string[] }> {
  const found =
    texts === null
      ? readPlan(text)
      : ended === "length"
        ? null
        : text.slice(text.indexOf("{"), text.lastIndexOf("}") + 1);
  if (found === null) return { problems: [NO_PLAN[ended] ?? "there is no plan between <plan> and </plan>"] };
  const parsed = parseOps(found);
  if ("problems" in parsed) return parsed;
  const seen = texts && new Set(texts.map(({ file }) => file));
  const named = [...new Set(parsed.ops.flatMap(namedFiles))];
  const unseen = named.filter((file) => seen?.has(file) === false && snapshot.has(file) && !isDailyLog(file));
  if (unseen.length > 0) return { problems: unseen.map((file) => `${file} was not shown: leave it alone`) };
  const plan = makePlan(
    parsed.ops.map((op) => completeOp(op, directory)),
    snapshot,
  );
  const checked = await checkPlan(plan, directory);
  return checked.ok ? { plan } : { problems: checked.problems };
}

const NO_PLAN: Partial<Record<LoopResult["ended"], string>> = {
  turns: "there is no plan yet, and no turn is left for reading: plan with what you have read",
  length: "the answer was cut off: plan fewer operations",
};

/** Fills in what a program knows better than a model: the time, and which lines of the index are dead. */
function completeOp(op: Op, directory: Store): Op {
  if (op.kind === "reindex") return { ...op, dead: findDeadLines(directory) };
  if (op.kind === "retire") return op;
  const modified = directory.now().toISOString();
  const isNew = op.kind === "create" || (op.kind === "merge" && !op.files.includes(op.into));
  return { ...op, text: editFields(op.text, { ...(isNew && { created: modified }), modified }) };
}

/** Writes nothing except its cost; without a model by rules. Throws if the model fails or is stopped. */
export async function planSeen(
  { directory, ledger }: Dreaming,
  model: LearningModel | null,
  signal?: AbortSignal,
): Promise<Plan> {
  if (!existsSync(directory.path)) return { ops: [], base: {} };
  try {
    const planned = await planDream(directory, model, { signal });
    const produced = "plan" in planned ? `a plan: ${countOps(planned.plan)}` : "no plan";
    noteDream(ledger, model, planned.usage, produced);
    if ("problem" in planned) throw new MemdirError("model", `${planned.problem}; nothing was changed`);
    lastPlan(directory).write(planned.plan);
    return planned.plan;
  } catch (error) {
    throw diskError(error, "plan a dream in", directory.path);
  }
}

/** More text than a plan for hundreds of memories has. */
const MAX_PLAN_BYTES = 8 << 20;

/** The plan that was shown last, so that its steps can be named by their numbers. */
export function lastPlan(directory: Store) {
  const parse = (value: unknown): Plan | null => {
    const { ops, base } = (value ?? {}) as Partial<Plan>;
    return Array.isArray(ops) && typeof base === "object" ? { ops, base } : null;
  };
  return directory.state().record<Plan>("dream-plan", parse, { maxBytes: MAX_PLAN_BYTES });
}

/** The plan with some of its steps; they are numbered from 1. */
export function withSteps(plan: Plan, isWanted: (step: number) => boolean): Plan {
  return { ...plan, ops: plan.ops.filter((_, at) => isWanted(at + 1)) };
}

/**
 * Applies exactly the plan that was shown. Returns the journal entry, or null if there was nothing to do. Throws
 * `conflict` if the plan no longer fits.
 */
export async function applySeenPlan(directory: Store, plan: Plan, pid: number): Promise<string | null> {
  try {
    const { entry } = await withDreamLock(directory, { pid, isAlive }, () => applyPlan(directory, plan));
    return entry?.id ?? null;
  } catch (error) {
    throw diskError(error, "apply a dream in", directory.path);
  }
}

/** Spending counts whatever the result: never as `skipped`, which no sum includes. */
function noteDream(ledger: Dreaming["ledger"], model: LearningModel | null, usage: Usage, produced: string): void {
  if (model === null || countTokens(usage) === 0) return;
  ledger.spend({ kind: "dream", session: null, model: `${model.provider}/${model.name}`, usage, produced });
}
