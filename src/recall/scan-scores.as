/** Words and meaning as one score, and the best of them, for scan.as. */

import { RECORD_CUES, RECORD_FIRST_VECTOR, RECORD_TEXTS, UNKNOWN } from "./row-layout";
import { meaningOf } from "./scan-meaning";

/** score.ts's order of memories: the meaning and a share of the words, plus a share of their coverage above a floor. -1 for what has neither. The better one of text and cue is written to `best`. */
export function scoreAll(
  entries: usize,
  count: i32,
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
  for (let i = 0; i < count; i++) {
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
  count: i32,
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
  for (let i = 0; i < count; i++) {
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
