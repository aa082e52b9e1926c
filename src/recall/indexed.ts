/**
 * Rows of a large store that stay on disk: records in memory say where they are. A ranking goes by the index of terms and by
 * the signs of vectors first, and reads whole rows for the few that may be shown.
 */

import { closeSync, readSync } from "node:fs";
import {
  AT,
  type Directory,
  HEAD_BYTES,
  type IndexHead,
  isSoundRow,
  openCache,
  POSTING_BYTES,
  placeRank,
  RECORD,
  RECORD_MAGIC,
  type RowEntry,
  readRank,
  rowBytesAt,
  SIGN_BYTES,
  VECTOR_BYTES,
  viewEntry,
  writeSigns,
} from "../store/store.ts";
import type { Scan } from "./scan.ts";

/** The part of a directory's rows that its index covers. */
export interface Indexed {
  directory: Directory;
  ino: number;
  head: IndexHead;
  /** Its first position; there are `head.count`. */
  from: number;
  /** The address of its first record. */
  records: number;
  /** Pairs of a hash and the number of the first posting. */
  terms: Uint32Array;
  /** The address of the signs in memory; 0 while they are read in pieces. */
  signs: number;
  /** Rows behind one another that were read last. */
  ahead: { at: number; bytes: Buffer };
}

/** An index whose file is open for one ranking. */
export interface OpenIndex extends Indexed {
  fd: number;
}

/** What of the resident rows is needed here. */
interface Rows {
  scan: Scan;
  bytes: Buffer;
  list: Uint32Array;
  count: number;
}

/** Null when the file is not the one any more that the records are of. */
export function openIndex(indexed: Indexed): OpenIndex | null {
  const cache = openCache(indexed.directory);
  if (cache?.ino === indexed.ino) return { ...indexed, fd: cache.fd };
  if (cache) closeSync(cache.fd);
  return null;
}

/** The index that a position's record is of; null for an entry that is in memory. */
export function indexAt<I extends Indexed>({ bytes, list }: Rows, indexes: readonly I[], at: number): I | null {
  const entry = list[at] as number;
  if (entry === 0 || bytes.readUInt32LE(entry) !== RECORD_MAGIC) return null;
  return indexes.find(({ from, head }) => at >= from && at < from + head.count) ?? null;
}

/** As many rows as are read at once: those behind it are often asked for next. */
const AHEAD_BYTES = 64 * 1024;

/** A record's row; null when it is damaged. */
export function readRow({ bytes, list }: Rows, indexed: Indexed, at: number): RowEntry | null {
  const record = list[at] as number;
  const rowAt = bytes.readUInt32LE(record + RECORD.rowAt) * 16;
  const rowBytes = bytes.readUInt32LE(record + RECORD.rowBytes);
  const { ahead } = indexed;
  if (rowAt < ahead.at || rowAt + rowBytes > ahead.at + ahead.bytes.length) {
    const open = openIndex(indexed);
    if (!open) return null;
    try {
      const read = Buffer.from(new ArrayBuffer(Math.max(AHEAD_BYTES, rowBytes)));
      indexed.ahead = { at: rowAt, bytes: read.subarray(0, readSync(open.fd, read, 0, read.length, rowAt)) };
    } finally {
      closeSync(open.fd);
    }
  }
  const { at: start, bytes: buffer } = indexed.ahead;
  const place = rowAt - start;
  if (!isRowAt(buffer, place, rowBytes, bytes.readUInt32LE(record + RECORD.hash))) return null;
  return viewEntry(buffer, place, () => readRank(indexed.directory, start, buffer, place));
}

/** `hash` as the record has it: a damaged one may lead to another memory's row, which would then come twice. */
function isRowAt(buffer: Buffer, place: number, bytes: number, hash: number): boolean {
  if (bytes < HEAD_BYTES || rowBytesAt(buffer, place) !== bytes || !isSoundRow(buffer, place, bytes)) return false;
  return buffer.readUInt32LE(place + AT.hash) === hash;
}

/** Reads a term's postings to `room`; how many there are. */
export function readPostings({ fd, terms, head }: OpenIndex, hash: number, bytes: Buffer, room: number): number {
  const [from, end] = findTerm(terms, head.terms, hash);
  // A damaged index may say anything.
  if (end <= from || end - from > head.count) return 0;
  const size = (end - from) * POSTING_BYTES;
  return readSync(fd, bytes, room, size, head.postingsAt + from * POSTING_BYTES) === size ? end - from : 0;
}

