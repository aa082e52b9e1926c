/** Memories as a map: what links to what, what is similar, and which belong together. */

import { yieldTurn } from "../disk/turns.ts";
import type { Memdir } from "../memdir.ts";
import { type Edge, findEdges, openLinkPlaces } from "../recall/links.ts";
import { rarityOf } from "../recall/score.ts";
import { DIMENSIONS, listEntries, type RowEntry, type Vector, WEIGHT_UNIT } from "../store/store.ts";
import { get, type Page, titleOf } from "./answer.ts";
import { answerMemories } from "./answer-memories.ts";
import { keyOf, type MemoryTitle, type Ref } from "./shapes.ts";

/** Comparing all pairs of more takes seconds: the linked ones take part, then the newest. */
const MAX_COMPARED = 2_000;
/** More points than this are a cloud. */
const MAX_NODES = 400;

export const MAP_ROUTE = get("/api/map", {}, viewMap);

export async function viewMap(page: Page) {
  const { entries, edges } = openLinkage(page.memdir);
  const joined = joinEdges(edges);
  const compared = chooseCompared(entries, joined);
  const pairs = new Set(joined.map(pairOf));
  const near = (await findNear(entries, compared)).filter((edge) => !pairs.has(pairOf(edge)));
  const all = [...joined, ...near];
  const connected = mostFirst(countEach(all.flatMap(({ a, b }) => [a, b])));
  const shown = connected.slice(0, MAX_NODES);
  const places = new Map(shown.map((at, place) => [at, place]));
  const drawn = all.flatMap(({ a, b, ...edge }) => {
    const [from, to] = [places.get(a), places.get(b)];
    return from === undefined || to === undefined ? [] : [{ a: from, b: to, ...edge }];
  });
  const { byKey } = await answerMemories(page);
  const nodes = shown.map((at) => {
    const entry = entries[at] as Linked;
    const { scope = "", description = "" } = byKey.get(keyOf(entry)) ?? {};
    return { ...titleOf(entry), type: entry.type, scope, description };
  });
  const clusters = findClusters(nodes.length, drawn);
  return {
    /** Those with connections, the most connected first. */
    nodes: nodes.map((node, at) => ({ ...node, cluster: clusters[at] ?? 0 })),
    edges: drawn,
    /** What the members of a cluster have in common, in words; "" for small ones. */
    clusters: nameClusters(nodes, clusters),
    /** How many memories there are, have no connection, and were not compared with the others. */
    total: entries.length,
    alone: entries.length - connected.length,
    uncompared: entries.length - compared.length,
  };
}

type Linked = Linkage["entries"][0];
/** `a` and `b` are positions. */
interface MapEdge {
  a: number;
  b: number;
  kind: "link" | "supersedes" | "near";
  share: number;
}

/** A pair that links both ways is one line; what supersedes what has a direction. */
function joinEdges(edges: readonly Edge[]): MapEdge[] {
  const joined = new Map<string, MapEdge>();
  for (const { from, to, kind } of edges) {
    const [a, b] = kind === "supersedes" || from < to ? [from, to] : [to, from];
    joined.set(`${kind} ${a} ${b}`, { a, b, kind, share: 1 });
  }
  return [...joined.values()];
}

function pairOf({ a, b }: MapEdge): string {
  return a < b ? `${a} ${b}` : `${b} ${a}`;
}

function countEach<T>(all: readonly T[]): Map<T, number> {
  const counts = new Map<T, number>();
  for (const each of all) counts.set(each, (counts.get(each) ?? 0) + 1);
  return counts;
}

function mostFirst(counts: ReadonlyMap<number, number>): number[] {
  return [...counts].sort(([a, x], [b, y]) => y - x || a - b).map(([each]) => each);
}

function chooseCompared(entries: readonly Linked[], joined: readonly MapEdge[]): number[] {
  const linked = new Set(joined.flatMap(({ a, b }) => [a, b]));
  const newest = entries.map((_, at) => at).sort((a, b) => (entries[b]?.mtimeMs ?? 0) - (entries[a]?.mtimeMs ?? 0));
  return [...new Set([...linked, ...newest])].slice(0, MAX_COMPARED).sort((a, b) => a - b);
}

/** A few rounds settle it. */
const ROUNDS = 12;

/** Each memory joins the cluster that most of its neighbours are in, weighed by how alike they are; numbered by size. */
function findClusters(count: number, edges: readonly MapEdge[]): number[] {
  const near = Array.from({ length: count }, () => new Map<number, number>());
  for (const { a, b, share } of edges) {
    near[a]?.set(b, share);
    near[b]?.set(a, share);
  }
  const label = near.map((_, at) => at);
  for (let round = 0; round < ROUNDS; round++) {
    near.forEach((others, at) => {
      const votes = new Map<number, number>();
      for (const [other, share] of others) {
        const to = label[other] as number;
        votes.set(to, (votes.get(to) ?? 0) + share);
      }
      const [best] = mostFirst(votes);
      if (best !== undefined) label[at] = best;
    });
  }
  const order = mostFirst(countEach(label));
  return label.map((each) => order.indexOf(each));
}

/** Smaller ones are named by their memories. */
const LEAST_NAMED = 4;

