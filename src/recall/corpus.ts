/** All memories of the directories in use, in memory, ready to be ranked: by term for words, in one row for vectors. */

import { DIMENSIONS, type Entry, WEIGHT_UNIT } from "./entry.ts";
import type { Links } from "./links.ts";

export interface Corpus {
  /** By position; null where a memory was replaced or removed. */
  entries: (Entry | null)[];
  /** Which directory each belongs to. */
  owners: number[];
  count: number;
  totalLength: number;
  /** Positions and weights in turn, by term. */
  postings: Map<number, number[]>;
  vectors: VectorRow;
  /** Worked out when first needed after a change. */
  links: Links | null;
}

/** Every vector of the corpus, with room to grow. */
export interface VectorRow {
  values: Int8Array;
  /** Where in `values` each begins. */
  starts: Int32Array;
  scales: Float32Array;
  owners: Int32Array;
  isCue: Uint8Array;
  count: number;
}

export function makeCorpus(): Corpus {
  return { entries: [], owners: [], count: 0, totalLength: 0, postings: new Map(), vectors: makeRow(0), links: null };
}

/** The work is the entry's own, however many there are. */
export function addEntry(corpus: Corpus, owner: number, entry: Entry): number {
  const at = corpus.entries.length;
  corpus.entries.push(entry);
  corpus.owners.push(owner);
  corpus.count++;
  corpus.totalLength += entry.length;
  for (let i = 0; i < entry.terms.length; i++) {
    const term = entry.terms[i] as number;
    const weight = (entry.weights[i] as number) / WEIGHT_UNIT;
    const posting = corpus.postings.get(term);
    if (posting) posting.push(at, weight);
    else corpus.postings.set(term, [at, weight]);
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
  corpus.count--;
  corpus.totalLength -= entry.length;
  corpus.links = null;
}

/** More has been dropped than is left: worth making anew. */
export function isWorn(corpus: Corpus): boolean {
  return corpus.entries.length > 64 && corpus.entries.length > corpus.count * 2;
}

function addVectors(corpus: Corpus, at: number, entry: Entry): void {
  const row = corpus.vectors;
  const needed = row.count + entry.vectors.length;
  if (needed > row.owners.length) corpus.vectors = grow(row, Math.max(64, needed * 2));
  const { values, starts, scales, owners, isCue } = corpus.vectors;
  for (const vector of entry.vectors) {
    const i = corpus.vectors.count++;
    values.set(vector.values, i * DIMENSIONS);
    starts[i] = i * DIMENSIONS;
    scales[i] = vector.scale;
    owners[i] = at;
    isCue[i] = vector.isCue ? 1 : 0;
  }
}

function makeRow(room: number): VectorRow {
  return {
    values: new Int8Array(room * DIMENSIONS),
    starts: new Int32Array(room),
    scales: new Float32Array(room),
    owners: new Int32Array(room),
    isCue: new Uint8Array(room),
    count: 0,
  };
}

function grow(row: VectorRow, room: number): VectorRow {
  const larger = makeRow(room);
  larger.values.set(row.values);
  larger.starts.set(row.starts);
  larger.scales.set(row.scales);
  larger.owners.set(row.owners);
  larger.isCue.set(row.isCue);
  larger.count = row.count;
  return larger;
}