function findTerm(terms: Uint32Array, count: number, hash: number): [number, number] {
  let [low, high] = [0, count - 1];
  while (low <= high) {
    const middle = (low + high) >> 1;
    const found = terms[middle * 2] as number;
    if (found === hash) return [terms[middle * 2 + 1] as number, terms[middle * 2 + 3] as number];
    if (found < hash) low = middle + 1;
    else high = middle - 1;
  }
  return [0, 0];
}

/** A part of the signs that fits into a processor's own memory. */
const WINDOW_VECTORS = 8192;
/** A cosine for each number of signs in which two vectors differ. */
const COSINES = Float32Array.from({ length: SIGN_BYTES * 8 + 1 }, (_, i) => Math.cos((Math.PI * i) / (SIGN_BYTES * 8)));

/** What comparing signs needs. */
export function signRoom(indexes: readonly Indexed[]) {
  return {
    querySigns: SIGN_BYTES,
    cosines: COSINES.byteLength,
    window: WINDOW_VECTORS * SIGN_BYTES,
    different: Math.max(0, ...indexes.map(({ head }) => head.vectors)) * 2,
  };
}

/** In how many signs each vector of an index differs from the prompt, whose signs are written first. */
export function compareSigns(
  { scan, bytes }: Rows,
  { fd, head, signs }: OpenIndex,
  vector: Float32Array,
  at: Record<keyof ReturnType<typeof signRoom>, number>,
): void {
  new Float32Array(bytes.buffer, at.cosines, COSINES.length).set(COSINES);
  bytes.fill(0, at.querySigns, at.querySigns + SIGN_BYTES);
  writeSigns(vector, bytes, at.querySigns);
  for (let first = 0; first < head.vectors; first += WINDOW_VECTORS) {
    const count = Math.min(WINDOW_VECTORS, head.vectors - first);
    const [size, offset] = [count * SIGN_BYTES, first * SIGN_BYTES];
    if (signs === 0) readSync(fd, bytes, at.window, size, head.signsAt + offset);
    scan.compareSigns(signs === 0 ? at.window : signs + offset, count, at.querySigns, at.different + first * 2);
  }
}

/** Reads the vectors of records and puts their exact similarities into the rows; entries in memory have theirs. */
export function matchExactly(
  rows: Rows,
  indexes: readonly OpenIndex[],
  positions: Iterable<number>,
  { room, vector, scale, text, cue }: { room: number; vector: number; scale: number; text: number; cue: number },
): void {
  const { bytes, list, scan } = rows;
  for (const at of positions) {
    const index = indexAt(rows, indexes, at);
    if (!index) continue;
    const record = list[at] as number;
    const count = bytes.readUInt8(record + RECORD.texts) + bytes.readUInt8(record + RECORD.cues);
    const size = count * VECTOR_BYTES;
    const isRead = readSync(index.fd, bytes, room, size, bytes.readUInt32LE(record + RECORD.vectorsAt) * 16) === size;
    scan.matchEntry(room, isRead ? count : 0, vector, scale, text + at * 4, cue + at * 4);
  }
}

/** More vectors than a record can have. */
export const MAX_VECTOR_BYTES = 2 * 256 * VECTOR_BYTES;

/** Reads the whole entry of a record to memory that `extend` gives; its address, 0 when it is damaged. */
export function readWhole(rows: Rows, { fd }: OpenIndex, at: number, extend: (bytes: number) => number): number {
  const record = rows.list[at] as number;
  const rowAt = rows.bytes.readUInt32LE(record + RECORD.rowAt) * 16;
  const rowBytes = rows.bytes.readUInt32LE(record + RECORD.rowBytes);
  const to = extend(rowBytes);
  // Each time anew: the memory may have grown.
  const read = (size: number, address: number, from: number) => readSync(fd, rows.bytes, address, size, from) === size;
  if (!read(rowBytes, to, rowAt) || !isRowAt(rows.bytes, to, rowBytes, rows.bytes.readUInt32LE(record + RECORD.hash)))
    return 0;
  const rankAt = rowAt + rows.bytes.readUInt32LE(to + AT.rankAt);
  const rankBytes = rows.bytes.readUInt32LE(to + AT.rankBytes);
  if (rankBytes > MAX_RANK_BYTES || !read(rankBytes, extend(rankBytes), rankAt)) return 0;
  placeRank(rows.bytes.subarray(to, to + rowBytes), rowBytes);
  return to;
}

/** Vectors, and the terms of a file of some megabytes. */
const MAX_RANK_BYTES = 64 << 20;
