/** Finds texts that say the same, exactly or in nearly the same words: in a pair, or among thousands. */

export interface Said {
  type: string;
  name: string;
  description: string;
  body: string;
}

/** A text as terms: words without endings, stop words left out. */
export type TermsOf = (text: string) => readonly string[];

/** What a text is compared by. */
export type Weighed = ReturnType<typeof weigh>;

/** Shared terms by all terms: above this the rest is wording. */
const NEAR = 0.8;
/** The same words under two titles; if the titles are most of it ("see there"), they are two things. */
const SAME_BODY = 0.5;
/** Texts with fewer terms cannot be judged. */
const MIN_TERMS = 5;

/** `body`: without formatting. `stance`: texts that differ in numbers and negations say different things, however similar they are. */
export function weigh({ type, name, description, body }: Said, termsOf: TermsOf) {
  const words = `${name}\n${description}\n${body}`;
  return { type, body: plain(body), terms: new Set(termsOf(words)), stance: stanceOf(words) };
}

/** Whether the types agree is for the caller to check. */
export function isAlike(a: Weighed, b: Weighed): boolean {
  const shared = overlap(a.terms, b.terms);
  if (a.body === b.body) return shared >= SAME_BODY;
  return a.stance === b.stance && Math.min(a.terms.size, b.terms.size) >= MIN_TERMS && shared >= NEAR;
}

/**
 * Two sets that share four fifths of their terms share one of their few rarest ones. Only those are looked up, so
 * comparing a thousand memories with a thousand does not take a million comparisons. `all` determines which terms are
 * rare. Identical texts match across types, similar ones only within a type.
 */
export function openLikeness<T>(all: readonly Said[], termsOf: TermsOf) {
  const counts = new Map<string, number>();
  const weighed = new Map<Said, Weighed>();
  const weighOnce = (said: Said): Weighed => weighed.get(said) ?? weigh(said, termsOf);
  for (const said of all) {
    const weight = weigh(said, termsOf);
    weighed.set(said, weight);
    for (const term of weight.terms) counts.set(term, (counts.get(term) ?? 0) + 1);
  }
  const byBody = new Map<string, Known<T>[]>();
  const byTerm = new Map<string, Known<T>[]>();
  const rarest = (terms: ReadonlySet<string>): string[] => {
    const rank = (term: string) => counts.get(term) ?? 0;
    const sorted = [...terms].sort((a, b) => rank(a) - rank(b) || (a < b ? -1 : 1));
    return sorted.slice(0, terms.size - Math.ceil(NEAR * terms.size) + 1);
  };
  return {
    /** One that says the same, or null. */
    find(said: Said): T | null {
      const own = weighOnce(said);
      const exact = byBody.get(own.body)?.find(({ weight }) => isAlike(own, weight));
      if (exact || own.terms.size < MIN_TERMS) return exact?.value ?? null;
      for (const term of rarest(own.terms)) {
        const near = byTerm.get(term)?.find(({ weight }) => weight.type === own.type && isAlike(own, weight));
        if (near) return near.value;
      }
      return null;
    },
    add(said: Said, value: T): void {
      const weight = weighOnce(said);
      const known = { weight, value };
      push(byBody, weight.body, known);
      if (weight.terms.size >= MIN_TERMS) for (const term of rarest(weight.terms)) push(byTerm, term, known);
    },
  };
}

interface Known<T> {
  weight: Weighed;
  value: T;
}

const DENIAL =
  /\b(?:not|no|never|none|nor|without|instead|avoid|stop|unless|except|only|cannot|nie|nicht|kein\w*|\w+n['’]t)\b/gi;

/** Words that negate a text. */
export function stanceOf(text: string): string {
  const found = [...(text.match(/\d+(?:[.:/-]\d+)*/g) ?? []), ...(text.match(DENIAL) ?? [])];
  return [...new Set(found.map((word) => word.toLowerCase()))].sort().join(" ");
}

export function plain(text: string): string {
  return text.replace(/\s+/g, " ").trim().toLowerCase();
}

function push<T>(map: Map<string, T[]>, key: string, value: T): void {
  const list = map.get(key);
  if (list) list.push(value);
  else map.set(key, [value]);
}

/** Shared terms by all terms, 0 to 1. */
export function overlap(a: ReadonlySet<string>, b: ReadonlySet<string>): number {
  const [few, many] = a.size <= b.size ? [a, b] : [b, a];
  let shared = 0;
  for (const term of few) if (many.has(term)) shared++;
  const both = a.size + b.size - shared;
  return both === 0 ? 1 : shared / both;
}

/** How many letters must be changed, added or removed to make one word of the other. */
export function distance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, at) => at);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const same = a[i - 1] === b[j - 1] ? 0 : 1;
      next.push(Math.min((row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1, (row[j - 1] ?? 0) + same));
    }
    row = next;
  }
  return row[b.length] ?? 0;
}
