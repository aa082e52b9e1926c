/** Which memories a prompt is shown: the finalists, by how likely they are to help (confidence.ts), less for age, and cut where that is not likely enough. */

import { AT, type Bulk, countsFrom, isBulkTime, MEMORY_TYPES, type RowEntry, viewEntry } from "../store/store.ts";
import { findSorted } from "../text/hash.ts";
import { foreignShare, hasCjk } from "../text/terms.ts";
import { confidenceOf, featuresOf, needOf, type Signs, standingOf, sureEnough } from "./confidence.ts";
import { type Found, look, type Query } from "./finalists.ts";
import type { RecallSession } from "./injection.ts";
import { MAX_MEMORIES } from "./injection.ts";
import type { Links } from "./links.ts";
import { bulksOf, ownerOf, type Resident } from "./resident-rows.ts";
import { coverageOf, decayOf, K1, type Method, queryTerms, type Signals, type Term, UNKNOWN } from "./score.ts";

export type { Meaning, Query } from "./finalists.ts";

export interface Ranked {
  entry: RowEntry;
  /** The directory's number. */
  owner: number;
  /** ISO time's number that its age counts from. */
  fromMs: number;
  /** The order: the confidence and the shared words, less for age. */
  score: number;
  confidence: number;
  /** By which its meaning is compared. */
  hasCues: boolean;
  /** It has no vectors, or there are none at all. */
  isByWords: boolean;
  evidence: Evidence;
}

/** Why it ranks where it does; worked out when it is asked for, before the next ranking. */
export type Evidence = () => {
  /** Words of the prompt that it has. */
  words: string[];
  /** Which text came nearest, and how near; null without meaning. */
  nearest: { isCue: boolean; number: number; similarity: number } | null;
  /** It ranks through a memory that it belongs with. */
  isLinked: boolean;
  supersededBy: string | null;
  /** Null for what was not ranked. */
  signs: Signs | null;
};

/** How a recall is limited. */
export interface RecallOptions extends Signals {
  /** At most this many. Default: 5. */
  limit?: number | undefined;
  /** Maximum size of the whole text, including fences and headers. */
  maxBytes?: number | undefined;
  /** Files or paths to leave out. */
  exclude?: readonly string[] | undefined;
  /** What this session has already been shown, and its budget. */
  session?: RecallSession | undefined;
  /** Set to false to rank offline even if a model is configured. */
  model?: boolean | undefined;
  /** How long the model may take before the offline result is used. */
  timeoutMs?: number | undefined;
  /** Returns all memories in order, however uncertain. For measurements. */
  everything?: boolean | undefined;
  /** Stops the recall early; it then resolves with no memories. */
  signal?: AbortSignal | undefined;
}

export interface Asking extends RecallOptions {
  prompt: string;
  /** The prompt's vector; null: by words only. */
  vector: Float32Array | null;
  nowMs: number;
  /** How many of the order are wanted beyond those that are shown. */
  orderLimit?: number;
}

export interface Choice {
  /** Sure enough to be shown, and some more in case that one has vanished. */
  ranked: Ranked[];
  method: Method;
  /** The order however unsure. */
  all: Ranked[];
  considered: number;
}

/** Some of the best may have vanished. */
const SPARE = 20;

/** Null when there is nothing to ask for. */
export function chooseMemories(resident: Resident, asking: Asking): Choice | null {
  const { nowMs, limit = MAX_MEMORIES, exclude = [], session, orderLimit = 0 } = asking;
  const prompt = asking.prompt.replaceAll("\0", " ").trim();
  if (prompt === "") return null;
  const terms = queryTerms(prompt, asking);
  const meaning = asking.vector && { vector: asking.vector };
  // Nothing but marks and stop words.
  if (terms.length === 0 && !meaning) return null;
  const wanted = limit + SPARE;
  const rankLimit = Math.max(orderLimit, wanted + exclude.length + (session?.surfaced.size ?? 0));
  const { order, method, considered } = rank(
    resident,
    { terms, meaning, foreign: foreignShare(prompt) },
    { nowMs, limit: rankLimit },
  );
  const all = order.filter((ranked) => !isExcluded(ranked.entry.file, pathOf(resident, ranked), asking));
  return { ranked: asking.everything ? all : sureEnough(all.slice(0, wanted), method), method, all, considered };
}

export function isExcluded(file: string, path: string, { exclude = [], session }: RecallOptions): boolean {
  if (session?.surfaced.has(path)) return true;
  return exclude.some((each) => each === path || each === file || each === file.replace(/\.md$/, ""));
}

export function pathOf({ directories }: Resident, { owner, entry }: Pick<Ranked, "owner" | "entry">): string {
  return `${directories[owner]?.path}/${entry.file}`;
}

