/** What is wrong with memories, as people see it: one problem for each cause in a section, with what else it took away. */

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
  /** What else in this section the same commit removed or moved: one thing to fix. With `all`, each is a problem of its own. */
  more: FurtherProblem[];
}

/** Another thing that the same commit removed, or moved, in the same section of the same memory. */
export type FurtherProblem = Omit<Problem, "file" | "scope" | "more">;

/** A finding, and the memory it is about. */
interface Placed {
  file: string;
  scope: string;
  finding: Weighed;
}

/** In the order given: of what one commit removed, or moved, in a section the first stands for all. `isApart`: each by itself. */
export function describe(all: readonly Placed[], isApart: boolean): Problem[] {
  const first = new Map<string, Problem>();
  const problems: Problem[] = [];
  for (const { file, scope, finding } of all) {
    const further = furtherOf(finding);
    const { by, claim } = finding;
    const section = claim.place?.over.filter((each) => each.startsWith("#")) ?? [];
    const cause =
      isApart || !by || !claim.place ? null : JSON.stringify([scope, file, by.hash, finding.verdict, section]);
    const known = cause === null ? undefined : first.get(cause);
    if (known) {
      known.more.push(further);
      continue;
    }
    const problem = { file, scope, ...further, more: [] };
    if (cause !== null) first.set(cause, problem);
    problems.push(problem);
  }
  return problems;
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

function furtherOf(finding: Weighed): FurtherProblem {
  const { claim, verdict, to, confidence, written, changed, order, when } = finding;
  return {
    line: claim.line,
    claim: claim.text,
    kind: SPOKEN[claim.kind] ?? "symbol",
    what: claim.kind,
    verdict: verdict as Problem["verdict"],
    evidence: when === null ? finding.evidence : `${finding.evidence}, ${when}`,
    to: to ?? null,
    ...{ confidence, written, changed, order },
  };
}
