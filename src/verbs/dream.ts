/** `dream`: memories are tidied up by a plan that a person sees first. */

import type { LearnMode } from "../config.ts";
import { isAlive } from "../disk/fence.ts";
import { MemdirError } from "../errors.ts";
import { applySeenPlan, type DreamReport, dream as dreamOnce, lastPlan, planSeen, withSteps } from "../learn/dream.ts";
import { checkDreamGates, type DreamGates, findDreamer, lastDream } from "../learn/dream-gates.ts";
import { countOps, describeOp, formatPlan, namedFiles, type Plan } from "../learn/dream-plan.ts";
import { enrich as enrichAll, findPoor } from "../learn/enrich.ts";
import { checkBudget } from "../learn/ledger.ts";
import type { Memdir } from "../memdir.ts";
import { NO_USAGE } from "../model/ask.ts";
import { openLearning } from "../open-learn.ts";
import { sessionsFolder } from "../project/scopes.ts";
import { findFiles, type SessionFile } from "../session/sessions.ts";
import type { Store } from "../store/store.ts";
import { bad, type Context, count, dim, flag, good, type Line, text, verb } from "../verb.ts";
import { NAME } from "./common.ts";
import { modelFor } from "./model.ts";

type Outcome = Pick<DreamReport, "entry" | "skipped" | "produced">;

export const dream = verb({
  args: [],
  input: {
    plan: flag("only show the plan"),
    apply: flag("apply steps of the last plan shown, as one change that can be undone"),
    only: text("with --apply: only these steps, such as 1,3", "STEPS"),
    skip: text("with --apply: all steps except these", "STEPS"),
    all: flag("with --apply: make a new plan and apply all of it without showing it first"),
    "if-due": flag("with --apply --all, for timers: only if it is a day and five sessions since the last one"),
    status: flag("show when the last one ran, and whether one is due"),
  },
  about:
    "Without options, shows the plan and asks about each step. Steps are based on evidence: a memory that supersedes " +
    "another, a duplicate, a deadline that has passed, names that are all gone.",
  examples: ["dream --plan", "dream --apply --skip 2"],
  writes: ({ plan, status }) => !plan && !status,
  async run(given, { plan: onlyPlan, apply, status, only, skip, all, "if-due": ifDue }, context) {
    if ([onlyPlan, apply, status].filter(Boolean).length > 1)
      throw new MemdirError("usage", "use only one of --plan, --apply and --status");
    if (ifDue && !(apply && all)) throw new MemdirError("usage", "--if-due goes with --apply --all");
    if ([only, skip, all].filter((each) => each !== undefined && each !== false).length !== (apply ? 1 : 0))
      throw new MemdirError(
        "usage",
        "--apply takes exactly one of --only STEPS, --skip STEPS and --all, and these need --apply",
      );
    const memdir = await holding(given, context);
    if (status) return readStatus(memdir, context);
    if (apply && !all) return applySteps(memdir, only, skip);
    if (apply) {
      const report = await dreamAll(memdir, context, ifDue === true);
      return { plan: report.plan, outcome: report };
    }
    return planAndAsk(memdir, context, !onlyPlan);
  },
  json(result) {
    if (!("plan" in result)) return result;
    const { plan, outcome } = result;
    const rows = (plan?.ops ?? []).map((op) => ({ op: op.kind, files: namedFiles(op), reason: op.reason }));
    const entry = outcome?.entry ?? null;
    return { plan: rows, applied: entry !== null, undo: entry };
  },
  say(result, { call }) {
    if (!("plan" in result)) {
      const { last, running, due, reason } = result;
      return [
        `last      ${last ?? "never"}`,
        `running   ${running === null ? "no" : `yes, process ${running}`}`,
        `due       ${due ? "yes" : `no: ${reason}`}`,
      ];
    }
    const { plan, outcome } = result;
    if (!outcome) {
      const which = plan?.ops.length === 1 ? "it" : "the first step, --skip 1 all others";
      return [dim(`${call("dream --apply --only 1")} applies ${which}, as one change that can be undone`)];
    }
    const { entry, skipped, produced } = outcome;
    if (entry !== null) return [`${produced}; ${call(`undo ${entry}`)} reverts it`];
    if (skipped !== null) return [`nothing was changed: ${skipped}`];
    return [plan?.ops.length ? "nothing was changed" : "There is nothing to tidy up."];
  },
});

