/**
 * How words and meaning become one number; the parts are found and added up by scan.as. `docs/recall.md` says on what the
 * constants were measured.
 */

import type { MemoryType } from "../store/store.ts";
import { hashOf } from "../text/hash.ts";
import { termsOf } from "../text/terms.ts";
import { type OpenIndex, readPostings } from "./indexed.ts";
import { type Links, MOST_FROM_NEIGHBOUR, NO_LINKS } from "./links.ts";
import type { Resident } from "./resident-rows.ts";

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

/** How much of the prompt's weight the words cover: 0 to 1. `total` is Σ rarity over all terms of the prompt. */
export function coverageOf(words: number, total: number): number {
  return total === 0 ? 0 : words / (total * (K1 + 1));
}

/** How memories were chosen: by words, by words and meaning, or by a model. */
export type Method = "lexical" | "hybrid" | "model";

/** After this many days half of the disadvantage is reached: plans pass, corrections stay. */
const HALF_DAYS: Readonly<Record<MemoryType, number>> = { project: 30, reference: 180, user: 365, feedback: 730 };

/** The most that age takes away: enough to decide between equals, too little to turn a clear order. */
const MOST = 0.08;
export const LEAST_DECAY = 1 - MOST;

const DAY_MS = 86_400_000;

/** What the score is multiplied with: 1 for what is new, never less than 1 - MOST. */
export function decayOf(type: MemoryType, thenMs: number, nowMs: number): number {
  const days = Math.max(0, nowMs - thenMs) / DAY_MS;
  return 1 - MOST * (1 - 2 ** (-days / HALF_DAYS[type]));
}

export interface Term {
  term: string;
  /** As it stood in the prompt. */
  word: string;
  hash: number;
  weight: number;
}

/** Other hints from the conversation about what is needed. */
export interface Signals {
  /** Files that were recently read, written or mentioned. */
  files?: readonly string[] | undefined;
  /** Recently used tools, by name. */
  tools?: readonly string[] | undefined;
  /** The last messages, newest last. */
  messages?: readonly string[] | undefined;
}

/** What was said before matters less than what is asked now. */
const FILE_WEIGHT = 0.5;
const TOOL_WEIGHT = 0.3;
const MESSAGE_WEIGHT = 0.2;
/** The newest messages, and the beginning of each. */
const MAX_MESSAGES = 3;
const MAX_MESSAGE_CHARACTERS = 600;
/** A pasted log has thousands of terms; the first ones say what it is about. */
const MAX_TERMS = 256;
const MAX_CHARACTERS = 20_000;

export function queryTerms(prompt: string, signals: Signals = {}): Term[] {
  const terms = new Map<string, Term>();
  const add = (text: string, weight: number) => {
    // No term reaches over a space.
    for (const word of text.slice(0, MAX_CHARACTERS).split(/\s+/)) {
      for (const term of termsOf(word)) {
        if (terms.size >= MAX_TERMS) return;
        if (!terms.has(term)) terms.set(term, { term, word, hash: hashOf(term), weight });
      }
    }
  };
  add(prompt, 1);
  for (const file of signals.files ?? []) add(file, FILE_WEIGHT);
  for (const tool of signals.tools ?? []) add(tool, TOOL_WEIGHT);
  for (const message of (signals.messages ?? []).slice(-MAX_MESSAGES)) {
    add(message.slice(0, MAX_MESSAGE_CHARACTERS), MESSAGE_WEIGHT);
  }
  return [...terms.values()];
}

/** What the terms say of each memory; the sum of their weights. */
export function addWords(
  resident: Resident,
  indexes: readonly OpenIndex[],
  terms: readonly Term[],
  at: Record<"list" | "lengths" | "words" | "rare" | "positions" | "weights" | "termRows" | "hashes", number> &
    Record<"having" | "sieve" | "postings" | "looseStride" | "live" | "meanLength", number> & {
      loose: readonly (readonly [number, number])[];
      links: Links;
    },
): { total: number; totalRare: number } {
  const { scan, bytes, count } = resident;
  const { buffer } = bytes;
  const { list, lengths, words, rare, positions, weights, looseStride, live, meanLength, links } = at;
  const entries = new Uint32Array(buffer, list, count);
  new Uint32Array(buffer, at.hashes, terms.length).set(terms.map(({ hash }) => hash));
  for (const [from, end] of at.loose)
    scan.matchTerms(list, from, end, at.hashes, terms.length, at.termRows, looseStride, at.having, at.sieve);
  let total = 0;
  let totalRare = 0;
  for (const [t, { hash, weight }] of terms.entries()) {
    let having = 0;
    for (const index of indexes) {
      const [end, filled] = [index.from + index.head.count, having * 4];
      const found = readPostings(index, hash, bytes, at.postings);
      having += scan.takePostings(at.postings, found, index.from, end, list, positions + filled, weights + filled);
    }
    const inMemory = bytes.readUInt32LE(at.having + t * 4);
    for (const [row, from] of [positions, weights].map(
      (row, i) => [row, at.termRows + (2 * t + i) * looseStride] as const,
    ))
      bytes.copyWithin(row + having * 4, from, from + inMemory * 4);
    having += inMemory;
    const rarity = rarityOf(having, live);
    total += rarity * weight;
    totalRare += certainty(rarity) * weight;
    if (having === 0) continue;
    const isLinked = links !== NO_LINKS;
    const spreading = isLinked ? spread(buffer, { positions, weights, count: having }, links, entries) : having;
    const [worth, certain] = [rarity * weight, certainty(rarity) * weight];
    scan.addTerm(positions, weights, spreading, lengths, worth, certain, K1, B, meanLength, words, rare);
  }
  return { total, totalRare };
}

/** A word of a linked memory counts here too, for less. How many have it now. */
function spread(
  buffer: ArrayBufferLike,
  { positions, weights, count }: { positions: number; weights: number; count: number },
  { neighbours }: Links,
  entries: Uint32Array,
): number {
  const spreading = new Map<number, number>();
  const add = (at: number, weight: number) => spreading.set(at, (spreading.get(at) ?? 0) + weight);
  const own = new Uint32Array(buffer, positions, count);
  const held = new Float32Array(buffer, weights, count);
  for (let i = 0; i < count; i++) {
    const weight = held[i] as number;
    add(own[i] as number, weight);
    for (const { at, weight: share } of neighbours.get(own[i] as number) ?? []) {
      if (entries[at] !== 0) add(at, Math.min(weight, MOST_FROM_NEIGHBOUR) * share);
    }
  }
  new Uint32Array(buffer, positions, spreading.size).set([...spreading.keys()]);
  new Float32Array(buffer, weights, spreading.size).set([...spreading.values()]);
  return spreading.size;
}
