/** A row of the table of patterns: what a sentence worth keeping looks like, and what it becomes. */

import type { MemoryType } from "../store/store.ts";

export type Act = "remember" | "forget" | "correction" | "preference" | "decision" | "pointer";

/** What is known of a sentence besides its words. */
export interface Setting {
  /** It follows a "no": the person says how it is instead. */
  corrected: boolean;
  /** A reason is given, in the sentence or right after it. */
  reasoned: boolean;
  /** It is announced ("heads up", "by the way"), so it is said for its own sake. */
  announced: boolean;
  /** It names a day or a month. */
  dated: boolean;
}

export interface Row {
  pattern: RegExp;
  act: Act;
  /** null: by the words of the statement. */
  type: MemoryType | null;
  confidence: number;
  /** What else must hold; for patterns that are too general on their own. */
  when?: (setting: Setting, plain: string) => boolean;
  /** It speaks of the sentence before it: "that's decided". */
  back?: true;
  /** An order for work may match: the pattern itself says that it holds for longer than the task. */
  order?: true;
}

/** A group `what` in the pattern is the statement, else it is the whole sentence. */
export function row(
  act: Act,
  type: MemoryType | null,
  confidence: number,
  source: string,
  more: Pick<Row, "when" | "back" | "order"> = {},
): Row {
  return { pattern: new RegExp(source, "diu"), act, type, confidence, ...more };
}
