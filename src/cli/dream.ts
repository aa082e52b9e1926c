/** `memdir dream`: tidying up by a plan that a person sees first, applied once it was seen, noted in the ledger. */

import type { AgentModel } from "../agent/state.ts";
import { isAlive } from "../disk/atomic.ts";
import { MemdirError } from "../errors.ts";
import { checkBudget } from "../learn/budget.ts";
import { type DreamReport, dream as dreamOnce, planSeen } from "../learn/dream.ts";
import { checkDreamGates, countSessions, type DreamGates, findDreamer, lastDream } from "../learn/dream-gates.ts";
import { formatPlan, namedFiles, type Plan } from "../learn/dream-plan.ts";
import type { Memdir } from "../memdir.ts";
import { openLearning } from "../open-learn.ts";
import { sessionsFolder } from "../project/sessions-folder.ts";
import type { LearnMode } from "../settings.ts";
import type { Store } from "../store/store.ts";
import { sanitise } from "../text/sanitise.ts";
import { configuredModel } from "./agent.ts";
import { answer, type Call, type Run } from "./command.ts";
import { foldLines } from "./console/diff-preview.ts";
import type { Paint } from "./terminal.ts";

export const dream: Run = async (call) => {
  const asked = ["plan", "apply", "status"].filter((name) => call.flag(name));
  if (asked.length > 1) throw new MemdirError("usage", "--plan, --apply and --status exclude one another");
  if (call.flag("if-due") && asked[0] !== "apply") throw new MemdirError("usage", "--if-due goes with --apply");
  const memdir = await call.open();
  if (asked[0] === "status") return showStatus(call, { memdir, model: null, session: null });
  const dreamer = { memdir, model: configuredModel(call.env), session: null };
  return asked[0] === "apply" ? apply(call, dreamer) : showPlan(call, dreamer);
};

async function showPlan(call: Call, dreamer: Dreamer): Promise<number> {
  const { color } = call.terminal;
  const learning = openLearning(dreamer.memdir);
  const plan = await planSeen(learning, dreamer.model);
  return answer(call, { plan: rowsOf(plan), applied: false, undo: null }, () => {
    if (plan.ops.length === 0) return NOTHING_TO_DO;
    const view = viewPlan(plan, learning.directory, color, Number.POSITIVE_INFINITY);
    return [`${view}\n`, color.dim("memdir dream --apply does it, as one change that undo takes back")];
  });
}

async function apply(call: Call, dreamer: Dreamer): Promise<number> {
  const report = await (call.flag("if-due") ? dreamIfDue(dreamer) : dreamNow(dreamer));
  const plan = report.plan ? rowsOf(report.plan) : [];
  const value = { plan, applied: report.entry !== null, undo: report.entry };
  return answer(call, value, () => describeDream(report, "memdir undo"));
}

function showStatus(call: Call, dreamer: Dreamer): number {
  const status = readStatus(dreamer);
  return answer(call, status, () => viewStatus(status).join("\n"));
}

function rowsOf(plan: Plan): { op: string; files: string[]; reason: string }[] {
  return plan.ops.map((op) => ({ op: op.kind, files: namedFiles(op), reason: op.reason }));
}

export interface Dreamer {
  memdir: Memdir;
  /** Null: rules alone. */
  model: AgentModel | null;
  /** The session that asks, which is none of the others; null outside of one. */
  session: string | null;
}

/** Planned and applied in one go. How long ago the last dream was does not matter to who asks; whoever is at it does. */
export async function dreamNow(dreamer: Dreamer, signal?: AbortSignal): Promise<DreamReport> {
  const options = { ...gatesOf(dreamer), pid: process.pid, force: true, signal };
  const report = await dreamOnce(openLearning(dreamer.memdir), dreamer.model, options);
  if (report.skipped !== null && report.entry === null && report.plan === null) {
    throw new MemdirError("conflict", `nothing was changed: ${report.skipped}`);
  }
  return report;
}

/** For a timer, which nobody watches: only when a dream is due and the budget allows it. Not being due is no failure. */
async function dreamIfDue(dreamer: Dreamer): Promise<DreamReport> {
  const { directory, ledger } = openLearning(dreamer.memdir);
  const budget = dreamer.model ? checkBudget(ledger, dreamer.memdir.config.learn, null) : { ok: true as const };
  if (!budget.ok) ledger.skip("dream", null, budget.reason);
  // Without its budget a dream still does what needs no model.
  const affordable = budget.ok ? dreamer : { ...dreamer, model: null };
  return dreamOnce({ directory, ledger }, affordable.model, { ...gatesOf(affordable), pid: process.pid });
}

export function readStatus(dreamer: Dreamer) {
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

export const NOTHING_TO_DO = "There is nothing to tidy up.";

export function viewPlan(plan: Plan, directory: Store, paint: Paint, columns: number): string {
  const lines = sanitise(formatPlan(plan, directory)).trimEnd().split("\n");
  return foldLines(
    lines.map((line) => paintLine(line, paint)),
    columns,
  ).join("\n");
}

function paintLine(line: string, paint: Paint): string {
  if (line.startsWith("+")) return paint.green(line);
  return line.startsWith("-") ? paint.red(line) : line;
}

/** `undo`: the call that takes a change back. */
export function describeDream({ entry, skipped, produced }: Omit<DreamReport, "plan" | "usage">, undo: string): string {
  if (entry === null) return `nothing was changed: ${sanitise(skipped ?? "there is nothing to tidy up")}`;
  return `${produced}; ${undo} ${entry} takes it back`;
}

export function viewStatus({ last, running, due, reason }: ReturnType<typeof readStatus>): string[] {
  return [
    `last      ${last ?? "never"}`,
    `running   ${running === null ? "no" : `yes, process ${running}`}`,
    `due       ${due ? "yes" : `no: ${reason}`}`,
  ];
}
