/**
 * Recall in a process that lives for one prompt: the cache's bytes are read into compiled code's memory and looked
 * through there (`scan.as`), and only the few best entries become objects. The maths is score.ts's, as in the warm ranker.
 */

import { closeSync, fstatSync, openSync, readdirSync, readSync, statSync } from "node:fs";
import { MAX_PIECES, openWords } from "../meaning/words.ts";
import { walk } from "../memory/walk.ts";
import { CACHE_FILE, CACHE_HEAD_BYTES, FOLDER_TIME_AT, isCache } from "./cache-file.ts";
import { type Confident, type Method, sureEnough } from "./confidence.ts";
import { decayOf } from "./decay.ts";
import { AT, DIMENSIONS, type Entry, encodeEntry, HEAD_BYTES, INFERRED, TYPES, viewEntry } from "./entry.ts";
import { type Links, MOST_FROM_NEIGHBOUR, NO_LINKS, resolveLinks } from "./links.ts";
import { queryTerms, type Signals, type Term } from "./query.ts";
import { openScan, type Scan } from "./scan.ts";
import {
  B,
  COVERAGE,
  COVERAGE_FLOOR,
  certainty,
  confidenceInWords,
  confidenceOf,
  K1,
  meaningOf,
  rarityOf,
  SUM_OF_WORDS,
  UNKNOWN,
  WORDS,
} from "./score.ts";
import { isMostlyLatin } from "./terms.ts";

export interface HotDirectory {
  path: string;
  scope: string;
  recursive: boolean;
  inRepository: boolean;
}

export interface HotOptions extends Signals {
  nowMs: number;
  /** The table of words; without it recall goes by words alone. */
  wordsFile: string | null;
  /** Digests a file that the cache does not know as it is now. */
  digest: (directory: HotDirectory, file: string) => Entry | null;
}

export interface HotRanked extends Confident {
  file: string;
  /** When the file says that it was last changed or found true; 0 if it does not. */
  saidMs: number;
  name: string;
  isInferred: boolean;
  /** The directory's number. */
  owner: number;
  score: number;
}

export interface HotAnswer {
  /** Best first, however unsure. */
  order: HotRanked[];
  /** Sure enough to be shown. */
  shown: HotRanked[];
  method: Method;
  considered: number;
  /** Files that the cache does not know as they are now: somebody with more time should bring it up to date. */
  stale: number;
}

/** Up to here every file is looked at; a look takes some millionths of a second. */
const ALL_FILES = 300;
/** Of more, those that changed last; those that are shown are read anyway. */
const LIKELY_FILES = 8;
/** More unknown files than this, and digesting them would hold up the prompt: the rest waits. */
const MAX_DIGESTED = 200;
const MAX_DIGESTED_BYTES = 2 << 20;
const MAX_NAME_BYTES = 32 << 20;
/** So many are weighed in full; age and links move nothing further than that. */
const FINALISTS = 24;

export function recallHot(directories: readonly HotDirectory[], prompt: string, options: HotOptions): HotAnswer {
  const terms = queryTerms(prompt, options);
  const desk = openDesk(directories, terms.length);
  let stale = 0;
  for (const [owner, directory] of directories.entries()) stale += readDirectory(desk, owner, directory, options);
  const found = look(desk, terms, isMostlyLatin(prompt) ? options.wordsFile : null, prompt);
  const order = choose(desk, found, options.nowMs);
  const method: Method = found.hasMeaning ? "hybrid" : "lexical";
  return { order, shown: sureEnough(order, method), method, considered: found.live, stale };
}

/** The caches of all directories behind one another, then the list of their entries, then room for what is found. */
interface Desk {
  scan: Scan;
  bytes: Buffer;
  /** Where the cache of each directory lies. */
  caches: { from: number; end: number }[];
  /** Where a digest goes. */
  free: number;
  freeEnd: number;
  /** Address of the list of entries, and how many are in it; 0 in the list is nobody. */
  list: number;
  count: number;
  /** From which position on the entries are another directory's. */
  owners: { from: number; owner: number }[];
  /** Where the room for what is found begins. */
  room: number;
}

