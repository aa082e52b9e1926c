/** The order of memories for a prompt: words by term, meaning by vector, both weighed in score.ts. */

import { findSorted } from "../text/sorted.ts";
import type { Corpus } from "./corpus.ts";
import { decayOf } from "./decay.ts";
import { DIMENSIONS, type Entry } from "./entry.ts";
import { type Links, MOST_FROM_NEIGHBOUR, resolveLinks } from "./links.ts";
import type { Query, Term } from "./query.ts";
import {
  certainty,
  confidenceInWords,
  confidenceOf,
  meaningOf,
  rarityOf,
  saturate,
  scoreOf,
  UNKNOWN,
} from "./score.ts";
import { hasCjk } from "./terms.ts";

const MAX_WORD_CHARACTERS = 40;

export interface Ranked {
  entry: Entry;
  /** The directory's number. */
  owner: number;
  score: number;
  confidence: number;
  /** Words of the prompt that it has. */
  words: string[];
  /** Which text came nearest, and how near; null without meaning. */
  nearest: { isCue: boolean; number: number; similarity: number } | null;
  /** It ranks through a memory that it belongs with. */
  isLinked: boolean;
  supersededBy: string | null;
}

/** The best ones first; never more than `limit`. */
export function rank(corpus: Corpus, query: Query, options: { nowMs: number; limit: number }): Ranked[] {
  if (corpus.count === 0) return [];
  corpus.links ??= resolveLinks(corpus.entries);
  const found = findWords(corpus, query, corpus.links);
  // Without a single vector it is as if there were no meaning: confidence is then on the scale of words.
  const meaning = query.vector && corpus.vectors.count > 0 ? findMeaning(corpus, query.vector) : null;
  const scores = new Float64Array(corpus.entries.length).fill(ABSENT);
  const candidates: number[] = [];
  const weigh = (at: number) => {
    const entry = corpus.entries[at];
    if (!entry) return;
    const parts = partsAt(at, found, meaning);
    if (parts.meaning <= 0 && parts.words <= 0) return;
    const thenMs = entry.saidMs || entry.mtimeMs;
    scores[at] = scoreOf(parts.meaning, parts.words, found.total) * decayOf(entry.type, thenMs, options.nowMs);
    candidates.push(at);
  };
  // Without vectors only memories that share a word can have a score.
  if (meaning) for (let at = 0; at < corpus.entries.length; at++) weigh(at);
  else for (const at of found.touched) weigh(at);
  const { superseded, heirs } = placeSuccessors(corpus, corpus.links, scores, candidates);
  const sureness = (at: number): number => {
    const { meaning: near, words, rare } = partsAt(at, found, meaning);
    return meaning ? confidenceOf(near, rare) : confidenceInWords(words, rare, found.total);
  };
  return best(candidates, scores, options.limit).map((at) => {
    const entry = corpus.entries[at] as Entry;
    const parts = partsAt(at, found, meaning);
    const words = query.terms.filter(({ hash }) => findSorted(entry.terms, hash) >= 0).map(nameOf);
    const successor = superseded.get(at);
    return {
      entry,
      owner: corpus.owners[at] as number,
      score: scores[at] as number,
      // Whoever is shown what was replaced is shown what replaced it.
      confidence: Math.max(sureness(at), ...(heirs.get(at) ?? []).map(sureness)),
      words: [...new Set(words)],
      nearest: meaning && nearestOf(corpus, meaning, at),
      isLinked: words.length === 0 && parts.words > 0,
      supersededBy: successor === undefined ? null : (corpus.entries[successor] as Entry).file,
    };
  });
}

/** As it stood in the prompt; of text without spaces only the part that was found. */
function nameOf({ term, word }: Term): string {
  return hasCjk(term) ? term : word.replace(/^[^\p{L}\p{N}]+|[^\p{L}\p{N}]+$/gu, "").slice(0, MAX_WORD_CHARACTERS);
}

interface Words {
  words: Float64Array;
  rare: Float64Array;
  total: number;
  touched: number[];
}

function findWords(corpus: Corpus, query: Query, links: Links): Words {
  const size = corpus.entries.length;
  const words = new Float64Array(size);
  const rare = new Float64Array(size);
  const touched: number[] = [];
  const meanLength = corpus.totalLength / corpus.count || 1;
  let total = 0;
  for (const { hash, weight } of query.terms) {
    const posting = corpus.postings.get(hash) ?? [];
    const having = countLive(corpus, posting);
    const rarity = rarityOf(having, corpus.count) * weight;
    total += rarity;
    if (having === 0) continue;
    const certain = certainty(rarity / weight) * weight;
    const add = (at: number, count: number) => {
      const entry = corpus.entries[at];
      if (!entry) return;
      const strength = saturate(count, entry.length, meanLength);
      if (words[at] === 0) touched.push(at);
      (words[at] as number) += rarity * strength;
      (rare[at] as number) += certain * strength;
    };
    if (links.neighbours.size === 0) {
      for (let i = 0; i < posting.length; i += 2) add(posting[i] as number, posting[i + 1] as number);
    } else for (const [at, count] of spread(corpus, posting, links)) add(at, count);
  }
  return { words, rare, total, touched };
}

/** A word of a linked memory counts here too, for less. */
function spread(corpus: Corpus, posting: readonly number[], links: Links): Map<number, number> {
  const counts = new Map<number, number>();
  for (let i = 0; i < posting.length; i += 2) {
    const at = posting[i] as number;
    const count = posting[i + 1] as number;
    if (!corpus.entries[at]) continue;
    counts.set(at, (counts.get(at) ?? 0) + count);
    for (const { at: to, weight } of links.neighbours.get(at) ?? []) {
      counts.set(to, (counts.get(to) ?? 0) + Math.min(count, MOST_FROM_NEIGHBOUR) * weight);
    }
  }
  return counts;
}

