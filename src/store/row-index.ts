/**
 * The index of a large row cache, so that ranking need not read all of it: a record for each memory, the signs of its vectors
 * (48 bytes stand for 400), and for each term the memories that have it. Small caches have none.
 */

import { readSync } from "node:fs";
import { MEMORY_TYPES } from "./memory.ts";
import { align, type Bulk, DIMENSIONS, FLAG, findBulks, flagsOf, type RowEntry } from "./row-entry.ts";

/** With fewer, reading all of them takes as long as reading the index. */
export const INDEX_FROM = 4096;
export const RECORD_MAGIC = 0x3352444d;
export const RECORD_BYTES = 48;
export const SIGN_BYTES = DIMENSIONS / 8;
/** A position of 4 bytes and a weight of 2. */
export const POSTING_BYTES = 6;
const INDEX_MAGIC = 0x4952444d;
const INDEX_HEAD_BYTES = 64;
const MAX_BULKS = 2;

/** Offsets in a record, in bytes; `scan.as` reads some of them itself. Places in the file are counted in sixteens. */
export const RECORD = {
  magic: 0,
  rowAt: 4,
  mtimeMs: 8,
  /** Two hashes of its file's name. */
  name: 16,
  vectorsAt: 24,
  rowBytes: 28,
  /** The number of its first vector among all signs. */
  firstVector: 32,
  length: 36,
  /** How many vectors are of its text, how many of cues; flags and type: a byte each. */
  texts: 40,
  cues: 41,
  flags: 42,
  type: 43,
  hash: 44,
} as const;

/** In a record's flags, beside those of an entry. */
export const RECORD_FLAG = { ...FLAG, linked: 16, undated: 32 } as const;

/** Where the parts of an index are in the file. */
export interface IndexHead {
  count: number;
  vectors: number;
  recordsAt: number;
  signsAt: number;
  /** Pairs of a term's hash, ascending, and the number of its first posting; a last one ends the list. */
  termsAt: number;
  terms: number;
  postingsAt: number;
  /** As of the rows that are indexed. */
  bulks: Bulk[];
}

interface Placed {
  entry: RowEntry;
  /** Where its parts are in the file. */
  rowAt: number;
  rowBytes: number;
  rankAt: number;
}

/** Its parts, a piece of work at a time. */
export function* encodeIndex(placed: readonly Placed[]): Generator<void, Buffer[]> {
  const vectors = placed.reduce((sum, { entry }) => sum + entry.ranking.vectors.length, 0);
  const { terms, postings } = yield* encodePostings(placed);
  const head = Buffer.alloc(INDEX_HEAD_BYTES);
  [INDEX_MAGIC, placed.length, vectors, terms.length / 8 - 1].forEach((value, i) => {
    head.writeUInt32LE(value, i * 4);
  });
  findBulks(placed.map(({ entry }) => entry.mtimeMs)).forEach(({ fromMs, toMs }, i) => {
    head.writeDoubleLE(fromMs, 16 + i * 16);
    head.writeDoubleLE(toMs, 24 + i * 16);
  });
  const records = yield* encodeRecords(placed);
  const signs = yield* encodeSigns(placed, vectors);
  return [head, records, signs, terms, postings].flatMap((part) => [part, padding(part.length)]);
}

function padding(bytes: number): Buffer {
  return Buffer.alloc(align(bytes) - bytes);
}

/** Null when there is none between these places, or none that can be used. */
export function readIndex(fd: number, at: number, end: number): IndexHead | null {
  if (end - at < INDEX_HEAD_BYTES) return null;
  const bytes = Buffer.alloc(INDEX_HEAD_BYTES);
  if (readSync(fd, bytes, 0, INDEX_HEAD_BYTES, at) < INDEX_HEAD_BYTES) return null;
  const [magic = 0, count = 0, vectors = 0, terms = 0] = [0, 4, 8, 12].map((offset) => bytes.readUInt32LE(offset));
  const recordsAt = at + INDEX_HEAD_BYTES;
  const signsAt = recordsAt + count * RECORD_BYTES;
  const termsAt = signsAt + vectors * SIGN_BYTES;
  const postingsAt = termsAt + align((terms + 1) * 8);
  if (magic !== INDEX_MAGIC || postingsAt > end) return null;
  const spans = Array.from({ length: MAX_BULKS }, (_, i) => {
    return { fromMs: bytes.readDoubleLE(16 + i * 16), toMs: bytes.readDoubleLE(24 + i * 16) };
  });
  const bulks = spans.filter(({ toMs }) => toMs > 0);
  return { count, vectors, recordsAt, signsAt, termsAt, terms, postingsAt, bulks };
}

