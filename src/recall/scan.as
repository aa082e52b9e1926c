/**
 * Recall's look at the row cache in AssemblyScript: a fresh process runs JavaScript step by step at first, and ten thousand
 * steps are milliseconds; compiled code is quick from its first step on, and in a long-lived process it is no slower.
 *
 * scripts/build-kernel.mjs compiles this file and what it imports into scan-bytes.ts. The caller lays out the memory. Wherever a
 * list of entries is taken, some of them may be records, which stand for entries that are on disk.
 */

import { meaningOf } from "./scan-meaning";
import { AT_RANK_AT, AT_TERMS, RECORD_CUES, RECORD_FIRST_VECTOR, RECORD_TEXTS, UNKNOWN } from "./scan-rows";

export { listRecords, listEntries, dropEarlier, findFile, matchNames, listNewest, summarise } from "./scan-rows";
export { matchVectors, matchEntry, matchCues, compareSigns, nearestText, summariseMeaning } from "./scan-meaning";

/**
 * Which entries from `first` to `last` have which of the terms, and how much each weighs there: for each term a row of positions
 * and one of weights, `stride` bytes each, and in `having` how many. `sieve` is 8 KB of zeros: a bit for each asked hash spares most comparisons.
 */
export function matchTerms(
  entries: usize,
  first: i32,
  last: i32,
  terms: usize,
  termCount: i32,
  rows: usize,
  stride: usize,
  having: usize,
  sieve: usize,
): void {
  for (let t = 0; t < termCount; t++) {
    const hash = load<u32>(terms + (<usize>t << 2));
    const byte = sieve + ((hash & 0xffff) >> 3);
    store<u8>(byte, <u8>(<u32>load<u8>(byte) | ((<u32>1) << (hash & 7))));
  }
  for (let i = first; i < last; i++) {
    const entry = <usize>load<u32>(entries + (<usize>i << 2));
    if (entry == 0) continue;
    const size = <i32>load<u32>(entry, AT_TERMS);
    const list = entry + load<u32>(entry, AT_RANK_AT);
    for (let at = 0; at < size; at++) {
      const hash = load<u32>(list + (<usize>at << 2));
      if (((<u32>load<u8>(sieve + ((hash & 0xffff) >> 3)) >> (hash & 7)) & 1) == 0) continue;
      for (let t = 0; t < termCount; t++) {
        if (load<u32>(terms + (<usize>t << 2)) != hash) continue;
        const counter = having + (<usize>t << 2);
        const place = rows + <usize>t * stride * 2 + (<usize>load<u32>(counter) << 2);
        store<u32>(place, i);
        store<f32>(place + stride, <f32>load<u16>(list + (<usize>size << 2) + (<usize>at << 1)) * 0.25);
        store<u32>(counter, load<u32>(counter) + 1);
      }
    }
  }
}

/**
 * A term's postings: the positions of the records that have it, `count` of 4 bytes, then its weights there, of 2. Those that
 * still count are written to two rows; how many. Positions count from `first` and end before `last`.
 */
export function takePostings(
  postings: usize,
  count: i32,
  first: u32,
  last: u32,
  entries: usize,
  positions: usize,
  weights: usize,
): i32 {
  let found = 0;
  for (let i = 0; i < count; i++) {
    const position = first + load<u32>(postings + (<usize>i << 2));
    if (position < first || position >= last) continue;
    if (load<u32>(entries + (<usize>position << 2)) == 0) continue;
    store<u32>(positions + (<usize>found << 2), position);
    store<f32>(weights + (<usize>found << 2), <f32>load<u16>(postings + (<usize>count << 2) + (<usize>i << 1)) * 0.25);
    found++;
  }
  return found;
}

/** Adds what one term says to the entries that have it: `words` and `rare` grow by its rarity and certainty times its saturated weight. */
export function addTerm(
  positions: usize,
  weights: usize,
  having: i32,
  lengths: usize,
  rarity: f32,
  certainty: f32,
  k1: f32,
  b: f32,
  meanLength: f32,
  words: usize,
  rare: usize,
): void {
  for (let h = 0; h < having; h++) {
    const at = <usize>load<u32>(positions + (<usize>h << 2)) << 2;
    const weight = load<f32>(weights + (<usize>h << 2));
    const strength = (weight * (k1 + 1)) / (weight + k1 * (1 - b + (b * load<f32>(lengths + at)) / meanLength));
    store<f32>(words + at, load<f32>(words + at) + rarity * strength);
    store<f32>(rare + at, load<f32>(rare + at) + certainty * strength);
  }
}

