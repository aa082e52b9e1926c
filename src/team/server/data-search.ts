/** Search over every repository that the caller may read: by terms, and by meaning where the database can compare vectors. */

import { sha256 } from "../../text/hash.ts";
import { termsOf } from "../../text/terms.ts";
import type { SearchHit } from "../protocol.ts";
import { findReadable, iso, type Transaction } from "./data-base.ts";
import { VECTOR_WIDTH } from "./schema.ts";

/** A text that is all different words has no more in 250 kB; a tsvector takes a megabyte. */
const MAX_TERMS = 20_000;
/** Further words of a long prompt cost time and change nothing. */
const MAX_QUERY_TERMS = 32;

/** Of each ranking, for the fusion; and what softens the difference between first and second place (the usual number). */
const FUSED = 100;
const FUSION = 60;

/** `name`, `description`, `terms` and `vector` are for search. */
export interface SharedMemory {
  text: string;
  hash: string;
  name: string;
  description: string;
  terms: readonly string[];
  vector: Float32Array | null;
}

export interface SearchQuery extends Pick<SharedMemory, "terms" | "vector"> {
  limit: number;
}

/** Visibility is part of the query. Vectors only where the extension is there and one is given. */
export async function search(tx: Transaction, query: SearchQuery): Promise<SearchHit[]> {
  const visible = await findReadable(tx);
  if (visible.length === 0 || query.limit < 1) return [];
  const meant = await findByMeaning(tx, visible, query);
  const said = await findByTerms(tx, visible, query, meant ? FUSED : query.limit);
  const ranked = meant ? fuse([said, meant]) : said;
  return describe(tx, visible, ranked.slice(0, query.limit));
}

/** The repositories that the caller may read. */
type Visible = Awaited<ReturnType<typeof findReadable>>;

interface Ranked {
  memory: string;
  score: number;
}

async function findByTerms({ sql, caller: { team } }: Transaction, visible: Visible, query: SearchQuery, most: number) {
  const terms = [...new Set(query.terms)].slice(0, MAX_QUERY_TERMS);
  if (terms.length === 0) return [];
  const memories = visible.reduce((sum, repository) => sum + repository.memories, 0);
  return sql<Ranked>(
    "select memory::text as memory, score from memdir_search_words($1::text[], $2::text[], $3::float8, $4::int)",
    [terms.map((term) => opaque(team, term)), visible.map(({ id }) => id), memories, most],
  );
}

/** Null where meaning cannot be compared, so that terms alone decide. */
async function findByMeaning({ own, hasVectors }: Transaction, visible: Visible, { vector }: SearchQuery) {
  if (vector?.length !== VECTOR_WIDTH || !(await hasVectors())) return null;
  return own<Ranked>(
    `select m.id::text as memory, 1 - (vector <=> $3::vector) as score from memdir_vector v join memdir_memory m using (team, repository, path)
     where team = $1 and repository = any($2::text[]) order by vector <=> $3::vector, repository, path limit $4::int`,
    [visible.map(({ name }) => name), formatVector(vector), FUSED],
  );
}

/** Reciprocal rank fusion: scores of two kinds cannot be added, places can. */
function fuse(rankings: readonly (readonly Ranked[])[]): Ranked[] {
  const scores = new Map<string, number>();
  for (const ranking of rankings)
    for (const [at, { memory }] of ranking.entries())
      scores.set(memory, (scores.get(memory) ?? 0) + 1 / (FUSION + at + 1));
  return [...scores].map(([memory, score]) => ({ memory, score })).sort((one, other) => other.score - one.score);
}

/** Numbers become memories here, in a transaction that sees those of its team only. */
async function describe({ own }: Transaction, visible: Visible, places: readonly Ranked[]): Promise<SearchHit[]> {
  if (places.length === 0) return [];
  const rows = await own<Omit<SearchHit, "score"> & { memory: string }>(
    `select id::text as memory, repository, path, name, description, author, ${iso("at")} from memdir_memory
     where team = $1 and id = any($2::bigint[]) and repository = any($3::text[]) and not deleted`,
    [places.map(({ memory }) => memory), visible.map(({ name }) => name)],
  );
  const found = new Map(rows.map(({ memory, ...row }) => [memory, row]));
  return places.flatMap(({ memory, score }) => {
    const row = found.get(memory);
    return row ? [{ ...row, score }] : [];
  });
}

/** A tsvector as text: the words of name and description weigh more than those of the body. PostgreSQL bounds the positions itself. */
export function formatTerms(team: string, memory: SharedMemory): string {
  const positions = new Map<string, string[]>();
  let position = 0;
  const add = (terms: readonly string[], weight: string) => {
    for (const term of terms) {
      const places = positions.get(term) ?? [];
      positions.set(term, places);
      places.push(`${++position}${weight}`);
    }
  };
  add(termsOf(`${memory.name}\n${memory.description}`), "A");
  add(memory.terms.slice(0, MAX_TERMS), "D");
  return [...positions].map(([term, places]) => `${opaque(team, term)}:${places.join(",")}`).join(" ");
}

/** A word as `memdir_words` has it (schema.ts), and as `memdir_opaque` makes it of what 0.1 writes. */
function opaque(team: string, term: string): string {
  // Two words in a million million share one, which costs a wrong hit.
  return sha256(`${team} ${term}`).slice(0, 16);
}

export function formatVector(vector: Float32Array): string {
  return `[${[...vector].map((value) => (Number.isFinite(value) ? value : 0)).join(",")}]`;
}
