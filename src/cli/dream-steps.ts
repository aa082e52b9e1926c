/** A dream that a person asked for, step by step: planned, applied once it was seen, noted in the ledger. */

import type { AgentModel } from "../agent/state.ts";
import { isAlive } from "../disk/atomic.ts";
import { MemdirError } from "../errors.ts";
import { checkBudget } from "../learn/budget.ts";
import { applySeenPlan, type DreamReport, dream, planSeen } from "../learn/dream.ts";
import { checkDreamGates, countSessions, type DreamGates, findDreamer, lastDream } from "../learn/dream-gates.ts";
import type { Plan } from "../learn/dream-plan.ts";
import type { LearnMode } from "../learn-config.ts";
import type { Memdir } from "../memdir.ts";
import { openLearning } from "../open-learn.ts";
import { sessionsFolder } from "../project/sessions-folder.ts";

export interface Dreamer {
  memdir: Memdir;
  /** Null: rules alone. */
  model: AgentModel | null;
  /** The session that asks, which is none of the others; null outside of one. */
  session: string | null;
}

/** Nothing is written but what it cost. Throws when the model fails or is stopped. */
export function planNow(dreamer: Dreamer, signal?: AbortSignal): Promise<Plan> {
  return planSeen(openLearning(dreamer.memdir), dreamer.model, signal);
}

/** Exactly the plan that was seen; null when there was nothing to do, else the journal entry. Throws `conflict` when it no longer fits. */
export function applySeen({ memdir }: Dreamer, plan: Plan): Promise<string | null> {
  return applySeenPlan(openLearning(memdir).directory, plan, process.pid);
}

/** Planned and applied in one go. How long ago the last dream was does not matter to who asks; whoever is at it does. */
export async function dreamNow(dreamer: Dreamer, signal?: AbortSignal): Promise<DreamReport> {
  const options = { ...gatesOf(dreamer), pid: process.pid, force: true, signal };
  const report = await dream(openLearning(dreamer.memdir), dreamer.model, options);
  if (report.skipped !== null && report.entry === null && report.plan === null) {
    throw new MemdirError("conflict", `nothing was changed: ${report.skipped}`);
  }
  return report;
}

/** For a timer, which nobody watches: only when a dream is due and the budget allows it. Not being due is no failure. */
export async function dreamIfDue(dreamer: Dreamer): Promise<DreamReport> {
  const { directory, ledger } = openLearning(dreamer.memdir);
  const budget = dreamer.model ? checkBudget(ledger, dreamer.memdir.config.learn, null) : { ok: true as const };
  if (!budget.ok) ledger.skip("dream", null, budget.reason);
  // Without its budget a dream still does what needs no model.
  const affordable = budget.ok ? dreamer : { ...dreamer, model: null };
  const options = { ...gatesOf(affordable), pid: process.pid };
  return dream({ directory, ledger }, affordable.model, options);
}

export interface DreamStatus {
  /** ISO time; null for never. */
  last: string | null;
  /** The process that is dreaming. */
  running: number | null;
  due: boolean;
  /** Why not. */
  reason: string | null;
  mode: LearnMode;
}

export function readStatus(dreamer: Dreamer): DreamStatus {
  const { directory, mode } = openLearning(dreamer.memdir);
  const last = lastDream(directory);
  const gate = checkDreamGates(gatesOf(dreamer), directory, { onlyLook: true });
  return {
    last: last > 0 ? new Date(last).toISOString() : null,
    running: findDreamer(directory, { isAlive }),
    due: gate.open,
    reason: gate.open ? null : gate.reason,
    mode,
  };
}

/** Why no timer may dream; who asks for it by hand is not asked. */
const BARRED: Record<LearnMode, string | null> = {
  off: "learning is off (learn.mode)",
  "read-only": "memories are only read in this scope (learn.mode)",
  inbox: "a person decides in this scope: see `memdir dream --plan`, then --apply",
  auto: null,
};

function gatesOf({ memdir, session }: Dreamer): DreamGates {
  const { config, location } = memdir;
  const folder = sessionsFolder(config, location.project);
  return {
    off: config.disabled ?? BARRED[openLearning(memdir).mode],
    touchedSince: (sinceMs) => countSessions(folder, sinceMs, session),
    isAlive,
  };
}
