/**
 * One memory in the row cache as bytes that a fresh process can use in place: a row part, which lists need, and a ranking part,
 * which only recall needs. Numbers are little-endian, and both parts begin on a multiple of 16, so that views of any kind fit.
 * And how old the memory is by the dates in it.
 */

import { checkGivenType } from "../errors.ts";
import type { Enforced } from "./admit.ts";
import type { AgeLimits } from "./directory.ts";
import { type Header, MEMORY_TYPES, type MemoryType } from "./memory.ts";

/** How a file looked when it was read: while these agree, the entry is up to date. */
export interface Stamp {
  mtimeMs: number;
  ctimeMs: number;
  size: number;
  ino: number;
}

/** The row part. */
export interface RowEntry extends Stamp, Dates {
  file: string;
  /** Of the file's bytes: a file that was only touched keeps its vectors. */
  hash: number;
  /** False for a file written just before it was read: it may change again within the same tick of the clock. */
  isSettled: boolean;
  type: MemoryType;
  name: string;
  /** Names or files that it belongs with, and, marked with a leading `>`, those that it supersedes. */
  links: string[];
  isInferred: boolean;
  /** No frontmatter: a memory only if the index names it. */
  isPlain: boolean;
  /** It has a rule or a day, which hooks look for. */
  isForHooks: boolean;
  details: Details;
  ranking: Ranking;
}

/** What only lists and rules need: parsed when it is first looked at. */
export interface Details {
  header: Header;
  rule: Enforced | null;
  /** The only day that a project's memory names, YYYY-MM-DD. */
  day: string | null;
}

