/**
 * How words and meaning become one number; the parts are found and added up by scan.as. `docs/recall.md` says on what the
 * constants were measured.
 */

/** Term frequency saturates early, and length matters little: memories are short. */
export const K1 = 0.9;
export const B = 0.4;
/** In a handful of memories every word is in few of them: rarity is counted as if there were this many. */
const MIN_COUNT = 30;
/** Beyond this, rarer is not more telling: a typing error is the rarest of all. */
const MAX_RARITY = 5.5;
/** A word this common says nothing certain about any one memory. */
const CERTAIN_RARITY = 2;

export const WORDS = 0.03;
/** Ordinary words give every memory some score; only what covers this much of the prompt's weight is evidence. */
export const COVERAGE_FLOOR = 0.12;
export const COVERAGE = 6;
const RARE_WORDS = 0.06;
/** A prompt's vector made of its words points only roughly where the model's would: it weighs less in the order. */
export const SUM_OF_WORDS = 0.6;

/** How telling a term is, by the number of memories that have it. */
export function rarityOf(having: number, count: number): number {
  const all = Math.max(count, MIN_COUNT);
  return Math.min(MAX_RARITY, Math.log(1 + (all - having + 0.5) / (having + 0.5)));
}

/** What a term found in a memory adds to its words, and to what is certain about it. */
export function certainty(rarity: number): number {
  return Math.max(0, rarity - CERTAIN_RARITY);
}

/** What stands for a similarity that is not known; a real one is between -1 and 1. */
export const UNKNOWN = -2;

/** Text and best cue together. A memory without cues is judged by its text alone, on the same scale. */
export function meaningOf(text: number, cue: number): number {
  return text + (cue === UNKNOWN ? text : cue);
}

/** How much of the prompt's weight the words cover: 0 to 1. `total` is Σ rarity over all terms of the prompt. */
function coverageOf(words: number, total: number): number {
  return total === 0 ? 0 : words / (total * (K1 + 1));
}

/** For the question whether a memory is to be shown at all; comparable between prompts. `rare` is as `words`, of what is certain. */
export function confidenceOf(meaning: number, rare: number): number {
  return meaning + RARE_WORDS * rare;
}

/** The same when nothing but words is known: then it also counts how much of the prompt they cover. */
export function confidenceInWords(words: number, rare: number, total: number): number {
  return RARE_WORDS * rare + Math.max(0, coverageOf(words, total) - COVERAGE_FLOOR);
}
