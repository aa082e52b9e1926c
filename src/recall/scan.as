/**
 * Recall's look at the row cache in AssemblyScript: a fresh process runs JavaScript step by step at first, and ten thousand
 * steps are milliseconds; compiled code is quick from its first step on, and in a long-lived process it is no slower.
 *
 * scripts/build-kernel.mjs compiles this file into scan-bytes.ts. The caller lays out the memory. The layout of an entry
 * is that of store/row-entry.ts; a test compares the offsets.
 */

const MAGIC: u32 = 0x3252444d;
const HEAD: u32 = 128;
const VECTOR: u32 = 400;
const VALUES: u32 = 16;
const DIMENSIONS: i32 = 384;
const UNKNOWN: f32 = -2;
const PLAIN: u32 = 2;

const AT_ROW_BYTES: usize = 4;
const AT_MTIME: usize = 16;
const AT_FILE: usize = 72;
const AT_LINKS: usize = 76;
const AT_NAME: usize = 80;
const AT_JSON: usize = 84;
const AT_TERMS: usize = 88;
const AT_VECTORS: usize = 92;
const AT_FLAGS: usize = 100;
const AT_LENGTH: usize = 104;
const AT_RANK_AT: usize = 108;
const AT_RANK_BYTES: usize = 112;
const AT_VECTORS_AT: usize = 120;

/**
 * Writes the address of every entry to `out`, as long as they make sense; how many there are. `limit` is where ranking parts
 * must end; with `isWhole` each one comes right behind its row part.
 */
export function listEntries(from: usize, end: usize, limit: usize, isWhole: bool, out: usize): i32 {
  let count = 0;
  for (let at = from; at + HEAD <= end; ) {
    const bytes = load<u32>(at, AT_ROW_BYTES);
    if (load<u32>(at) != MAGIC || bytes < HEAD || bytes & 15 || bytes > end - at) break;
    const names = <u64>load<u32>(at, AT_FILE) + load<u32>(at, AT_LINKS) + load<u32>(at, AT_NAME);
    if (<u64>HEAD + names + load<u32>(at, AT_JSON) > bytes) break;
    const rank = load<u32>(at, AT_RANK_BYTES);
    const rankAt = load<u32>(at, AT_RANK_AT);
    const vectors = load<u32>(at, AT_VECTORS_AT);
    if (rankAt & 15 || rank & 15 || <u64>rankAt + rank > <u64>(limit - at) || (isWhole && rankAt != bytes)) break;
    if (<u64>load<u32>(at, AT_TERMS) * 6 > vectors) break;
    if (<u64>vectors + <u64>load<u32>(at, AT_VECTORS) * VECTOR != rank) break;
    store<u32>(out + (<usize>count << 2), <u32>at);
    count++;
    at += isWhole ? bytes + rank : bytes;
  }
  return count;
}

/** Of several entries of a file the last one stays, the others become 0. `table` is zeroed, with twice as many slots as entries. */
export function dropEarlier(entries: usize, count: i32, table: usize, slots: u32): void {
  for (let i = count - 1; i >= 0; i--) {
    const place = entries + (<usize>i << 2);
    const entry = <usize>load<u32>(place);
    if (entry == 0) continue;
    const file = entry + HEAD;
    const hash = hashed(file, file + load<u32>(entry, AT_FILE));
    if (!keep(table, slots, hash, 1)) store<u32>(place, 0);
  }
}

/** Where the last entry of this file is in the list; -1 for none. */
export function findFile(entries: usize, count: i32, name: usize, bytes: u32): i32 {
  for (let i = count - 1; i >= 0; i--) {
    const entry = <usize>load<u32>(entries + (<usize>i << 2));
    if (entry == 0 || load<u32>(entry, AT_FILE) != bytes) continue;
    let same: u32 = 0;
    while (same < bytes && load<u8>(entry + HEAD + same) == load<u8>(name + same)) same++;
    if (same == bytes) return i;
  }
  return -1;
}

/**
 * Matches the entries with the names of the files that are there (separated by zeros). Of several entries of a file the
 * last one stays; the others, and those whose file is gone, become 0 in the list. Writes the numbers of names without an
 * entry to `unknown`; how many. `table` is zeroed, with `slots` (a power of two, twice the names at least) of 16 bytes.
 */