export interface Ranking {
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
export const MAGIC = 0x3252444d;
/** Before the strings. */
export const HEAD_BYTES = 128;
/** Weights are kept in quarters. */
export const WEIGHT_UNIT = 4;
export const ALIGNMENT = 16;

/** In `flags`. */
export const FLAG = { inferred: 1, plain: 2, unsettled: 4, forHooks: 8 } as const;

/** Offsets in the head, in bytes; `scan.as` reads some of them itself. */
export const AT = {
  magic: 0,
  rowBytes: 4,
  check: 8,
  hash: 12,
  mtimeMs: 16,
  ctimeMs: 24,
  ino: 32,
  size: 40,
  saidMs: 48,
  createdMs: 56,
  commitMs: 64,
  fileBytes: 72,
  linkBytes: 76,
  nameBytes: 80,
  jsonBytes: 84,
  termCount: 88,
  vectorCount: 92,
  type: 96,
  flags: 100,
  length: 104,
  /** Where the ranking part begins, from the entry's own beginning. */
  rankAt: 108,
  rankBytes: 112,
  rankCheck: 116,
  /** Where its vectors begin, from its beginning. */
  vectorsAt: 120,
  /** File, links, name and details. */
  strings: HEAD_BYTES,
} as const;

const DOUBLES = ["mtimeMs", "ctimeMs", "ino", "size", "saidMs", "createdMs", "commitMs"] as const;

/** The row part expects the ranking part right behind it; `placeRank` says otherwise. */
export function encodeEntry(entry: RowEntry): { row: Buffer; rank: Buffer } {
  const row = encodeRow(entry);
  const rank = encodeRank(entry.ranking, row);
  placeRank(row, row.length);
  return { row, rank };
}

/** Without what it says of the ranking part. */
export function encodeRow(entry: RowEntry): Buffer {
  const strings = [entry.file, entry.links.join("\n"), entry.name, detailsText(entry.details)].map((text) =>
    Buffer.from(text),
  );
  const row = Buffer.alloc(align(HEAD_BYTES + strings.reduce((sum, part) => sum + part.length, 0)));
  const u32 = (value: number, at: number) => row.writeUInt32LE(value, at);
  u32(MAGIC, AT.magic);
  u32(row.length, AT.rowBytes);
  u32(entry.hash, AT.hash);
  for (const name of DOUBLES) row.writeDoubleLE(entry[name], AT[name]);
  [AT.fileBytes, AT.linkBytes, AT.nameBytes, AT.jsonBytes].forEach((at, i) => {
    u32((strings[i] as Buffer).length, at);
  });
  u32(MEMORY_TYPES.indexOf(entry.type), AT.type);
  u32(flagsOf(entry), AT.flags);
  Buffer.concat(strings).copy(row, HEAD_BYTES);
  return row;
}

/** The ranking part; the row part is told of it. */
export function encodeRank(ranking: Ranking, row: Buffer): Buffer {
  const { terms, vectors, length } = ranking;
  const rank = encodeRanking(ranking);
  row.writeUInt32LE(terms.length, AT.termCount);
  row.writeUInt32LE(vectors.length, AT.vectorCount);
  row.writeFloatLE(length, AT.length);
  row.writeUInt32LE(rank.length, AT.rankBytes);
  row.writeUInt32LE(checkOf(rank, 0, rank.length, -1), AT.rankCheck);
  row.writeUInt32LE(align(terms.length * 6), AT.vectorsAt);
  return rank;
}

/** Where the ranking part is, from the row part's beginning. */
export function placeRank(row: Buffer, rankAt: number): void {
  row.writeUInt32LE(rankAt, AT.rankAt);
  row.writeUInt32LE(checkOf(row, 0, row.length, AT.check), AT.check);
}

function encodeRanking({ terms, weights, vectors }: Ranking): Buffer {
  const vectorsAt = align(terms.length * 6);
  const out = Buffer.alloc(vectorsAt + vectors.length * VECTOR_BYTES);
  terms.forEach((term, i) => {
    out.writeUInt32LE(term, i * 4);
    out.writeUInt16LE(weights[i] as number, terms.length * 4 + i * 2);
  });
  vectors.forEach((vector, i) => {
    const at = vectorsAt + i * VECTOR_BYTES;
    out.writeUInt32LE(vector.hash, at);
    out.writeUInt32LE(vector.isCue ? 1 : 0, at + 4);
    out.writeFloatLE(vector.scale, at + 8);
    out.set(new Uint8Array(vector.values.buffer, vector.values.byteOffset, DIMENSIONS), at + 16);
  });
  return out;
}

export function flagsOf({ isInferred, isPlain, isSettled, isForHooks }: RowEntry): number {
  return (
    (isInferred ? FLAG.inferred : 0) |
    (isPlain ? FLAG.plain : 0) |
    (isSettled ? 0 : FLAG.unsettled) |
    (isForHooks ? FLAG.forHooks : 0)
  );
}

/** What most memories say is left out: parsing it is most of what listing a memory costs. File, name and type stand outside. */
function detailsText({ header, rule, day }: Details): string {
  const usual = Object.entries({ ...USUAL, file: header.file, name: header.name, type: header.type });
  const odd = usual.flatMap(([key, value]) => {
    const said = header[key as keyof Header];
    return JSON.stringify(said) === JSON.stringify(value) ? [] : [[key, said]];
  });
  return JSON.stringify([Object.fromEntries(odd), ...(rule || day !== null ? [rule, day] : [])]);
}

function parseDetails(text: string, { file, name, type }: Pick<Header, "file" | "name" | "type">): Details {
  const [said, rule = null, day = null] = JSON.parse(text);
  return {
    header: Object.assign({ ...USUAL, links: [], supersedes: [], when: [], problems: [], file, name, type }, said),
    rule,
    day,
  };
}

/** What a header has whose file says nothing else. */
const USUAL: Header = {
  ...{ file: "", name: "", description: "", type: "user", typeExplicit: true, source: null, pinned: false },
  ...{ created: null, modified: null, verified: null, expires: null, broken: false, unreadable: false },
  ...{ links: [], supersedes: [], when: [], problems: [] },
};

/** The entry at a place where `rowBytesAt` found one. `readRank` gets its ranking part where that is not in the buffer. */
export function viewEntry(buffer: Buffer, at: number, readRank: (() => Buffer | null) | null = null): RowEntry {
  const linksAt = at + AT.strings + buffer.readUInt32LE(at + AT.fileBytes);
  const nameAt = linksAt + buffer.readUInt32LE(at + AT.linkBytes);
  const jsonAt = nameAt + buffer.readUInt32LE(at + AT.nameBytes);
  const file = buffer.toString("utf8", at + AT.strings, linksAt);
  const name = buffer.toString("utf8", nameAt, jsonAt);
  const type = MEMORY_TYPES[buffer.readUInt32LE(at + AT.type)] ?? "user";
  const flags = buffer.readUInt32LE(at + AT.flags);
  const view: View = {
    file,
    name,
    type,
    hash: buffer.readUInt32LE(at + AT.hash),
    mtimeMs: buffer.readDoubleLE(at + AT.mtimeMs),
    ctimeMs: buffer.readDoubleLE(at + AT.ctimeMs),
    ino: buffer.readDoubleLE(at + AT.ino),
    size: buffer.readDoubleLE(at + AT.size),
    saidMs: buffer.readDoubleLE(at + AT.saidMs),
    createdMs: buffer.readDoubleLE(at + AT.createdMs),
    commitMs: buffer.readDoubleLE(at + AT.commitMs),
    isInferred: (flags & FLAG.inferred) !== 0,
    isPlain: (flags & FLAG.plain) !== 0,
    isSettled: (flags & FLAG.unsettled) === 0,
    isForHooks: (flags & FLAG.forHooks) !== 0,
    links: linksAt === nameAt ? NO_LINKS : buffer.toString("utf8", linksAt, nameAt).split("\n"),
    from: { buffer, at, jsonAt, readRank, details: null, ranking: null },
  };
  return Object.setPrototypeOf(view, LATER);
}

/** An entry without what is parsed when it is first looked at: of thousands, most are never asked for it. */
type View = Omit<RowEntry, "details" | "ranking"> & {
  from: {
    buffer: Buffer;
    at: number;
    jsonAt: number;
    readRank: (() => Buffer | null) | null;
    details: Details | null;
    ranking: Ranking | null;
  };
};

const LATER: Pick<RowEntry, "details" | "ranking"> & ThisType<View> = {
  get details() {
    const { buffer, at, jsonAt } = this.from;
    const end = jsonAt + buffer.readUInt32LE(at + AT.jsonBytes);
    this.from.details ??= parseDetails(buffer.toString("utf8", jsonAt, end), this);
    return this.from.details;
  },
  get ranking() {
    const { buffer, at, readRank } = this.from;
    this.from.ranking ??= viewRanking(buffer, at, readRank);
    return this.from.ranking;
  },
};

const NO_LINKS: string[] = [];

export function fileAt(buffer: Buffer, at: number): string {
  return buffer.toString("utf8", at + AT.strings, at + AT.strings + buffer.readUInt32LE(at + AT.fileBytes));
}

/** Its arrays are views: they keep the buffer in memory. Empty where the ranking part is damaged. */
function viewRanking(row: Buffer, at: number, readRank: (() => Buffer | null) | null): Ranking {
  const u32 = (offset: number) => row.readUInt32LE(at + offset);
  const length = row.readFloatLE(at + AT.length);
  const apart = readRank?.() ?? null;
  const [rank, from] = apart ? [apart, 0] : [row, at + u32(AT.rankAt)];
  const bytes = u32(AT.rankBytes);
  if (from + bytes > rank.length || checkOf(rank, from, bytes, -1) !== u32(AT.rankCheck))
    return { terms: new Uint32Array(), weights: new Uint16Array(), length, vectors: [] };
  const count = u32(AT.termCount);
  const start = rank.byteOffset + from;
  return {
    terms: new Uint32Array(rank.buffer, start, count),
    weights: new Uint16Array(rank.buffer, start + count * 4, count),
    length,
    vectors: Array.from({ length: u32(AT.vectorCount) }, (_, i) => {
      const vectorAt = from + u32(AT.vectorsAt) + i * VECTOR_BYTES;
      return {
        hash: rank.readUInt32LE(vectorAt),
        isCue: rank.readUInt32LE(vectorAt + 4) === 1,
        scale: rank.readFloatLE(vectorAt + 8),
        values: new Int8Array(rank.buffer, rank.byteOffset + vectorAt + 16, DIMENSIONS),
      };
    }),
  };
}

/** The length of the row part at this place; 0 if there is none, or its parts do not fit together. */
export function rowBytesAt(buffer: Buffer, at: number, end = buffer.length): number {
  if (at + HEAD_BYTES > end || buffer.readUInt32LE(at) !== MAGIC) return 0;
  const u32 = (offset: number) => buffer.readUInt32LE(at + offset);
  const bytes = u32(AT.rowBytes);
  const strings = HEAD_BYTES + u32(AT.fileBytes) + u32(AT.linkBytes) + u32(AT.nameBytes) + u32(AT.jsonBytes);
  const fits =
    bytes >= HEAD_BYTES &&
    bytes % ALIGNMENT === 0 &&
    at + bytes <= end &&
    strings <= bytes &&
    u32(AT.termCount) * 6 <= u32(AT.vectorsAt) &&
    u32(AT.vectorsAt) + u32(AT.vectorCount) * VECTOR_BYTES === u32(AT.rankBytes);
  return fits ? bytes : 0;
}

export function isSoundRow(buffer: Buffer, at: number, bytes: number): boolean {
  return buffer.readUInt32LE(at + AT.check) === checkOf(buffer, at, bytes, AT.check);
}

/** What tells whether a file is as it was read. */
export type FileStamp = Pick<RowEntry, "file" | "isSettled" | keyof Stamp>;

export function agrees(entry: FileStamp, stat: Stamp): boolean {
  return (
    entry.isSettled &&
    entry.mtimeMs === stat.mtimeMs &&
    entry.ctimeMs === stat.ctimeMs &&
    entry.size === stat.size &&
    entry.ino === stat.ino
  );
}

/** A file changed this shortly before it was read may change again within the same tick of the clock. */
export const TICK_MS = 50;

/** Of a file: the same number as `hashOf` gives for its bytes as characters, without a text of them. */
export function hashBytes(bytes: Buffer): number {
  let hash = 0x811c9dc5;
  // That takes two steps for each character, of which the second has nothing to add.
  const twice = Math.imul(0x01000193, 0x01000193);
  for (let i = 0; i < bytes.length; i++) hash = Math.imul(hash ^ (bytes[i] as number), twice);
  return hash >>> 0;
}

/** One byte per dimension is enough: the order of results does not change. */
export function quantise(vector: Float32Array): { scale: number; values: Int8Array } {
  let most = 0;
  for (const value of vector) most = Math.max(most, Math.abs(value));
  // As it will be on disk, so that a vector is the same before and after.
  const scale = Math.fround(most / 127) || 1;
  return { scale, values: Int8Array.from(vector, (value) => Math.round(value / scale)) };
}

/** Every 4-byte word except the one at `skipped`. */
function checkOf(buffer: Buffer, at: number, bytes: number, skipped: number): number {
  const words = wordsOf(buffer.buffer);
  const from = (buffer.byteOffset + at) >> 2;
  const end = from + (bytes >> 2);
  const left = skipped < 0 ? -1 : from + (skipped >> 2);
  let check = 0x811c9dc5;
  for (let i = from; i < end; i++) {
    if (i !== left) check = Math.imul(check ^ (words[i] as number), 0x01000193);
  }
  return check >>> 0;
}

/** One view of a buffer for all of its entries: to make one for each would take longer than to read them. */
const views = new WeakMap<ArrayBufferLike, Int32Array>();

function wordsOf(buffer: ArrayBufferLike): Int32Array {
  const known = views.get(buffer);
  if (known) return known;
  const words = new Int32Array(buffer, 0, buffer.byteLength >> 2);
  views.set(buffer, words);
  return words;
}

export function align(offset: number): number {
  return Math.ceil(offset / ALIGNMENT) * ALIGNMENT;
}

// --- How old a memory is: the one rule for every list, every recall and every hook.

const DAY_MS = 86_400_000;

/** An age as a word. */
export type Age = "fresh" | "recent" | "stale" | "old";

/** What there is to tell a memory's age by. */
export interface Dates {
  mtimeMs: number;
  /** The latest of `modified` and `verified`; 0 when the file has neither. */
  saidMs: number;
  /** 0 when the file does not say. */
  createdMs: number;
  /** Of the last commit that changed the file; 0 outside git and for what is not committed. */
  commitMs: number;
}

/**
 * The time that the age counts from. A private file counts from its latest stamp, so that `touch` works, unless a copy or a
 * checkout set the times of many files at once: then from what it says of itself. In a repository file times are those of the
 * checkout: there what the file says counts, else its last commit; only a file that is neither dated nor committed has nothing else.
 */
export function countsFrom(dates: Dates, { inRepository, isBulk }: { inRepository: boolean; isBulk: boolean }): number {
  const { mtimeMs, saidMs, createdMs, commitMs } = dates;
  if (inRepository) return saidMs || commitMs || createdMs || mtimeMs;
  return isBulk ? Math.max(saidMs, createdMs) || mtimeMs : Math.max(saidMs, mtimeMs);
}

/** Whole days between two times. A time in the future (another machine's clock) counts as now. */
export function ageInDays(thenMs: number, nowMs: number): number {
  checkGivenType(Number.isFinite(thenMs) && Number.isFinite(nowMs), "ageInDays", "give two times in milliseconds");
  return Math.max(0, Math.floor((nowMs - thenMs) / DAY_MS));
}

/** The word for an age in days. */
export function ageName(days: number, limits: AgeLimits): Age {
  const isGiven =
    Number.isFinite(days) &&
    Number.isFinite(limits?.recent) &&
    Number.isFinite(limits.stale) &&
    Number.isFinite(limits.old);
  checkGivenType(isGiven, "ageName", "give days, and limits such as { recent: 2, stale: 8, old: 31 }");
  if (days >= limits.old) return "old";
  if (days >= limits.stale) return "stale";
  return days >= limits.recent ? "recent" : "fresh";
}

/** An age as people say it: "today", "3 days ago". */
export function ageInWords(days: number): string {
  checkGivenType(Number.isFinite(days), "ageInWords", "`days` must be a number");
  if (days === 0) return "today";
  return days === 1 ? "yesterday" : `${days} days ago`;
}

/** A span of file times that a checkout, a copy or a sync has set: many files within a moment. They say nothing about any one of them. */
export interface Bulk {
  fromMs: number;
  toMs: number;
}

/** Between one file and the next; a checkout writes thousands in that time. */
const BULK_GAP_MS = 1_000;

/** So many files in one span are a bulk: a person or an agent saves a few memories at once, a checkout writes a large part of them. */
function isBulkSize(files: number, all: number): boolean {
  return files >= 8 && files >= all * 0.5;
}

export function findBulks(timesMs: readonly number[]): Bulk[] {
  return findBulksIn(Float64Array.from(timesMs.filter(Number.isFinite)).sort());
}

/** Of ascending times. A span of half of them holds the one in the middle, or one of the two. */
export function findBulksIn(sorted: Float64Array): Bulk[] {
  const bulks: Bulk[] = [];
  const last = sorted.length - 1;
  const at = (i: number) => sorted[i] as number;
  for (const middle of new Set([last >> 1, (last + 1) >> 1])) {
    if (last < 0 || isBulkTime(bulks, at(middle))) continue;
    let [from, to] = [middle, middle];
    while (from > 0 && at(from) - at(from - 1) <= BULK_GAP_MS) from--;
    while (to < last && at(to + 1) - at(to) <= BULK_GAP_MS) to++;
    if (isBulkSize(to - from + 1, sorted.length)) bulks.push({ fromMs: at(from), toMs: at(to) });
  }
  return bulks;
}

export function isBulkTime(bulks: readonly Bulk[], timeMs: number): boolean {
  return bulks.some(({ fromMs, toMs }) => timeMs >= fromMs && timeMs <= toMs);
}
