/** All memories of the directories in use, in memory, ready to be ranked: by term for words, in one row for vectors. */

import { DIMENSIONS, type Entry, WEIGHT_UNIT } from "./entry.ts";
import type { Links } from "./links.ts";

export interface Corpus {
  /** By position; null where a memory was replaced or removed. */
  entries: (Entry | null)[];
  /** Which directory each belongs to. */
  owners: number[];
  /** Of each entry, 0 where there is none: one array, as ranking looks at it more often than at anything else. */
  lengths: Float32Array;
  count: number;
  totalLength: number;
  /** How many entries have no vector. */
  lacking: number;
  postings: Map<number, Posting>;
  vectors: VectorRow;
  /** Worked out when first needed after a change. */
  links: Links | null;
}

/** Who has a term, and how much it weighs there; with room to grow. */
export interface Posting {
  positions: Int32Array;
  weights: Float32Array;
  count: number;
}

/** Every vector of the corpus, with room to grow. */
export interface VectorRow {
  /** Where the values lie: the first is our own, the others are caches as they were read. */
  banks: Int8Array[];
  /** Of each vector: its bank, and where in it it begins. */
  bank: Uint16Array;
  starts: Int32Array;
  scales: Float32Array;
  owners: Int32Array;
  isCue: Uint8Array;
  count: number;
  /** How much of the first bank is used. */
  used: number;
}

const FEW = 4;
/** Whole caches are worth referring to; a vector of its own is copied. */
const MIN_BANK_BYTES = 64 * 1024;

export function makeCorpus(): Corpus {
  const lengths = new Float32Array(64);
  const none = { entries: [], owners: [], lengths, count: 0, totalLength: 0, lacking: 0 };
  return { ...none, postings: new Map(), vectors: makeRow(0), links: null };
}

/** The work is the entry's own, however many there are. */
export function addEntry(corpus: Corpus, owner: number, entry: Entry): number {
  const at = corpus.entries.length;
  corpus.entries.push(entry);
  corpus.owners.push(owner);
  corpus.count++;
  corpus.totalLength += entry.length;
  if (entry.vectors.length === 0) corpus.lacking++;
  if (at >= corpus.lengths.length) corpus.lengths = grown(corpus.lengths, at * 2);
  corpus.lengths[at] = entry.length;
  for (let i = 0; i < entry.terms.length; i++) {
    const term = entry.terms[i] as number;
    let posting = corpus.postings.get(term);
    if (!posting) {
      posting = { positions: new Int32Array(FEW), weights: new Float32Array(FEW), count: 0 };
      corpus.postings.set(term, posting);
    }
    if (posting.count === posting.positions.length) {
      posting.positions = grown(posting.positions, posting.count * 2);
      posting.weights = grown(posting.weights, posting.count * 2);
    }
    posting.positions[posting.count] = at;
    posting.weights[posting.count++] = (entry.weights[i] as number) / WEIGHT_UNIT;
  }
  addVectors(corpus, at, entry);
  corpus.links = null;
  return at;
}

/** Its terms stay behind and are passed over. */
export function dropEntry(corpus: Corpus, at: number): void {
  const entry = corpus.entries[at];
  if (!entry) return;
  corpus.entries[at] = null;
  corpus.lengths[at] = 0;
  corpus.count--;
  corpus.totalLength -= entry.length;
  if (entry.vectors.length === 0) corpus.lacking--;
  corpus.links = null;
}

/** More has been dropped than is left: worth making anew. */
export function isWorn(corpus: Corpus): boolean {
  return corpus.entries.length > 64 && corpus.entries.length > corpus.count * 2;
}

function addVectors({ vectors: row }: Corpus, at: number, entry: Entry): void {
  const needed = row.count + entry.vectors.length;
  if (needed > row.owners.length) {
    const room = Math.max(64, needed * 2);
    row.bank = grown(row.bank, room);
    row.starts = grown(row.starts, room);
    row.scales = grown(row.scales, room);
    row.owners = grown(row.owners, room);
    row.isCue = grown(row.isCue, room);
  }
  for (const vector of entry.vectors) {
    const i = row.count++;
    const { bank, start } = placeOf(row, vector.values);
    row.bank[i] = bank;
    row.starts[i] = start;
    row.scales[i] = vector.scale;
    row.owners[i] = at;
    row.isCue[i] = vector.isCue ? 1 : 0;
  }
}

function placeOf(row: VectorRow, values: Int8Array): { bank: number; start: number } {
  if (values.buffer.byteLength >= MIN_BANK_BYTES) {
    // Entries come cache by cache: it is the last one, or a new one.
    const known = row.banks.findLastIndex(({ buffer }) => buffer === values.buffer);
    const bank = known > 0 ? known : row.banks.push(new Int8Array(values.buffer)) - 1;
    return { bank, start: values.byteOffset };
  }
  let own = row.banks[0] as Int8Array;
  if (row.used + DIMENSIONS > own.length) {
    own = grown(own, Math.max(64 * DIMENSIONS, own.length * 2));
    row.banks[0] = own;
  }
  own.set(values, row.used);
  row.used += DIMENSIONS;
  return { bank: 0, start: row.used - DIMENSIONS };
}

function makeRow(room: number): VectorRow {
  return {
    banks: [new Int8Array(0)],
    bank: new Uint16Array(room),
    starts: new Int32Array(room),
    scales: new Float32Array(room),
    owners: new Int32Array(room),
    isCue: new Uint8Array(room),
    count: 0,
    used: 0,
  };
}

/** The same with more room. */
function grown<T extends Int8Array | Uint8Array | Uint16Array | Int32Array | Float32Array>(values: T, room: number): T {
  const larger = new (values.constructor as new (length: number) => T)(room);
  larger.set(values);
  return larger;
}
