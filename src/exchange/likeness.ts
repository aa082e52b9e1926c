/** Finding what says the same among thousands of memories: exactly, or in nearly the same words. */

import { stanceOf } from "../learn/dream-offline.ts";
import { termsOf } from "../recall/terms.ts";

export interface Said {
  type: string;
  name: string;
  description: string;
  body: string;
}

export interface Likeness<T> {
  /** One that says the same, or null. */
  find(said: Said): T | null;
  add(said: Said, value: T): void;
}

/** Shared terms by all terms: above this the rest is wording. As a dream measures it (learn/dream-offline.ts). */
const NEAR = 0.8;
/** The same words under two titles; if the titles are most of it ("see there"), they are two things. */
const SAME_BODY = 0.5;
/** Of fewer terms nothing can be said. */
const MIN_TERMS = 5;

interface Known<T> {
  type: string;
  terms: ReadonlySet<string>;
  stance: string;
  value: T;
}

/**
 * Two sets that share four fifths share one of their few rarest terms: only those are looked up, so that a thousand
 * memories against a thousand take no million comparisons. `all` tells which terms are rare.
 */
export function openLikeness<T>(all: readonly Said[]): Likeness<T> {
  const counts = new Map<string, number>();
  const termsBySaid = new Map<Said, ReadonlySet<string>>();
  for (const said of all) {
    termsBySaid.set(said, termSet(said));
    for (const term of termsBySaid.get(said) ?? []) counts.set(term, (counts.get(term) ?? 0) + 1);
  }
  const byBody = new Map<string, Known<T>[]>();
  const byTerm = new Map<string, Known<T>[]>();
  const rarest = (terms: ReadonlySet<string>): string[] => {
    const rank = (term: string) => counts.get(term) ?? 0;
    const sorted = [...terms].sort((a, b) => rank(a) - rank(b) || (a < b ? -1 : 1));
    return sorted.slice(0, terms.size - Math.ceil(NEAR * terms.size) + 1);
  };
  return {
    find(said) {
      const terms = termsBySaid.get(said) ?? termSet(said);
      const exact = byBody.get(plain(said.body))?.find((known) => overlap(terms, known.terms) >= SAME_BODY);
      if (exact || terms.size < MIN_TERMS) return exact?.value ?? null;
      const stance = stanceOf(wordsOf(said));
      for (const term of rarest(terms)) {
        const near = byTerm
          .get(term)
          ?.find((known) => known.type === said.type && known.stance === stance && overlap(terms, known.terms) >= NEAR);
        if (near) return near.value;
      }
      return null;
    },
    add(said, value) {
      const terms = termsBySaid.get(said) ?? termSet(said);
      const known: Known<T> = { type: said.type, terms, stance: stanceOf(wordsOf(said)), value };
      push(byBody, plain(said.body), known);
      if (terms.size >= MIN_TERMS) for (const term of rarest(terms)) push(byTerm, term, known);
    },
  };
}

function push<T>(map: Map<string, T[]>, key: string, value: T): void {
  const list = map.get(key);
  if (list) list.push(value);
  else map.set(key, [value]);
}

function wordsOf({ name, description, body }: Said): string {
  return `${name}\n${description}\n${body}`;
}

function termSet(said: Said): ReadonlySet<string> {
  return new Set(termsOf(wordsOf(said)));
}

function overlap(a: ReadonlySet<string>, b: ReadonlySet<string>): number {
  let shared = 0;
  for (const term of a) if (b.has(term)) shared++;
  const both = a.size + b.size - shared;
  return both === 0 ? 1 : shared / both;
}

export function plain(text: string): string {
  return text.replace(/\s+/g, " ").trim().toLowerCase();
}