function* encodeRecords(placed: readonly Placed[]): Generator<void, Buffer> {
  const out = Buffer.alloc(placed.length * RECORD_BYTES);
  let firstVector = 0;
  for (const [i, { entry, rowAt, rowBytes, rankAt }] of placed.entries()) {
    yield;
    const { ranking } = entry;
    const cues = ranking.vectors.filter(({ isCue }) => isCue).length;
    const u32 = (value: number, at: number) => out.writeUInt32LE(value, i * RECORD_BYTES + at);
    const u8 = (value: number, at: number) => out.writeUInt8(value, i * RECORD_BYTES + at);
    u32(RECORD_MAGIC, RECORD.magic);
    u32(rowAt / 16, RECORD.rowAt);
    u32(rowBytes, RECORD.rowBytes);
    u32((rankAt + align(ranking.terms.length * 6)) / 16, RECORD.vectorsAt);
    u32(firstVector, RECORD.firstVector);
    u32(entry.hash, RECORD.hash);
    hashName(entry.file).forEach((hash, half) => {
      u32(hash, RECORD.name + half * 4);
    });
    out.writeDoubleLE(entry.mtimeMs, i * RECORD_BYTES + RECORD.mtimeMs);
    out.writeFloatLE(ranking.length, i * RECORD_BYTES + RECORD.length);
    u8(ranking.vectors.length - cues, RECORD.texts);
    u8(cues, RECORD.cues);
    u8(recordFlagsOf(entry), RECORD.flags);
    u8(MEMORY_TYPES.indexOf(entry.type), RECORD.type);
    firstVector += ranking.vectors.length;
  }
  return out;
}

function recordFlagsOf(entry: RowEntry): number {
  const linked = entry.links.length > 0 ? RECORD_FLAG.linked : 0;
  const undated = entry.saidMs === 0 ? RECORD_FLAG.undated : 0;
  return flagsOf(entry) | linked | undated;
}

/** As scan.as makes it of the same bytes: together they are as good as one of 64 bits. */
export function hashName(file: string): [number, number] {
  let [first, second] = [0x811c9dc5, 0x9dc5811c];
  for (const byte of Buffer.from(file)) {
    first = Math.imul(first ^ byte, 0x01000193);
    second = Math.imul(second ^ byte, 0x85ebca6b);
    second ^= second >>> 15;
  }
  return [first >>> 0, second >>> 0];
}

/** A bit for each value: whether it is above zero. */
function* encodeSigns(placed: readonly Placed[], vectors: number): Generator<void, Buffer> {
  const out = Buffer.alloc(vectors * SIGN_BYTES);
  let at = 0;
  for (const { entry } of placed) {
    yield;
    // Texts come first, as they do in an entry.
    for (const { values } of entry.ranking.vectors) {
      writeSigns(values, out, at);
      at += SIGN_BYTES;
    }
  }
  return out;
}

export function writeSigns(values: Int8Array | Float32Array, out: Uint8Array, at: number): void {
  for (let i = 0; i < DIMENSIONS; i++) if ((values[i] as number) > 0) (out[at + (i >> 3)] as number) |= 1 << (i & 7);
}

/** The terms of all memories the other way round: by term, then by position. */
function* encodePostings(placed: readonly Placed[]): Generator<void, { terms: Buffer; postings: Buffer }> {
  const counts = new Map<number, number>();
  for (const { entry } of placed) {
    yield;
    for (const term of entry.ranking.terms) counts.set(term, (counts.get(term) ?? 0) + 1);
  }
  const hashes = Uint32Array.from(counts.keys()).sort();
  const terms = Buffer.alloc((hashes.length + 1) * 8);
  const places = new Map<number, { from: number; count: number; filled: number }>();
  let total = 0;
  for (const [i, hash] of hashes.entries()) {
    yield;
    const count = counts.get(hash) as number;
    terms.writeUInt32LE(hash, i * 8);
    terms.writeUInt32LE(total, i * 8 + 4);
    places.set(hash, { from: total, count, filled: 0 });
    total += count;
  }
  terms.writeUInt32LE(total, hashes.length * 8 + 4);
  const postings = Buffer.alloc(total * POSTING_BYTES);
  for (const [position, { entry }] of placed.entries()) {
    yield;
    const { ranking } = entry;
    ranking.terms.forEach((term, i) => {
      const place = places.get(term) as { from: number; count: number; filled: number };
      const at = place.from * POSTING_BYTES;
      postings.writeUInt32LE(position, at + place.filled * 4);
      postings.writeUInt16LE(ranking.weights[i] as number, at + place.count * 4 + place.filled * 2);
      place.filled++;
    });
  }
  return { terms, postings };
}
