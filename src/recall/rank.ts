/**
 * The order of memories for a prompt: words and meaning are found by compiled code on the rows' bytes and weighed as score.ts says; the
 * finalists are put in order by how likely they are to help (confidence.ts).
 */

import { closeSync } from "node:fs";
import {
  AT,
  align,
  type Bulk,
  countsFrom,
  DIMENSIONS,
  isBulkTime,
  POSTING_BYTES,
  type RowEntry,
  TYPES,
  viewEntry,
} from "../store/store.ts";
import { findSorted } from "../text/sorted.ts";
import { hasCjk } from "../text/terms.ts";
import { confidenceOf, featuresOf, needOf, type Signs, standingOf } from "./confidence.ts";
import { compareSigns, MAX_VECTOR_BYTES, matchExactly, type OpenIndex, readPostings, signRoom } from "./indexed.ts";
import { type Links, MOST_FROM_NEIGHBOUR, NO_LINKS } from "./links.ts";
import {
  addRoom,
  bulksOf,
  layOut,
  leaveOutPlain,
  linksOf,
  openIndexes,
  ownerOf,
  type Resident,
  takeWhole,
} from "./resident.ts";
import {
  B,
  COVERAGE,
  COVERAGE_FLOOR,
  certainty,
  coverageOf,
  decayOf,
  K1,
  LEAST_DECAY,
  type Method,
  rarityOf,
  type Term,
  UNKNOWN,
  WORDS,
} from "./score.ts";

/** The prompt's vector. Null: by words only. */
export type Meaning = { vector: Float32Array } | null;

export interface Query {
  terms: readonly Term[];
  meaning: Meaning;
  /** The share of letters beyond ASCII in the prompt. */
  foreign: number;
}