export function matchNames(
  names: usize,
  bytes: i32,
  entries: usize,
  count: i32,
  table: usize,
  slots: u32,
  unknown: usize,
): i32 {
  const end = names + bytes;
  let number: u32 = 0;
  for (let at = names; at < end; at++) {
    const start = at;
    while (at < end && load<u8>(at) != 0) at++;
    number++;
    keep(table, slots, hashed(start, at), number);
  }
  for (let i = count - 1; i >= 0; i--) {
    const place = entries + (<usize>i << 2);
    const entry = <usize>load<u32>(place);
    if (entry == 0) continue;
    const file = entry + HEAD;
    const slot = slotOf(table, slots, hashed(file, file + load<u32>(entry, AT_FILE)));
    // Whether the name is there and no later entry has claimed it.
    if (load<u32>(slot, 8) == 0 || load<u32>(slot, 12) == 1) store<u32>(place, 0);
    else store<u32>(slot, 1, 12);
  }
  let left = 0;
  for (let slot: u32 = 0; slot < slots; slot++) {
    const at = table + (<usize>slot << 4);
    if (load<u32>(at, 8) == 0 || load<u32>(at, 12) == 1) continue;
    store<u32>(unknown + (<usize>left << 2), load<u32>(at, 8) - 1);
    left++;
  }
  return left;
}

const FNV_START: u64 = 0xcbf29ce484222325;
const FNV_PRIME: u64 = 0x100000001b3;

/** Eight bytes at a step, mixed well enough for a table. */
function hashed(from: usize, end: usize): u64 {
  let hash = FNV_START;
  for (; from + 8 <= end; from += 8) {
    hash = (hash ^ load<u64>(from)) * FNV_PRIME;
    hash ^= hash >> 29;
  }
  for (; from < end; from++) hash = (hash ^ load<u8>(from)) * FNV_PRIME;
  return hash ^ (hash >> 32);
}

/** The slot of this hash: its own if it was kept, else the one that it would be kept in. */
function slotOf(table: usize, slots: u32, hash: u64): usize {
  let slot = <u32>(hash >> 32) & (slots - 1);
  let at = table + (<usize>slot << 4);
  while (load<u32>(at, 8) != 0 && load<u64>(at) != hash) {
    slot = (slot + 1) & (slots - 1);
    at = table + (<usize>slot << 4);
  }
  return at;
}

/** False when it was kept before. */
function keep(table: usize, slots: u32, hash: u64, number: u32): bool {
  const at = slotOf(table, slots, hash);
  if (load<u32>(at, 8) != 0) return false;
  store<u64>(at, hash);
  store<u32>(at, number, 8);
  return true;
}

/** Writes the positions of the entries whose files changed last to `out`, at most `limit`; how many. */
export function listNewest(entries: usize, count: i32, limit: i32, out: usize): i32 {
  let found = 0;
  for (let i = 0; i < count; i++) {
    const entry = <usize>load<u32>(entries + (<usize>i << 2));
    if (entry == 0) continue;
    const time = load<f64>(entry, AT_MTIME);
    let place = found;
    while (place > 0 && timeAt(entries, out, place - 1) < time) place--;
    if (place >= limit) continue;
    if (found < limit) found++;
    for (let k = found - 1; k > place; k--) {
      store<u32>(out + (<usize>k << 2), load<u32>(out + (<usize>(k - 1) << 2)));
    }
    store<u32>(out + (<usize>place << 2), i);
  }
  return found;
}

function timeAt(entries: usize, list: usize, place: i32): f64 {
  const position = load<u32>(list + (<usize>place << 2));
  return load<f64>(<usize>load<u32>(entries + (<usize>position << 2)), AT_MTIME);
}

/** Of the live entries: the sum of their lengths as an 8-byte number, then as 4-byte numbers how many there are, have links, have no frontmatter. */
export function summarise(entries: usize, count: i32, out: usize): void {
  let live = 0;
  let linked = 0;
  let plain = 0;
  let length: f64 = 0;
  for (let i = 0; i < count; i++) {
    const entry = <usize>load<u32>(entries + (<usize>i << 2));
    if (entry == 0) continue;
    live++;
    if (load<u32>(entry, AT_LINKS) > 0) linked++;
    if (load<u32>(entry, AT_FLAGS) & PLAIN) plain++;
    length += <f64>load<f32>(entry, AT_LENGTH);
  }
  store<f64>(out, length);
  store<i32>(out, live, 8);
  store<i32>(out, linked, 12);
  store<i32>(out, plain, 16);
}

/**
 * Which entries have which of the terms, and how much each weighs there: for each term a row of positions and one of weights,
 * `stride` bytes each, and in `having` how many. `sieve` is 8 KB of zeros: a bit for each asked hash spares most comparisons.
 */
