/** When a memory is sure enough to be shown: most prompts need none, and noise on every turn is what people hate. */

/** Something that was ranked. */
export interface Confident {
  confidence: number;
}

export type Method = "lexical" | "hybrid" | "model";

/** The best one must reach this. Chosen on the measured curve in docs/recall.md: six of ten prompts that need nothing get nothing. */
const FLOORS = { hybrid: 0.72, lexical: 0.24 } as const;
/** What comes with it may be somewhat less sure, but not only be there because something has to be fifth. */
const SHARE_OF_FLOOR = 0.8;
const SHARE_OF_BEST = 0.65;
/** Well above the floor: what is shown there was right more often than not. */
const SURE = { hybrid: 0.95, lexical: 0.4 } as const;

/** Those to show, in their order. */
export function sureEnough<R extends Confident>(ranked: readonly R[], method: Method): R[] {
  const threshold = thresholdOf(ranked, method);
  return ranked.filter(({ confidence }) => confidence >= threshold);
}

/** What each of these must reach to be shown. */
export function thresholdOf(ranked: readonly Confident[], method: Method): number {
  const floor = FLOORS[method === "lexical" ? "lexical" : "hybrid"];
  const best = Math.max(...ranked.map(({ confidence }) => confidence));
  return best < floor ? floor : Math.max(floor * SHARE_OF_FLOOR, best * SHARE_OF_BEST);
}

export function isLow(confidence: number, method: Method): boolean {
  return confidence < SURE[method === "lexical" ? "lexical" : "hybrid"];
}
