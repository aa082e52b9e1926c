/** What came of an extraction: whether it was a success, and what it produced. */

import type { LoopResult } from "../model/agent-loop.ts";
import { saysNothingToKeep } from "../prompts/learning.ts";
import type { Kept } from "./extraction-keeper.ts";
import type { Proposal } from "./proposal.ts";

export interface Outcome {
  saved: readonly Kept[];
  /** Drafts that were not kept, with the reason. */
  refused: readonly string[];
  /** Calls of tools. */
  calls: number;
  failed: string | null;
}

/** A run that did nothing must have said so in the words that it was told; any other words are a claim. */
export function findFailure(
  loop: LoopResult,
  result: Omit<Outcome, "failed">,
  fault: string | null,
  same: number,
): string | null {
  const { ended, error, text } = loop;
  const { saved, refused, calls } = result;
  if (ended === "aborted") return "it was stopped";
  if (ended === "error") return error?.message ?? "the model did not answer";
  if (fault !== null) return fault;
  // What is there already was kept by an earlier run, such as one that was killed before its cursor moved.
  const kept = saved.length + same;
  if (ended === "turns") return kept > 0 ? null : `it kept nothing in ${loop.turns} turns`;
  if (ended !== "done") return `the model's answer was ${ended === "length" ? "cut off" : ended}`;
  // What our own checks refuse, they would refuse again.
  if (kept > 0 || refused.length > 0 || saysNothingToKeep(text)) return null;
  return calls === 0 ? "it called no tool and did not say that there is nothing to keep" : "it wrote nothing";
}

/** For the ledger. */
export function describeOutcome({ saved, failed }: Pick<Outcome, "saved" | "failed">): string {
  const written = saved.filter(({ action }) => action !== "inbox");
  const count = (action: Proposal["action"]) => written.filter(({ proposal }) => proposal.action === action).length;
  const parts = [
    `${count("save")} saved`,
    `${count("update")} updated`,
    `${saved.length - written.length} in the inbox`,
  ].filter((part) => !part.startsWith("0 "));
  const produced = parts.join(", ") || "nothing";
  return failed === null ? produced : `${produced} (${failed})`;
}
