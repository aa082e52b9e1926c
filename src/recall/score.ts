/**
 * How words and meaning become one number. The warm ranker and the hot path find the parts in different ways and both
 * weigh them here. `docs/recall.md` says on what the constants were measured.
 */

/** Term frequency saturates early, and length matters little: memories are short. */
const K1 = 0.9;
const B = 0.4;
/** In a handful of memories every word is in few of them: rarity is counted as if there were this many. */
const MIN_COUNT = 30;
/** Beyond this, rarer is not more telling: a typing error is the rarest of all. */
const MAX_RARITY = 5.5;
/** A word this common says nothing certain about any one memory. */
const CERTAIN_RARITY = 2;

const WORDS = 0.03;
/** Ordinary words give every memory some score; only what covers this much of the prompt's weight is evidence. */
const COVERAGE_FLOOR = 0.12;
const COVERAGE = 6;
const RARE_WORDS = 0.06;

/** How telling a term is, by the number of memories that have it. */
export function rarityOf(having: number, count: number): number {
  const all = Math.max(count, MIN_COUNT);
  return Math.min(MAX_RARITY, Math.log(1 + (all - having + 0.5) / (having + 0.5)));
}

/** 0 for none, towards K1 + 1 for many. */
export function saturate(weight: number, length: number, meanLength: number): number {
  return (weight * (K1 + 1)) / (weight + K1 * (1 - B + (B * length) / meanLength));
}

/** What a term found in a memory adds to its words, and to what is certain about it. */
export function certainty(rarity: number): number {
  return Math.max(0, rarity - CERTAIN_RARITY);
}

export interface Parts {
  /** Similarity of the whole text and of the best cue, together from -2 to 2; 0 when meaning is not known. */
  meaning: number;
  /** Σ rarity · saturated frequency over the prompt's terms. */
  words: number;
  /** The same with only what is certain. */
  rare: number;
  /** Σ rarity over all terms of the prompt. */
  total: number;
}

/** For the order of memories. */
export function scoreOf({ meaning, words, total }: Parts): number {
  const coverage = total === 0 ? 0 : words / (total * (K1 + 1));
  return meaning + WORDS * words + COVERAGE * Math.max(0, coverage - COVERAGE_FLOOR);
}

/** For the question whether a memory is to be shown at all; comparable between prompts. */
export function confidenceOf({ meaning, rare }: Parts): number {
  return meaning + RARE_WORDS * rare;
}