export function matchTerms(
  entries: usize,
  count: i32,
  terms: usize,
  termCount: i32,
  rows: usize,
  stride: usize,
  lengths: usize,
  having: usize,
  sieve: usize,
): void {
  for (let t = 0; t < termCount; t++) {
    const hash = load<u32>(terms + (<usize>t << 2));
    const byte = sieve + ((hash & 0xffff) >> 3);
    store<u8>(byte, <u8>(<u32>load<u8>(byte) | ((<u32>1) << (hash & 7))));
  }
  for (let i = 0; i < count; i++) {
    const entry = <usize>load<u32>(entries + (<usize>i << 2));
    if (entry == 0) continue;
    store<f32>(lengths + (<usize>i << 2), load<f32>(entry, AT_LENGTH));
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
 * Sums the vector at `from` and the `count` rows behind it (a scale, then half a byte per dimension), and writes the sum to
 * `out` as numbers of 16 bits: what has to be multiplied with the result to give it length one.
 */
export function sumRows(from: usize, count: i32, out: usize): f32 {
  let row = from + (DIMENSIONS << 2);
  for (let r = 0; r < count; r++) {
    const scale = load<f32>(row);
    for (let i = 0; i < DIMENSIONS; i += 2) {
      const at = from + (<usize>i << 2);
      const pair = <i32>load<i8>(row + 4 + (i >> 1));
      store<f32>(at, load<f32>(at) + scale * <f32>((pair << 28) >> 28));
      store<f32>(at, load<f32>(at, 4) + scale * <f32>(pair >> 4), 4);
    }
    row += 4 + (DIMENSIONS >> 1);
  }
  let most: f32 = 0;
  let square: f32 = 0;
  for (let i = 0; i < DIMENSIONS; i++) {
    const value = load<f32>(from + (<usize>i << 2));
    most = max(most, abs(value));
    square += value * value;
  }
  if (most == 0) return 0;
  // Small enough that 384 products with bytes fit into 32 bits.
  const scale = most / 16000;
  for (let i = 0; i < DIMENSIONS; i++) {
    store<i16>(out + (<usize>i << 1), <i16>nearest(load<f32>(from + (<usize>i << 2)) / scale));
  }
  return scale / sqrt(square);
}

/** The best similarity of every entry's text and of its cues with a prompt of 384 numbers of 16 bits, times `scale`. */
export function matchVectors(entries: usize, count: i32, query: usize, scale: f32, text: usize, cue: usize): void {
  for (let i = 0; i < count; i++) {
    const entry = <usize>load<u32>(entries + (<usize>i << 2));
    let bestText = UNKNOWN;
    let bestCue = UNKNOWN;
    if (entry != 0) {
      const size = load<u32>(entry, AT_VECTORS);
      let vector = entry + load<u32>(entry, AT_RANK_AT) + load<u32>(entry, AT_VECTORS_AT);
      for (let v: u32 = 0; v < size; v++) {
        const similarity = <f32>dot(vector + VALUES, query) * load<f32>(vector, 8) * scale;
        // Neither NaN nor beyond what a cosine can be: a broken vector is as if it were not there.
        if (abs(similarity) < 2) {
          if (load<u32>(vector, 4) == 1) bestCue = max(bestCue, similarity);
          else bestText = max(bestText, similarity);
        }
        vector += VECTOR;
      }
    }
    store<f32>(text + (<usize>i << 2), bestText);
    store<f32>(cue + (<usize>i << 2), bestCue);
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

/** The mean of what is known of meaning; 0 when nothing is. */
export function meanMeaning(entries: usize, count: i32, text: usize, cue: usize): f32 {
  let sum: f64 = 0;
  let known = 0;
  for (let i = 0; i < count; i++) {
    const at = <usize>i << 2;
    if (load<u32>(entries + at) == 0 || load<f32>(text + at) == UNKNOWN) continue;
    sum += <f64>meaningOf(load<f32>(text + at), load<f32>(cue + at));
    known++;
  }
  return known == 0 ? 0 : <f32>(sum / <f64>known);
}

function meaningOf(text: f32, cue: f32): f32 {
  return text + (cue == UNKNOWN ? text : cue);
}

/** score.ts's order of memories: a share of the meaning and of the words, plus a share of their coverage above a floor. -1 for what has neither. */
export function scoreAll(
  entries: usize,
  count: i32,
  text: usize,
  cue: usize,
  words: usize,
  middle: f32,
  meaningShare: f32,
  wordShare: f32,
  coverageShare: f32,
  coverageFloor: f32,
  coverageOfWords: f32,
  scores: usize,
): void {
  for (let i = 0; i < count; i++) {
    const at = <usize>i << 2;
    let score: f32 = -1;
    if (load<u32>(entries + at) != 0) {
      const said = load<f32>(words + at);
      const near = load<f32>(text + at);
      const meaning = near == UNKNOWN ? middle : meaningOf(near, load<f32>(cue + at));
      const coverage = max<f32>(0, said * coverageOfWords - coverageFloor);
      if (meaning > 0 || said > 0)
        score = max<f32>(0, meaningShare * meaning + wordShare * said + coverageShare * coverage);
    }
    store<f32>(scores + at, score);
  }
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

/** Writes the positions whose score is at least this to `out`; how many. */
export function listAbove(scores: usize, count: i32, least: f32, out: usize): i32 {
  let found = 0;
  for (let i = 0; i < count; i++) {
    const score = load<f32>(scores + (<usize>i << 2));
    if (score < 0 || score < least) continue;
    store<u32>(out + (<usize>found << 2), i);
    found++;
  }
  return found;
}
