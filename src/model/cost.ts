/** What calls to a model cost: tokens as it reports them, or as they are estimated, and money by the prices that the user has set. */

import { literally, spread } from "../text/pattern.ts";
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

export type Sum = ReturnType<typeof sumUp>;

/** A cached token costs about a tenth of a fresh one, and forks read little else. */
const CACHED_SHARE = 0.1;

/** What a budget counts of a call. */
export function countTokens({ input, output, cacheRead, cacheWrite }: Usage): number {
  return input + output + cacheWrite + Math.ceil(cacheRead * CACHED_SHARE);
}

export function sumUp(calls: readonly { model: string; usage: Usage }[], prices: Prices = {}) {
  const costs = calls.map(({ model, usage }) => ({ model, cost: costOf(model, usage, prices) }));
  const unpriced = [...new Set(costs.flatMap(({ model, cost }) => (cost === null ? [model] : [])))];
  return {
    tokens: calls.reduce((sum, { usage }) => sum + countTokens(usage), 0),
    /** Null when a model was used whose price is unknown. */
    cost: unpriced.length > 0 ? null : costs.reduce((sum, { cost }) => sum + (cost ?? 0), 0),
    calls: calls.length,
    /** The models without a price. */
    unpriced,
  };
}

export function findPrice(model: string, prices: Prices = {}): Price | null {
  return findIn(model, prices) ?? findIn(model, BUILT_IN_PRICES);
}

function findIn(model: string, prices: Prices): Price | null {
  const said = (pattern: string) => (pattern.includes("*") ? pattern.replaceAll("*", "").length : Infinity);
  const fits = (pattern: string) => new RegExp(spread(pattern.split("*").map(literally)), "s").test(model);
  const [best] = Object.keys(prices)
    .filter(fits)
    .sort((a, b) => Math.sign(said(b) - said(a)) || 0);
  return best === undefined ? null : prices[best]!;
}

/**
 * A model whose every answer counts: if the provider does not report usage, it is estimated, so that a budget still
 * works.
 */
export function countAnswers(ask: Ask): Ask {
  return async (request) => {
    const answer = await ask(request);
    if (!answer.ok || isCounted(answer.usage)) return answer;
    const { system, messages, tools = [] } = request;
    const usage = { ...NO_USAGE, input: estimate([system, messages, tools]), output: estimate(answer.content) };
    return { ...answer, usage };
  };
}

/** No answer costs less than this. */
function isCounted(usage: Usage): boolean {
  return !usedNothing(usage) && Object.values(usage).every((amount) => Number.isFinite(amount) && amount >= 0);
}

function estimate(value: unknown): number {
  return approximateTokens(JSON.stringify(value));
}

/**
 * An estimate, within about a quarter of what tokenizers count: four ASCII characters are a token in English and code, a
 * character of Chinese, Japanese or Korean is about one, and so are two units of any other script or of an emoji.
 */
export function approximateTokens(text: string): number {
  // Nearly all text is ASCII: the engine counts its bytes many times faster than a loop.
  if (Buffer.byteLength(text) === text.length) return Math.ceil(text.length / 4);
  let [ascii, cjk, other] = [0, 0, 0];
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    if (unit < 0x80) ascii++;
    else if (CJK.some(([first, last]) => unit >= first && unit <= last)) cjk++;
    else other++;
  }
  return Math.ceil(ascii / 4 + cjk + other / 2);
}

/** Kana, ideographs, Hangul, and their full-width marks. Rarer ideographs are two units, which count as other: one token too. */
const CJK = [
  [0x3000, 0x9fff],
  [0xac00, 0xd7a3],
  [0xf900, 0xfaff],
  [0xff00, 0xffef],
] as const;
