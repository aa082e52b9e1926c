/**
 * One memory in the recall cache: what is needed to rank it, as bytes that a fresh process can use as they lie.
 * Numbers are little-endian; every entry begins on a multiple of 16, so that views of any kind fit on the file.
 */

import type { MemoryType } from "../store/store.ts";

/** How a file looked when it was read: as long as these agree, the entry is true. */
export interface Stamp {
  mtimeMs: number;
  ctimeMs: number;
  size: number;
  ino: number;
}

export interface Entry extends Stamp {
  file: string;
  /** Of the file's bytes: a file that was only touched keeps its vectors. */
  hash: number;
  type: MemoryType;
  /** The latest of `modified` and `verified`; 0 when the file names neither. */
  saidMs: number;
  /** Names or files that it belongs with, and, marked with a leading `>`, those that it supersedes. */
  links: string[];
  name: string;
  /** Nobody said it: it was concluded. */
  isInferred: boolean;
  /** Hashes of its terms, ascending, and how much each weighs. */
  terms: Uint32Array;
  weights: Uint16Array;
  /** Sum of the weights. */
  length: number;
  vectors: Vector[];
  /** Of the file before it changed, for texts that are still the same; not on disk. */
  formerVectors?: Vector[];
}

/** The meaning of one text of a memory: a part of its whole text, or a cue. */
export interface Vector {
  /** Of the text that it stands for. */
  hash: number;
  isCue: boolean;
  /** `values` times this have length one. */
  scale: number;
  values: Int8Array;
}

export const DIMENSIONS = 384;
/** Hash, kind and scale, then the values. */
export const VECTOR_BYTES = 16 + DIMENSIONS;
export const MAGIC = 0x3145444d;
/** Before the strings. */
export const HEAD_BYTES = 96;
/** Weights are kept in quarters. */
export const WEIGHT_UNIT = 4;

export const TYPES: readonly MemoryType[] = ["user", "feedback", "project", "reference"];
const ENTRY_ALIGNMENT = 16;
/** In `flags`. */
export const INFERRED = 1;

/** Offsets in the head, in bytes; the hot path reads some of them itself. */
export const AT = {
  magic: 0,
  bytes: 4,
  check: 8,
  hash: 12,
  mtimeMs: 16,
  ctimeMs: 24,
  ino: 32,
  saidMs: 40,
  size: 48,
  fileBytes: 56,
  linkBytes: 60,
  nameBytes: 64,
  termCount: 68,
  vectorCount: 72,
  type: 76,
  length: 80,
  termsAt: 84,
  vectorsAt: 88,
  flags: 92,
  /** File, links and name. */
  strings: HEAD_BYTES,
} as const;

export function encodeEntry(entry: Entry): Buffer {
  const file = Buffer.from(entry.file);
  const links = Buffer.from(entry.links.join("\n"));
  const name = Buffer.from(entry.name);
  const termsAt = align(HEAD_BYTES + file.length + links.length + name.length, 4);
  const vectorsAt = align(termsAt + entry.terms.length * 6, ENTRY_ALIGNMENT);
  const bytes = vectorsAt + entry.vectors.length * VECTOR_BYTES;
  const out = Buffer.alloc(bytes);
  out.writeUInt32LE(MAGIC, AT.magic);
  out.writeUInt32LE(bytes, AT.bytes);
  out.writeUInt32LE(entry.hash, AT.hash);
  out.writeDoubleLE(entry.mtimeMs, AT.mtimeMs);
  out.writeDoubleLE(entry.ctimeMs, AT.ctimeMs);
  out.writeDoubleLE(entry.ino, AT.ino);
  out.writeDoubleLE(entry.saidMs, AT.saidMs);
  out.writeDoubleLE(entry.size, AT.size);
  out.writeUInt32LE(file.length, AT.fileBytes);
  out.writeUInt32LE(links.length, AT.linkBytes);
  out.writeUInt32LE(name.length, AT.nameBytes);
  out.writeUInt32LE(entry.terms.length, AT.termCount);
  out.writeUInt32LE(entry.vectors.length, AT.vectorCount);
  out.writeUInt32LE(TYPES.indexOf(entry.type), AT.type);
  out.writeFloatLE(entry.length, AT.length);
  out.writeUInt32LE(termsAt, AT.termsAt);
  out.writeUInt32LE(vectorsAt, AT.vectorsAt);
  out.writeUInt32LE(entry.isInferred ? INFERRED : 0, AT.flags);
  file.copy(out, HEAD_BYTES);
  links.copy(out, HEAD_BYTES + file.length);
  name.copy(out, HEAD_BYTES + file.length + links.length);
  entry.terms.forEach((term, i) => {
    out.writeUInt32LE(term, termsAt + i * 4);
    out.writeUInt16LE(entry.weights[i] as number, termsAt + entry.terms.length * 4 + i * 2);
  });
  entry.vectors.forEach((vector, i) => {
    const at = vectorsAt + i * VECTOR_BYTES;
    out.writeUInt32LE(vector.hash, at);
    out.writeUInt32LE(vector.isCue ? 1 : 0, at + 4);
    out.writeFloatLE(vector.scale, at + 8);
    out.set(new Uint8Array(vector.values.buffer, vector.values.byteOffset, DIMENSIONS), at + 16);
  });
  out.writeUInt32LE(checkOf(out, 0, bytes), AT.check);
  return out;
}

