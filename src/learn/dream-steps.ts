/** A dream step by step, for a person who sees the plan before it is carried out: planned, applied, noted in the ledger. */

import { existsSync } from "node:fs";
import { isAlive } from "../disk/atomic.ts";
import { diskError, MemdirError } from "../errors.ts";
import type { Usage } from "../model/ask.ts";
import type { Directory } from "../store/store.ts";
import { readLogs } from "./daily-log.ts";
import { type DreamModel, planDream } from "./dream.ts";
import { applyPlan } from "./dream-apply.ts";
import { countOps } from "./dream-diff.ts";
import { takeDreamLock } from "./dream-lock.ts";
import type { Plan } from "./dream-plan.ts";
import type { Ledger } from "./ledger.ts";
import { countTokens } from "./prices.ts";

/** As much of an agent's model as a dream needs. */
export interface DreamingModel extends Pick<DreamModel, "ask" | "maxTokens"> {
  provider: string;
  name: string;
}

/** Nothing is written but what it cost; without a model by rules. Throws when the model fails or is stopped. */
export async function planSeen(
  { directory, ledger }: { directory: Directory; ledger: Ledger },
  model: DreamingModel | null,
  signal?: AbortSignal,
): Promise<Plan> {
  if (!existsSync(directory.path)) return { ops: [], base: {} };
  try {
    const planned = await planDream(askable(model, signal), directory);
    const produced = "plan" in planned ? `a plan: ${countOps(planned.plan)}` : "no plan";
    noteDream(ledger, model, directory.now(), planned.usage, produced);
    if ("problem" in planned) throw new MemdirError("model", `${planned.problem}; nothing was changed`);
    return planned.plan;
  } catch (error) {
    throw diskError(error, "plan a dream in", directory.path);
  }
}

/** Exactly the plan that was seen; null when there was nothing to do, else the journal entry. Throws `conflict` when it no longer fits. */
export async function applySeenPlan(directory: Directory, plan: Plan, pid: number): Promise<string | null> {
  let isDone = false;
  try {
    const lock = await takeDreamLock(directory, { pid, isAlive });
    if ("heldBy" in lock) {
      const who = `process ${lock.heldBy ?? "unknown"} is dreaming`;
      throw new MemdirError("conflict", `nothing was changed: ${who}; dream again when it is done`);
    }
    try {
      const { entry } = await applyPlan(directory, plan);
      isDone = true;
      return entry?.id ?? null;
    } finally {
      await (isDone ? lock.done() : lock.failed()).catch((error: Error) => directory.log(`dream: ${error.message}`));
    }
  } catch (error) {
    throw diskError(error, "apply a dream in", directory.path);
  }
}

export function askable(model: DreamingModel | null, signal: AbortSignal | undefined): DreamModel | null {
  return model && { ask: model.ask, maxTokens: model.maxTokens, readLogs, ...(signal && { signal }) };
}

/** What was paid counts, whatever came of it: never as `skipped`, which no sum holds. */
export function noteDream(
  ledger: Ledger,
  model: DreamingModel | null,
  now: Date,
  usage: Usage,
  produced: string,
): void {
  if (model === null || countTokens(usage) === 0) return;
  const name = `${model.provider}/${model.name}`;
  ledger.spend({ at: now.toISOString(), kind: "dream", session: null, model: name, usage, produced, skipped: null });
}