function openDesk(directories: readonly HotDirectory[], termCount: number): Desk {
  const files = directories.map(({ path }) => openCache(`${path}/.memdir/${CACHE_FILE}`));
  const sizes = files.map((file) => align(file?.size ?? 0));
  const cacheBytes = sizes.reduce((sum, size) => sum + size, 0);
  const first = align(HEAD_BYTES);
  const free = first + cacheBytes;
  const freeEnd = free + MAX_DIGESTED_BYTES;
  const most = Math.floor((cacheBytes + MAX_DIGESTED_BYTES) / HEAD_BYTES) + 1;
  // Pages that are not touched cost nothing: there is room for the worst case.
  const needed = freeEnd + most * 4 * (8 + termCount) + MAX_NAME_BYTES + (MAX_PIECES + 8) * DIMENSIONS * 2 + 65_536;
  const scan = openScan(needed);
  const bytes = Buffer.from(scan.memory.buffer);
  let at = first;
  const caches = files.map((file, i) => {
    const from = at;
    at += sizes[i] as number;
    return { from: from + CACHE_HEAD_BYTES, end: file && readInto(file, bytes, from) ? from + file.size : from };
  });
  return { scan, bytes, caches, free, freeEnd, list: freeEnd, count: 0, owners: [], room: align(freeEnd + most * 4) };
}

/** Puts the live entries of a directory on the list. How many files the cache does not know as they are. */
function readDirectory(desk: Desk, owner: number, directory: HotDirectory, options: HotOptions): number {
  const { scan, bytes } = desk;
  const { from, end } = desk.caches[owner] as Desk["caches"][number];
  const list = desk.list + desk.count * 4;
  desk.owners.push({ from: desk.count, owner });
  const count = scan.listEntries(from, end, list);
  desk.count += count;
  const folderMs = end > from ? bytes.readDoubleLE(from - CACHE_HEAD_BYTES + FOLDER_TIME_AT) : 0;
  const isWhole = folderMs !== 0 && timeOf(directory.path) === folderMs;
  const stale = isWhole ? [] : matchNames(desk, directory, list, count);
  const entries = new Uint32Array(bytes.buffer, list, count);
  for (const i of likely(desk, list, count)) {
    const file = fileAt(desk, entries[i] as number);
    if (agrees(bytes, entries[i] as number, `${directory.path}/${file}`)) continue;
    entries[i] = 0;
    stale.push(file);
  }
  for (const file of stale.slice(0, MAX_DIGESTED)) addDigest(desk, options.digest(directory, file));
  return stale.length;
}

/** Takes entries off the list whose files are gone. The files that have none. */
function matchNames({ scan, bytes, room }: Desk, directory: HotDirectory, list: number, count: number): string[] {
  const names = listNames(directory);
  const joined = Buffer.from(names.join("\0"));
  // Far more names than anybody has: recall goes on with what the cache knows.
  if (joined.length + names.length * 80 > MAX_NAME_BYTES) return [];
  joined.copy(bytes, room);
  const table = align(room + joined.length);
  const slots = powerAbove(names.length * 2);
  const unknown = table + slots * 16;
  const unknownCount = scan.matchNames(room, joined.length, list, count, table, slots, unknown);
  const stale = Array.from(new Uint32Array(bytes.buffer, unknown, unknownCount), (number) => names[number] as string);
  bytes.fill(0, room, unknown + unknownCount * 4);
  return stale;
}

function addDigest(desk: Desk, entry: Entry | null): void {
  if (!entry) return;
  const encoded = encodeEntry(entry);
  if (desk.free + encoded.length > desk.freeEnd) return;
  encoded.copy(desk.bytes, desk.free);
  desk.bytes.writeUInt32LE(desk.free, desk.list + desk.count * 4);
  desk.count++;
  desk.free += encoded.length;
}

/** Positions of the files whose times are compared: all, or those that changed last. */
function likely({ scan, bytes, room }: Desk, list: number, count: number): number[] {
  const found = scan.listNewest(list, count, count > ALL_FILES ? LIKELY_FILES : ALL_FILES, room);
  const positions = Array.from(new Uint32Array(bytes.buffer, room, found));
  bytes.fill(0, room, room + found * 4);
  return positions;
}

interface Found {
  scores: Float32Array;
  words: Float32Array;
  rare: Float32Array;
  text: Float32Array;
  cue: Float32Array;
  total: number;
  middle: number;
  live: number;
  hasMeaning: boolean;
  links: Links;
}

