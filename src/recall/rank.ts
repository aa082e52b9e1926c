/** The order of memories for a prompt: words and meaning are found by compiled code on the rows' bytes, and weighed as score.ts says. */

import type { Words } from "../meaning/words.ts";
import {
  AT,
  align,
  type Bulk,
  countsFrom,
  DIMENSIONS,
  isBulkTime,
  type RowEntry,
  TYPES,
  viewEntry,
} from "../store/store.ts";
import { findSorted } from "../text/sorted.ts";
import { hasCjk } from "../text/terms.ts";
import { type Links, MOST_FROM_NEIGHBOUR, NO_LINKS } from "./links.ts";
import { bulksOf, layOut, leaveOutPlain, linksOf, ownerOf, type Resident } from "./resident.ts";
import {
  B,
  COVERAGE,
  COVERAGE_FLOOR,
  certainty,
  confidenceInWords,
  confidenceOf,
  decayOf,
  K1,
  LEAST_DECAY,
  type Method,
  meaningOf,
  rarityOf,
  SUM_OF_WORDS,
  type Term,
  UNKNOWN,
  WORDS,
} from "./score.ts";

/** What a prompt's vector is made from: the table of words, or a model's vector. Null: by words only. */
export type Meaning = { words: Words; prompt: string } | { vector: Float32Array } | null;

export interface Query {
  terms: readonly Term[];
  meaning: Meaning;
}

export interface Ranked {
  entry: RowEntry;
  /** The directory's number. */
  owner: number;
  /** ISO time's number that its age counts from. */
  fromMs: number;
  score: number;
  confidence: number;
  evidence: Evidence;
}

/** Why it ranks where it does; worked out when it is asked for, before the next ranking. */
export type Evidence = () => {
  /** Words of the prompt that it has. */
  words: string[];
  /** Which text came nearest, and how near; null without meaning. */
  nearest: { isCue: boolean; number: number; similarity: number } | null;
  /** It ranks through a memory that it belongs with. */
  isLinked: boolean;
  supersededBy: string | null;
};

/** `order`: best first, never more than the limit; `considered`: how many memories there were to choose from. */
export function rank(resident: Resident, query: Query, options: { nowMs: number; limit: number }) {
  // First: they are worked out in the room that the rest needs.
  const bulks = bulksOf(resident);
  const found = look(resident, query, options.limit);
  const method: Method = found.hasMeaning ? "hybrid" : "lexical";
  const order = options.limit > 0 ? choose(resident, query, found, { ...options, bulks }) : [];
  return { order, method, considered: found.live };
}

/** Rows of one number for each entry, where the compiled code has put them, and what else it found. */
type Found = ReturnType<typeof look>;

/** The prompt's vector, with the rows of words that it may be the sum of. */
const VECTOR_ROOM = 16 + DIMENSIONS * 2 + DIMENSIONS * 4 + 130 * (4 + DIMENSIONS / 2) + 64;
const SIEVE_BYTES = 8192;