/** `order`: best first, never more than the limit; `considered`: how many memories there were to choose from. */
export function rank(resident: Resident, query: Query, options: { nowMs: number; limit: number }) {
  // First: they are worked out in the room that the rest needs.
  const bulks = bulksOf(resident);
  const found = look(resident, query, options.limit);
  const method: Method = found.hasMeaning ? "hybrid" : "lexical";
  const order = options.limit > 0 ? choose(resident, query, found, { ...options, bulks }) : [];
  return { order, method, considered: found.live };
}

const TIMES = [AT.mtimeMs, AT.saidMs, AT.createdMs, AT.commitMs];

function choose(
  resident: Resident,
  query: Query,
  found: Found,
  { nowMs, limit, bulks }: { nowMs: number; limit: number; bulks: readonly Bulk[][] },
): Ranked[] {
  const { bytes } = resident;
  const { addressOf } = found;
  const fromOf = (at: number): number => {
    const times = TIMES.map((place) => bytes.readDoubleLE(addressOf(at) + place));
    const [mtimeMs = 0, saidMs = 0, createdMs = 0, commitMs = 0] = times;
    const owner = ownerOf(resident, at);
    const inRepository = resident.directories[owner]?.inRepository ?? false;
    const isBulk = isBulkTime(bulks[owner] ?? [], mtimeMs);
    return countsFrom({ mtimeMs, saidMs, createdMs, commitMs }, { inRepository, isBulk });
  };
  const signs = openSigns(resident, query, found);
  const isByWords = (at: number): boolean => !found.hasMeaning || isBare(found, at);
  const judged = new Map<number, number>();
  const judge = (at: number, own = signs(at)): number => confidenceOf(featuresOf(own), !isByWords(at));
  const sureness = (at: number): number => judged.get(at) ?? judge(at);
  const scores = new Map<number, number>();
  for (const at of found.finalists) {
    const type = MEMORY_TYPES[bytes.readUInt32LE(addressOf(at) + AT.type)] ?? "user";
    const own = signs(at);
    judged.set(at, judge(at, own));
    const score = standingOf(sureness(at), own.coverage) * decayOf(type, fromOf(at), nowMs);
    // A damaged cache may hold any number.
    if (Number.isFinite(score)) scores.set(at, score);
  }
  const { successors, replaced } = placeSuccessors(found.links, scores, (at) => addressOf(at) !== 0);
  const best = [...scores].sort(([, x], [, y]) => y - x);
  // Those that are level with the last one too: which of them comes first is decided by name, not by where it is in memory.
  const level = best[limit - 1]?.[1] ?? Number.NEGATIVE_INFINITY;
  const ranked = best.flatMap(([at, score]): Ranked[] => {
    if (score < level) return [];
    const entry = viewEntry(bytes, addressOf(at));
    // What is shown of a memory is shown of what it replaces.
    const behind = [at, ...(replaced.get(at) ?? [])];
    const confidence = Math.max(...behind.map(sureness));
    if (!Number.isFinite(confidence) || !isInside(entry.file)) return [];
    const evidence = () =>
      evidenceOf(resident, query, found, { at, entry, successor: successors.get(at), signs: signs(at) });
    const kind = { hasCues: found.cue[at] !== UNKNOWN, isByWords: behind.every(isByWords) };
    return [{ entry, owner: ownerOf(resident, at), fromMs: fromOf(at), score, confidence, ...kind, evidence }];
  });
  const order = (a: Ranked, b: Ranked) =>
    b.score - a.score || a.owner - b.owner || (a.entry.file < b.entry.file ? -1 : 1);
  return ranked.sort(order).slice(0, limit);
}

/** What the finalists' confidence is worked out from. */
function openSigns({ scan, bytes }: Resident, { terms, meaning, foreign }: Query, found: Found): (at: number) => Signs {
  const { finalists, text, cue, words, rare, total, totalRare, live, hasMeaning, similarity } = found;
  const known = (value: number | undefined) => (value === undefined || value === UNKNOWN ? null : value);
  const bestAt = (at: number) => Math.max(text[at] as number, cue[at] as number);
  const coverageAt = (at: number) => coverageOf(words[at] as number, total);
  const [similar, covering] = [bestAt, coverageAt].map((valueAt) => openBestOther(finalists, valueAt)) as [Best, Best];
  // One view for all of them: making one takes as long as the comparison.
  const ofCues = new Float32Array(bytes.buffer, found.summary, 2);
  const otherCues = (at: number) => {
    if (cue[at] === UNKNOWN) return { secondCue: null, meanCue: null };
    scan.matchCues(found.addressOf(at), found.vector, found.scale, found.summary);
    return { secondCue: known(ofCues[0]), meanCue: known(ofCues[1]) };
  };
  const need = needOf(hasMeaning && meaning ? meaning.vector : null);
  return (at) => ({
    text: known(text[at]),
    cue: known(cue[at]),
    ...otherCues(at),
    // As if no memory had vectors, where it has none itself.
    bestOther: isBare(found, at) ? -1 : Math.max(-1, similar(at)),
    ...similarity,
    coverage: coverageAt(at),
    coverageOther: Math.max(0, covering(at)),
    rare: totalRare === 0 ? 0 : (rare[at] as number) / (totalRare * (K1 + 1)),
    need,
    count: live,
    promptTerms: terms.length,
    length: bytes.readFloatLE(found.addressOf(at) + AT.length),
    foreign,
  });
}

