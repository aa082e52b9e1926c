/** Which memories the list shows and in which order: pure functions over its rows. */
import { AGES, type ListedMemory, type SearchAnswer } from "../../api.ts";
import { keyOf } from "../parts/format.ts";

export const SORTS = ["rank", "type", "name", "scope", "age", "verdict", "cues", "recalled"] as const;
export type Sort = (typeof SORTS)[number];

export interface Asked {
  q: string;
  type: string;
  scope: string;
  verdict: string;
  age: string;
  sort: Sort;
  isReversed: boolean;
}

export const VERDICTS = ["holds", "doubtful", "unchecked"];

export function readAsked(params: URLSearchParams, q = params.get("q") ?? ""): Asked {
  const given = SORTS.find((sort) => sort === params.get("sort"));
  const isRankless = given === "rank" && q === "";
  return {
    q,
    type: params.get("type") ?? "",
    scope: params.get("scope") ?? "",
    verdict: params.get("verdict") ?? "",
    age: params.get("age") ?? "",
    sort: given !== undefined && !isRankless ? given : q === "" ? "age" : "rank",
    isReversed: params.get("reversed") === "true",
  };
}

/** `hits` null: there is no ranking yet, and names are compared instead. */
export function orderRows(rows: ListedMemory[], asked: Asked, hits: SearchAnswer["hits"] | null): ListedMemory[] {
  const places = hits === null ? null : new Map(hits.map((hit, at) => [keyOf(hit), at]));
  const words = asked.q.trim().toLowerCase();
  const isFound = (row: ListedMemory) => {
    if (words === "") return true;
    return places === null ? row.name.toLowerCase().includes(words) : places.has(keyOf(row));
  };
  const kept = rows.filter((row) => isFound(row) && matches(row, asked));
  if (asked.sort === "rank" && places === null) return kept;
  const compare = comparing(asked.sort, places);
  const turn = asked.isReversed ? -1 : 1;
  return kept.sort((a, b) => turn * compare(a, b) || a.name.localeCompare(b.name));
}

function matches(row: ListedMemory, asked: Asked): boolean {
  const age = AGES.find(({ days }) => row.ageDays < days)?.label ?? "older";
  const known = { type: row.type, scope: row.scope, verdict: row.verdict?.state ?? "unchecked", age };
  const filters = Object.entries(known) as [keyof typeof known, string][];
  return filters.every(([name, value]) => asked[name] === "" || asked[name] === value);
}

/** What a person looks for comes first: doubts, many cues, often recalled, young. */
function comparing(sort: Sort, places: Map<string, number> | null): (a: ListedMemory, b: ListedMemory) => number {
  if (sort === "rank") return (a, b) => (places?.get(keyOf(a)) ?? 0) - (places?.get(keyOf(b)) ?? 0);
  if (sort === "age") return (a, b) => (a.modified < b.modified ? 1 : a.modified > b.modified ? -1 : 0);
  if (sort === "cues") return (a, b) => b.cues - a.cues;
  if (sort === "recalled") return (a, b) => b.recalled - a.recalled;
  if (sort === "verdict") return (a, b) => doubt(b) - doubt(a);
  // Code units for 10,000 rows; equal rows are sorted by name in the reader's locale.
  if (sort === "name") return (a, b) => a.name.localeCompare(b.name);
  return (a, b) => (a[sort] < b[sort] ? -1 : a[sort] > b[sort] ? 1 : 0);
}

function doubt(row: ListedMemory): number {
  return { doubtful: 2, unchecked: 1, holds: 0 }[row.verdict?.state ?? "unchecked"];
}