/** score.ts's order of the memories from `first` to `last`: the meaning and a share of the words, plus a share of their coverage above a floor. -1 for what has neither. The better one of text and cue is written to `best`. */
export function scoreAll(
  entries: usize,
  first: i32,
  last: i32,
  text: usize,
  cue: usize,
  best: usize,
  words: usize,
  middle: f32,
  wordShare: f32,
  coverageShare: f32,
  coverageFloor: f32,
  coverageOfWords: f32,
  scores: usize,
): void {
  for (let i = first; i < last; i++) {
    const at = <usize>i << 2;
    const near = load<f32>(text + at);
    const nearCue = load<f32>(cue + at);
    let score: f32 = -1;
    if (load<u32>(entries + at) != 0) {
      const said = load<f32>(words + at);
      score = scoreOf(near, nearCue, said, middle, wordShare, coverageShare, coverageFloor, coverageOfWords);
    }
    store<f32>(best + at, max(near, nearCue));
    store<f32>(scores + at, score);
  }
}

/**
 * What scoreAll does, for records whose similarities are as their signs tell them: `different` from compareSigns, `cosines` is
 * what each number of differences means. The better one of text and cue is written to `best`.
 */
export function scoreSigns(
  entries: usize,
  first: i32,
  last: i32,
  different: usize,
  cosines: usize,
  best: usize,
  words: usize,
  middle: f32,
  wordShare: f32,
  coverageShare: f32,
  coverageFloor: f32,
  coverageOfWords: f32,
  scores: usize,
): void {
  for (let i = first; i < last; i++) {
    const at = <usize>i << 2;
    const entry = <usize>load<u32>(entries + at);
    let text = UNKNOWN;
    let cue = UNKNOWN;
    let score: f32 = -1;
    if (entry != 0) {
      const vector = different + (<usize>load<u32>(entry, RECORD_FIRST_VECTOR) << 1);
      const texts = vector + (<usize>load<u8>(entry, RECORD_TEXTS) << 1);
      text = least(vector, texts, cosines);
      cue = least(texts, texts + (<usize>load<u8>(entry, RECORD_CUES) << 1), cosines);
      const said = load<f32>(words + at);
      // What signs say is not certain enough to leave any of them out.
      score = max<f32>(0, scoreOf(text, cue, said, middle, wordShare, coverageShare, coverageFloor, coverageOfWords));
    }
    store<f32>(best + at, max(text, cue));
    store<f32>(scores + at, score);
  }
}

@inline
function least(from: usize, end: usize, cosines: usize): f32 {
  let least: u32 = 0xffff;
  for (; from < end; from += 2) least = min(least, <u32>load<u16>(from));
  return least > 384 ? UNKNOWN : load<f32>(cosines + (<usize>least << 2));
}

@inline
function scoreOf(
  text: f32,
  cue: f32,
  words: f32,
  middle: f32,
  wordShare: f32,
  coverageShare: f32,
  coverageFloor: f32,
  coverageOfWords: f32,
): f32 {
  const meaning = text == UNKNOWN ? middle : meaningOf(text, cue);
  const coverage = max<f32>(0, words * coverageOfWords - coverageFloor);
  return meaning > 0 || words > 0 ? max<f32>(0, meaning + wordShare * words + coverageShare * coverage) : -1;
}

/** The score that the best `limit` reach at least, -1 when there are fewer; `heap` has room for `limit` of them. */
export function floorOf(scores: usize, count: i32, limit: i32, heap: usize): f32 {
  let size = 0;
  for (let i = 0; i < count; i++) {
    const score = load<f32>(scores + (<usize>i << 2));
    if (score < 0) continue;
    if (size < limit) {
      let at = size++;
      while (at > 0) {
        const above = (at - 1) >> 1;
        const other = load<f32>(heap + (<usize>above << 2));
        if (other <= score) break;
        store<f32>(heap + (<usize>at << 2), other);
        at = above;
      }
      store<f32>(heap + (<usize>at << 2), score);
    } else if (score > load<f32>(heap)) sink(heap, size, score);
  }
  return size < limit ? -1 : load<f32>(heap);
}

/** Puts a score in the place of the least one. */
function sink(heap: usize, size: i32, score: f32): void {
  let at = 0;
  for (;;) {
    let below = at * 2 + 1;
    if (below >= size) break;
    if (below + 1 < size && load<f32>(heap + (<usize>(below + 1) << 2)) < load<f32>(heap + (<usize>below << 2))) below++;
    const other = load<f32>(heap + (<usize>below << 2));
    if (other >= score) break;
    store<f32>(heap + (<usize>at << 2), other);
    at = below;
  }
  store<f32>(heap + (<usize>at << 2), score);
}

/** Writes the positions to `out` whose score, meaning or words are at least this; how many. Those without a score do not count. */
export function listAbove(
  scores: usize,
  meaning: usize,
  words: usize,
  count: i32,
  leastScore: f32,
  leastMeaning: f32,
  leastWords: f32,
  out: usize,
): i32 {
  let found = 0;
  for (let i = 0; i < count; i++) {
    const at = <usize>i << 2;
    const score = load<f32>(scores + at);
    if (score < 0) continue;
    if (score < leastScore && !(load<f32>(meaning + at) >= leastMeaning)) {
      const said = load<f32>(words + at);
      if (!(said > 0 && said >= leastWords)) continue;
    }
    store<u32>(out + (<usize>found << 2), i);
    found++;
  }
  return found;
}
