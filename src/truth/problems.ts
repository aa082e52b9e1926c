/** What is wrong with memories, as people see it, and which of it has one cause. */

import type { ClaimKind, Verdict } from "./claim.ts";
import type { Order, Weighed } from "./examination.ts";

/** A claim in a memory that no longer holds, or is doubtful. */
export interface Problem {
  /** The memory's path below its directory. */
  file: string;
  /** The scope of that directory, such as `project` or `team`. */
  scope: string;
  /** In the memory's file, from 1. */
  line: number;
  /** What the memory names, as it is written there. */
  claim: string;
  /** What sort of thing is named, in a few broad kinds. */
  kind: "path" | "symbol" | "flag" | "command" | "url" | "date" | "value";
  /** The exact kind. */
  what: ClaimKind;
  /** What became of the thing; `built`: it was said to be planned and exists by now. */
  verdict: Exclude<Verdict, "holds" | "unknown">;
  /** What was found instead, and when it changed if known, in words. */
  evidence: string;
  /** Where the thing is now, for `moved`; else null. */
  to: string | null;
  /** From 0 to 1. */
  confidence: number;
  /** Day on which the memory's line was written, YYYY-MM-DD; null if unknown. */
  written: string | null;
  /** Day on which the thing changed, YYYY-MM-DD; null if unknown. */
  changed: string | null;
  /** Whether the thing changed after the line was written, by the same commit, or before. */
  order: Order;
  /** The same for everything that one commit removed, or moved, in one section of a memory: one thing to fix. Null if not known. */
  cause: string | null;
}

/** A finding, and the memory it is about. */
interface Placed {
  file: string;
  scope: string;
  finding: Weighed;
}

export function describe({ file, scope, finding }: Placed): Problem {
  const { claim, verdict, to, confidence, written, changed, order, when, by } = finding;
  const section = claim.place?.over.filter((each) => each.startsWith("#")) ?? [];
  return {
    file,
    scope,
    line: claim.line,
    claim: claim.text,
    kind: SPOKEN[claim.kind] ?? "symbol",
    what: claim.kind,
    verdict: verdict as Problem["verdict"],
    evidence: when === null ? finding.evidence : `${finding.evidence}, ${when}`,
    to: to ?? null,
    ...{ confidence, written, changed, order },
    cause: by && claim.place ? [scope, file, by.hash, verdict, ...section].join(" ") : null,
  };
}

/** Those of one cause together, the surest first, in the order given. */
export function groupByCause(problems: readonly Problem[]) {
  const groups = new Map<unknown, [Problem, ...Problem[]]>();
  for (const problem of problems) {
    const known = groups.get(problem.cause);
    if (known) known.push(problem);
    else groups.set(problem.cause ?? problem, [problem]);
  }
  return [...groups.values()];
}

/** Everything else is a name. */
const SPOKEN: Partial<Record<ClaimKind, Problem["kind"]>> = {
  path: "path",
  link: "path",
  flag: "flag",
  script: "command",
  url: "url",
  date: "date",
  value: "value",
};
