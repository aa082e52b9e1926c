/** Age as a slight disadvantage in the order of results, by type; it never hides a memory. */

import type { MemoryType } from "../store/store.ts";

/** After this many days half of the disadvantage is reached: plans pass, corrections stay. */
const HALF_DAYS: Readonly<Record<MemoryType, number>> = { project: 30, reference: 180, user: 365, feedback: 730 };

/** The most that age takes away: enough to decide between equals, too little to turn a clear order. */
const MOST = 0.08;
export const LEAST_DECAY = 1 - MOST;

const DAY_MS = 86_400_000;

/** What the score is multiplied with: 1 for what is new, never less than 1 - MOST. */
export function decayOf(type: MemoryType, thenMs: number, nowMs: number): number {
  const days = Math.max(0, nowMs - thenMs) / DAY_MS;
  return 1 - MOST * (1 - 2 ** (-days / HALF_DAYS[type]));
}
