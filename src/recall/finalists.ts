/** The memories that may be shown for a prompt, out of all: compiled code finds words and meaning in the rows' bytes, and weighs them as score.ts says. */

import { closeSync } from "node:fs";
import { lazily } from "../errors.ts";
import { AT, align, DIMENSIONS, FLAG, openIndexNames, POSTING_BYTES, RECORD, RECORD_MAGIC } from "../store/store.ts";
import {
  compareSigns,
  MAX_VECTOR_BYTES,
  matchExactly,
  type OpenIndex,
  openIndexes,
  readWhole,
  signRoom,
} from "./indexed.ts";
import { type Links, NO_LINKS } from "./links.ts";
import { addRoom, entryAt, layOut, linksOf, ownerOf, type Resident } from "./resident-rows.ts";
import { addWords, COVERAGE, COVERAGE_FLOOR, K1, LEAST_DECAY, type Term, UNKNOWN, WORDS } from "./score.ts";

/** The prompt's vector. Null: by words only. */
export type Meaning = { vector: Float32Array } | null;

export interface Query {
  terms: readonly Term[];
  meaning: Meaning;
  /** The share of letters beyond ASCII in the prompt. */
  foreign: number;
}

/** Rows of one number for each entry, where the compiled code has put them, and what else it found. */
export type Found = ReturnType<typeof look>;

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

export function look(resident: Resident, query: Query, limit: number) {
  const fds: number[] = [];
  try {
    return lookIn(resident, openIndexes(resident, fds), query, limit);
  } finally {
    for (const fd of fds) closeSync(fd);
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
  let summed = summarise(resident, at);
  if (summed.plain > 0) {
    leaveOutPlain(resident, entries);
    summed = summarise(resident, at);
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
  const all: Table = { ...at, count, ofWords: total === 0 ? 0 : 1 / (total * (K1 + 1)) };
  const wanted = { byScore: Math.max(limit, FINALISTS), byOne: FINALISTS_BY_ONE, aged: limit };
  const cap = isLarge ? MOST_CANDIDATES + 2 * limit : count;
  let similar: ReturnType<typeof summariseMeaning>;
  let finalists: Uint32Array;
  if (isLarge && scale > 0 && meaning) {
    const compare = (positions: Uint32Array): Table => {
      matchExactly(resident, indexes, positions, { ...at, scale });
      return narrow(resident, all, positions);
    };
    similar = summariseMeaning(resident, compare(sampleOf(count)));
    for (const range of loose) scoreAll(resident, all, similar.middle, range);
    for (const index of indexes) {
      compareSigns(resident, index, meaning.vector, at);
      const [from, end] = [index.from, index.from + index.head.count];
      const constants = [words, similar.middle, WORDS, COVERAGE, COVERAGE_FLOOR, all.ofWords, at.scores];
      scan.scoreSigns(list, from, end, at.different, at.cosines, at.best, ...constants);
    }
    const candidates = pick(resident, all, { byScore: most, byOne: CANDIDATES_BY_ONE }).subarray(0, cap);
    const few = compare(candidates);
    scoreAll(resident, few, similar.middle);
    finalists = pick(resident, few, wanted).map((place) => candidates[place] as number);
  } else {
    similar = summariseMeaning(resident, all);
    scoreAll(resident, all, similar.middle);
    finalists = pick(resident, all, wanted).subarray(0, cap);
  }
  const { middle, ...similarity } = similar;
  const whole = readWhole(resident, indexes, withSuccessors(finalists, links));
  const view = (row: number) => new Float32Array(resident.bytes.buffer, row, count);
  return {
    ...{ words: view(words), rare: view(rare), text: view(text), cue: view(cue) },
    ...{
      finalists: finalists.filter((position) => resident.list[position] !== 0),
      /** Where the entry of a finalist, or of what replaces one, is until the next ranking; 0 for one that no longer counts. */
      addressOf: (position: number) => whole.get(position) ?? (resident.list[position] as number),
      vector,
      scale,
      /** Room for a few numbers, free by now. */
      summary,
      total,
      totalRare,
      live,
      links,
    },
    // Without a single vector it is as if there were no meaning: confidence is then on the scale of words.
    hasMeaning: scale > 0 && middle !== 0,
    /** How similar all memories with vectors are to the prompt, by the better of text and cue. */
    similarity,
  };
}

/** Rows of one number for each memory; of a large store's few, for each of those. And room for what is worked out from them. */
interface Table extends Record<keyof ReturnType<typeof rowSizes> | "words" | "summary" | "heap", number> {
  count: number;
  /** What words are multiplied with for their coverage. */
  ofWords: number;
}

function rowSizes(count: number) {
  const row = count * 4;
  return { list: row, text: row, cue: row, best: row, scores: row, found: row };
}

/** How similar memories are to the prompt: what stands for one without vectors, and the spread of the others. */
function summariseMeaning({ scan, bytes }: Resident, { list, count, text, cue, summary }: Table) {
  scan.summariseMeaning(list, count, text, cue, summary);
  const [middle = 0, mean = 0, deviation = 0] = new Float32Array(bytes.buffer, summary, 3);
  return { middle, mean, deviation };
}

function scoreAll({ scan }: Resident, table: Table, middle: number, [from, end] = [0, table.count]): void {
  const { list, text, cue, best, words, scores, ofWords } = table;
  scan.scoreAll(list, from, end, text, cue, best, words, middle, WORDS, COVERAGE, COVERAGE_FLOOR, ofWords, scores);
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
  { count, best, words, scores, found, heap }: Table,
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
  return { ...all, ...at, count };
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

function summarise(
  { scan, bytes, count }: Resident,
  { list, lengths, summary }: Record<"list" | "lengths" | "summary", number>,
) {
  scan.summarise(list, count, lengths, summary);
  const [live = 0, linked = 0, plain = 0] = new Int32Array(bytes.buffer, summary + 8, 3);
  return { live, linked, plain, meanLength: bytes.readDoubleLE(summary) / live || 1 };
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

/** The entries that are memories, as a copy for one ranking: Markdown without frontmatter is one only where the index names it. */
function leaveOutPlain(resident: Resident, list: Uint32Array): void {
  const named = resident.directories.map((directory) => lazily(() => openIndexNames(directory)));
  for (let at = 0; at < list.length; at++) {
    const entry = list[at] as number;
    if (entry === 0) continue;
    const isRecord = resident.bytes.readUInt32LE(entry) === RECORD_MAGIC;
    const flags = isRecord
      ? resident.bytes.readUInt8(entry + RECORD.flags)
      : resident.bytes.readUInt32LE(entry + AT.flags);
    if ((flags & FLAG.plain) === 0) continue;
    if (!named[ownerOf(resident, at)]?.()(entryAt(resident, at)?.file ?? "")) list[at] = 0;
  }
}
