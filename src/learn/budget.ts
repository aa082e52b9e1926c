/**
 * How much background work may cost: checked before each of its calls, never in the foreground. Nothing is reserved
 * while a call runs, so each running process may exceed a limit by one call.
 */

import type { Ask } from "../model/ask.ts";
import { sumUp } from "../model/cost.ts";
import type { Ledger, SpentKind } from "./ledger.ts";
import type { LearningModel } from "./model-extractor.ts";

export interface Limits {
  /** Tokens as `countTokens` counts them. A limit of 0 stops all background calls, Infinity none. */
  tokensPerDay: number;
  tokensPerSession: number;
  /** In the currency of the prices; null for no such limit. */
  costPerDay: number | null;
  /** What would be asked, if a setting names it. */
  model?: string | null;
}

export type BudgetAnswer = { ok: true } | { ok: false; reason: string };

/** Must not throw. The reason is for the ledger: it names the limit and how much of it is used. */
export function checkBudget(ledger: Ledger, limits: Limits, session: string | null): BudgetAnswer {
  const reason = findSpent(ledger, limits, session);
  return reason === null ? { ok: true } : { ok: false, reason };
}

function findSpent(ledger: Ledger, limits: Limits, session: string | null): string | null {
  const { tokensPerDay, tokensPerSession, costPerDay } = limits;
  // Spending that cannot be counted cannot be limited.
  const problem = ledger.problem();
  if (problem !== null) return problem;
  const ended = limits.model ? ledger.ended(limits.model.split("/")[0]!.toLowerCase()) : null;
  if (ended !== null) return `no more background work today: ${ended}`;
  const { tokens, cost, unpriced } = ledger.today();
  if (tokens >= tokensPerDay)
    return `the daily budget is used up: ${tokens} of ${tokensPerDay} tokens (learn.tokensPerDay)`;
  if (costPerDay !== null && cost === null)
    return `the cost per day is limited, but there is no price for ${unpriced.join(", ")}: set it in learn.prices`;
  if (costPerDay !== null && cost !== null && cost >= costPerDay)
    return `the daily budget is used up: ${cost.toFixed(4)} of ${costPerDay} spent (learn.costPerDay)`;
  const spent = session === null ? Number.NEGATIVE_INFINITY : sumUp(ledger.entries({ session })).tokens;
  if (spent < tokensPerSession) return null;
  return `the session's budget is used up: ${spent} of ${tokensPerSession} tokens (learn.tokensPerSession)`;
}

/**
 * A model that is asked nothing more today once its client is logged out or has reached a limit: nobody is there to log in, and to
 * wait for an account's limit is to wait for hours. For background work; whoever sits at a terminal is told, and decides.
 */
export function endingDay(model: LearningModel, ledger: Ledger, kind: SpentKind, session: string | null) {
  // A provider's own limits pass within minutes, and its key may be changed for the next process.
  if (model.takesTools !== false) return model;
  const ask: Ask = async (request) => {
    const answer = await model.ask(request);
    if (!answer.ok && (answer.error.kind === "rate" || answer.error.kind === "auth")) {
      const until = "it goes on tomorrow, or when `memdir doctor --model` gets an answer";
      ledger.endDay(kind, session, `${model.provider}/${model.name}`, `${answer.error.message}; ${until}`);
    }
    return answer;
  };
  return { ...model, ask };
}

/** Tokens that background work may still take today. */
export function tokensLeft(ledger: Ledger, limits: Limits): number {
  return Math.max(0, limits.tokensPerDay - ledger.today().tokens);
}
