/** What the words of a prompt say of each memory: its own, and for less those of memories that it is linked with. */

import { type OpenIndex, readPostings } from "./indexed.ts";
import { type Links, MOST_FROM_NEIGHBOUR, NO_LINKS } from "./links.ts";
import type { Resident } from "./resident.ts";
import { B, certainty, K1, rarityOf, type Term } from "./score.ts";

/** What the terms say of each memory; the sum of their weights. */
export function addWords(
  resident: Resident,
  indexes: readonly OpenIndex[],
  terms: readonly Term[],
  at: Record<"list" | "lengths" | "words" | "rare" | "positions" | "weights" | "termRows" | "hashes", number> &
    Record<"having" | "sieve" | "postings" | "looseStride" | "live" | "meanLength", number> & {
      loose: readonly (readonly [number, number])[];
      links: Links;
    },
): { total: number; totalRare: number } {
  const { scan, bytes, count } = resident;
  const { buffer } = bytes;
  const { list, lengths, words, rare, positions, weights, looseStride, live, meanLength, links } = at;
  const entries = new Uint32Array(buffer, list, count);
  new Uint32Array(buffer, at.hashes, terms.length).set(terms.map(({ hash }) => hash));
  for (const [from, end] of at.loose)
    scan.matchTerms(list, from, end, at.hashes, terms.length, at.termRows, looseStride, lengths, at.having, at.sieve);
  // Words of neighbours count where none of the postings lead.
  if (links !== NO_LINKS) scan.listLengths(list, 0, count, lengths);
  let total = 0;
  let totalRare = 0;
  for (const [t, { hash, weight }] of terms.entries()) {
    let having = 0;
    for (const index of indexes) {
      const [end, filled] = [index.from + index.head.count, having * 4];
      const found = readPostings(index, hash, bytes, at.postings);
      having += scan.takePostings(
        at.postings,
        found,
        index.from,
        end,
        list,
        positions + filled,
        weights + filled,
        lengths,
      );
    }
    const inMemory = bytes.readUInt32LE(at.having + t * 4);
    for (const [row, from] of [positions, weights].map(
      (row, i) => [row, at.termRows + (2 * t + i) * looseStride] as const,
    ))
      bytes.copyWithin(row + having * 4, from, from + inMemory * 4);
    having += inMemory;
    const rarity = rarityOf(having, live);
    total += rarity * weight;
    totalRare += certainty(rarity) * weight;
    if (having === 0) continue;
    const isLinked = links !== NO_LINKS;
    const spreading = isLinked ? spread(buffer, { positions, weights, count: having }, links, entries) : having;
    const [worth, certain] = [rarity * weight, certainty(rarity) * weight];
    scan.addTerm(positions, weights, spreading, lengths, worth, certain, K1, B, meanLength, words, rare);
  }
  return { total, totalRare };
}

/** A word of a linked memory counts here too, for less. How many have it now. */
function spread(
  buffer: ArrayBufferLike,
  { positions, weights, count }: { positions: number; weights: number; count: number },
  { neighbours }: Links,
  entries: Uint32Array,
): number {
  const spreading = new Map<number, number>();
  const add = (at: number, weight: number) => spreading.set(at, (spreading.get(at) ?? 0) + weight);
  const own = new Uint32Array(buffer, positions, count);
  const held = new Float32Array(buffer, weights, count);
  for (let i = 0; i < count; i++) {
    const weight = held[i] as number;
    add(own[i] as number, weight);
    for (const { at, weight: share } of neighbours.get(own[i] as number) ?? []) {
      if (entries[at] !== 0) add(at, Math.min(weight, MOST_FROM_NEIGHBOUR) * share);
    }
  }
  new Uint32Array(buffer, positions, spreading.size).set([...spreading.keys()]);
  new Float32Array(buffer, weights, spreading.size).set([...spreading.values()]);
  return spreading.size;
}
