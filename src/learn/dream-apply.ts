/** Carries out a plan: one journal entry, all of its files or none, reverted by one undo. */

import { MemdirError } from "../errors.ts";
import { arrangeIndex, type Change, openHeaders, type Pages, type Store } from "../store/store.ts";
import { checkPlan, findNamedProblems } from "./dream-check.ts";
import { changesOf, describeOp, type Plan } from "./dream-plan.ts";

/** The journal entry, for undo; null if the plan was empty. Throws `conflict`, with every problem in its details, if the plan no longer fits the directory. */
export async function applyPlan(directory: Store, plan: Plan): Promise<string | null> {
  if (plan.ops.length === 0) return null;
  const refuse = (problems: readonly string[]) => {
    if (problems.length > 0) throw refused(problems);
  };
  refuse(await checkPlan(plan, directory));
  return directory.change(async (writer) => {
    // The check took a while, and other programs may have written in the meantime.
    refuse(findNamedProblems(plan, writer));
    return (await writer.apply(changeOf(plan, writer))).entry?.id ?? null;
  });
}

function refused(problems: readonly string[]): MemdirError {
  const some = problems.slice(0, 3).join("; ") + (problems.length > 3 ? ` and ${problems.length - 3} more` : "");
  return new MemdirError("conflict", `the dream's plan was not applied: ${some}; nothing was written, so dream again`, {
    details: problems,
  });
}

function changeOf(plan: Plan, directory: Store): Change {
  const changes = new Map(plan.ops.flatMap((op) => [...changesOf(op)]));
  const reindexes = plan.ops.some(({ kind }) => kind === "reindex");
  return {
    action: "dream",
    trust: "inferred",
    reason: `dream: ${plan.ops.map(describeOp).join("; ")}`,
    writes: new Map([...changes].map(([file, text]) => [file, text === null ? null : Buffer.from(text)])),
    ...(reindexes && {
      plan: ({ index, more }: Pages) => ({
        pages: { index: arrangeIndex(index ?? "", openHeaders(directory, changes)), more },
      }),
    }),
  };
}