function look(resident: Resident, { terms, meaning }: Query, limit: number) {
  const { scan, count } = resident;
  const stride = align(count * 4);
  const termStride = align(terms.length * 4);
  const at = layOut(resident, {
    ...{ list: stride, lengths: stride, words: stride, rare: stride, text: stride, cue: stride, scores: stride },
    // Two rows for each term: where it is found, and its weight there.
    ...{ finalists: stride, termRows: 2 * stride * terms.length, hashes: termStride, having: termStride },
    ...{ summary: 32, sieve: SIEVE_BYTES, heap: align(Math.min(limit, count) * 4), vector: VECTOR_ROOM },
  });
  const { list, lengths, words, rare, text, cue, scores, finalists, termRows, hashes, having, summary, vector } = at;
  const { buffer } = resident.bytes;
  const view = (row: number) => new Float32Array(buffer, row, count);

  const entries = new Uint32Array(buffer, list, count);
  entries.set(resident.list.subarray(0, count));
  let summed = summarise(resident, list, summary);
  if (summed.plain > 0) {
    leaveOutPlain(resident, entries);
    summed = summarise(resident, list, summary);
  }
  const { live, linked, meanLength } = summed;
  const links = linked > 0 ? linksOf(resident) : NO_LINKS;

  new Uint32Array(buffer, hashes, terms.length).set(terms.map(({ hash }) => hash));
  scan.matchTerms(list, count, hashes, terms.length, termRows, stride, lengths, having, at.sieve);
  let total = 0;
  for (const [t, { weight }] of terms.entries()) {
    const positions = termRows + t * 2 * stride;
    const weights = positions + stride;
    const count = new Uint32Array(buffer, having, terms.length)[t] as number;
    const rarity = rarityOf(count, live);
    total += rarity * weight;
    if (count === 0) continue;
    const spreading = linked > 0 ? spread(buffer, { positions, weights, count }, links, entries) : count;
    const [worth, certain] = [rarity * weight, certainty(rarity) * weight];
    scan.addTerm(positions, weights, spreading, lengths, worth, certain, K1, B, meanLength, words, rare);
  }

  const { scale, share } = writeVector(resident, meaning, vector);
  if (scale > 0) scan.matchVectors(list, count, vector, scale, text, cue);
  else view(text).fill(UNKNOWN);
  const middle = scan.meanMeaning(list, count, text, cue);
  const ofWords = total === 0 ? 0 : 1 / (total * (K1 + 1));
  scan.scoreAll(list, count, text, cue, words, middle, share, WORDS, COVERAGE, COVERAGE_FLOOR, ofWords, scores);
  const floor = scan.floorOf(scores, count, Math.min(limit, count), at.heap);
  // Age can take so much from the best that the next ones come before them.
  const finalistCount = scan.listAbove(scores, count, floor * LEAST_DECAY - 1e-4, finalists);
  return {
    ...{ scores: view(scores), words: view(words), rare: view(rare), text: view(text), cue: view(cue) },
    ...{ finalists: new Uint32Array(buffer, finalists, finalistCount), vector, total, middle, live, links },
    // Without a single vector it is as if there were no meaning: confidence is then on the scale of words.
    hasMeaning: scale > 0 && middle !== 0,
  };
}

