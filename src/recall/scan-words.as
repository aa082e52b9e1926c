/** Words of a prompt in rows, for scan.as. */

import { AT_RANK_AT, AT_TERMS, lengthOf, RECORD_LENGTH } from "./row-layout";

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
