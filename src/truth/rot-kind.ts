/** What can be wrong with memories as a whole, and what is needed to find it. */

import type { Memory } from "../store/store.ts";
import type { TermsOf } from "../text/likeness.ts";
import type { InstructionText } from "./restated.ts";

/** Worst first: the order in which they are shown. */
export const ROT_KINDS = [
  "secret",
  "unreadable",
  "false",
  "contradiction",
  "duplicate",
  "expired",
  "near-duplicate",
  "restated",
  "oversized",
  "unlinked",
  "dead-link",
  "never-recalled",
  "without-cues",
  "unverifiable",
] as const;

export type RotKind = (typeof ROT_KINDS)[number];

export interface RotFinding {
  kind: RotKind;
  file: string;
  /** Other memories that it is about. */
  others: string[];
  /** What is wrong, in words. Never a secret's value. */
  detail: string;
}

/** A memory with what its file tells. */
export interface RotMemory {
  memory: Memory;
  bytes: number;
  /** When it was last touched. */
  modifiedMs: number;
  /** Kinds of secrets with their lines, found before. */
  secrets: readonly { rule: string; line: number }[];
}

/** What checking a memory's claims against the code found; without it nothing is said about claims. */
export interface RotVerdict {
  /** In words: "names src/auth.ts, moved to src/session/auth.ts"; null when nothing is wrong. */
  problem: string | null;
  /** It was looked at, and nothing in it could be looked up. */
  isUnchecked: boolean;
}

/** Everything is an argument: what was read from disk, the clock, how words become terms. */
export interface RotInput {
  memories: readonly RotMemory[];
  now: Date;
  termsOf: TermsOf;
  /** Files that MEMORY.md and its overflow page point to; null where there is no index. */
  linked: ReadonlySet<string> | null;
  instructions: readonly InstructionText[];
  verdicts: ReadonlyMap<string, RotVerdict>;
  /** Files that were surfaced, and since when that is known; null when nothing is known. */
  surfaced: { since: string; files: ReadonlySet<string> } | null;
}
