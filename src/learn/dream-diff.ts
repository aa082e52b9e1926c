/** A plan as a person reads it before it is carried out: each operation with its reason, and what changes as a diff. */

import { neutraliseTags } from "../recall/neutral.ts";
import { type Directory, findText } from "../store/store.ts";
import { diffLines } from "../tools/line-diff.ts";
import { changesOf, describeOp, type Op, type Plan } from "./dream-plan.ts";

/** Reads the files as they are now; one that changed since is refused by the check, not here. */
export function formatPlan(plan: Plan, directory: Directory): string {
  if (plan.ops.length === 0) return "Nothing to tidy up.\n";
  return plan.ops
    .map((op, at) => `${at + 1}. ${shown(describeOp(op).replace(/\s+/g, " "))}\n${formatOp(op, directory)}`)
    .join("\n");
}

/** "2 merged, 1 retired"; for reports and the ledger. */
export function countOps(plan: Plan): string {
  const counts = Object.entries(WORDS).flatMap(([kind, word]) => {
    const count = plan.ops.filter((op) => op.kind === kind).length;
    if (count === 0) return [];
    return [kind === "reindex" ? word : `${count} ${word}`];
  });
  return counts.join(", ") || "nothing to do";
}

const WORDS: Record<Op["kind"], string> = {
  create: "created",
  merge: "merged",
  rewrite: "rewritten",
  retire: "retired",
  reindex: "index put in order",
};

function formatOp(op: Op, directory: Directory): string {
  if (op.kind === "reindex") return op.dead.map((file) => `-the line of ${shown(file)}\n`).join("");
  return [...changesOf(op)].map(([file, text]) => formatFile(file, text, directory)).join("");
}

function formatFile(file: string, text: string | null, directory: Directory): string {
  const before = findText(directory, file);
  const head = `--- ${before === null ? "(new)" : shown(file)}\n+++ ${text === null ? "(gone)" : shown(file)}\n`;
  return `${head}${shown(diffLines(before ?? "", text ?? ""))}\n`;
}

/** What a memory holds must not move the cursor or hide a line of the diff. */
function shown(text: string): string {
  return neutraliseTags(text);
}
