/** What calls to a model cost: tokens as it reports them, or as they are estimated, and money by the prices that the user has set. */

import { type Ask, NO_USAGE, TOKEN_KINDS, type Usage, usedNothing } from "./ask.ts";

export { TOKEN_KINDS };

/** Per million tokens of each kind, in the user's currency. */
export type Price = Readonly<Usage>;

/**
 * Per million tokens. No provider's price is built in: they change without notice, and a wrong sum is worse than none.
 * By model as MEMDIR_MODEL names it, `anthropic/claude-*`; a star stands for any text. The most specific pattern wins.
 */
export type Prices = Readonly<Record<string, Price>>;

/** Models on the user's own machine cost nothing by the token; the user's prices come before these. */
export const BUILT_IN_PRICES: Prices = { "ollama/*": NO_USAGE };

const PRICED_TOKENS = 1_000_000;

/** Null: unknown, which must never be shown or added up as zero. */
export function costOf(model: string, usage: Usage, prices: Prices = {}): number | null {
  const price = findPrice(model, prices);
  return price && TOKEN_KINDS.reduce((sum, kind) => sum + usage[kind] * price[kind], 0) / PRICED_TOKENS;
}

export interface Sum {
  tokens: number;
  /** Null when a model was used whose price is unknown. */
  cost: number | null;
  calls: number;
  /** The models without a price. */
  unpriced: string[];
}

/** A cached token costs about a tenth of a fresh one, and forks read little else. */
const CACHED_SHARE = 0.1;

/** What a budget counts of a call. */
export function countTokens({ input, output, cacheRead, cacheWrite }: Usage): number {
  return input + output + cacheWrite + Math.ceil(cacheRead * CACHED_SHARE);
}

export function sumUp(calls: readonly { model: string; usage: Usage }[], prices: Prices = {}): Sum {
  const sum: Sum = { tokens: 0, cost: 0, calls: calls.length, unpriced: [] };
  for (const { model, usage } of calls) {
    const cost = costOf(model, usage, prices);
    sum.tokens += countTokens(usage);
    sum.cost = cost === null || sum.cost === null ? null : sum.cost + cost;
    if (cost === null && !sum.unpriced.includes(model)) sum.unpriced.push(model);
  }
  return sum;
}

export function findPrice(model: string, prices: Prices = {}): Price | null {
  return findIn(model, prices) ?? findIn(model, BUILT_IN_PRICES);
}

function findIn(model: string, prices: Prices): Price | null {
  const said = (pattern: string) => (pattern.includes("*") ? pattern.replaceAll("*", "").length : Infinity);
  const fitting = Object.keys(prices).filter((pattern) => fits(model, pattern));
  const [best] = fitting.sort((a, b) => Math.sign(said(b) - said(a)) || 0);
  return best === undefined ? null : prices[best]!;
}

/** Matches piece by piece, each as early as possible: a regular expression with many stars could take forever. */
function fits(model: string, pattern: string): boolean {
  const [first = "", ...pieces] = pattern.split("*");
  const last = pieces.pop();
  if (last === undefined) return model === pattern;
  if (!model.startsWith(first)) return false;
  let at = first.length;
  for (const piece of pieces) {
    const found = model.indexOf(piece, at);
    if (found < 0) return false;
    at = found + piece.length;
  }
  return model.length - last.length >= at && model.endsWith(last);
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