/** The two words that tell it from the others. */
function nameClusters(nodes: readonly { name: string; description: string }[], clusters: readonly number[]): string[] {
  const words = nodes.map(
    ({ name, description }) => new Set(`${name} ${description}`.toLowerCase().match(/[\p{L}\d]{3,}/gu)),
  );
  const everywhere = countEach(words.flatMap((each) => [...each]));
  const count = Math.max(-1, ...clusters) + 1;
  return Array.from({ length: count }, (_, cluster) => {
    const members = words.filter((_, at) => clusters[at] === cluster);
    if (members.length < LEAST_NAMED) return "";
    const inside = countEach(members.flatMap((each) => [...each]));
    const weigh = ([word, times]: [string, number]) => (times * times) / (everywhere.get(word) ?? 1);
    const best = [...inside]
      .filter(([, times]) => times > 1)
      .sort((a, b) => weigh(b) - weigh(a) || (a[0] < b[0] ? -1 : 1));
    return best
      .slice(0, 2)
      .map(([word]) => word)
      .join(", ");
  });
}

type Linkage = ReturnType<typeof openLinkage>;

/** How memories link to each other, as recall sees it. Nothing is written. */
export function openLinkage({ directories }: Memdir) {
  const entries = directories.flatMap((each, directory) =>
    listEntries(each).map((entry) => Object.assign(entry, { directory })),
  );
  const place = openLinkPlaces(entries);
  return {
    /** Of all directories, one after the other; edges name positions in them. */
    entries,
    edges: findEdges(entries, place),
    find(link: string): MemoryTitle | null {
      const found = entries[place(link) ?? -1];
      return found ? titleOf(found) : null;
    },
  };
}

/** Both ways, each memory once; a name that no memory has is only a name. */
export function linksOf({ entries, edges, find }: Linkage, ref: Ref) {
  const at = entries.findIndex((entry) => keyOf(entry) === keyOf(ref));
  const to = new Map<string, MemoryTitle | { name: string }>();
  for (const link of entries[at]?.links ?? []) {
    const name = link.replace(/^>/, "");
    const found = find(link);
    // Neither a link to itself nor the address of a web page.
    if (found ? keyOf(found) === keyOf(ref) : /^[a-z]+:\/\//i.test(name)) continue;
    to.set(found ? keyOf(found) : `?${name}`, found ?? { name });
  }
  const sources = new Set(edges.filter((edge) => edge.to === at).map(({ from }) => from));
  return { to: [...to.values()], from: [...sources].flatMap((from) => entries[from] ?? []).map(titleOf) };
}

/** More lines than this make the picture unreadable. */
const NEIGHBOURS = 3;
/** Of MiniLM's cosines: below it two notes have nothing in common but the project. */
const NEAR_BY_MEANING = 0.5;
const NEAR_BY_WORDS = 0.25;
/** A word that is in more memories connects nothing. */
const COMMON_SHARE = 0.1;
const COMMON_LEAST = 12;
/** Lets other requests be answered in the meantime. */
const ROWS_AT_ONCE = 100;

/** At most three for each memory, each pair once: by meaning where it is known, else by the rare words that they share. */
async function findNear(all: readonly Linked[], compared: readonly number[]): Promise<MapEdge[]> {
  const entries = compared.map((at) => all[at] as Linked);
  const known = entries.map(({ ranking }) => ranking.vectors.find(({ isCue }) => !isCue) ?? null);
  const isByMeaning = known.filter((vector) => vector !== null).length > entries.length / 2;
  const scoresAt = isByMeaning ? openSimilarities(known) : openShared(entries);
  const least = isByMeaning ? NEAR_BY_MEANING : NEAR_BY_WORDS;
  const best = new Map<string, MapEdge>();
  for (let at = 0; at < entries.length; at++) {
    if (at % ROWS_AT_ONCE === ROWS_AT_ONCE - 1) await yieldTurn();
    for (const { to, share } of topOf(at, scoresAt(at), least)) {
      const [a, b] = [Math.min(at, to), Math.max(at, to)].map((each) => compared[each]) as [number, number];
      best.set(`${a} ${b}`, { a, b, kind: "near", share: Math.min(1, share) });
    }
  }
  return [...best.values()];
}

function topOf(at: number, scores: Float32Array, least: number): { to: number; share: number }[] {
  const near: { to: number; share: number }[] = [];
  scores.forEach((share, to) => {
    if (to !== at && share >= least) near.push({ to, share });
  });
  return near.sort((x, y) => y.share - x.share || x.to - y.to).slice(0, NEIGHBOURS);
}

function openSimilarities(known: readonly (Vector | null)[]): (at: number) => Float32Array {
  return (at) => {
    const own = known[at];
    return Float32Array.from(known, (other) => (own && other ? cosineOf(own, other) : 0));
  };
}

function cosineOf({ values: a, scale }: Vector, { values: b, scale: other }: Vector): number {
  let sum = 0;
  for (let i = 0; i < DIMENSIONS; i++) sum += (a[i] as number) * (b[i] as number);
  return sum * scale * other;
}

/** The cosine of the words' weights, by how rare they are; words of many memories are left out. */
function openShared(entries: readonly Pick<RowEntry, "ranking">[]): (at: number) => Float32Array {
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
