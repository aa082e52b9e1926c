/** An Ask that tries again: what may pass by itself is waited for, within a budget. */

import type { Ask, AskAnswer } from "./ask.ts";
import { NO_USAGE } from "./ask.ts";

export interface RetryWorld {
  /** Milliseconds of any clock that does not jump. */
  now: () => number;
  /** Ends early when the signal is aborted; must not reject. */
  sleep: (ms: number, signal?: AbortSignal) => Promise<void>;
  /** From 0 up to 1. */
  random: () => number;
}

export interface RetryBudget {
  attempts: number;
  /** No attempt is started later than this after the first. How long one takes is bounded by its own silence. */
  totalMs: number;
}

/** Five refusals in a row are seen in practice when a provider is overloaded; two minutes is what a person waits. */
const RETRY_BUDGET: RetryBudget = { attempts: 6, totalMs: 120_000 };

const FIRST_WAIT_MS = 500;
const LONGEST_WAIT_MS = 20_000;

/** Must not throw. The last error is returned when the budget is spent, or at once if the provider asks for a longer wait. */
export function withRetries(ask: Ask, world: RetryWorld, budget: RetryBudget = RETRY_BUDGET): Ask {
  return async (request) => {
    const until = world.now() + budget.totalMs;
    for (let attempt = 1; ; attempt++) {
      const answer = await ask(request);
      if (answer.ok || !answer.error.retriable) return answer;
      const { error } = answer;
      const waitMs = Math.max(backoffMs(attempt, world.random), error.retryAfterMs ?? 0);
      if (attempt >= budget.attempts || world.now() + waitMs > until) return gaveUp(answer, attempt);
      request.onRetry?.({ attempt, waitMs, error, spent: answer.partial?.usage ?? NO_USAGE });
      await world.sleep(waitMs, request.signal);
      if (request.signal?.aborted) {
        const message = `stopped while waiting to try again after: ${error.message}`;
        return { ...answer, error: { kind: "aborted", message, retriable: false } };
      }
    }
  };
}

/** Doubles each time; the second half of it is left to chance, so that many programs do not come back at the same moment. */
function backoffMs(attempt: number, random: () => number): number {
  const full = Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** (attempt - 1));
  return Math.round(full * (0.5 + random() / 2));
}

function gaveUp(answer: Extract<AskAnswer, { ok: false }>, attempts: number): AskAnswer {
  const { error } = answer;
  const wait = error.retryAfterMs ? `; it asks to wait ${Math.ceil(error.retryAfterMs / 1000)} s` : "";
  const tried = attempts > 1 ? ` (tried ${attempts} times)` : "";
  return { ...answer, error: { ...error, message: `${error.message}${wait}${tried}` } };
}
