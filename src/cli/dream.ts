/** `memdir dream`: tidying up by a plan that a person sees first. */

import type { AgentModel } from "../agent/state.ts";
import { processEnv } from "../config.ts";
import { MemdirError } from "../errors.ts";
import { namedFiles, type Plan } from "../learn/dream-plan.ts";
import { openModel } from "../open-agent.ts";
import { openLearning } from "../open-learn.ts";
import type { Call, Run } from "./command.ts";
import { openPaint } from "./console/paint.ts";
import { type Dreamer, dreamIfDue, dreamNow, planNow, readStatus } from "./dream-steps.ts";
import { describeDream, NOTHING_TO_DO, viewPlan, viewStatus } from "./dream-view.ts";

export const run: Run = async (call) => {
  const asked = ["plan", "apply", "status"].filter((name) => call.flag(name));
  if (asked.length > 1) throw new MemdirError("usage", "--plan, --apply and --status exclude one another");
  if (call.flag("if-due") && asked[0] !== "apply") throw new MemdirError("usage", "--if-due goes with --apply");
  const memdir = await call.open();
  if (asked[0] === "status") return showStatus(call, { memdir, model: null, session: null });
  const dreamer = { memdir, model: modelOf(), session: null };
  return asked[0] === "apply" ? apply(call, dreamer) : showPlan(call, dreamer);
};

async function showPlan(call: Call, dreamer: Dreamer): Promise<number> {
  const { json, terminal } = call;
  const plan = await planNow(dreamer);
  if (json) terminal.json({ plan: rowsOf(plan), applied: false, undo: null });
  else if (plan.ops.length === 0) terminal.print(NOTHING_TO_DO);
  else {
    const look = { paint: openPaint(terminal.colored), columns: Number.POSITIVE_INFINITY };
    terminal.print(`${viewPlan(plan, openLearning(dreamer.memdir).directory, look)}\n`);
    terminal.print(terminal.color.dim("memdir dream --apply does it, as one change that undo takes back"));
  }
  return 0;
}

async function apply({ json, terminal, flag }: Call, dreamer: Dreamer): Promise<number> {
  const report = await (flag("if-due") ? dreamIfDue(dreamer) : dreamNow(dreamer));
  const rows = report.plan ? rowsOf(report.plan) : [];
  if (json) terminal.json({ plan: rows, applied: report.entry !== null, undo: report.entry });
  else terminal.print(describeDream(report, "memdir undo"));
  return 0;
}

function showStatus({ json, terminal }: Call, dreamer: Dreamer): number {
  const status = readStatus(dreamer);
  if (json) terminal.json(status);
  else terminal.print(viewStatus(status).join("\n"));
  return 0;
}

/** Null: rules alone. */
function modelOf(): AgentModel | null {
  const env = processEnv();
  if (!env.MEMDIR_MODEL?.trim()) return null;
  const model = openModel(env);
  if ("problem" in model) throw new MemdirError("usage", model.problem);
  return model;
}

function rowsOf(plan: Plan): { op: string; files: string[]; reason: string }[] {
  return plan.ops.map((op) => ({ op: op.kind, files: namedFiles(op), reason: op.reason }));
}