/** Everything that the compiled code finds, as rows of one number per entry. */
function look(desk: Desk, terms: readonly Term[], wordsFile: string | null, prompt: string): Found {
  const { scan, bytes, count, list } = desk;
  const row = (n: number) => desk.room + n * align(count * 4);
  const view = (n: number) => new Float32Array(bytes.buffer, row(n), count);
  const [lengths, words, rare, text, cue, scores, weights] = [0, 1, 2, 3, 4, 5, 6] as const;
  const stride = align(count * 4);
  const [hashes, having, rarities, certainties] = [0, 1, 2, 3].map(
    (n) => row(weights + terms.length) + n * align(terms.length * 4),
  ) as [number, number, number, number];
  const askedHashes = new Uint32Array(bytes.buffer, hashes, terms.length);
  for (let t = 0; t < terms.length; t++) askedHashes[t] = (terms[t] as Term).hash;
  const summary = certainties + align(terms.length * 4);
  scan.summarise(list, count, summary);
  const [live = 0, linked = 0] = new Int32Array(bytes.buffer, summary, 2);
  const meanLength = bytes.readFloatLE(summary + 8) / live || 1;
  const links = linked > 0 ? linksOf(desk) : NO_LINKS;
  scan.matchTerms(list, count, hashes, terms.length, row(weights), stride, row(lengths), having);
  const total = weighTerms(bytes, terms, live, { having, rarities, certainties });
  if (linked > 0) for (let t = 0; t < terms.length; t++) spread(view(weights + t), links);
  const [w, l] = [row(weights), row(lengths)];
  scan.addTerms(w, stride, l, count, terms.length, rarities, certainties, K1, B, meanLength, row(words), row(rare));
  const query = summary + 16;
  const scale = wordsFile === null ? 0 : embedPrompt(desk, wordsFile, prompt, query);
  if (scale > 0) scan.matchVectors(list, count, query, scale, row(text), row(cue));
  else view(text).fill(UNKNOWN);
  const middle = scan.meanMeaning(list, count, row(text), row(cue));
  const ofWords = total === 0 ? 0 : 1 / (total * (K1 + 1));
  const [t, c] = [row(text), row(cue)];
  scan.scoreAll(
    list,
    count,
    t,
    c,
    row(words),
    middle,
    SUM_OF_WORDS,
    WORDS,
    COVERAGE,
    COVERAGE_FLOOR,
    ofWords,
    row(scores),
  );
  const hasMeaning = scale > 0 && middle !== 0;
  const rows = { scores: view(scores), words: view(words), rare: view(rare), text: view(text), cue: view(cue) };
  return { ...rows, total, middle, live, hasMeaning, links };
}

/** How telling each term is, by how many have it; the sum of it. */
function weighTerms(
  { buffer }: Buffer,
  terms: readonly Term[],
  live: number,
  at: { having: number; rarities: number; certainties: number },
): number {
  const having = new Uint32Array(buffer, at.having, terms.length);
  const rarities = new Float32Array(buffer, at.rarities, terms.length);
  const certainties = new Float32Array(buffer, at.certainties, terms.length);
  let total = 0;
  for (let t = 0; t < terms.length; t++) {
    const { weight } = terms[t] as Term;
    const rarity = rarityOf(having[t] as number, live);
    rarities[t] = rarity * weight;
    certainties[t] = certainty(rarity) * weight;
    total += rarity * weight;
  }
  return total;
}

/** A word of a linked memory counts here too, for less. */
function spread(weights: Float32Array, { neighbours }: Links): void {
  const own = weights.slice();
  for (const [at, near] of neighbours) {
    const weight = Math.min(own[at] as number, MOST_FROM_NEIGHBOUR);
    if (weight > 0) for (const { at: to, weight: share } of near) (weights[to] as number) += weight * share;
  }
}

function linksOf({ bytes, list, count }: Desk): Links {
  const entries = new Uint32Array(bytes.buffer, list, count);
  return resolveLinks(Array.from(entries, (at) => (at === 0 ? null : viewEntry(bytes, at))));
}

function choose(desk: Desk, found: Found, nowMs: number): HotRanked[] {
  const { bytes } = desk;
  const { scores, words, rare, text, cue, total, middle, links } = found;
  const top = topOf(scores, FINALISTS);
  // What replaces one of them is looked at with it.
  for (const [old, heir] of links.successors) if (top.includes(old) && !top.includes(heir)) top.push(heir);
  const finalists = top.map((at): HotRanked & { at: number } => {
    const entry = bytes.readUInt32LE(desk.list + at * 4);
    const type = TYPES[bytes.readUInt32LE(entry + AT.type)] ?? "user";
    const saidMs = bytes.readDoubleLE(entry + AT.saidMs);
    const thenMs = saidMs || bytes.readDoubleLE(entry + AT.mtimeMs);
    const score = Math.max(0, scores[at] as number) * decayOf(type, thenMs, nowMs);
    const meaning = text[at] === UNKNOWN ? middle : meaningOf(text[at] as number, cue[at] as number);
    const confidence = found.hasMeaning
      ? confidenceOf(meaning, rare[at] as number)
      : confidenceInWords(words[at] as number, rare[at] as number, total);
    const isInferred = (bytes.readUInt32LE(entry + AT.flags) & INFERRED) !== 0;
    return { at, ...namesAt(desk, entry), saidMs, isInferred, owner: ownerOf(desk, at), score, confidence };
  });
  placeSuccessors(finalists, links);
  return finalists.sort((a, b) => b.score - a.score || a.at - b.at);
}

