/** What could go, from what `rot` found: each with its reason. A suggestion only: somebody has to say yes. */

import type { Memory } from "../store/store.ts";
import type { Rot } from "./rot.ts";
import type { RotFinding, RotKind } from "./rot-kind.ts";

export interface Suggestion {
  file: string;
  reason: string;
  /** A correction: the user may forget it, nothing here does. */
  byHand: boolean;
  /** What says it then: these must stay. */
  instead: string[];
}

/**
 * The surest reason first. What is merely large, unlinked or without cues can be mended; what holds a secret must be;
 * a near-duplicate may hold words of its own, which a dream takes along.
 */
const REASONS: readonly (readonly [kind: RotKind, reason: (finding: RotFinding) => string])[] = [
  ["duplicate", ({ detail }) => detail],
  ["expired", ({ detail }) => detail],
  ["restated", ({ detail }) => detail],
  ["contradiction", ({ detail }) => `contradicted by a newer one: ${detail}`],
  ["never-recalled", ({ detail }) => `never recalled: ${detail}`],
];

/** Pinned memories are left out, and of two that say the same or contradict one another at least one stays. */
export function suggestPrune(rot: Pick<Rot, "findings">, memories: readonly { memory: Memory }[]): Suggestion[] {
  const known = new Map(memories.map(({ memory }) => [memory.file, memory]));
  const kept = new Set<string>();
  const found = new Map<string, Suggestion>();
  for (const [kind, reasonOf] of REASONS) {
    for (const finding of rot.findings) {
      const { file, others } = finding;
      if (finding.kind !== kind || found.has(file) || kept.has(file)) continue;
      const memory = known.get(file);
      if (!memory || memory.pinned || memory.problems.length > 0) continue;
      // A correction that an instruction file holds is not lost; for any other reason it stays unmentioned.
      const byHand = memory.type === "feedback";
      if ((byHand && kind !== "restated") || others.some((other) => found.has(other))) continue;
      for (const other of others) kept.add(other);
      found.set(file, { file, reason: reasonOf(finding), byHand, instead: others });
    }
  }
  return [...found.values()].sort((a, b) => (a.file < b.file ? -1 : 1));
}
