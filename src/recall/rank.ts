/** The order of memories for a prompt: words by term, meaning by vector, both weighed in score.ts. */

import { findSorted } from "../text/sorted.ts";
import type { Corpus, Posting } from "./corpus.ts";
import { decayOf, LEAST_DECAY } from "./decay.ts";
import { DIMENSIONS, type Entry, WEIGHT_UNIT } from "./entry.ts";
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
import { hasCjk } from "../text/terms.ts";

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
  const scores = new Map<number, number>();
  for (const at of findFinalists(corpus, found, meaning, options.limit)) {
    const { type, saidMs, mtimeMs } = corpus.entries[at] as Entry;
    scores.set(at, scoreAt(at, found, meaning) * decayOf(type, saidMs || mtimeMs, options.nowMs));
  }
  const { superseded, heirs } = placeSuccessors(corpus, corpus.links, scores);
  const sureness = (at: number): number => {
    const rare = rareAt(corpus, query, found, at);
    const words = found.words[at] as number;
    return meaning ? confidenceOf(meaningAt(at, meaning), rare) : confidenceInWords(words, rare, found.total);
  };
  const order = [...scores].sort(([a, x], [b, y]) => y - x || a - b).slice(0, options.limit);
  return order.map(([at, score]) => {
    const entry = corpus.entries[at] as Entry;
    const words = query.terms.filter(({ hash }) => findSorted(entry.terms, hash) >= 0).map(nameOf);
    const successor = superseded.get(at);
    return {
      entry,
      owner: corpus.owners[at] as number,
      score,
      // Whoever is shown what was replaced is shown what replaced it.
      confidence: Math.max(sureness(at), ...(heirs.get(at) ?? []).map(sureness)),
      words: [...new Set(words)],
      nearest: meaning && nearestOf(corpus, meaning, at),
      isLinked: words.length === 0 && (found.words[at] as number) > 0,
      supersededBy: successor === undefined ? null : (corpus.entries[successor] as Entry).file,
    };
  });
}

/** Positions that can be among the best `limit` when age is taken into account, and few others. */
function findFinalists(corpus: Corpus, found: Words, meaning: Meaning | null, limit: number): number[] {
  // Without vectors only memories that share a word can have a score.
  const size = meaning ? corpus.entries.length : found.touched.length;
  const scores = new Float32Array(size);
  const top = new Float32Array(limit * 4);
  let filled = 0;
  let floor = -Infinity;
  for (let i = 0; i < size; i++) {
    const at = meaning ? i : (found.touched[i] as number);
    const isCandidate =
      corpus.lengths[at] !== 0 || (meaning !== null && corpus.entries[at] !== null)
        ? (meaning !== null && meaningAt(at, meaning) > 0) || (found.words[at] as number) > 0
        : false;
    const score = isCandidate ? scoreAt(at, found, meaning) : ABSENT;
    scores[i] = score;
    if (score <= floor) continue;
    top[filled++] = score;
    if (filled < top.length) continue;
    // Ascending: the best are at the end.
    top.sort();
    top.copyWithin(0, top.length - limit);
    filled = limit;
    floor = top[0] as number;
  }
  if (floor === -Infinity && filled > limit) floor = top.subarray(0, filled).sort()[filled - limit] as number;
  const least = floor > 0 ? floor * LEAST_DECAY - 1e-4 : -Number.MAX_VALUE;
  const finalists: number[] = [];
  for (let i = 0; i < size; i++) {
    if ((scores[i] as number) >= least) finalists.push(meaning ? i : (found.touched[i] as number));
  }
  return finalists;
}

/** As it stood in the prompt; of text without spaces only the part that was found. */
function nameOf({ term, word }: Term): string {
  return hasCjk(term) ? term : word.replace(/^[^\p{L}\p{N}]+|[^\p{L}\p{N}]+$/gu, "").slice(0, MAX_WORD_CHARACTERS);
}

interface Words {
  words: Float32Array;
  /** Null when nothing is linked: then it is worked out for those that need it. */
  rare: Float32Array | null;
  total: number;
  touched: number[];
  /** Of each term of the query. */
  certainties: number[];
  meanLength: number;
}

