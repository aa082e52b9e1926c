/** A dream: memories tidied up by a plan, which a model makes, or rules where there is none. */

import { existsSync } from "node:fs";
import { relative, sep } from "node:path";
import { type LoopResult, runAgentLoop } from "../model/agent-loop.ts";
import { type Ask, addUsage, type Message, NO_USAGE, type Usage } from "../model/ask.ts";
import { buildDreamCorrection, buildDreamRequest, DREAM_SYSTEM, readPlan } from "../prompts/learning.ts";
import { neutraliseTags } from "../recall/neutral.ts";
import { formatManifest } from "../recall/select.ts";
import { openFileState } from "../session/file-state.ts";
import { type Directory, listMemories } from "../store/store.ts";
import { editFields } from "../text/frontmatter.ts";
import { localDay } from "../text/local-day.ts";
import { redactSecrets } from "../text/secrets.ts";
import { openTools } from "../tools/tools.ts";
import { countAnswers } from "./counted-ask.ts";
import type { DayLog } from "./daily-log.ts";
import { applyPlan } from "./dream-apply.ts";
import { checkPlan } from "./dream-check.ts";
import { countOps } from "./dream-diff.ts";
import { checkDreamGates, type GateWorld } from "./dream-gates.ts";
import { lastDream, type Processes, takeDreamLock } from "./dream-lock.ts";
import { dreamOffline, findDeadLines } from "./dream-offline.ts";
import { describeOp, makePlan, type Op, type Plan, parseOps, type Snapshot, takeSnapshot } from "./dream-plan.ts";

export interface DreamModel {
  ask: Ask;
  /** For one answer: a plan holds whole files. */
  maxTokens: number;
  maxTurns?: number;
  /** The daily logs of a directory from a day on, oldest first. */
  readLogs: (directory: Directory, options: { since?: string }) => readonly DayLog[];
  signal?: AbortSignal;
}

/** What it cost is told also when nothing came of it. */
export type Planned = { usage: Usage; turns: number } & ({ plan: Plan } | { problem: string });

