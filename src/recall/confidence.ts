/** When a memory is sure enough to be shown: most prompts need none, and noise on every turn is what people hate. */

import type { Ranked } from "./rank.ts";

export type Method = "lexical" | "hybrid" | "model";

/** Chosen on the measured curve in docs/recall.md: below it a result is more often noise than help. */
export const FLOORS = { hybrid: 0.8, lexical: 0.2 } as const;
/** Well above the floor: what is shown there was right more often than not. */
export const SURE = { hybrid: 1.1, lexical: 0.5 } as const;
/** What is much weaker than the best is there only because something has to be fifth. */
const SHARE_OF_BEST = 0.75;

/** Those to show, in their order. */
export function sureEnough<R extends Pick<Ranked, "confidence">>(ranked: readonly R[], method: Method): R[] {
  const kind = method === "lexical" ? "lexical" : "hybrid";
  const best = Math.max(...ranked.map(({ confidence }) => confidence));
  const floor = Math.max(FLOORS[kind], best * SHARE_OF_BEST);
  return ranked.filter(({ confidence }) => confidence >= floor);
}

export function isLow(confidence: number, method: Method): boolean {
  return confidence < SURE[method === "lexical" ? "lexical" : "hybrid"];
}
