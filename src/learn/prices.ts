/**
 * What models cost: prices per million tokens by patterns of names, as the user states them. No provider's price is built in:
 * they change without notice, and a wrong sum is worse than none. A model that no pattern fits has no known cost.
 */

import type { Price } from "../learn-config.ts";
import type { Usage } from "../model/ask.ts";

export type { Price };

/** By model as MEMDIR_MODEL names it, `anthropic/claude-*`; a star stands for any text. The pattern that says most wins. */
export type Prices = Readonly<Record<string, Price>>;

export interface Sum {
  tokens: number;
  /** Null when a model was used whose price is unknown. */
  cost: number | null;
  calls: number;
  /** The models without a price. */
  unpriced: string[];
}

const FREE: Price = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 };

/** Models on the user's own machine cost nothing by the token; the user's prices come before these. */
export const BUILT_IN_PRICES: Prices = { "ollama/*": FREE };

const PRICED_TOKENS = 1_000_000;
/** A cached token costs about a tenth of a fresh one, and forks read little else. */
const CACHED_SHARE = 0.1;

/** Null: unknown, which is never to be shown or added up as nothing. */
export function costOf(model: string, usage: Usage, prices: Prices = {}): number | null {
  const price = findPrice(model, prices);
  if (!price) return null;
  const sum =
    usage.input * price.input +
    usage.output * price.output +
    usage.cacheRead * price.cacheRead +
    usage.cacheWrite * price.cacheWrite;
  return sum / PRICED_TOKENS;
}

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
  let best: { price: Price; said: number } | null = null;
  for (const [pattern, price] of Object.entries(prices)) {
    if (!fits(model, pattern)) continue;
    const said = pattern.includes("*") ? pattern.replaceAll("*", "").length : Number.POSITIVE_INFINITY;
    if (!best || said > best.said) best = { price, said };
  }
  return best?.price ?? null;
}

/** Piece after piece, each as early as it occurs: no expression that a pattern of many stars could keep busy. */
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
