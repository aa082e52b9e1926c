/** Which memories are near one another: by meaning where it is known, else by the rare words that they share. */

import { rarityOf } from "../recall/score.ts";
import { DIMENSIONS, type RowEntry, type Vector, WEIGHT_UNIT } from "../store/store.ts";

type Entry = Pick<RowEntry, "ranking">;

export interface Near {
  /** Positions, `a` before `b`. */
  a: number;
  b: number;
  /** 0 to 1. */
  share: number;
}

/** More lines than these make a picture a knot. */
const NEIGHBOURS = 3;
/** Of MiniLM's cosines: below it two notes of one project are only notes of one project. */
const NEAR_BY_MEANING = 0.5;
const NEAR_BY_WORDS = 0.25;
/** A word that is in more of them joins nothing. */
const COMMON_SHARE = 0.1;
const COMMON_LEAST = 12;
/** So that other requests are answered meanwhile. */
const ROWS_AT_ONCE = 100;

/** At most three for each memory, each pair once. */
export async function findNear(entries: readonly Entry[]): Promise<Near[]> {
  const known = entries.map(({ ranking }) => ranking.vectors.find(({ isCue }) => !isCue) ?? null);
  const byMeaning = known.filter((vector) => vector !== null).length > entries.length / 2;
  const best = new Map<string, Near>();
  const keep = (at: number, scores: Float32Array, least: number) => {
    for (const { to, share } of topOf(at, scores, least)) {
      const [a, b] = at < to ? [at, to] : [to, at];
      best.set(`${a} ${b}`, { a, b, share: Math.min(1, share) });
    }
  };
  if (byMeaning) {
    const vectors = unit(known);
    await eachRow(entries.length, (at) => {
      if (known[at]) keep(at, similarities(vectors, known, at), NEAR_BY_MEANING);
    });
  } else {
    const shared = openShared(entries);
    await eachRow(entries.length, (at) => keep(at, shared(at), NEAR_BY_WORDS));
  }
  return [...best.values()];
}

async function eachRow(count: number, work: (at: number) => void): Promise<void> {
  for (let at = 0; at < count; at++) {
    if (at % ROWS_AT_ONCE === ROWS_AT_ONCE - 1) await new Promise((next) => setImmediate(next));
    work(at);
  }
}

function topOf(at: number, scores: Float32Array, least: number): { to: number; share: number }[] {
  const top: { to: number; share: number }[] = [];
  scores.forEach((share, to) => {
    if (to === at || share < least) return;
    if (top.length === NEIGHBOURS && share <= (top[NEIGHBOURS - 1]?.share ?? 0)) return;
    top.push({ to, share });
    top.sort((x, y) => y.share - x.share || x.to - y.to);
    if (top.length > NEIGHBOURS) top.pop();
  });
  return top;
}

function unit(known: readonly (Vector | null)[]): Float32Array {
  const vectors = new Float32Array(known.length * DIMENSIONS);
  known.forEach((vector, at) => {
    if (vector)
      for (let i = 0; i < DIMENSIONS; i++) vectors[at * DIMENSIONS + i] = (vector.values[i] ?? 0) * vector.scale;
  });
  return vectors;
}

function similarities(vectors: Float32Array, known: readonly unknown[], at: number): Float32Array {
  const scores = new Float32Array(known.length);
  const own = vectors.subarray(at * DIMENSIONS, (at + 1) * DIMENSIONS);
  for (let to = 0; to < known.length; to++) {
    if (!known[to]) continue;
    const from = to * DIMENSIONS;
    let sum = 0;
    for (let i = 0; i < DIMENSIONS; i++) sum += (own[i] as number) * (vectors[from + i] as number);
    scores[to] = sum;
  }
  return scores;
}

/** The cosine of the words' weights, by how rare they are; words of many memories are left out. */
function openShared(entries: readonly Entry[]): (at: number) => Float32Array {
  const postings = new Map<number, { at: number; weight: number }[]>();
  entries.forEach(({ ranking: { terms, weights } }, at) => {
    terms.forEach((term, i) => {
      const found = { at, weight: Math.log1p((weights[i] ?? 0) / WEIGHT_UNIT) };
      const list = postings.get(term);
      if (list) list.push(found);
      else postings.set(term, [found]);
    });
  });
  const most = Math.max(COMMON_LEAST, entries.length * COMMON_SHARE);
  const norms = new Float32Array(entries.length);
  for (const list of postings.values()) {
    const rarity = rarityOf(list.length, entries.length);
    for (const { at, weight } of list) norms[at] = (norms[at] as number) + (rarity * weight) ** 2;
  }
  return (at) => {
    const scores = new Float32Array(entries.length);
    for (const term of entries[at]?.ranking.terms ?? []) {
      const list = postings.get(term) ?? [];
      if (list.length < 2 || list.length > most) continue;
      const rarity = rarityOf(list.length, entries.length) ** 2;
      const own = list.find((each) => each.at === at)?.weight ?? 0;
      for (const { at: to, weight } of list) scores[to] = (scores[to] as number) + rarity * own * weight;
    }
    return scores.map((sum, to) => (sum === 0 ? 0 : sum / Math.sqrt((norms[at] as number) * (norms[to] as number))));
  };
}