export interface DreamWorld extends GateWorld, Processes {
  /** Null: rules alone. */
  model: DreamModel | null;
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

/** Gates, lock, plan, check, apply. Never throws: what goes wrong is the reason, and the next one may try again. */
export async function dream(
  world: DreamWorld,
  directory: Directory,
  options: { force?: boolean } = {},
): Promise<DreamReport> {
  const report: DreamReport = { skipped: null, plan: null, entry: null, produced: "nothing", usage: NO_USAGE };
  const skip = (reason: string): DreamReport => {
    directory.log(`dream: ${reason}`);
    return { ...report, skipped: reason };
  };
  try {
    if (!existsSync(directory.path)) return skip("there are no memories yet");
    const gate = options.force ? null : checkDreamGates(world, directory);
    if (gate && !gate.open) return skip(gate.reason);
    const since = lastDream(directory);
    const lock = await takeDreamLock(directory, world);
    if ("heldBy" in lock) return skip(`process ${lock.heldBy ?? "unknown"} is dreaming`);
    let isDone = false;
    try {
      const planned = await planDream(world.model, directory, since);
      report.usage = planned.usage;
      if ("problem" in planned) return skip(planned.problem);
      report.plan = planned.plan;
      const { entry } = await applyPlan(directory, planned.plan);
      isDone = true;
      return { ...report, entry: entry?.id ?? null, produced: countOps(planned.plan) };
    } finally {
      await (isDone ? lock.done() : lock.failed()).catch((error: Error) => directory.log(`dream: ${error.message}`));
    }
  } catch (error) {
    return skip((error as Error).message);
  }
}

/** What would be done; nothing is written. `sinceMs`: when logs were last distilled, which the lock hides once it is taken. */
export async function planDream(
  model: DreamModel | null,
  directory: Directory,
  sinceMs = lastDream(directory),
): Promise<Planned> {
  if (model) return dreamWithModel(model, directory, sinceMs);
  return { plan: await dreamOffline(directory), usage: NO_USAGE, turns: 0 };
}

/** One to look around, some to read, one to answer. */
const MAX_TURNS = 10;

/** A few tokens per memory: more than 500 of them are seldom. */
const MANIFEST_CHARS = 80_000;

/** About a month of notes. Older ones are left to the model to read. */
const LOG_CHARS = 80_000;

/** Must not throw for what the model does. A plan that cannot be read or does not pass is asked for once more. */
async function dreamWithModel(model: DreamModel, directory: Directory, sinceMs: number): Promise<Planned> {
  const snapshot = takeSnapshot(directory);
  const tools = openTools(
    {
      cwd: directory.path,
      fence: directory.path,
      readable: [],
      files: openFileState(),
      history: null,
      permit: async () => ({ allowed: false, reason: "a dream only reads" }),
      env: {},
      onTouch: () => {},
      store: null,
    },
    ["Read", "Glob", "Grep"],
  );
  let messages: readonly Message[] = [say(await buildRequest(model, directory, sinceMs))];
  const ask = countAnswers(model.ask);
  let usage = NO_USAGE;
  let turns = 0;
  let problems: string[] = [];
  for (const maxTurns of [model.maxTurns ?? MAX_TURNS, 1]) {
    const result = await runAgentLoop(ask, {
      system: [{ text: DREAM_SYSTEM, cache: true }],
      messages,
      tools,
      maxTurns,
      maxTokens: model.maxTokens,
      ...(model.signal && { signal: model.signal }),
    });
    usage = addUsage(usage, result.usage);
    turns += result.turns;
    const failure = failureOf(result);
    if (failure !== null) return { problem: redactSecrets(failure), usage, turns };
    const judged = await judge(result, snapshot, directory);
    if ("plan" in judged) return { plan: judged.plan, usage, turns };
    problems = judged.problems;
    messages = withMessage(result.conversation.messages, buildDreamCorrection(problems.map(neutraliseTags)));
  }
  const some = problems.slice(0, 3).join("; ");
  return { problem: `the model's plan could not be used, also when asked again: ${some}`, usage, turns };
}

async function buildRequest(model: DreamModel, directory: Directory, sinceMs: number): Promise<string> {
  const { rows } = await listMemories(directory);
  const { manifest, left } = formatManifest(rows, { maxChars: MANIFEST_CHARS });
  const logs: { file: string; text: string }[] = [];
  const since = sinceMs > 0 ? localDay(new Date(sinceMs)) : undefined;
  let room = LOG_CHARS;
  for (const { path, text } of [...model.readLogs(directory, { since })].reverse()) {
    if (text.length > room) break;
    room -= text.length;
    const file = relative(directory.path, path).split(sep).join("/");
    logs.unshift({ file: neutraliseTags(file).replaceAll('"', "'"), text: neutraliseTags(text) });
  }
  return buildDreamRequest({
    today: directory.now().toISOString().slice(0, 10),
    manifest,
    left,
    findings: (await dreamOffline(directory)).ops.map((op) => neutraliseTags(describeOp(op))),
    logs,
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
  directory: Directory,
): Promise<{ plan: Plan } | { problems: string[] }> {
  const found = readPlan(text);
  if (found === null) return { problems: [NO_PLAN[ended] ?? "there is no plan between <plan> and </plan>"] };
  const parsed = parseOps(found);
  if ("problems" in parsed) return parsed;
  const plan = makePlan(
    parsed.ops.map((op) => completeOp(op, directory)),
    snapshot,
  );
  const checked = await checkPlan(plan, directory);
  return checked.ok ? { plan } : { problems: checked.problems };
}

const NO_PLAN: Partial<Record<LoopResult["ended"], string>> = {
  turns: "there is no plan yet, and no turn is left for looking: plan with what was read",
  length: "the answer was cut off: plan fewer operations",
};

/** What a program knows better than a model: the time, and which lines of the index are dead. */
function completeOp(op: Op, directory: Directory): Op {
  if (op.kind === "reindex") return { ...op, dead: findDeadLines(directory) };
  if (op.kind === "retire") return op;
  const modified = directory.now().toISOString();
  const isNew = op.kind === "create" || (op.kind === "merge" && !op.files.includes(op.into));
  return { ...op, text: editFields(op.text, { ...(isNew && { created: modified }), modified }) };
}

function say(text: string): Message {
  return { role: "user", content: [{ type: "text", text }] };
}

/** After the results of tools the words go into the same message: two of one side do not follow one another. */
function withMessage(messages: readonly Message[], text: string): Message[] {
  const last = messages.at(-1);
  if (last?.role !== "user") return [...messages, say(text)];
  return [...messages.slice(0, -1), { role: "user", content: [...last.content, { type: "text", text }] }];
}
