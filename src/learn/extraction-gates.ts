/** The gates before an extraction: whether the turn that just ended is worth a call, and if not, why. */

import type { LearnMode } from "./proposal.ts";

export interface GateState {
  /** The user's switch for extraction. */
  enabled: boolean;
  isSubAgent: boolean;
  mode: LearnMode;
  /** Since the cursor. */
  newMessages: number;
  /** Turns that nothing was extracted from yet, this one included. */
  turnsSince: number;
  /** Every how many turns it may run. */
  everyTurns: number;
  /** By the agent or by hand. */
  memoryWrittenInTurn: boolean;
  budget: { ok: true } | { ok: false; reason: string };
  /** The user said "remember this", in whatever words. */
  explicit: boolean;
}

/** `advance`: what was said counts as handled. */
export type GateAnswer = { go: true } | { go: false; reason: string; advance: boolean };

/**
 * What the user asked for in so many words passes the switch, the throttle and the check for a memory written in this turn;
 * neither a scope in which nothing may be kept, nor a budget that is used up.
 */
export function checkGates(state: GateState): GateAnswer {
  if (state.mode === "off") return stop("learning is off in this scope");
  if (state.mode === "read-only") return stop("memories are only read in this scope");
  if (state.isSubAgent) return stop("it is a sub-agent's turn");
  if (!state.enabled && !state.explicit) return stop("extraction is switched off");
  if (state.newMessages <= 0) return stop("nothing was said since the last time");
  if (!state.explicit) {
    if (state.memoryWrittenInTurn) return stop("a memory was written in this turn", true);
    if (state.turnsSince < state.everyTurns) {
      return stop(`turn ${state.turnsSince} of ${state.everyTurns}: it runs on every ${ordinal(state.everyTurns)}`);
    }
  }
  if (!state.budget.ok) return stop(state.budget.reason);
  return { go: true };
}

function stop(reason: string, advance = false): GateAnswer {
  return { go: false, reason, advance };
}

function ordinal(number: number): string {
  const teen = number % 100 >= 11 && number % 100 <= 13;
  return `${number}${(teen ? undefined : ["th", "st", "nd", "rd"][number % 10]) ?? "th"}`;
}
