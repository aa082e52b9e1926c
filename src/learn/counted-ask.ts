/** A model whose every answer counts: where the provider does not say what it cost, that is guessed, so that a budget holds. */

import { type Ask, NO_USAGE, type Usage, usedNothing } from "../model/ask.ts";

/** As texts in Latin letters and code have it. */
const CHARS_PER_TOKEN = 4;

export function countAnswers(ask: Ask): Ask {
  return async (request) => {
    const answer = await ask(request);
    if (!answer.ok || isCounted(answer.usage)) return answer;
    const { system, messages, tools = [] } = request;
    const usage = { ...NO_USAGE, input: guess([system, messages, tools]), output: guess(answer.content) };
    return { ...answer, usage };
  };
}

/** No provider answers for nothing, or for less. */
function isCounted(usage: Usage): boolean {
  return !usedNothing(usage) && Object.values(usage).every((amount) => Number.isFinite(amount) && amount >= 0);
}

function guess(value: unknown): number {
  return Math.ceil(JSON.stringify(value).length / CHARS_PER_TOKEN);
}
