/** The plan of a dream that waits, operation by operation as a difference, and carrying it out. */

import { MemdirError } from "../errors.ts";
import { applySeenPlan } from "../learn/dream.ts";
import { lastDream } from "../learn/dream-gates.ts";
import { changesOf, countOps, describeOp, type Op } from "../learn/dream-plan.ts";
import { openLearning } from "../open-learn.ts";
import { type Directory, findText } from "../store/store.ts";
import type { ChangedAnswer, DiffLine, DreamAnswer } from "./api.ts";
import { type Desk, refuseReadOnly } from "./desk.ts";
import { diffTexts } from "./diff.ts";

export async function answerDream(desk: Desk): Promise<DreamAnswer> {
  const { directory } = openLearning(desk.memdir);
  const last = lastDream(directory);
  const { plan: waiting } = desk.kept;
  return {
    plan: waiting && {
      id: waiting.id,
      made: waiting.made,
      summary: countOps(waiting.plan),
      ops: waiting.plan.ops.map((op) => ({ says: describeOp(op), diff: diffOf(directory, op) })),
    },
    last: last > 0 ? new Date(last).toISOString() : null,
  };
}

/** Exactly what was shown: another plan, or memories that changed since, are a conflict. */
export async function answerDreamApply(desk: Desk, id: string): Promise<ChangedAnswer> {
  refuseReadOnly(desk, { directory: 0 });
  const waiting = desk.kept.plan;
  if (waiting?.id !== id) {
    throw new MemdirError("conflict", "this plan does not wait any more: look at the one that does, or make another");
  }
  const { directory } = openLearning(desk.memdir);
  const entry = await applySeenPlan(directory, waiting.plan, process.pid);
  desk.kept.plan = null;
  return { message: entry === null ? "there was nothing to do" : countOps(waiting.plan), entry, ref: null };
}

/** Several files one after the other, each under its name. */
function diffOf(directory: Directory, op: Op): DiffLine[] {
  if (op.kind === "reindex") return op.dead.map((file) => ({ kind: "removed", text: `the line of ${file}` }));
  const changes = [...changesOf(op)];
  return changes.flatMap(([file, text]): DiffLine[] => {
    const name: DiffLine[] = changes.length === 1 ? [] : [{ kind: "file", text: file }];
    return [...name, ...diffTexts(findText(directory, file) ?? "", text ?? "")];
  });
}
