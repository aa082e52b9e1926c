/** A dream: tidies up memories by a plan that a model makes or, without one, offline rules. */

import { existsSync } from "node:fs";
import { relative, sep } from "node:path";
import { isAlive } from "../disk/fence.ts";
import { diskError, MemdirError } from "../errors.ts";
import { readLogs } from "../memory/daily-log.ts";
import { askTwice, type LoopResult } from "../model/agent-loop.ts";
import { NO_USAGE, say, type Usage } from "../model/ask.ts";
import { countAnswers, countTokens } from "../model/cost.ts";
import { buildDreamCorrection, buildDreamRequest, DREAM_SYSTEM, PLAN_SCHEMA, readPlan } from "../prompts/dream.ts";
import { neutraliseTags } from "../recall/neutral.ts";
import { formatManifest } from "../recall/select.ts";
import { findDeadLines, findText, isDailyLog, type Store } from "../store/store.ts";
import { editFields } from "../text/frontmatter.ts";
import { localDay } from "../text/local-day.ts";
import { findSecrets, redactSecrets } from "../text/secrets.ts";
import { openFencedTools } from "../tools/tools.ts";
import { applyPlan, checkPlan } from "./dream-check.ts";
import { checkDreamGates, type DreamGates, lastDream, type Processes, withDreamLock } from "./dream-gates.ts";
import { dreamOffline } from "./dream-offline.ts";
import {
  countOps,
  describeOp,
  isNewFile,
  makePlan,
  namedFiles,
  type Op,
  type Plan,
  parseOps,
  readKeptPlan,
  type Snapshot,
  takeSnapshot,
} from "./dream-plan.ts";
import type { Ledger } from "./ledger.ts";
import type { LearningModel } from "./model-extractor.ts";

/** The cost is reported even if there is no plan. */
type Planned = { usage: Usage; turns: number } & ({ plan: Plan } | { problem: string });

export interface DreamOptions extends DreamGates, Processes {
  /** Ignores the gates. */
  force?: boolean;
  signal?: AbortSignal | undefined;
}

export type DreamReport = Awaited<ReturnType<typeof dream>>;

/** Where a dream happens, and where its cost is recorded. */
type Dreaming = { directory: Store; ledger: Pick<Ledger, "spend"> };

/**
 * Gates, lock, plan, check, apply; without a model by rules. Never throws: an error becomes the reason, and the next
 * dream may try again.
 */
export async function dream({ directory, ledger }: Dreaming, model: LearningModel | null, options: DreamOptions) {
  const report = {
    /** Why nothing was done, or null. */
    skipped: null as string | null,
    plan: null as Plan | null,
    /** The journal entry, for undo. */
    entry: null as string | null,
    /** "2 merged, 1 retired". */
    produced: "nothing",
    usage: NO_USAGE,
  };
  try {
    if (!existsSync(directory.path)) throw new Error("there are no memories yet");
    const reason = options.force ? null : checkDreamGates(options, directory);
    if (reason !== null) throw new Error(reason);
    const sinceMs = lastDream(directory);
    await withDreamLock(directory, options, async () => {
      const planned = await planDream(directory, model, { signal: options.signal, sinceMs });
      report.usage = planned.usage;
      if ("problem" in planned) throw new Error(planned.problem);
      report.plan = planned.plan;
      report.entry = await applyPlan(directory, planned.plan);
      report.produced = countOps(planned.plan);
    });
  } catch (error) {
    report.skipped = (error as Error).message;
    directory.log(`dream: ${report.skipped}`);
  }
  noteDream(ledger, model, report.usage, report.produced);
  return report;
}

/** Writes nothing except its cost and the plan itself; without a model by rules. Throws if the model fails or is stopped. */
export async function planSeen({ directory, ledger }: Dreaming, model: LearningModel | null, signal?: AbortSignal) {
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
  return directory.state().record<Plan>("dream-plan", readKeptPlan, { maxBytes: MAX_PLAN_BYTES });
}

/** The plan with some of its steps; they are numbered from 1. */
export function withSteps(plan: Plan, isWanted: (step: number) => boolean): Plan {
  return { ...plan, ops: plan.ops.filter((_, at) => isWanted(at + 1)) };
}

/** Applies exactly the plan that was shown. Returns the journal entry, null if there was nothing to do. Throws `conflict` if the plan no longer fits. */
export async function applySeenPlan(directory: Store, plan: Plan, pid: number): Promise<string | null> {
  try {
    return await withDreamLock(directory, { pid, isAlive }, () => applyPlan(directory, plan));
  } catch (error) {
    throw diskError(error, "apply a dream in", directory.path);
  }
}

/** Spending counts whatever the result: never as `skipped`, which no sum includes. */
function noteDream(ledger: Dreaming["ledger"], model: LearningModel | null, usage: Usage, produced: string): void {
  if (model === null || countTokens(usage) === 0) return;
  ledger.spend({ kind: "dream", session: null, model: `${model.provider}/${model.name}`, usage, produced });
}

/** One to list, some to read, one to answer. */
const MAX_TURNS = 10;

/**
 * What would be done; nothing is written. Must not throw because of the model. If a plan cannot be read or does not pass the check,
 * the model is asked once more. Without tools it is shown the memories instead of reading them, and can change no others.
 * `sinceMs`: when logs were last distilled; taking the lock overwrites it.
 */
