/** The health of a whole directory: what in it is doubled, contradicted, outdated, useless or dangerous, and what to do first. */

import { findRot } from "./rot-findings.ts";
import { ROT_KINDS, type RotFinding, type RotInput, type RotKind } from "./rot-kind.ts";
import { chooseFirst, type FirstThing, scoreRot } from "./rot-score.ts";

export interface Rot {
  /** 100: nothing to mend. */
  score: number;
  memories: number;
  counts: Record<RotKind, number>;
  findings: RotFinding[];
  /** At most three, the most useful first. */
  first: FirstThing[];
}

export function measureRot(input: RotInput): Rot {
  const findings = findRot(input);
  const counts = Object.fromEntries(ROT_KINDS.map((kind) => [kind, 0])) as Record<RotKind, number>;
  for (const { kind } of findings) counts[kind]++;
  const order = new Map(ROT_KINDS.map((kind, at) => [kind, at]));
  const rankOf = ({ kind }: RotFinding) => order.get(kind) ?? 0;
  return {
    score: scoreRot(findings, input.memories.length),
    memories: input.memories.length,
    counts,
    findings: findings.sort((a, b) => rankOf(a) - rankOf(b) || (a.file < b.file ? -1 : a.file > b.file ? 1 : 0)),
    first: chooseFirst(findings),
  };
}