export interface Planned {
  plan: Plan | null;
  /** Null when the plan was only shown. */
  outcome: Outcome | null;
}

const UNTOUCHED: Outcome = { entry: null, skipped: null, produced: "" };

/** The plan that is applied is the one that was seen; what changed meanwhile makes it fail with nothing written. */
async function planAndAsk(memdir: Memdir, context: Context, mayAsk: boolean): Promise<Planned> {
  const learning = openLearning(memdir);
  const plan = await planSeen(learning, modelFor(context), context.signal);
  if (plan.ops.length === 0) return { plan, outcome: UNTOUCHED };
  context.show(formatPlan(plan, learning.directory).split("\n").map(paintLine));
  if (!mayAsk || !context.ask) return { plan, outcome: null };
  const wanted = new Set<number>();
  for (const [at, op] of plan.ops.entries()) {
    const step = `Step ${at + 1} of ${plan.ops.length}`;
    const answer = await context.ask(`${step}, ${describeOp(op)}?`);
    // Who leaves wants none of it, the steps before included.
    if (answer === null) return { plan, outcome: { ...UNTOUCHED, skipped: `you left at ${step.toLowerCase()}` } };
    if (answer) wanted.add(at + 1);
  }
  if (wanted.size === 0) return { plan, outcome: UNTOUCHED };
  return applySome(
    learning.directory,
    withSteps(plan, (step) => wanted.has(step)),
  );
}

async function applySome(directory: Store, plan: Plan): Promise<Planned> {
  if (plan.ops.length === 0) return { plan, outcome: UNTOUCHED };
  const entry = await applySeenPlan(directory, plan, process.pid);
  return { plan, outcome: { entry, skipped: null, produced: countOps(plan) } };
}

/** Steps of the plan that was shown last; nothing is written if a memory of it has changed since. */
async function applySteps(memdir: Memdir, only: string | undefined, skip: string | undefined): Promise<Planned> {
  const { directory } = openLearning(memdir);
  const record = lastPlan(directory);
  const plan = record.read();
  if (!plan?.ops.length)
    throw new MemdirError("not-found", "no plan with steps was shown yet: run `memdir dream --plan` first");
  const steps = readSteps(only ?? skip ?? "", plan.ops.length);
  const applied = await applySome(
    directory,
    withSteps(plan, (step) => steps.has(step) === (only !== undefined)),
  );
  record.remove();
  return applied;
}

function readSteps(given: string, most: number): Set<number> {
  const steps = given.split(/[\s,]+/).filter((word) => word !== "");
  const wrong = steps.find((word) => !/^\d+$/.test(word) || Number(word) < 1 || Number(word) > most);
  if (steps.length === 0 || wrong !== undefined)
    throw new MemdirError("usage", `${JSON.stringify(wrong ?? given)} is not a step: the plan has steps 1 to ${most}`);
  return new Set(steps.map(Number));
}

/** The scope that holds the memories, where the first one holds none and no other was asked for. */
async function holding(memdir: Memdir, { scope, open }: Context): Promise<Memdir> {
  if (scope !== undefined || (await memdir.directories[0]?.rows())?.rows.length) return memdir;
  for (const directory of memdir.directories.slice(1)) {
    if (!directory.readOnly && (await directory.rows()).rows.length > 0) return open({ scope: directory.scope });
  }
  return memdir;
}

/** As spans, so that what is wrapped stands further in and does not pass for a line of the diff. */
function paintLine(line: string): Line {
  return [line.startsWith("+") ? good(line) : line.startsWith("-") ? bad(line) : line];
}

