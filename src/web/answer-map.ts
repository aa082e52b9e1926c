/** All memories as a map: what links to what, what is similar, and what says the same. */

import { yieldTurn } from "../disk/breathe.ts";
import type { Memdir } from "../memdir.ts";
import { type Edge, findEdges, openLinkPlaces } from "../recall/links.ts";
import { rarityOf } from "../recall/score.ts";
import {
  DIMENSIONS,
  findBytes,
  listEntries,
  parseMemory,
  type RowEntry,
  type Vector,
  WEIGHT_UNIT,
} from "../store/store.ts";
import { overlap, weigh } from "../text/likeness.ts";
import { termsOf } from "../text/terms.ts";
import { findDoubles, type HealthMemory } from "../truth/health-findings.ts";
import { get, keyOf, titleOf } from "./answer.ts";
import type { MemoryMap, MemoryTitle, Ref } from "./api.ts";

/** More points than this are a cloud, and comparing all pairs takes seconds. */
const MAX_NODES = 2_000;

export const MAP_ROUTE = get("/api/map", {}, async ({ memdir }): Promise<MemoryMap> => {
  const { directories } = memdir;
  const { entries, edges } = openLinkage(memdir);
  const shown = entries.slice(0, MAX_NODES);
  const descriptions = await Promise.all(
    directories.map(async (directory) => {
      const { rows } = await directory.rows();
      return new Map(rows.map(({ file, description }) => [file, description]));
    }),
  );
  const linked = new Map<string, MemoryMap["edges"][0]>();
  for (const { from, to, kind } of edges) {
    if (Math.max(from, to) >= MAX_NODES) continue;
    // A pair that links both ways is one line; what supersedes what has a direction.
    const [a, b] = kind === "supersedes" || from < to ? [from, to] : [to, from];
    linked.set(`${kind} ${a} ${b}`, { a, b, kind, share: 1 });
  }
  const joined = new Set([...linked.values()].flatMap(({ a, b }) => [`${a} ${b}`, `${b} ${a}`]));
  const near = (await findNear(shown)).filter(({ a, b }) => !joined.has(`${a} ${b}`));
  return {
    nodes: shown.map((entry) => ({
      ...titleOf(entry),
      type: entry.type,
      scope: directories[entry.directory]?.scope ?? "",
      description: descriptions[entry.directory]?.get(entry.file) ?? "",
    })),
    edges: [...linked.values(), ...near.map((pair) => ({ ...pair, kind: "near" as const }))],
    duplicates: findDuplicates(memdir, shown),
  };
});

interface Linkage {
  /** Of all directories, one after the other; edges name positions in them. */
  entries: (Pick<RowEntry, "file" | "name" | "type" | "links" | "ranking"> & { directory: number })[];
  edges: Edge[];
  find(link: string): MemoryTitle | null;
}

/** How memories link to each other, as recall sees it. Nothing is written. */
export function openLinkage({ directories }: Memdir): Linkage {
  const entries = directories.flatMap((each, directory) =>
    listEntries(each).map(({ file, name, type, links, ranking }) => ({ file, name, type, links, ranking, directory })),
  );
  const place = openLinkPlaces(entries);
  return {
    entries,
    edges: findEdges(entries, place),
    find(link) {
      const found = entries[place(link) ?? -1];
      return found ? titleOf(found) : null;
    },
  };
}

/** Both ways, each memory once; a name that no memory has is only a name. */
export function linksOf(
  { entries, edges, find }: Linkage,
  ref: Ref,
): { to: (MemoryTitle | { name: string })[]; from: MemoryTitle[] } {
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

/** As `memdir health` finds them: within each directory. */
function findDuplicates(memdir: Memdir, nodes: readonly Ref[]): MemoryMap["duplicates"] {
  const places = new Map(nodes.map((node, at) => [keyOf(node), at]));
  return memdir.directories.flatMap((_, directory) => {
    const memories = nodes.filter((node) => node.directory === directory).flatMap((node) => readWhole(memdir, node));
    const byFile = new Map(memories.map(({ memory }) => [memory.file, memory]));
    return findDoubles({ memories, termsOf }).flatMap(({ kind, file, others }) =>
      others.flatMap((other) => {
        const [one, two] = [byFile.get(other), byFile.get(file)];
        const [a, b] = [places.get(`${directory}/${other}`), places.get(`${directory}/${file}`)];
        if (!one || !two || a === undefined || b === undefined) return [];
        const share = kind === "duplicate" ? 1 : overlap(weigh(one, termsOf).terms, weigh(two, termsOf).terms);
        return [{ a, b, share }];
      }),
    );
  });
}

function readWhole({ directories }: Memdir, { directory: at, file }: Ref): HealthMemory[] {
  const directory = directories[at];
  try {
    const bytes = directory && findBytes(directory, file);
    if (!bytes) return [];
    const memory = parseMemory(file, bytes);
    const modifiedMs = Date.parse(memory.modified ?? memory.created ?? "") || 0;
    return [{ memory, bytes: bytes.length, modifiedMs, secrets: [] }];
  } catch {
    return []; // removed or locked since it was listed
  }
}

/** Positions, `a` before `b`. */
type Near = MemoryMap["duplicates"][0];

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
async function findNear(entries: readonly Pick<RowEntry, "ranking">[]): Promise<Near[]> {
  const known = entries.map(({ ranking }) => ranking.vectors.find(({ isCue }) => !isCue) ?? null);
  const isByMeaning = known.filter((vector) => vector !== null).length > entries.length / 2;
  const scoresAt = isByMeaning ? openSimilarities(known) : openShared(entries);
  const least = isByMeaning ? NEAR_BY_MEANING : NEAR_BY_WORDS;
  const best = new Map<string, Near>();
  for (let at = 0; at < entries.length; at++) {
    if (at % ROWS_AT_ONCE === ROWS_AT_ONCE - 1) await yieldTurn();
    if (isByMeaning && !known[at]) continue;
    for (const { to, share } of topOf(at, scoresAt(at), least)) {
      const [a, b] = at < to ? [at, to] : [to, at];
      best.set(`${a} ${b}`, { a, b, share: Math.min(1, share) });
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
  const vectors = new Float32Array(known.length * DIMENSIONS);
  known.forEach((vector, at) => {
    if (vector)
      for (let i = 0; i < DIMENSIONS; i++) vectors[at * DIMENSIONS + i] = (vector.values[i] ?? 0) * vector.scale;
  });
  return (at) => {
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
  };
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
