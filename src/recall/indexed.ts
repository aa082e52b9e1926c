/**
 * Rows of a large store that stay on disk: records in memory say where they are. A ranking goes by the index of terms and by
 * the signs of vectors first, and reads whole rows for the few that may be shown.
 */

import { readSync } from "node:fs";
import { AT, align, POSTING_BYTES, placeRank, RECORD, SIGN_BYTES, VECTOR_BYTES, writeSigns } from "../store/store.ts";
import { openResident } from "./resident.ts";
import {
  drop,
  extend,
  type Indexed,
  indexAt,
  isRowAt,
  openIndex,
  ownerOf,
  type Resident,
  reserve,
  rowOf,
} from "./resident-rows.ts";

/** An index whose file is open for one ranking. */
export interface OpenIndex extends Indexed {
  fd: number;
}

/**
 * The indexes with their files open, for one ranking. What is opened is added to `fds`, for the caller to close. Where another
 * process has written a cache anew, all is opened again.
 */
export function openIndexes(resident: Resident, fds: number[]): OpenIndex[] {
  for (;;) {
    const opened = resident.indexes.map((index) => ({ index, fd: openIndex(index) }));
    const open = opened.flatMap(({ index, fd }) => (fd === null ? [] : [{ index, fd }]));
    fds.push(...open.map(({ fd }) => fd));
    if (open.length === opened.length) {
      // One that is asked again has the signs in memory: reading them each time takes longer than comparing them.
      const keepsSigns = resident.rankings++ > 0;
      for (const { index, fd } of open) if (keepsSigns && index.signs === 0) keepSigns(resident, index, fd);
      return open.map(({ index, fd }) => ({ ...index, fd }));
    }
    Object.assign(resident, openResident(resident.directories));
  }
}

function keepSigns(resident: Resident, index: Indexed, fd: number): void {
  const bytes = index.head.vectors * SIGN_BYTES;
  reserve(resident, 0);
  const at = extend(resident, bytes);
  if (readSync(fd, resident.bytes, at, bytes, index.head.signsAt) !== bytes) return;
  resident.used = align(at + bytes);
  index.signs = at;
}

/** Where the whole entries of these records are, until room is next reserved. Those that are damaged no longer count. */
export function readWhole(resident: Resident, indexes: readonly OpenIndex[], positions: Iterable<number>) {
  const addresses = new Map<number, number>();
  for (const at of positions) {
    const index = indexAt(resident, indexes, at);
    if (!index) continue;
    const address = readEntry(resident, index, at);
    if (address > 0) {
      addresses.set(at, address);
      continue;
    }
    // A damaged record counts for nothing, and neither does what was derived from it.
    drop(resident, at);
    const owner = ownerOf(resident, at);
    const cache = resident.caches[owner];
    if (cache) resident.caches[owner] = { ...cache, isTidy: false, head: { ...cache.head, folders: [] } };
  }
  return addresses;
}

/** Vectors, and the terms of a file of some megabytes. */
const MAX_RANK_BYTES = 64 << 20;

/** Reads the whole entry of a record to memory; its address, 0 when it is damaged. */
function readEntry(resident: Resident, { fd }: OpenIndex, at: number): number {
  // Each time anew: the memory may have grown.
  const read = (size: number, from: number) => {
    const to = extend(resident, size);
    return readSync(fd, resident.bytes, to, size, from) === size ? to : 0;
  };
  const { rowAt, rowBytes, hash } = rowOf(resident, at);
  const to = read(rowBytes, rowAt);
  if (to === 0 || !isRowAt(resident.bytes, to, rowBytes, hash)) return 0;
  const u32 = (place: number) => resident.bytes.readUInt32LE(to + place);
  if (u32(AT.rankBytes) > MAX_RANK_BYTES || read(u32(AT.rankBytes), rowAt + u32(AT.rankAt)) === 0) return 0;
  placeRank(resident.bytes.subarray(to, to + rowBytes), rowBytes);
  return to;
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
  { scan, bytes }: Resident,
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
  resident: Resident,
  indexes: readonly OpenIndex[],
  positions: Iterable<number>,
  { room, vector, scale, text, cue }: { room: number; vector: number; scale: number; text: number; cue: number },
): void {
  const { bytes, list, scan } = resident;
  for (const at of positions) {
    const index = indexAt(resident, indexes, at);
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