export interface Ranked {
  entry: RowEntry;
  /** The directory's number. */
  owner: number;
  /** ISO time's number that its age counts from. */
  fromMs: number;
  /** The order: the confidence and the shared words, less for age. */
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
  /** Null for what was not ranked. */
  signs: Signs | null;
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

const SIEVE_BYTES = 8192;
/** Among so many of the best there is whatever may be shown. */
const FINALISTS = 60;
/** And so many that only their meaning, or only their words, speak for. */
const FINALISTS_BY_ONE = 20;
/** Of a large store: so many of the best by signs are compared exactly. With these, the first five are the right ones. */
const CANDIDATES = 256;
const CANDIDATES_BY_ONE = 128;
/** However many are level with them. */
const MOST_CANDIDATES = 4096;
/** So many tell how similar all are. */
const SAMPLE = 128;

function look(resident: Resident, query: Query, limit: number) {
  const indexes = openIndexes(resident);
  try {
    return lookIn(resident, indexes, query, limit);
  } finally {
    for (const { fd } of indexes) closeSync(fd);
  }
}

function lookIn(resident: Resident, indexes: readonly OpenIndex[], { terms, meaning }: Query, limit: number) {
  const { scan, count } = resident;
  const isLarge = indexes.length > 0;
  const loose = looseRanges(count, indexes);
  const looseStride = align(loose.reduce((sum, [from, end]) => sum + end - from, 0) * 4);
  const most = Math.max(limit, FINALISTS, isLarge ? CANDIDATES : 0);
  const at = layOut(
    resident,
    { words: count * 4, rare: count * 4, having: terms.length * 4, sieve: SIEVE_BYTES },
    {
      ...rowSizes(count),
      ...{
        lengths: count * 4,
        positions: count * 4,
        weights: count * 4,
        postings: isLarge ? count * POSTING_BYTES : 0,
      },
      // Two rows for each term: where it is found, and its weight there. Postings come as they are asked for.
      ...{ termRows: 2 * looseStride * terms.length, hashes: terms.length * 4, summary: 32 },
      ...{ heap: most * 4, vector: DIMENSIONS * 2, ...signRoom(indexes), room: isLarge ? MAX_VECTOR_BYTES : 0 },
    },
  );
  const { list, words, rare, text, cue, summary, vector } = at;
  const entries = new Uint32Array(resident.bytes.buffer, list, count);
  entries.set(resident.list.subarray(0, count));
  let summed = summarise(resident, list, summary);
  if (summed.plain > 0) {
    leaveOutPlain(resident, entries);
    summed = summarise(resident, list, summary);
  }
  const { live, linked, meanLength } = summed;
  const links = linked > 0 ? linksOf(resident) : NO_LINKS;
  const { total, totalRare } = addWords(resident, indexes, terms, {
    ...at,
    loose,
    looseStride,
    live,
    meanLength,
    links,
  });

  const scale = writeVector(resident, meaning, vector);
  if (scale > 0) for (const [from, end] of loose) scan.matchVectors(list, from, end, vector, scale, text, cue);
  else for (const row of [text, cue]) new Float32Array(resident.bytes.buffer, row, count).fill(UNKNOWN);
  const scoring = { summary, heap: at.heap, ofWords: total === 0 ? 0 : 1 / (total * (K1 + 1)) };
  const wanted = { byScore: Math.max(limit, FINALISTS), byOne: FINALISTS_BY_ONE, aged: limit };
  const all: Table = { ...at, count };
  const cap = isLarge ? MOST_CANDIDATES + 2 * limit : count;
  let similar: Similar;
  let finalists: Uint32Array;
  if (isLarge && scale > 0 && meaning) {
    const compare = (positions: Uint32Array): Table => {
      matchExactly(resident, indexes, positions, { ...at, scale });
      return narrow(resident, all, positions);
    };
    similar = summariseMeaning(resident, compare(sampleOf(count)), scoring);
    for (const [from, end] of loose) scoreAll(resident, partOf(all, from, end), similar, scoring);
    for (const index of indexes) {
      compareSigns(resident, index, meaning.vector, at);
      const { list, count, best, words, scores } = partOf(all, index.from, index.from + index.head.count);
      const constants = [words, similar.middle, WORDS, COVERAGE, COVERAGE_FLOOR, scoring.ofWords, scores];
      scan.scoreSigns(list, count, at.different, at.cosines, best, ...constants);
    }
    const candidates = pick(resident, all, scoring, { byScore: most, byOne: CANDIDATES_BY_ONE }).subarray(0, cap);
    const few = compare(candidates);
    scoreAll(resident, few, similar, scoring);
    const scores = new Float32Array(resident.bytes.buffer, few.scores, few.count);
    candidates.forEach((position, i) => {
      resident.bytes.writeFloatLE(scores[i] as number, at.scores + position * 4);
    });
    finalists = pick(resident, few, scoring, wanted).map((place) => candidates[place] as number);
  } else {
    similar = summariseMeaning(resident, all, scoring);
    scoreAll(resident, all, similar, scoring);
    finalists = pick(resident, all, scoring, wanted).subarray(0, cap);
  }
  const { middle, ...similarity } = similar;
  takeWhole(resident, indexes, withSuccessors(finalists, links));
  const view = (row: number) => new Float32Array(resident.bytes.buffer, row, count);
  return {
    ...{ scores: view(at.scores), words: view(words), rare: view(rare), text: view(text), cue: view(cue) },
    ...{
      finalists: finalists.filter((position) => resident.list[position] !== 0),
      vector,
      total,
      totalRare,
      middle,
      live,
      links,
    },
    // Without a single vector it is as if there were no meaning: confidence is then on the scale of words.
    hasMeaning: scale > 0 && middle !== 0,
    /** How similar all memories with vectors are to the prompt: by their text, and by the better of text and cue. */
    similarity,
  };
}

/** Rows of one number for each memory; of a large store's few, for each of those. */
interface Table extends Record<keyof ReturnType<typeof rowSizes>, number> {
  count: number;
  words: number;
}

function rowSizes(count: number) {
  const row = count * 4;
  return { list: row, text: row, cue: row, best: row, scores: row, found: row };
}

function partOf({ list, text, cue, best, scores, words, found }: Table, from: number, end: number): Table {
  const places = Object.entries({ list, text, cue, best, scores, words }).map(([name, row]) => [name, row + from * 4]);
  return { ...Object.fromEntries(places), found, count: end - from };
}

interface Scoring {
  summary: number;
  heap: number;
  /** What words are multiplied with for their coverage. */
  ofWords: number;
}

type Similar = ReturnType<typeof summariseMeaning>;

/** How similar memories are to the prompt: what stands for one without vectors, and the spread of the others. */
function summariseMeaning({ scan, bytes }: Resident, { list, count, text, cue }: Table, { summary }: Scoring) {
  scan.summariseMeaning(list, count, text, cue, summary);
  const found = new Float32Array(bytes.buffer, summary, 5);
  const [middle = 0, textMean = 0, textDeviation = 0, bestMean = 0, bestDeviation = 0] = found;
  return {
    middle,
    text: { mean: textMean, deviation: textDeviation },
    best: { mean: bestMean, deviation: bestDeviation },
  };
}

function scoreAll({ scan }: Resident, table: Table, { middle }: Similar, { ofWords }: Scoring): void {
  const { list, count, text, cue, best, words, scores } = table;
  scan.scoreAll(list, count, text, cue, best, words, middle, WORDS, COVERAGE, COVERAGE_FLOOR, ofWords, scores);
}

/** The best so many by their score, and by meaning or words alone; `aged`: and those that come among so many when age is counted. */
interface Wanted {
  byScore: number;
  byOne: number;
  aged?: number;
}

/** The places of the best, with those that are level with them. */
function pick(
  { scan, bytes }: Resident,
  { count, best, words, scores, found }: Table,
  { heap }: Scoring,
  { byScore, byOne, aged = 0 }: Wanted,
): Uint32Array {
  const floorOf = (row: number, most: number) => scan.floorOf(row, count, Math.min(most, count), heap);
  // Age can take so much from the best that the next ones come before them.
  const leastAged = aged > 0 ? floorOf(scores, aged) * LEAST_DECAY - 1e-4 : Number.POSITIVE_INFINITY;
  const leastScore = Math.min(floorOf(scores, byScore), leastAged);
  const [leastMeaning, leastWords] = [floorOf(best, byOne), floorOf(words, byOne)];
  const size = scan.listAbove(scores, best, words, count, leastScore, leastMeaning, leastWords, found);
  return new Uint32Array(bytes.buffer, found, size).slice();
}

/** From where to where there are entries in memory. */
function looseRanges(count: number, indexes: readonly OpenIndex[]): [from: number, end: number][] {
  const ends = [0, ...indexes.map(({ from, head }) => from + head.count)];
  const starts = [...indexes.map(({ from }) => from), count];
  return ends.flatMap((from, i): [number, number][] =>
    from < (starts[i] as number) ? [[from, starts[i] as number]] : [],
  );
}

/** Positions of some, evenly among all. */
function sampleOf(count: number): Uint32Array {
  const step = Math.max(1, Math.floor(count / SAMPLE));
  return Uint32Array.from({ length: Math.ceil(count / step) }, (_, i) => i * step);
}

/** A table of these positions alone. */
function narrow(resident: Resident, all: Table, positions: Uint32Array): Table {
  const count = positions.length;
  const at = addRoom(resident, { ...rowSizes(count), words: count * 4 });
  const row = (from: number, size: number) => new Uint32Array(resident.bytes.buffer, from, size);
  for (const name of ["list", "text", "cue", "words"] as const) {
    const [from, to] = [row(all[name], all.count), row(at[name], count)];
    positions.forEach((position, i) => {
      to[i] = from[position] as number;
    });
  }
  return { ...at, count };
}

/** What the terms say of each memory; the sum of their weights. */
function addWords(
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
    scan.matchTerms(list, from, end, at.hashes, terms.length, at.termRows, looseStride, lengths, at.having, at.sieve);
  // Words of neighbours count where none of the postings lead.
  if (links !== NO_LINKS) scan.listLengths(list, 0, count, lengths);
  let total = 0;
  let totalRare = 0;
  for (const [t, { hash, weight }] of terms.entries()) {
    let having = 0;
    for (const index of indexes) {
      const [end, filled] = [index.from + index.head.count, having * 4];
      const found = readPostings(index, hash, bytes, at.postings);
      having += scan.takePostings(
        at.postings,
        found,
        index.from,
        end,
        list,
        positions + filled,
        weights + filled,
        lengths,
      );
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

/** With what replaces them: it may come in their place. */
function withSuccessors(positions: Uint32Array, { successors }: Links): Set<number> {
  const all = new Set(positions);
  for (let size = 0; size < all.size && successors.length > 0; ) {
    size = all.size;
    for (const [old, heir] of successors) if (all.has(old)) all.add(heir);
  }
  return all;
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

/** As numbers of 16 bits. What they are to be multiplied with; 0 for none. */
function writeVector({ bytes }: Resident, meaning: Meaning, at: number): number {
  if (meaning === null) return 0;
  const most = meaning.vector.reduce((most, value) => Math.max(most, Math.abs(value)), 0);
  if (!(most > 0) || meaning.vector.length !== DIMENSIONS) return 0;
  const scale = most / MOST;
  new Int16Array(bytes.buffer, at, DIMENSIONS).set(meaning.vector.map((value) => Math.round(value / scale)));
  return scale;
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
  const signs = openSigns(resident, query, found);
  const sureness = (at: number): number => confidenceOf(featuresOf(signs(at)), found.hasMeaning);
  const scores = new Map<number, number>();
  for (const at of found.finalists) {
    const type = TYPES[bytes.readUInt32LE((list[at] as number) + AT.type)] ?? "user";
    const score = standingOf(sureness(at), signs(at).coverage) * decayOf(type, fromOf(at), nowMs);
    // A damaged cache may hold any number.
    if (Number.isFinite(score)) scores.set(at, score);
  }
  const { successors, replaced } = placeSuccessors(found.links, scores, (at) => list[at] !== 0);
  const best = [...scores].sort(([, x], [, y]) => y - x);
  // Those that are level with the last one too: which of them comes first is decided by name, not by where it is in memory.
  const level = best[limit - 1]?.[1] ?? Number.NEGATIVE_INFINITY;
  const ranked = best.flatMap(([at, score]): Ranked[] => {
    if (score < level) return [];
    const entry = viewEntry(bytes, list[at] as number);
    // What is shown of a memory is shown of what it replaces.
    const confidence = Math.max(sureness(at), ...(replaced.get(at) ?? []).map(sureness));
    if (!Number.isFinite(confidence) || !isInside(entry.file)) return [];
    const evidence = () =>
      evidenceOf(resident, query, found, { at, entry, successor: successors.get(at), signs: signs(at) });
    return [{ entry, owner: ownerOf(resident, at), fromMs: fromOf(at), score, confidence, evidence }];
  });
  const order = (a: Ranked, b: Ranked) =>
    b.score - a.score || a.owner - b.owner || (a.entry.file < b.entry.file ? -1 : 1);
  return ranked.sort(order).slice(0, limit);
}

/** What the finalists' confidence is worked out from. */
function openSigns(
  { bytes, list }: Resident,
  { terms, meaning, foreign }: Query,
  { finalists, text, cue, words, rare, total, totalRare, live, hasMeaning, similarity }: Found,
): (at: number) => Signs {
  const known = (value: number | undefined) => (value === undefined || value === UNKNOWN ? null : value);
  const bestAt = (at: number) => Math.max(text[at] as number, cue[at] as number);
  const coverageAt = (at: number) => coverageOf(words[at] as number, total);
  const [similar, covering] = [bestAt, coverageAt].map((valueAt) => openBestOther(finalists, valueAt)) as [Best, Best];
  const need = needOf(hasMeaning && meaning ? meaning.vector : null);
  return (at) => ({
    text: known(text[at]),
    cue: known(cue[at]),
    bestOther: Math.max(-1, similar(at)),
    ...similarity.best,
    coverage: coverageAt(at),
    coverageOther: Math.max(0, covering(at)),
    rare: totalRare === 0 ? 0 : (rare[at] as number) / (totalRare * (K1 + 1)),
    need,
    count: live,
    promptTerms: terms.length,
    length: bytes.readFloatLE((list[at] as number) + AT.length),
    foreign,
  });
}

type Best = (at: number) => number;

/** The best value of all finalists but this one. */
function openBestOther(finalists: Uint32Array, valueAt: Best): Best {
  let [first, second, holder] = [Number.NEGATIVE_INFINITY, Number.NEGATIVE_INFINITY, -1];
  for (const at of finalists) {
    const value = valueAt(at);
    if (value > first) [first, second, holder] = [value, first, at];
    else if (value > second) second = value;
  }
  return (at) => (at === holder ? second : first);
}

/** A cache can be damaged, or planted: no file outside of the directory. */
function isInside(file: string): boolean {
  return !file.startsWith("/") && !file.includes("\\") && !/(^|\/)\.\.?(\/|$)/.test(file);
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
  { at, entry, successor, signs }: { at: number; entry: RowEntry; successor: number | undefined; signs: Signs },
): ReturnType<Evidence> {
  const words = terms.filter(({ hash }) => findSorted(entry.ranking.terms, hash) >= 0).map(nameOf);
  const address = successor === undefined ? 0 : (resident.list[successor] as number);
  return {
    words: [...new Set(words)],
    nearest: nearestOf(resident, found, at),
    isLinked: words.length === 0 && (found.words[at] as number) > 0,
    supersededBy: address === 0 ? null : viewEntry(resident.bytes, address).file,
    signs,
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
