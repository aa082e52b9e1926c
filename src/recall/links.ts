/** Which memories belong together, and which one replaces which. */

import type { RowEntry } from "../store/store.ts";

/** A neighbour's words count this much here, and those of its neighbours half of that. */
const NEAR = 0.6;
const FAR = 0.3;
/** However often it stands there, and in its name too: it is another memory's word. */
export const MOST_FROM_NEIGHBOUR = 1;
/** A memory that links to everything says little about any of it. */
const MAX_NEIGHBOURS = 24;

export interface Neighbour {
  at: number;
  weight: number;
}

export interface Links {
  /** By position; absent for a memory without links. */
  neighbours: ReadonlyMap<number, readonly Neighbour[]>;
  /** Positions: the replaced one and the one that replaces it. */
  successors: readonly (readonly [old: number, successor: number])[];
}

export const NO_LINKS: Links = { neighbours: new Map(), successors: [] };

type Linked = Pick<RowEntry, "file" | "name" | "links">;

/** Links lead both ways. Names that no memory has are ignored. */
export function resolveLinks(entries: readonly (Linked | null)[]): Links {
  if (!entries.some((entry) => entry && entry.links.length > 0)) return NO_LINKS;
  const near = new Map<number, Set<number>>();
  const successors: [number, number][] = [];
  for (const { from, to, kind } of findEdges(entries)) {
    if (kind === "supersedes") successors.push([to, from]);
    else {
      near.set(from, (near.get(from) ?? new Set()).add(to));
      near.set(to, (near.get(to) ?? new Set()).add(from));
    }
  }
  return { neighbours: withSecondHop(near), successors };
}

export interface Edge {
  /** Positions. */
  from: number;
  to: number;
  kind: "link" | "supersedes";
}

/** Every link that leads to a memory, as it was written. */
export function findEdges(entries: readonly (Linked | null)[], find = openLinkPlaces(entries)): Edge[] {
  return entries.flatMap((entry, from) =>
    (entry?.links ?? []).flatMap((link): Edge[] => {
      const to = find(link);
      if (to === null || to === from) return [];
      return [{ from, to, kind: link.startsWith(">") ? "supersedes" : "link" }];
    }),
  );
}

/** Which memory a link means, by its position; null for none. */
export function openLinkPlaces(entries: readonly (Linked | null)[]): (link: string) => number | null {
  const places = placesOf(entries);
  return (link) => places.get(keyOf(link.startsWith(">") ? link.slice(1) : link)) ?? null;
}

function withSecondHop(near: ReadonlyMap<number, ReadonlySet<number>>): Map<number, Neighbour[]> {
  const all = new Map<number, Neighbour[]>();
  for (const [at, direct] of near) {
    if (direct.size > MAX_NEIGHBOURS) continue;
    const found = new Map<number, number>();
    // Two neighbours are the ordinary case; of many, each counts for less.
    for (const to of direct) {
      if ((near.get(to) as ReadonlySet<number>).size <= MAX_NEIGHBOURS)
        found.set(to, Math.min(NEAR, (2 * NEAR) / direct.size));
    }
    for (const to of direct) {
      const further = near.get(to) as ReadonlySet<number>;
      if (further.size > MAX_NEIGHBOURS) continue;
      for (const next of further) {
        // The nearest of several ways counts, in whatever order they are found.
        if (next === at || direct.has(next)) continue;
        found.set(next, Math.max(found.get(next) ?? 0, Math.min(FAR, NEAR / further.size)));
      }
    }
    all.set(
      at,
      [...found].slice(0, MAX_NEIGHBOURS * 2).map(([to, weight]) => ({ at: to, weight })),
    );
  }
  return all;
}

/** By file, by stem and by name; the first of several wins. */
function placesOf(entries: readonly (Linked | null)[]): Map<string, number> {
  const places = new Map<string, number>();
  entries.forEach((entry, at) => {
    if (!entry) return;
    for (const key of [entry.file, entry.file.split("/").at(-1) as string, entry.name]) {
      if (!places.has(keyOf(key))) places.set(keyOf(key), at);
    }
  });
  return places;
}

function keyOf(name: string): string {
  return name
    .trim()
    .toLowerCase()
    .replace(/\.md$/, "")
    .replace(/[\s_-]+/g, "-");
}
