/**
 * Recall's look at the row cache in AssemblyScript: a fresh process runs JavaScript step by step at first, and ten thousand
 * steps are milliseconds; compiled code is quick from its first step on, and in a long-lived process it is no slower.
 *
 * scripts/build-kernel.mjs compiles this file into scan-bytes.ts. The caller lays out the memory. The layout of an entry
 * is that of store/row-entry.ts, that of a record, which stands for an entry that is on disk, of store/row-index.ts; a test
 * compares the offsets. Wherever a list of entries is taken, some of them may be records.
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

const RECORD_MAGIC: u32 = 0x3352444d;
const RECORD: usize = 48;
const RECORD_ROW_AT: usize = 4;
const RECORD_MTIME: usize = 8;
const RECORD_NAME: usize = 16;
const RECORD_VECTORS_AT: usize = 24;
const RECORD_ROW_BYTES: usize = 28;
const RECORD_FIRST_VECTOR: usize = 32;
const RECORD_LENGTH: usize = 36;
const RECORD_TEXTS: usize = 40;
const RECORD_CUES: usize = 41;
const RECORD_FLAGS: usize = 42;
const LINKED: u32 = 16;

@inline
function isRecord(entry: usize): bool {
  return load<u32>(entry) == RECORD_MAGIC;
}

@inline
function mtimeOf(entry: usize): f64 {
  return isRecord(entry) ? load<f64>(entry, RECORD_MTIME) : load<f64>(entry, AT_MTIME);
}

@inline
function lengthOf(entry: usize): f32 {
  return isRecord(entry) ? load<f32>(entry, RECORD_LENGTH) : load<f32>(entry, AT_LENGTH);
}

@inline
function vectorsOf(entry: usize): u32 {
  return isRecord(entry) ? <u32>load<u8>(entry, RECORD_TEXTS) + load<u8>(entry, RECORD_CUES) : load<u32>(entry, AT_VECTORS);
}

/** Of its file's name. */
function nameOf(entry: usize): u64 {
  const file = entry + HEAD;
  return isRecord(entry) ? load<u64>(entry, RECORD_NAME) : hashed(file, file + load<u32>(entry, AT_FILE));
}

/**
 * Writes the address of every record to `out`, 0 for one that makes no sense; how many do. Rows begin at `rowsFrom` and end
 * at `rowsEnd` of the file, vectors end at `end`, all in sixteens; there are the signs of `vectors`.
 */
export function listRecords(from: usize, count: i32, rowsFrom: u32, rowsEnd: u32, end: u32, vectors: u32, out: usize): i32 {
  let sound = 0;
  for (let i = 0; i < count; i++) {
    const at = from + <usize>i * RECORD;
    const own = vectorsOf(at);
    const row = load<u32>(at, RECORD_ROW_AT);
    const isSound =
      isRecord(at) &&
      row >= rowsFrom &&
      <u64>row + (load<u32>(at, RECORD_ROW_BYTES) >> 4) <= rowsEnd &&
      load<u32>(at, RECORD_VECTORS_AT) >= rowsEnd &&
      <u64>load<u32>(at, RECORD_VECTORS_AT) + own * (VECTOR >> 4) <= end &&
      <u64>load<u32>(at, RECORD_FIRST_VECTOR) + own <= vectors;
    store<u32>(out + (<usize>i << 2), isSound ? <u32>at : 0);
    if (isSound) sound++;
  }
  return sound;
}

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
    if (!keep(table, slots, nameOf(entry), 1)) store<u32>(place, 0);
  }
}