/** As it lies in the buffer, without its vectors. */
export function viewEntry(buffer: Buffer, at: number): Entry {
  const u32 = (offset: number) => buffer.readUInt32LE(at + offset);
  const f64 = (offset: number) => buffer.readDoubleLE(at + offset);
  const count = u32(AT.termCount);
  const linksAt = at + AT.strings + u32(AT.fileBytes);
  const nameAt = linksAt + u32(AT.linkBytes);
  const termsAt = buffer.byteOffset + at + u32(AT.termsAt);
  const links = buffer.toString("utf8", linksAt, nameAt);
  return {
    file: buffer.toString("utf8", at + AT.strings, linksAt),
    hash: u32(AT.hash),
    mtimeMs: f64(AT.mtimeMs),
    ctimeMs: f64(AT.ctimeMs),
    ino: f64(AT.ino),
    saidMs: f64(AT.saidMs),
    size: f64(AT.size),
    type: TYPES[u32(AT.type)] ?? "user",
    links: links === "" ? [] : links.split("\n"),
    name: buffer.toString("utf8", nameAt, nameAt + u32(AT.nameBytes)),
    isInferred: (u32(AT.flags) & INFERRED) !== 0,
    terms: new Uint32Array(buffer.buffer, termsAt, count),
    weights: new Uint16Array(buffer.buffer, termsAt + count * 4, count),
    length: buffer.readFloatLE(at + AT.length),
    vectors: [],
  };
}

/** Null when the bytes at this place are no whole, sound entry. Its terms and vectors are views: they keep the buffer in memory. */
export function decodeEntry(buffer: Buffer, at: number): Entry | null {
  const bytes = entryBytes(buffer, at);
  if (bytes === 0 || buffer.readUInt32LE(at + AT.check) !== checkOf(buffer, at, bytes)) return null;
  const vectorsAt = at + buffer.readUInt32LE(at + AT.vectorsAt);
  return {
    ...viewEntry(buffer, at),
    vectors: Array.from({ length: buffer.readUInt32LE(at + AT.vectorCount) }, (_, i) => {
      const from = vectorsAt + i * VECTOR_BYTES;
      return {
        hash: buffer.readUInt32LE(from),
        isCue: buffer.readUInt32LE(from + 4) === 1,
        scale: buffer.readFloatLE(from + 8),
        values: new Int8Array(buffer.buffer, buffer.byteOffset + from + 16, DIMENSIONS),
      };
    }),
  };
}

/** The length of the entry at this place, 0 if there is none or its parts do not fit into it. */
export function entryBytes(buffer: Buffer, at: number): number {
  if (at + HEAD_BYTES > buffer.length || buffer.readUInt32LE(at) !== MAGIC) return 0;
  const u32 = (offset: number) => buffer.readUInt32LE(at + offset);
  const bytes = u32(AT.bytes);
  const strings = HEAD_BYTES + u32(AT.fileBytes) + u32(AT.linkBytes) + u32(AT.nameBytes);
  const fits =
    bytes >= HEAD_BYTES &&
    bytes % ENTRY_ALIGNMENT === 0 &&
    at + bytes <= buffer.length &&
    strings <= u32(AT.termsAt) &&
    u32(AT.termsAt) % 4 === 0 &&
    u32(AT.termsAt) + u32(AT.termCount) * 6 <= u32(AT.vectorsAt) &&
    u32(AT.vectorsAt) + u32(AT.vectorCount) * VECTOR_BYTES === bytes;
  return fits ? bytes : 0;
}

/** One byte per dimension is enough: the order of results does not change. */
export function quantise(vector: Float32Array): { scale: number; values: Int8Array } {
  let most = 0;
  for (const value of vector) most = Math.max(most, Math.abs(value));
  // As it will be on disk, so that a vector is the same before and after.
  const scale = Math.fround(most / 127) || 1;
  return { scale, values: Int8Array.from(vector, (value) => Math.round(value / scale)) };
}

/** Every word of the entry except the check itself. */
function checkOf(buffer: Buffer, at: number, bytes: number): number {
  const words = new Int32Array(buffer.buffer, buffer.byteOffset + at, bytes >> 2);
  let check = 0x811c9dc5;
  for (let i = 0; i < words.length; i++) {
    if (i !== AT.check >> 2) check = Math.imul(check ^ (words[i] as number), 0x01000193);
  }
  return check >>> 0;
}

function align(offset: number, to: number): number {
  return Math.ceil(offset / to) * to;
}
