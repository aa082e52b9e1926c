/** Two people's changes to one text laid together, line by line, against the text that both began with. */

import { diff3Merge } from "node-diff3";

interface Merged {
  lines: string[];
  /** Places that both have changed, or that touch: there ours stand. */
  conflicts: number;
}

interface Region {
  ok?: string[];
  conflict?: { a: string[] };
}

export function merge3(base: readonly string[], ours: readonly string[], theirs: readonly string[]): Merged {
  const regions = diff3Merge([...ours], [...base], [...theirs], { excludeFalseConflicts: true }) as Region[];
  return {
    lines: regions.flatMap(({ ok, conflict }) => ok ?? conflict?.a ?? []),
    conflicts: regions.filter(({ conflict }) => conflict).length,
  };
}