/** What a memory replaces stands under it, and it is at least as good as what it replaces. Chains: as many rounds as generations. */
function placeSuccessors(finalists: readonly (HotRanked & { at: number })[], { successors }: Links): void {
  const find = (position: number) => finalists.find(({ at }) => at === position);
  for (let round = 0; round < MAX_GENERATIONS && successors.length > 0; round++) {
    for (const [old, heir] of successors) {
      const [before, after] = [find(old), find(heir)];
      if (!before || !after) continue;
      after.confidence = Math.max(after.confidence, before.confidence);
      after.score = Math.max(after.score, before.score);
      before.score = Math.min(before.score, after.score * 0.999 - 1e-6);
    }
  }
}

const MAX_GENERATIONS = 4;

/** Positions of the highest scores above none. */
function topOf(scores: Float32Array, limit: number): number[] {
  const floor = scores.length <= limit ? 0 : Math.max(0, scores.slice().sort()[scores.length - limit] as number);
  const top: number[] = [];
  for (let at = 0; at < scores.length; at++) if ((scores[at] as number) >= floor) top.push(at);
  return top;
}

function namesAt(desk: Desk, entry: number): { file: string; name: string } {
  const { bytes } = desk;
  const nameAt =
    entry + HEAD_BYTES + bytes.readUInt32LE(entry + AT.fileBytes) + bytes.readUInt32LE(entry + AT.linkBytes);
  const name = bytes.toString("utf8", nameAt, nameAt + bytes.readUInt32LE(entry + AT.nameBytes));
  return { file: fileAt(desk, entry), name };
}

function fileAt({ bytes }: Desk, entry: number): string {
  return bytes.toString("utf8", entry + HEAD_BYTES, entry + HEAD_BYTES + bytes.readUInt32LE(entry + AT.fileBytes));
}

function ownerOf({ owners }: Desk, at: number): number {
  let found = 0;
  for (const { from, owner } of owners) if (at >= from) found = owner;
  return found;
}

/** Names of the files, with their folders. Where there are no folders, which is the ordinary case, names are enough. */
function listNames({ path, recursive }: HotDirectory): string[] {
  try {
    const names = readdirSync(path);
    const mayBeFolder = (name: string) => !name.endsWith(".md") && !name.startsWith(".");
    return recursive && names.some(mayBeFolder) ? walk(path, true).files : names;
  } catch {
    return [];
  }
}

/** The prompt's vector, written to `query`; 0 when no word is known, else what its numbers are to be multiplied with. */
function embedPrompt({ scan, bytes }: Desk, wordsFile: string, prompt: string, query: number): number {
  const words = openWords(wordsFile);
  if (!words) return 0;
  try {
    const rows = words.dimensions === DIMENSIONS ? words.findRows(prompt) : [];
    const from = align(query + DIMENSIONS * 2);
    return rows.length > 0 && words.readRows(rows, bytes, from) ? scan.sumRows(from, rows.length, query) : 0;
  } finally {
    words.close();
  }
}

function openCache(path: string): { fd: number; size: number } | null {
  try {
    const fd = openSync(path, "r");
    const stat = fstatSync(fd);
    if (stat.isFile()) return { fd, size: stat.size };
    closeSync(fd);
  } catch {
    // There is none yet.
  }
  return null;
}

function readInto({ fd, size }: { fd: number; size: number }, bytes: Buffer, at: number): boolean {
  try {
    return readSync(fd, bytes, at, size, 0) === size && isCache(bytes.subarray(at, at + size));
  } catch {
    return false;
  } finally {
    closeSync(fd);
  }
}

function timeOf(path: string): number {
  try {
    return statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;
  } catch {
    return 0;
  }
}

function agrees(bytes: Buffer, at: number, path: string): boolean {
  try {
    const stat = statSync(path, { throwIfNoEntry: false });
    return (
      stat !== undefined &&
      stat.mtimeMs === bytes.readDoubleLE(at + AT.mtimeMs) &&
      stat.ctimeMs === bytes.readDoubleLE(at + AT.ctimeMs) &&
      stat.size === bytes.readDoubleLE(at + AT.size) &&
      stat.ino === bytes.readDoubleLE(at + AT.ino)
    );
  } catch {
    return false;
  }
}

function powerAbove(count: number): number {
  let power = 16;
  while (power < count) power *= 2;
  return power;
}

function align(offset: number): number {
  return (offset + 15) & ~15;
}
