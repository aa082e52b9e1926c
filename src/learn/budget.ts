/**
 * How much background work may cost: checked before each of its calls, never in the foreground. Nothing is reserved
 * while a call runs, so each running process may exceed a limit by one call.
 */

import { type Ask, NO_USAGE, type Usage, usedNothing } from "../model/ask.ts";
import { type Ledger, sumUp } from "./ledger.ts";

export interface Limits {
  /** Tokens as `countTokens` counts them. A limit of 0 stops all background calls, Infinity none. */
  tokensPerDay: number;
  tokensPerSession: number;
  /** In the currency of the prices; null for no such limit. */
  costPerDay: number | null;
}

export type BudgetAnswer = { ok: true } | { ok: false; reason: string };

/** Must not throw. The reason is for the ledger: it names the limit and how much of it is used. */
export function checkBudget(ledger: Ledger, limits: Limits, session: string | null): BudgetAnswer {
  // Spending that cannot be counted cannot be limited.
  const problem = ledger.problem();
  if (problem !== null) return no(problem);

  const today = ledger.today();
  if (today.tokens >= limits.tokensPerDay) {
    return no(`the daily budget is used up: ${today.tokens} of ${limits.tokensPerDay} tokens (learn.tokensPerDay)`);
  }
  if (limits.costPerDay !== null) {
    if (today.cost === null) {
      return no(
        `the cost per day is limited, but there is no price for ${today.unpriced.join(", ")}: set it in learn.prices`,
      );
    }
    if (today.cost >= limits.costPerDay) {
      return no(
        `the daily budget is used up: ${today.cost.toFixed(4)} of ${limits.costPerDay} spent (learn.costPerDay)`,
      );
    }
  }
  if (session === null) return { ok: true };
  const spent = sumUp(ledger.entries({ session })).tokens;
  if (spent >= limits.tokensPerSession) {
    return no(
      `the session's budget is used up: ${spent} of ${limits.tokensPerSession} tokens (learn.tokensPerSession)`,
    );
  }
  return { ok: true };
}

/** Tokens that background work may still take today. */
export function tokensLeft(ledger: Ledger, limits: Limits): number {
  return Math.max(0, limits.tokensPerDay - ledger.today().tokens);
}

function no(reason: string): BudgetAnswer {
  return { ok: false, reason };
}

/** The usual ratio for code and text in Latin letters. */
const CHARS_PER_TOKEN = 4;

/**
 * A model whose every answer counts: if the provider does not report usage, it is estimated, so that a budget still
 * works.
 */
export function countAnswers(ask: Ask): Ask {
  return async (request) => {
    const answer = await ask(request);
    if (!answer.ok || isCounted(answer.usage)) return answer;
    const { system, messages, tools = [] } = request;
    const usage = { ...NO_USAGE, input: guess([system, messages, tools]), output: guess(answer.content) };
    return { ...answer, usage };
  };
}

/** No answer costs less than this. */
function isCounted(usage: Usage): boolean {
  return !usedNothing(usage) && Object.values(usage).every((amount) => Number.isFinite(amount) && amount >= 0);
}

function guess(value: unknown): number {
  return Math.ceil(JSON.stringify(value).length / CHARS_PER_TOKEN);
}