/** Where the last entry of this file is in the list; -1 for none. */
export function findFile(entries: usize, count: i32, name: usize, bytes: u32): i32 {
  const hash = hashed(name, name + bytes);
  for (let i = count - 1; i >= 0; i--) {
    const entry = <usize>load<u32>(entries + (<usize>i << 2));
    if (entry != 0 && (isRecord(entry) || load<u32>(entry, AT_FILE) == bytes) && nameOf(entry) == hash) return i;
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
    const slot = slotOf(table, slots, nameOf(entry));
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

/** Two of 32 bits, as store/row-index.ts makes them, where numbers of 64 bits are slow. */
function hashed(from: usize, end: usize): u64 {
  let first: u32 = 0x811c9dc5;
  let second: u32 = 0x9dc5811c;
  for (; from < end; from++) {
    const byte = <u32>load<u8>(from);
    first = (first ^ byte) * 0x01000193;
    second = (second ^ byte) * 0x85ebca6b;
    second ^= second >> 15;
  }
  return ((<u64>second) << 32) | first;
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
    const time = mtimeOf(entry);
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
  return mtimeOf(<usize>load<u32>(entries + (<usize>position << 2)));
}

/** Of the live entries: the sum of their lengths as an 8-byte number, then as 4-byte numbers how many there are, have links, have no frontmatter, have no vectors. */
export function summarise(entries: usize, count: i32, out: usize): void {
  let live = 0;
  let linked = 0;
  let plain = 0;
  let bare = 0;
  let length: f64 = 0;
  for (let i = 0; i < count; i++) {
    const entry = <usize>load<u32>(entries + (<usize>i << 2));
    if (entry == 0) continue;
    live++;
    const flags = isRecord(entry) ? <u32>load<u8>(entry, RECORD_FLAGS) : load<u32>(entry, AT_FLAGS);
    if (isRecord(entry) ? flags & LINKED : load<u32>(entry, AT_LINKS)) linked++;
    if (flags & PLAIN) plain++;
    if (vectorsOf(entry) == 0) bare++;
    length += <f64>lengthOf(entry);
  }
  store<f64>(out, length);
  store<i32>(out, live, 8);
  store<i32>(out, linked, 12);
  store<i32>(out, plain, 16);
  store<i32>(out, bare, 20);
}

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
  lengths: usize,
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
    store<f32>(lengths + (<usize>i << 2), lengthOf(entry));
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

/** The lengths of the entries from `first` to `last`. */
export function listLengths(entries: usize, first: i32, last: i32, lengths: usize): void {
  for (let i = first; i < last; i++) {
    const entry = <usize>load<u32>(entries + (<usize>i << 2));
    if (entry != 0) store<f32>(lengths + (<usize>i << 2), lengthOf(entry));
  }
}

/**
 * A term's postings: the positions of the records that have it, `count` of 4 bytes, then its weights there, of 2. Those that
 * still count are written to two rows, and their lengths to a third; how many. Positions count from `first` and end before `last`.
 */
export function takePostings(
  postings: usize,
  count: i32,
  first: u32,
  last: u32,
  entries: usize,
  positions: usize,
  weights: usize,
  lengths: usize,
): i32 {
  let found = 0;
  for (let i = 0; i < count; i++) {
    const position = first + load<u32>(postings + (<usize>i << 2));
    if (position < first || position >= last) continue;
    const entry = <usize>load<u32>(entries + (<usize>position << 2));
    if (entry == 0) continue;
    store<f32>(lengths + (<usize>position << 2), load<f32>(entry, RECORD_LENGTH));
    store<u32>(positions + (<usize>found << 2), position);
    store<f32>(weights + (<usize>found << 2), <f32>load<u16>(postings + (<usize>count << 2) + (<usize>i << 1)) * 0.25);
    found++;
  }
  return found;
}

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

/**
 * Of what is known of meaning, as 4-byte numbers: the mean of what scores count, 0 when nothing is known; mean and standard
 * deviation of the text's similarity; and of the better of text and cue.
 */
export function summariseMeaning(entries: usize, count: i32, text: usize, cue: usize, out: usize): void {
  let known = 0;
  let sum: f64 = 0;
  let texts: f64 = 0;
  let textSquares: f64 = 0;
  let bests: f64 = 0;
  let bestSquares: f64 = 0;
  for (let i = 0; i < count; i++) {
    const at = <usize>i << 2;
    const ofText = load<f32>(text + at);
    const better = max(ofText, load<f32>(cue + at));
    if (load<u32>(entries + at) == 0 || ofText == UNKNOWN) continue;
    sum += <f64>meaningOf(ofText, load<f32>(cue + at));
    texts += <f64>ofText;
    textSquares += <f64>ofText * <f64>ofText;
    bests += <f64>better;
    bestSquares += <f64>better * <f64>better;
    known++;
  }
  const all = <f64>max(1, known);
  store<f32>(out, <f32>(sum / all));
  store<f32>(out, <f32>(texts / all), 4);
  store<f32>(out, deviation(texts / all, textSquares / all), 8);
  store<f32>(out, <f32>(bests / all), 12);
  store<f32>(out, deviation(bests / all, bestSquares / all), 16);
}

function deviation(mean: f64, meanSquare: f64): f32 {
  return <f32>sqrt(max<f64>(0, meanSquare - mean * mean));
}

@inline
function meaningOf(text: f32, cue: f32): f32 {
  return text + (cue == UNKNOWN ? text : cue);
}

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
