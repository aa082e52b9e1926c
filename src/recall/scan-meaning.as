/** How near rows are to a prompt's meaning, for scan.as. */

import { AT_RANK_AT, AT_VECTORS, AT_VECTORS_AT, DIMENSIONS, UNKNOWN, VALUES, VECTOR } from "./scan-rows";

/**
 * The best similarity of the text and of the cues of every entry from `first` to `last` with a prompt of 384 numbers of 16 bits,
 * times `scale`.
 */
export function matchVectors(
  entries: usize,
  first: i32,
  last: i32,
  query: usize,
  scale: f32,
  text: usize,
  cue: usize,
): void {
  for (let i = first; i < last; i++) {
    const at = <usize>i << 2;
    const entry = <usize>load<u32>(entries + at);
    const vectors: usize = entry == 0 ? 0 : entry + load<u32>(entry, AT_RANK_AT) + load<u32>(entry, AT_VECTORS_AT);
    matchEntry(vectors, entry == 0 ? 0 : load<u32>(entry, AT_VECTORS), query, scale, text + at, cue + at);
  }
}

/** The same for one entry, whose vectors are at this address. */
export function matchEntry(vector: usize, size: u32, query: usize, scale: f32, text: usize, cue: usize): void {
  let bestText = UNKNOWN;
  let bestCue = UNKNOWN;
  for (let v: u32 = 0; v < size; v++, vector += VECTOR) {
    const similarity = <f32>dot(vector + VALUES, query) * load<f32>(vector, 8) * scale;
    // Neither NaN nor beyond what a cosine can be: a broken vector is as if it were not there.
    if (!(abs(similarity) < 2)) continue;
    if (load<u32>(vector, 4) == 1) bestCue = max(bestCue, similarity);
    else bestText = max(bestText, similarity);
  }
  store<f32>(text, bestText);
  store<f32>(cue, bestCue);
}

/** The similarity of an entry's second best cue, or of its only one, and the mean of all of them, as 4-byte numbers; -2 without cues. */
export function matchCues(entry: usize, query: usize, scale: f32, out: usize): void {
  let vector = entry + load<u32>(entry, AT_RANK_AT) + load<u32>(entry, AT_VECTORS_AT);
  let best = UNKNOWN;
  let second = UNKNOWN;
  let sum: f32 = 0;
  let known: f32 = 0;
  for (let v: u32 = 0; v < load<u32>(entry, AT_VECTORS); v++, vector += VECTOR) {
    const similarity = <f32>dot(vector + VALUES, query) * load<f32>(vector, 8) * scale;
    if (load<u32>(vector, 4) != 1 || !(abs(similarity) < 2)) continue;
    second = max(second, min(best, similarity));
    best = max(best, similarity);
    sum += similarity;
    known++;
  }
  store<f32>(out, second == UNKNOWN ? best : second);
  store<f32>(out, known == 0 ? UNKNOWN : sum / known, 4);
}

/** In how many of 384 signs each of these vectors differs from the prompt, as numbers of 2 bytes. */
export function compareSigns(signs: usize, count: i32, query: usize, out: usize): void {
  const first = v128.load(query);
  const second = v128.load(query, 16);
  const third = v128.load(query, 32);
  for (let i = 0; i < count; i++, signs += 48, out += 2) {
    // At most 24 in each byte of the three together.
    const bits = i8x16.add(
      i8x16.add(
        i8x16.popcnt(v128.xor(v128.load(signs), first)),
        i8x16.popcnt(v128.xor(v128.load(signs, 16), second)),
      ),
      i8x16.popcnt(v128.xor(v128.load(signs, 32), third)),
    );
    const fours = i32x4.extadd_pairwise_i16x8_u(i16x8.extadd_pairwise_i8x16_u(bits));
    const twos = i32x4.add(fours, v128.shuffle<i32>(fours, fours, 2, 3, 0, 1));
    store<u16>(out, <u16>(i32x4.extract_lane(twos, 0) + i32x4.extract_lane(twos, 1)));
  }
}

/** Which of an entry's cues, or of the parts of its text, is nearest to the prompt: its number among them, -1 without any. */
export function nearestText(entry: usize, query: usize, isCue: bool): i32 {
  let vector = entry + load<u32>(entry, AT_RANK_AT) + load<u32>(entry, AT_VECTORS_AT);
  let number = -1;
  let best = -1;
  let most: f32 = 0;
  for (let v: u32 = 0; v < load<u32>(entry, AT_VECTORS); v++, vector += VECTOR) {
    if ((load<u32>(vector, 4) == 1) != isCue) continue;
    number++;
    const similarity = <f32>dot(vector + VALUES, query) * load<f32>(vector, 8);
    if (best >= 0 && !(similarity > most)) continue;
    best = number;
    most = similarity;
  }
  return best;
}

function dot(values: usize, query: usize): i32 {
  let sum = i32x4.splat(0);
  for (let i = 0; i < DIMENSIONS; i += 16) {
    const bytes = v128.load(values + i);
    const at = query + (<usize>i << 1);
    sum = i32x4.add(sum, i32x4.dot_i16x8_s(i16x8.extend_low_i8x16_s(bytes), v128.load(at)));
    sum = i32x4.add(sum, i32x4.dot_i16x8_s(i16x8.extend_high_i8x16_s(bytes), v128.load(at, 16)));
  }
  return (
    i32x4.extract_lane(sum, 0) +
    i32x4.extract_lane(sum, 1) +
    i32x4.extract_lane(sum, 2) +
    i32x4.extract_lane(sum, 3)
  );
}

/**
 * Of what is known of meaning, as 4-byte numbers: the mean of what scores count, 0 when nothing is known; and mean and standard
 * deviation of the better of text and cue.
 */
export function summariseMeaning(entries: usize, count: i32, text: usize, cue: usize, out: usize): void {
  let known = 0;
  let sum: f64 = 0;
  let bests: f64 = 0;
  let bestSquares: f64 = 0;
  for (let i = 0; i < count; i++) {
    const at = <usize>i << 2;
    const ofText = load<f32>(text + at);
    const better = max(ofText, load<f32>(cue + at));
    if (load<u32>(entries + at) == 0 || ofText == UNKNOWN) continue;
    sum += <f64>meaningOf(ofText, load<f32>(cue + at));
    bests += <f64>better;
    bestSquares += <f64>better * <f64>better;
    known++;
  }
  const all = <f64>max(1, known);
  store<f32>(out, <f32>(sum / all));
  const mean = bests / all;
  store<f32>(out, <f32>mean, 4);
  store<f32>(out, <f32>sqrt(max<f64>(0, bestSquares / all - mean * mean)), 8);
}

@inline
export function meaningOf(text: f32, cue: f32): f32 {
  return text + (cue == UNKNOWN ? text : cue);
}