function summarise({ scan, bytes, count }: Resident, list: number, out: number) {
  scan.summarise(list, count, out);
  const [live = 0, linked = 0, plain = 0] = new Int32Array(bytes.buffer, out + 8, 3);
  return { live, linked, plain, meanLength: bytes.readDoubleLE(out) / live || 1 };
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

/** Small enough that 384 products with bytes fit into 32 bits. */
const MOST = 16_000;

/** As numbers of 16 bits; `scale` is what they are to be multiplied with, 0 for none, `share` how much the vector weighs in the order. */
function writeVector({ scan, bytes }: Resident, meaning: Meaning, at: number): { scale: number; share: number } {
  if (meaning === null) return { scale: 0, share: 0 };
  if ("words" in meaning) {
    const { words, prompt } = meaning;
    const rows = words.dimensions === DIMENSIONS ? words.findRows(prompt) : [];
    const from = align(at + DIMENSIONS * 2);
    const isRead = rows.length > 0 && words.readRows(rows, bytes, from);
    return { scale: isRead ? scan.sumRows(from, rows.length, at) : 0, share: SUM_OF_WORDS };
  }
  const most = meaning.vector.reduce((most, value) => Math.max(most, Math.abs(value)), 0);
  if (!(most > 0) || meaning.vector.length !== DIMENSIONS) return { scale: 0, share: 0 };
  const scale = most / MOST;
  new Int16Array(bytes.buffer, at, DIMENSIONS).set(meaning.vector.map((value) => Math.round(value / scale)));
  return { scale, share: 1 };
}

function choose(
  resident: Resident,
  query: Query,
  found: Found,
  { nowMs, limit, bulks }: { nowMs: number; limit: number; bulks: readonly Bulk[][] },
): Ranked[] {
  const { bytes, list } = resident;
  const fromOf = (at: number): number => {
    const times = new Float64Array(bytes.buffer, (list[at] as number) + AT.mtimeMs, 7);
    const [mtimeMs = 0, , , , saidMs = 0, createdMs = 0, commitMs = 0] = times;
    const owner = ownerOf(resident, at);
    const inRepository = resident.directories[owner]?.inRepository ?? false;
    const isBulk = isBulkTime(bulks[owner] ?? [], mtimeMs);
    return countsFrom({ mtimeMs, saidMs, createdMs, commitMs }, { inRepository, isBulk });
  };
  const scores = new Map<number, number>();
  for (const at of found.finalists) {
    const type = TYPES[bytes.readUInt32LE((list[at] as number) + AT.type)] ?? "user";
    const score = (found.scores[at] as number) * decayOf(type, fromOf(at), nowMs);
    // A damaged cache may hold any number.
    if (Number.isFinite(score)) scores.set(at, score);
  }
  const { successors, replaced } = placeSuccessors(found.links, scores, (at) => list[at] !== 0);
  const sureness = (at: number): number => {
    const [words, rare] = [found.words[at] as number, found.rare[at] as number];
    return found.hasMeaning ? confidenceOf(meaningAt(found, at), rare) : confidenceInWords(words, rare, found.total);
  };
  const best = [...scores].sort(([, x], [, y]) => y - x);
  // Those that are level with the last one too: which of them comes first is decided by name, not by where it is in memory.
  const level = best[limit - 1]?.[1] ?? Number.NEGATIVE_INFINITY;
  const ranked = best.flatMap(([at, score]): Ranked[] => {
    if (score < level) return [];
    const entry = viewEntry(bytes, list[at] as number);
    // What is shown of a memory is shown of what it replaces.
    const confidence = Math.max(sureness(at), ...(replaced.get(at) ?? []).map(sureness));
    if (!Number.isFinite(confidence) || !isInside(entry.file)) return [];
    const evidence = () => evidenceOf(resident, query, found, { at, entry, successor: successors.get(at) });
    return [{ entry, owner: ownerOf(resident, at), fromMs: fromOf(at), score, confidence, evidence }];
  });
  const order = (a: Ranked, b: Ranked) =>
    b.score - a.score || a.owner - b.owner || (a.entry.file < b.entry.file ? -1 : 1);
  return ranked.sort(order).slice(0, limit);
}

/** A cache can be damaged, or planted: no file outside of the directory. */
function isInside(file: string): boolean {
  return !file.startsWith("/") && !file.includes("\\") && !/(^|\/)\.\.?(\/|$)/.test(file);
}

/** Memories without vectors stand in the middle and move by their words. */
function meaningAt({ text, cue, middle }: Found, at: number): number {
  return text[at] === UNKNOWN ? middle : meaningOf(text[at] as number, cue[at] as number);
}

/** Longer chains, and circles, are left as they are then. */
const MAX_GENERATIONS = 8;

/** What a memory replaces stands under it, and it stands at least as high as what it replaces. */
function placeSuccessors(links: Links, scores: Map<number, number>, isThere: (at: number) => boolean) {
  const pairs = links.successors.filter(([old, heir]) => isThere(old) && isThere(heir));
  const replaced = new Map<number, Set<number>>();
  const scoreOf = (at: number) => scores.get(at) ?? Number.NEGATIVE_INFINITY;
  // A pair may come before the one that lifts its old memory: as many rounds as generations.
  for (let round = 0, moved = true; moved && round < MAX_GENERATIONS; round++) {
    moved = false;
    for (const [old, heir] of pairs) {
      if (!scores.has(old)) continue;
      const from = replaced.get(heir) ?? new Set();
      for (const each of [old, ...(replaced.get(old) ?? [])]) if (each !== heir) from.add(each);
      replaced.set(heir, from);
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
  return { successors: new Map(pairs), replaced: new Map([...replaced].map(([at, from]) => [at, [...from]])) };
}

function evidenceOf(
  resident: Resident,
  { terms }: Query,
  found: Found,
  { at, entry, successor }: { at: number; entry: RowEntry; successor: number | undefined },
): ReturnType<Evidence> {
  const words = terms.filter(({ hash }) => findSorted(entry.ranking.terms, hash) >= 0).map(nameOf);
  const address = successor === undefined ? 0 : (resident.list[successor] as number);
  return {
    words: [...new Set(words)],
    nearest: nearestOf(resident, found, at),
    isLinked: words.length === 0 && (found.words[at] as number) > 0,
    supersededBy: address === 0 ? null : viewEntry(resident.bytes, address).file,
  };
}

function nearestOf({ scan, list }: Resident, { text, cue, vector, hasMeaning }: Found, at: number) {
  const [ofText, ofCue] = [text[at] as number, cue[at] as number];
  if (!hasMeaning || (ofText === UNKNOWN && ofCue === UNKNOWN)) return null;
  const isCue = ofCue > ofText;
  const number = scan.nearestText(list[at] as number, vector, Number(isCue));
  return { isCue, number, similarity: Math.max(ofText, ofCue) };
}

const MAX_WORD_CHARACTERS = 40;

/** As it stood in the prompt; of text without spaces only the part that was found. */
function nameOf({ term, word }: Term): string {
  return hasCjk(term) ? term : word.replace(/^[^\p{L}\p{N}]+|[^\p{L}\p{N}]+$/gu, "").slice(0, MAX_WORD_CHARACTERS);
}