export async function planDream(
  directory: Store,
  model: LearningModel | null,
  { sinceMs = lastDream(directory), signal }: { sinceMs?: number; signal?: AbortSignal | undefined } = {},
): Promise<Planned> {
  const snapshot = takeSnapshot(directory);
  const hints = await dreamOffline(directory);
  if (!model) return { plan: hints, usage: NO_USAGE, turns: 0 };
  const texts = model.takesTools === false ? await findTexts(directory, hints) : null;
  let judged = { problems: [] } as Judged;
  const { usage, turns, ended, error } = await askTwice(
    countAnswers(model.ask),
    {
      system: [{ text: DREAM_SYSTEM, cache: true }],
      messages: [say(await buildRequest(directory, sinceMs, hints, texts))],
      ...(texts === null
        ? { tools: openFencedTools(directory.path, null, ["Read", "Glob", "Grep"]), maxTurns: MAX_TURNS }
        : { tools: [], maxTurns: 1, schema: PLAN_SCHEMA }),
      maxTokens: model.maxTokens,
      ...(signal && { signal }),
    },
    async (answer) => {
      judged = await judge(answer, snapshot, directory, texts);
      return "plan" in judged ? null : buildDreamCorrection(judged.problems.map(neutraliseTags), texts !== null);
    },
  );
  const failures: Partial<Record<LoopResult["ended"], string>> = {
    error: error?.message ?? "the model did not answer",
    aborted: "it was stopped",
    refused: "the model declined to plan",
  };
  const failure = failures[ended];
  if (failure !== undefined) return { problem: redactSecrets(failure), usage, turns };
  if ("plan" in judged) return { ...judged, usage, turns };
  const some = judged.problems.slice(0, 3).join("; ");
  return { problem: `the model's plan could not be used, even after a second attempt: ${some}`, usage, turns };
}

type Judged = { plan: Plan } | { problems: string[] };

type Shown = { file: string; text: string };

/** All the text that a model without tools is shown; about 25,000 tokens. */
const TEXT_CHARS = 100_000;

/** As many memories as there is room for: those that rules found something about, then the newest. */
async function findTexts(directory: Store, hints: Plan): Promise<Shown[]> {
  const { rows } = await directory.rows();
  const hinted = new Set(hints.ops.flatMap(namedFiles));
  const order = rows.toSorted(
    (a, b) => Number(hinted.has(b.file)) - Number(hinted.has(a.file)) || (a.modified < b.modified ? 1 : -1),
  );
  const texts = order.flatMap(({ file }) => {
    const text = findText(directory, file);
    return text === null || findSecrets(text).length > 0 ? [] : [{ file, text: neutraliseTags(text) }];
  });
  return takeFitting(texts, TEXT_CHARS);
}

/** The first ones that there is room for; one that is too long is left out. */
function takeFitting(all: readonly Shown[], chars: number): Shown[] {
  let room = chars;
  return all.filter(({ text }) => {
    const fits = text.length <= room;
    if (fits) room -= text.length;
    return fits;
  });
}

/** A few tokens per memory: more than 500 are rare. */
const MANIFEST_CHARS = 80_000;

/** About a month of notes. Older ones are left to the model to read. */
const LOG_CHARS = 80_000;

async function buildRequest(directory: Store, sinceMs: number, hints: Plan, texts: Shown[] | null): Promise<string> {
  const { rows } = await directory.rows();
  const { manifest, left } = formatManifest(rows, { maxChars: MANIFEST_CHARS });
  const written = readLogs(directory, sinceMs > 0 ? { since: localDay(new Date(sinceMs)) } : {}).map(
    ({ path, text }) => {
      const file = relative(directory.path, path).split(sep).join("/");
      return { file: neutraliseTags(file).replaceAll('"', "'"), text: neutraliseTags(text) };
    },
  );
  const logs = takeFitting(written.toReversed(), LOG_CHARS).toReversed();
  const findings = hints.ops.map((op) => neutraliseTags(describeOp(op)));
  const today = directory.now().toISOString().slice(0, 10);
  return buildDreamRequest({ today, manifest, left, findings, logs, texts });
}

async function judge(answer: LoopResult, snapshot: Snapshot, directory: Store, texts: Shown[] | null): Promise<Judged> {
  const { text, ended } = answer;
  const whole = () => (ended === "length" ? null : text.slice(text.indexOf("{"), text.lastIndexOf("}") + 1));
  const found = texts === null ? readPlan(text) : whole();
  if (found === null) return { problems: [NO_PLAN[ended] ?? "there is no plan between <plan> and </plan>"] };
  const parsed = parseOps(found);
  if ("problems" in parsed) return parsed;
  const isUnseen = (file: string) =>
    texts?.every((shown) => shown.file !== file) === true && snapshot.has(file) && !isDailyLog(file);
  const unseen = new Set(parsed.ops.flatMap(namedFiles).filter(isUnseen));
  if (unseen.size > 0) return { problems: [...unseen].map((file) => `${file} was not shown: leave it alone`) };
  const ops = parsed.ops.map((op) => completeOp(op, directory));
  const plan = makePlan(ops, snapshot);
  const problems = await checkPlan(plan, directory);
  return problems.length === 0 ? { plan } : { problems };
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
  const isNew = isNewFile(op, op.kind === "merge" ? op.into : op.file);
  return { ...op, text: editFields(op.text, { ...(isNew && { created: modified }), modified }) };
}