function countLive(corpus: Corpus, posting: readonly number[]): number {
  if (corpus.count === corpus.entries.length) return posting.length / 2;
  let live = 0;
  for (let i = 0; i < posting.length; i += 2) if (corpus.entries[posting[i] as number]) live++;
  return live;
}

interface Meaning {
  /** -2 where nothing is known. */
  text: Float32Array;
  cue: Float32Array;
  bestText: Int32Array;
  bestCue: Int32Array;
  /** For memories without vectors: they stand in the middle and move by their words. */
  middle: number;
}

function findMeaning(corpus: Corpus, vector: Float32Array): Meaning {
  const size = corpus.entries.length;
  const text = new Float32Array(size).fill(UNKNOWN);
  const cue = new Float32Array(size).fill(UNKNOWN);
  const bestText = new Int32Array(size).fill(-1);
  const bestCue = new Int32Array(size).fill(-1);
  const { values, starts, scales, owners, isCue, count } = corpus.vectors;
  for (let i = 0; i < count; i++) {
    const at = owners[i] as number;
    const similarity = dot(vector, values, starts[i] as number) * (scales[i] as number);
    const best = isCue[i] ? cue : text;
    if (similarity > (best[at] as number)) {
      best[at] = similarity;
      (isCue[i] ? bestCue : bestText)[at] = i;
    }
  }
  let sum = 0;
  let known = 0;
  for (let at = 0; at < size; at++) {
    if (text[at] === UNKNOWN || !corpus.entries[at]) continue;
    sum += meaningOf(text[at] as number, cue[at] as number);
    known++;
  }
  return { text, cue, bestText, bestCue, middle: known === 0 ? 0 : sum / known };
}

function partsAt(at: number, found: Words, meaning: Meaning | null) {
  const text = meaning ? (meaning.text[at] as number) : UNKNOWN;
  const known = meaning && text !== UNKNOWN ? meaningOf(text, meaning.cue[at] as number) : (meaning?.middle ?? 0);
  return {
    meaning: known,
    words: found.words[at] as number,
    rare: found.rare[at] as number,
  };
}

/** Four sums at a time: what keeps a plain loop from its speed is waiting for the last addition. */
function dot(query: Float32Array, values: Int8Array, at: number): number {
  let a = 0;
  let b = 0;
  let c = 0;
  let d = 0;
  for (let i = 0; i < DIMENSIONS; i += 4) {
    a += (query[i] as number) * (values[at + i] as number);
    b += (query[i + 1] as number) * (values[at + i + 1] as number);
    c += (query[i + 2] as number) * (values[at + i + 2] as number);
    d += (query[i + 3] as number) * (values[at + i + 3] as number);
  }
  return a + b + c + d;
}

const ABSENT = -Infinity;
/** Longer chains, and circles, are left as they are then. */
const MAX_GENERATIONS = 8;

/** What a memory replaces stands under it, and it stands at least as high as what it replaces. */
function placeSuccessors(corpus: Corpus, links: Links, scores: Float64Array, candidates: number[]) {
  const pairs = links.successors.filter(([old, heir]) => corpus.entries[old] && corpus.entries[heir]);
  const heirs = new Map<number, Set<number>>();
  // A pair may come before the one that lifts its old memory: as many rounds as generations.
  for (let round = 0, moved = true; moved && round < MAX_GENERATIONS; round++) {
    moved = false;
    for (const [old, heir] of pairs) {
      if (scores[old] === ABSENT) continue;
      const from = heirs.get(heir) ?? new Set();
      for (const each of [old, ...(heirs.get(old) ?? [])]) if (each !== heir) from.add(each);
      heirs.set(heir, from);
      if ((scores[heir] as number) >= (scores[old] as number)) continue;
      if (scores[heir] === ABSENT) candidates.push(heir);
      scores[heir] = scores[old] as number;
      moved = true;
    }
  }
  for (let round = 0; round < MAX_GENERATIONS; round++) {
    for (const [old, heir] of pairs) {
      const under = (scores[heir] as number) - Math.abs(scores[heir] as number) * 0.001 - 1e-6;
      if (scores[old] !== ABSENT && (scores[old] as number) > under) scores[old] = under;
    }
  }
  return { superseded: new Map(pairs), heirs: new Map([...heirs].map(([at, from]) => [at, [...from]])) };
}

/** The `limit` best, in order; equal ones in the order in which they were added. */
function best(candidates: number[], scores: Float64Array, limit: number): number[] {
  const compare = (a: number, b: number) => (scores[b] as number) - (scores[a] as number) || a - b;
  if (candidates.length <= limit * 4) return candidates.sort(compare).slice(0, limit);
  let top: number[] = [];
  let floor = -Infinity;
  for (const at of candidates) {
    if ((scores[at] as number) < floor) continue;
    top.push(at);
    if (top.length < limit * 4) continue;
    top = top.sort(compare).slice(0, limit);
    floor = scores[top[limit - 1] as number] as number;
  }
  return top.sort(compare).slice(0, limit);
}

function nearestOf(corpus: Corpus, meaning: Meaning, at: number): Ranked["nearest"] {
  const text = meaning.text[at] as number;
  const cue = meaning.cue[at] as number;
  if (text === UNKNOWN && cue === UNKNOWN) return null;
  const isCue = cue > text;
  const vector = (isCue ? meaning.bestCue : meaning.bestText)[at] as number;
  let first = vector;
  while (first > 0 && corpus.vectors.owners[first - 1] === at && corpus.vectors.isCue[first - 1] === (isCue ? 1 : 0)) {
    first--;
  }
  return { isCue, number: vector - first, similarity: Math.max(text, cue) };
}