function isBare({ text, cue }: Found, at: number): boolean {
  return text[at] === UNKNOWN && cue[at] === UNKNOWN;
}

type Best = (at: number) => number;

/** The best value of all finalists but this one. */
function openBestOther(finalists: Uint32Array, valueAt: Best): Best {
  let [first, second, holder] = [Number.NEGATIVE_INFINITY, Number.NEGATIVE_INFINITY, -1];
  for (const at of finalists) {
    const value = valueAt(at);
    if (value > first) [first, second, holder] = [value, first, at];
    else if (value > second) second = value;
  }
  return (at) => (at === holder ? second : first);
}

/** A cache can be damaged, or planted: no file outside of the directory. */
function isInside(file: string): boolean {
  return !file.startsWith("/") && !file.includes("\\") && !/(^|\/)\.\.?(\/|$)/.test(file);
}

/** Longer chains, and circles, are left as they are then. */
const MAX_GENERATIONS = 8;

/** What a memory replaces stands under it, and it stands at least as high as what it replaces. */
function placeSuccessors(links: Links, scores: Map<number, number>, isThere: (at: number) => boolean) {
  const pairs = links.successors.filter(([old, heir]) => isThere(old) && isThere(heir));
  const replaced = new Map<number, Set<number>>();
  const scoreOf = (at: number) => scores.get(at) ?? Number.NEGATIVE_INFINITY;
  // A pair may come before the one that lifts its old memory: as many rounds as generations.
  for (let round = 0, moved = true; moved && round < MAX_GENERATIONS; round++) {
    moved = false;
    for (const [old, heir] of pairs) {
      if (!scores.has(old)) continue;
      const from = replaced.get(heir) ?? new Set();
      for (const each of [old, ...(replaced.get(old) ?? [])]) if (each !== heir) from.add(each);
      replaced.set(heir, from);
      if (scoreOf(heir) >= scoreOf(old)) continue;
      scores.set(heir, scoreOf(old));
      moved = true;
    }
  }
  for (let round = 0; round < MAX_GENERATIONS && pairs.length > 0; round++) {
    for (const [old, heir] of pairs) {
      const under = scoreOf(heir) - Math.abs(scoreOf(heir)) * 0.001 - 1e-6;
      if (scores.has(old) && scoreOf(old) > under) scores.set(old, under);
    }
  }
  return { successors: new Map(pairs), replaced: new Map([...replaced].map(([at, from]) => [at, [...from]])) };
}

function evidenceOf(
  resident: Resident,
  { terms }: Query,
  found: Found,
  { at, entry, successor, signs }: { at: number; entry: RowEntry; successor: number | undefined; signs: Signs },
): ReturnType<Evidence> {
  const words = terms.filter(({ hash }) => findSorted(entry.ranking.terms, hash) >= 0).map(nameOf);
  const address = successor === undefined ? 0 : found.addressOf(successor);
  return {
    words: [...new Set(words)],
    nearest: nearestOf(resident, found, at),
    isLinked: words.length === 0 && (found.words[at] as number) > 0,
    supersededBy: address === 0 ? null : viewEntry(resident.bytes, address).file,
    signs,
  };
}

function nearestOf({ scan }: Resident, { text, cue, vector, hasMeaning, addressOf }: Found, at: number) {
  const [ofText, ofCue] = [text[at] as number, cue[at] as number];
  if (!hasMeaning || (ofText === UNKNOWN && ofCue === UNKNOWN)) return null;
  const isCue = ofCue > ofText;
  const number = scan.nearestText(addressOf(at), vector, Number(isCue));
  return { isCue, number, similarity: Math.max(ofText, ofCue) };
}

const MAX_WORD_CHARACTERS = 40;

/** As it stood in the prompt; of text without spaces only the part that was found. */
function nameOf({ term, word }: Term): string {
  return hasCjk(term) ? term : word.replace(/^[^\p{L}\p{N}]+|[^\p{L}\p{N}]+$/gu, "").slice(0, MAX_WORD_CHARACTERS);
}
