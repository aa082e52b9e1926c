/**
 * Recall in a process that lives for one prompt: the cache's bytes are read into compiled code's memory and looked
 * through there (`scan.as`), and only the few best entries become objects. The maths is score.ts's, as in the warm ranker.
 */

import { openWords } from "../meaning/words.ts";
import { type Confident, type Method, sureEnough } from "./confidence.ts";
import { decayOf } from "./decay.ts";
import { AT, DIMENSIONS, HEAD_BYTES, INFERRED, TYPES, viewEntry } from "./entry.ts";
import { align, type Desk, type Digest, fileAt, type HotDirectory, openDesk, readDirectory } from "./hot-desk.ts";
import { type Links, MOST_FROM_NEIGHBOUR, NO_LINKS, resolveLinks } from "./links.ts";
import { queryTerms, type Signals, type Term } from "./query.ts";
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
import { isMostlyLatin } from "../text/terms.ts";

export type { HotDirectory };

export interface HotOptions extends Signals {
  nowMs: number;
  /** The table of words; without it recall goes by words alone. */
  wordsFile: string | null;
  digest: Digest;
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

/** So many are weighed in full; age and links move nothing further than that. */
const FINALISTS = 24;

export function recallHot(directories: readonly HotDirectory[], prompt: string, options: HotOptions): HotAnswer {
  const terms = queryTerms(prompt, options);
  const desk = openDesk(directories, terms.length);
  let stale = 0;
  for (const [owner, directory] of directories.entries())
    stale += readDirectory(desk, owner, directory, options.digest);
  const found = look(desk, terms, isMostlyLatin(prompt) ? options.wordsFile : null, prompt);
  const order = choose(desk, found, options.nowMs);
  const method: Method = found.hasMeaning ? "hybrid" : "lexical";
  return { order, shown: sureEnough(order, method), method, considered: found.live, stale };
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
  // What replaces one of them is looked at with it, and what replaces that.
  for (let round = 0, size = 0; size < top.length && round < MAX_GENERATIONS; round++) {
    size = top.length;
    for (const [old, heir] of links.successors) if (top.includes(old) && !top.includes(heir)) top.push(heir);
  }
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
  // A cache can be broken, or somebody else's: no number without sense, and no file outside of the directory.
  const sound = finalists.filter((one) => Number.isFinite(one.score + one.confidence) && isInside(one.file));
  placeSuccessors(sound, links);
  return sound.sort((a, b) => b.score - a.score || a.at - b.at);
}

function isInside(file: string): boolean {
  return !file.startsWith("/") && !file.includes("\\") && !/(^|\/)\.\.?(\/|$)/.test(file);
}

/** What a memory replaces stands under it, and it is at least as good as what it replaces. Chains: as many rounds as generations. */
function placeSuccessors(finalists: readonly (HotRanked & { at: number })[], { successors }: Links): void {
  const find = (position: number) => finalists.find(({ at }) => at === position);
  const pairs = successors.map(([old, heir]) => [find(old), find(heir)] as const);
  const repeat = (place: (before: HotRanked, after: HotRanked) => void) => {
    for (let round = 0; round < MAX_GENERATIONS && pairs.length > 0; round++) {
      for (const [before, after] of pairs) if (before && after) place(before, after);
    }
  };
  // First all are lifted: of two that replace the same one, the second must not find it lowered already.
  repeat((before, after) => {
    after.confidence = Math.max(after.confidence, before.confidence);
    after.score = Math.max(after.score, before.score);
  });
  repeat((before, after) => {
    before.score = Math.min(before.score, after.score * 0.999 - 1e-6);
  });
}

const MAX_GENERATIONS = 8;

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

function ownerOf({ owners }: Desk, at: number): number {
  let found = 0;
  for (const { from, owner } of owners) if (at >= from) found = owner;
  return found;
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
