/** A dream as a person sees it: its plan as a diff, how it ended, and when the next is due. */

import type { DreamReport } from "../learn/dream.ts";
import { formatPlan, type Plan } from "../learn/dream-plan.ts";
import type { Directory } from "../store/store.ts";
import type { Paint } from "./console/paint.ts";
import { sanitise } from "./console/sanitise.ts";
import { foldLines } from "./diff-view.ts";
import type { DreamStatus } from "./dream-steps.ts";
import type { Look } from "./proposal-view.ts";

export const NOTHING_TO_DO = "There is nothing to tidy up.";

export function viewPlan(plan: Plan, directory: Directory, { paint, columns }: Look): string {
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

export function viewStatus({ last, running, due, reason }: DreamStatus): string[] {
  return [
    `last      ${last ?? "never"}`,
    `running   ${running === null ? "no" : `yes, process ${running}`}`,
    `due       ${due ? "yes" : `no: ${reason}`}`,
  ];
}
