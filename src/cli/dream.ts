/** `memdir dream`: tidying up by a plan that a person sees first. */

import { processEnv } from "../config.ts";
import { MemdirError } from "../errors.ts";
import { readLogs } from "../learn/daily-log.ts";
import { type DreamModel, dream, planDream } from "../learn/dream.ts";
import { formatPlan } from "../learn/dream-diff.ts";
import { checkDreamGates, countSessions, type GateWorld } from "../learn/dream-gates.ts";
import { findDreamer, isProcessAlive, lastDream } from "../learn/dream-lock.ts";
import { namedFiles, type Plan } from "../learn/dream-plan.ts";
import type { Memdir } from "../memdir.ts";
import { NO_USAGE, type Usage } from "../model/ask.ts";
import { openModel } from "../open-agent.ts";
import { type Learning, openLearning } from "../open-learn.ts";
import { sessionsFolder } from "../project/sessions-folder.ts";
import type { Call, Run } from "./command.ts";
import { sanitise } from "./console/sanitise.ts";

export const run: Run = async (call) => {
  const asked = ["plan", "apply", "status"].filter((name) => call.flag(name));
  if (asked.length > 1) throw new MemdirError("usage", "--plan, --apply and --status exclude one another");
  const memdir = await call.open();
  const learning = openLearning(memdir);
  if (asked[0] === "status") return showStatus(call, memdir, learning);
  return asked[0] === "apply" ? applyDream(call, memdir, learning) : showPlan(call, learning);
};

async function showPlan(call: Call, learning: Learning): Promise<number> {
  const { directory } = learning;
  const model = modelOf();
  const planned = await planDream(model, directory);
  note(learning, planned.usage, "problem" in planned ? planned.problem : null, "a plan");
  if ("problem" in planned) throw new MemdirError("model", planned.problem);
  if (call.json) call.terminal.json({ plan: rowsOf(planned.plan), applied: false, undo: null });
  else if (planned.plan.ops.length === 0) call.terminal.print("There is nothing to tidy up.");
  else {
    call.terminal.print(sanitise(formatPlan(planned.plan, directory)));
    call.terminal.print(call.terminal.color.dim("memdir dream --apply does it, as one change that undo takes back"));
  }
  return 0;
}

async function applyDream(call: Call, memdir: Memdir, learning: Learning): Promise<number> {
  const { directory } = learning;
  const world = { ...gatesOf(memdir), pid: process.pid, model: modelOf() };
  // The person asked for it: how long ago the last one was does not matter; whoever is at it does.
  const report = await dream(world, directory, { force: true });
  note(learning, report.usage, report.skipped, report.produced);
  if (report.skipped !== null && report.entry === null && report.plan === null) {
    throw new MemdirError("conflict", `nothing was changed: ${report.skipped}`);
  }
  const rows = report.plan ? rowsOf(report.plan) : [];
  if (call.json) call.terminal.json({ plan: rows, applied: report.entry !== null, undo: report.entry });
  else if (report.entry === null)
    call.terminal.print(`nothing was changed: ${report.skipped ?? "there is nothing to tidy up"}`);
  else call.terminal.print(`${report.produced}; memdir undo ${report.entry} takes it back`);
  return 0;
}

function showStatus(call: Call, memdir: Memdir, { directory, mode }: Learning): number {
  const last = lastDream(directory);
  const holder = findDreamer(directory, { isAlive: isProcessAlive });
  const gate = checkDreamGates(gatesOf(memdir), directory);
  const status = {
    last: last > 0 ? new Date(last).toISOString() : null,
    running: holder,
    due: gate.open,
    reason: gate.open ? null : gate.reason,
    mode,
  };
  if (call.json) call.terminal.json(status);
  else {
    call.terminal.print(`last      ${status.last ?? "never"}`);
    call.terminal.print(`running   ${holder === null ? "no" : `yes, process ${holder}`}`);
    call.terminal.print(`due       ${gate.open ? "yes" : `no: ${gate.reason}`}`);
  }
  return 0;
}

function gatesOf(memdir: Memdir): GateWorld {
  const { config, location } = memdir;
  const folder = sessionsFolder(config, location.project);
  return {
    off: config.disabled ?? (config.learn.mode === "off" ? "learning is off (learn.mode)" : null),
    touchedSince: (sinceMs) => countSessions(folder, sinceMs, null),
    isAlive: isProcessAlive,
  };
}

/** Null: rules alone. */
function modelOf(): DreamModel | null {
  const env = processEnv();
  if (!env.MEMDIR_MODEL?.trim()) return null;
  const model = openModel(env);
  if ("problem" in model) throw new MemdirError("usage", model.problem);
  return { ask: model.ask, maxTokens: model.maxTokens, readLogs };
}

function note({ directory, ledger }: Learning, usage: Usage, skipped: string | null, produced: string): void {
  const env = processEnv();
  if (JSON.stringify(usage) === JSON.stringify(NO_USAGE)) return;
  const at = directory.now().toISOString();
  ledger.spend({ at, kind: "dream", session: null, model: env.MEMDIR_MODEL ?? "", usage, produced, skipped });
}

function rowsOf(plan: Plan): { op: string; files: string[]; reason: string }[] {
  return plan.ops.map((op) => ({ op: op.kind, files: namedFiles(op), reason: op.reason }));
}