function findWords(corpus: Corpus, query: Query, links: Links): Words {
  const { lengths } = corpus;
  const hasLinks = links.neighbours.size > 0;
  const words = new Float32Array(corpus.entries.length);
  const rare = hasLinks ? new Float32Array(corpus.entries.length) : null;
  const touched: number[] = [];
  const certainties: number[] = [];
  const meanLength = corpus.totalLength / corpus.count || 1;
  let total = 0;
  for (const { hash, weight } of query.terms) {
    const posting = corpus.postings.get(hash);
    const having = posting ? countLive(corpus, posting) : 0;
    const rarity = rarityOf(having, corpus.count) * weight;
    const certain = certainty(rarity / weight) * weight;
    certainties.push(certain);
    total += rarity;
    if (!posting || having === 0) continue;
    const { positions, weights, count } = hasLinks ? spread(corpus, posting, links) : posting;
    for (let i = 0; i < count; i++) {
      const at = positions[i] as number;
      const length = lengths[at] as number;
      if (length === 0) continue;
      const strength = saturate(weights[i] as number, length, meanLength);
      if (words[at] === 0) touched.push(at);
      (words[at] as number) += rarity * strength;
      if (rare) (rare[at] as number) += certain * strength;
    }
  }
  return { words, rare, total, touched, certainties, meanLength };
}

function rareAt(corpus: Corpus, query: Query, found: Words, at: number): number {
  if (found.rare) return found.rare[at] as number;
  const { terms, weights, length } = corpus.entries[at] as Entry;
  return query.terms.reduce((sum, { hash }, i) => {
    const place = findSorted(terms, hash);
    if (place < 0) return sum;
    const weight = (weights[place] as number) / WEIGHT_UNIT;
    return sum + (found.certainties[i] as number) * saturate(weight, length, found.meanLength);
  }, 0);
}

/** A word of a linked memory counts here too, for less. */
function spread({ lengths }: Corpus, posting: Posting, links: Links): Posting {
  const counts = new Map<number, number>();
  for (let i = 0; i < posting.count; i++) {
    const at = posting.positions[i] as number;
    const count = posting.weights[i] as number;
    if (lengths[at] === 0) continue;
    counts.set(at, (counts.get(at) ?? 0) + count);
    for (const { at: to, weight } of links.neighbours.get(at) ?? []) {
      counts.set(to, (counts.get(to) ?? 0) + Math.min(count, MOST_FROM_NEIGHBOUR) * weight);
    }
  }
  return { positions: Int32Array.from(counts.keys()), weights: Float32Array.from(counts.values()), count: counts.size };
}

function countLive(corpus: Corpus, { positions, count }: Posting): number {
  if (corpus.count === corpus.entries.length) return count;
  let live = 0;
  for (let i = 0; i < count; i++) if (corpus.lengths[positions[i] as number] !== 0) live++;
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
  const { banks, bank, starts, scales, owners, isCue, count } = corpus.vectors;
  for (let i = 0; i < count; i++) {
    const at = owners[i] as number;
    const similarity = dot(vector, banks[bank[i] as number] as Int8Array, starts[i] as number) * (scales[i] as number);
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

function meaningAt(at: number, { text, cue, middle }: Meaning): number {
  return text[at] === UNKNOWN ? middle : meaningOf(text[at] as number, cue[at] as number);
}

function scoreAt(at: number, { words, total }: Words, meaning: Meaning | null): number {
  return scoreOf(meaning ? meaningAt(at, meaning) : 0, words[at] as number, total);
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
function placeSuccessors(corpus: Corpus, links: Links, scores: Map<number, number>) {
  const pairs = links.successors.filter(([old, heir]) => corpus.entries[old] && corpus.entries[heir]);
  const heirs = new Map<number, Set<number>>();
  const scoreOf = (at: number) => scores.get(at) ?? ABSENT;
  // A pair may come before the one that lifts its old memory: as many rounds as generations.
  for (let round = 0, moved = true; moved && round < MAX_GENERATIONS; round++) {
    moved = false;
    for (const [old, heir] of pairs) {
      if (!scores.has(old)) continue;
      const from = heirs.get(heir) ?? new Set();
      for (const each of [old, ...(heirs.get(old) ?? [])]) if (each !== heir) from.add(each);
      heirs.set(heir, from);
      if (scoreOf(heir) >= scoreOf(old)) continue;
      scores.set(heir, scoreOf(old));
      moved = true;
    }
  }
  for (let round = 0; round < MAX_GENERATIONS && pairs.length > 0; round++) {
    for (const [old, heir] of pairs) {
      const under = scoreOf(heir) - Math.abs(scoreOf(heir)) * 0.001 - 1e-6;
      if (scores.has(old) && scoreOf(old) > under) scores.set(old, under);
    }
  }
  return { superseded: new Map(pairs), heirs: new Map([...heirs].map(([at, from]) => [at, [...from]])) };
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
