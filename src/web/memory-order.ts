/** Which memories a list shows, in which order, and what its filters would show: pure functions over rows. */
import type { KnownRow } from "./answer.ts";
import { AGES, FILTERS, type Filter, type MemoryList, SORTS, type Sort } from "./shapes.ts";

export interface Asked {
  /** Empty: any value. */
  filters: Partial<Record<Filter, readonly string[]>>;
  sort: Sort;
  isReversed: boolean;
}

type Ordered = Pick<
  KnownRow,
  "name" | "type" | "scope" | "verdict" | "ageDays" | "modified" | "when" | "recalled" | "author"
>;

const UNCHECKED = "unchecked";

/** The ranking comes first where there is one, else the newest. */
export function readAsked(sent: Readonly<Record<string, unknown>>, isRanked: boolean): Asked {
  const given = SORTS.find((sort) => sort === sent.sort);
  const filters = FILTERS.flatMap((name): [Filter, string[]][] => {
    const values = String(sent[name] ?? "").split(",");
    return values[0] === "" ? [] : [[name, values]];
  });
  const fallback = isRanked ? "rank" : "age";
  return {
    filters: Object.fromEntries(filters),
    sort: given === undefined || (given === "rank" && !isRanked) ? fallback : given,
    isReversed: sent.reversed === true || sent.reversed === "true",
  };
}

/** `rows` come ranked where there is a ranking; they are kept in that order for "rank". */
export function orderRows<Row extends Ordered>(rows: readonly Row[], { filters, sort, isReversed }: Asked): Row[] {
  const kept = rows.filter((row) => FILTERS.every((name) => isMatch(row, name, filters[name])));
  const turn = isReversed ? -1 : 1;
  if (sort === "rank") return isReversed ? kept.reverse() : kept;
  const compare = COMPARE[sort];
  return kept.sort((a, b) => turn * compare(a, b) || (a.name < b.name ? -1 : a.name > b.name ? 1 : 0));
}

/** Each filter counts beside the others: what choosing this value would show. */
export function countFacets(rows: readonly Ordered[], { filters }: Pick<Asked, "filters">): MemoryList["facets"] {
  const facets = FILTERS.map((name) => {
    const others = FILTERS.filter((other) => other !== name && filters[other] !== undefined);
    const counts = new Map<string, number>();
    for (const row of rows) {
      const value = VALUES[name](row);
      const isCounted = others.every((other) => isMatch(row, other, filters[other]));
      counts.set(value, (counts.get(value) ?? 0) + (isCounted ? 1 : 0));
    }
    return [name, sortFacet(name, counts)] as const;
  });
  return Object.fromEntries(facets) as MemoryList["facets"];
}

const VALUES: Record<Filter, (row: Ordered) => string> = {
  type: ({ type }) => type,
  scope: ({ scope }) => scope,
  verdict: ({ verdict }) => verdict?.state ?? UNCHECKED,
  age: ({ ageDays }) => AGES.find(({ days }) => ageDays < days)?.label ?? "older",
  cues: ({ when }) => (when.length === 0 ? "without cues" : "with cues"),
  author: ({ author }) => author ?? "you",
};

function isMatch(row: Ordered, name: Filter, wanted: readonly string[] | undefined): boolean {
  return wanted === undefined || wanted.includes(VALUES[name](row));
}

function sortFacet(name: Filter, counts: ReadonlyMap<string, number>): { value: string; count: number }[] {
  const all = [...counts].map(([value, count]) => ({ value, count }));
  // Ages have an order of their own.
  if (name === "age") return AGES.flatMap(({ label }) => all.filter(({ value }) => value === label));
  return all.sort((a, b) => b.count - a.count || (a.value < b.value ? -1 : 1));
}

/** What a person looks for comes first: doubts, many cues, often recalled, young. */
const COMPARE: Record<Exclude<Sort, "rank">, (a: Ordered, b: Ordered) => number> = {
  age: (a, b) => (a.modified < b.modified ? 1 : a.modified > b.modified ? -1 : 0),
  cues: (a, b) => b.when.length - a.when.length,
  recalled: (a, b) => b.recalled - a.recalled,
  verdict: (a, b) => doubt(a) - doubt(b),
  name: (a, b) => a.name.localeCompare(b.name),
  type: (a, b) => (a.type < b.type ? -1 : a.type > b.type ? 1 : 0),
  scope: (a, b) => (a.scope < b.scope ? -1 : a.scope > b.scope ? 1 : 0),
};

const DOUBT = ["gone", "expired", "moved", UNCHECKED, "holds", "no claims"];

function doubt(row: Ordered): number {
  return DOUBT.indexOf(VALUES.verdict(row));
}