/**
 * How long ago the last dream was does not matter to a person who asks for one; a dream that is running does. For a timer
 * only when a dream is due and the budget allows it, and not being due is no failure.
 */
async function dreamAll(memdir: Memdir, context: Context, ifDue: boolean): Promise<DreamReport> {
  const { directory, ledger } = openLearning(memdir);
  const model = modelFor(context);
  const budget = ifDue && model ? checkBudget(ledger, memdir.config.learn, null) : { ok: true as const };
  if (!budget.ok) ledger.skip("dream", null, budget.reason);
  const options = { ...gatesOf(memdir, context), pid: process.pid, force: !ifDue, signal: context.signal };
  // Without its budget a dream still does what needs no model.
  const report = await dreamOnce({ directory, ledger }, budget.ok ? model : null, options);
  if (!ifDue && report.skipped !== null && report.entry === null && report.plan === null)
    throw new MemdirError("conflict", `nothing was changed: ${report.skipped}`);
  return report;
}

function readStatus(memdir: Memdir, context: Context) {
  const { directory, mode } = openLearning(memdir);
  const last = lastDream(directory);
  const reason = checkDreamGates(gatesOf(memdir, context), directory, { onlyLook: true });
  return {
    last: last > 0 ? new Date(last).toISOString() : null,
    running: findDreamer(directory, { isAlive }),
    due: reason === null,
    reason,
    mode,
  };
}

/** Why no timer may dream; it does not bind a person who asks for a dream. */
const BARRED: Record<LearnMode, string | null> = {
  off: "learning is off (learn.mode)",
  "read-only": "memories are only read in this scope (learn.mode)",
  inbox: "a person decides in this scope: see `memdir dream --plan`, then --apply --only",
  auto: null,
};

/** The session that asks is not one of those that are counted. */
function gatesOf(memdir: Memdir, { conversation }: Context): DreamGates {
  const { config, location } = memdir;
  const places = { dirs: [sessionsFolder(config, location.project)], older: null };
  const isOther = ({ id }: SessionFile) => id !== conversation?.session;
  return {
    off: config.disabled ?? BARRED[openLearning(memdir).mode],
    touchedSince: (sinceMs) => findFiles(places).filter((file) => file.mtimeMs > sinceMs && isOther(file)).length,
    isAlive,
  };
}

// --- `enrich`: cues for memories that lack them.

export const enrich = verb({
  args: ["name?"],
  input: { name: NAME },
  examples: ["enrich"],
  writes: true,
  async run(memdir, { name }, context) {
    const { directory, ledger } = openLearning(memdir);
    const wanted = name === undefined ? null : (await memdir.show(name)).file;
    const poor = (await findPoor(directory)).filter(({ file }) => wanted === null || file === wanted);
    const files = wanted === null ? poor.map(({ file }) => file) : [wanted];
    const model = files.length === 0 ? null : modelFor(context);
    if (!model) return { enriched: [], left: poor.length, usage: NO_USAGE, stopped: null, poor };
    const budget = () => checkBudget(ledger, memdir.config.learn, null);
    const log = (warning: string) => context.show([{ warning }]);
    const onProgress = context.progress("cues");
    const { signal } = context;
    return enrichAll({ directory, ledger, budget, inbox: null, log, onProgress, signal }, model, files);
  },
  say(result) {
    const { enriched, left, stopped } = result;
    if (!("poor" in result)) {
      const warning = stopped === null ? [] : [{ warning: `${stopped}; run it again to go on` }];
      return [`cues added: ${enriched.length}; without: ${left}`, ...warning];
    }
    if (left === 0) return ["Every memory has cues."];
    return [
      `${count(left, "memory has", "memories have")} no cues:`,
      ...result.poor.map(({ file, name }) => `    ${name} (${file})`),
      "With a model each would get about six, in batches of twenty, within the day's budget.",
      "Set MEMDIR_MODEL, or let memdir ask the agent you have: memdir init --learn-with claude-code",
    ];
  },
});
