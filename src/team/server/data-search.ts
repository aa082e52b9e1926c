/** Search over every repository that the caller may read: by terms, and by meaning where the database can compare vectors. */

import { termsOf } from "../../text/terms.ts";
import type { SearchHit } from "../protocol.ts";
import { iso, repositories, type Transaction } from "./data-base.ts";
import { VECTOR_WIDTH } from "./schema.ts";

/** A tsvector holds a megabyte at most and counts positions up to here. */
const MAX_LEXEME_BYTES = 500_000;
const LAST_POSITION = 16_383;
/** Postgres keeps no more positions of one lexeme. */
const MAX_POSITIONS = 255;
/** Further words of a long prompt cost time and change nothing. */
const MAX_QUERY_TERMS = 32;

/** Of each ranking, for the fusion; and what softens the difference between first and second place (the usual number). */
const FUSED = 100;
const FUSION = 60;

/** `name`, `description`, `terms` and `vector` are for search. */
export interface SharedMemory {
  path: string;
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
  const visible = (await repositories(tx)).map(({ name }) => name);
  if (visible.length === 0 || query.limit < 1) return [];
  const meant = await findByMeaning(tx, visible, query);
  const said = await findByTerms(tx, visible, query, meant ? FUSED : query.limit);
  const ranked = meant ? fuse([said, meant]) : said;
  return describe(tx, ranked.slice(0, query.limit));
}

export async function putIntoSearch(tx: Transaction, key: readonly unknown[], memory: SharedMemory): Promise<void> {
  const { sql, caller } = tx;
  await dropFromSearch(tx, key);
  await sql("insert into memdir_search (team, repository, path, terms) values ($1, $2, $3, $4::tsvector)", [
    ...key,
    formatTerms(caller.team, memory),
  ]);
  if (memory.vector?.length !== VECTOR_WIDTH || !(await tx.hasVectors())) return;
  await sql("insert into memdir_vector (team, repository, path, vector) values ($1, $2, $3, $4::vector)", [
    ...key,
    formatVector(memory.vector),
  ]);
}

/** The vector goes with it. */
export async function dropFromSearch({ sql }: Transaction, key: readonly unknown[]): Promise<void> {
  await sql("delete from memdir_search where team = $1 and repository = $2 and path = $3", [...key]);
}

interface Ranked {
  repository: string;
  path: string;
  score: number;
}

async function findByTerms(
  { sql, caller: { team } }: Transaction,
  repositories: readonly string[],
  query: SearchQuery,
  most: number,
): Promise<Ranked[]> {
  const terms = [...new Set(query.terms)].filter(isStorable).slice(0, MAX_QUERY_TERMS);
  if (terms.length === 0) return [];
  return sql<Ranked>("select repository, path, score from memdir_find($1::text[], $2::text[], $3::int)", [
    terms.map((term) => quote(team, term)),
    repositories,
    most,
  ]);
}

/** Null where meaning cannot be compared, so that terms alone decide. */
async function findByMeaning(
  { sql, caller: { team }, hasVectors }: Transaction,
  repositories: readonly string[],
  { vector }: SearchQuery,
): Promise<Ranked[] | null> {
  if (vector?.length !== VECTOR_WIDTH || !(await hasVectors())) return null;
  return sql<Ranked>(
    `select repository, path, 1 - (vector <=> $3::vector) as score from memdir_vector
     where team = $1 and repository = any($2::text[]) order by vector <=> $3::vector, repository, path limit $4::int`,
    [team, repositories, formatVector(vector), FUSED],
  );
}

/** Reciprocal rank fusion: scores of two kinds cannot be added, places can. */
function fuse(rankings: readonly (readonly Ranked[])[]): Ranked[] {
  const scores = new Map<string, Ranked>();
  for (const ranking of rankings) {
    for (const [at, { repository, path }] of ranking.entries()) {
      const key = `${repository}\n${path}`;
      const place = scores.get(key) ?? { repository, path, score: 0 };
      place.score += 1 / (FUSION + at + 1);
      scores.set(key, place);
    }
  }
  return [...scores.values()].sort((one, other) => other.score - one.score);
}

async function describe({ sql, caller: { team } }: Transaction, places: readonly Ranked[]): Promise<SearchHit[]> {
  if (places.length === 0) return [];
  const rows = await sql<Omit<SearchHit, "score">>(
    `select repository, path, name, description, author, ${iso("at")} from memdir_memory
     join unnest($2::text[], $3::text[]) as wanted (repository, path) using (repository, path)
     where team = $1 and not deleted`,
    [team, places.map(({ repository }) => repository), places.map(({ path }) => path)],
  );
  const found = new Map(rows.map((row) => [`${row.repository}\n${row.path}`, row]));
  return places.flatMap((place) => {
    const row = found.get(`${place.repository}\n${place.path}`);
    return row ? [{ ...row, score: place.score }] : [];
  });
}

/** A tsvector as text: the words of name and description weigh more than those of the body. */
function formatTerms(team: string, memory: SharedMemory): string {
  const positions = new Map<string, string[]>();
  let position = 0;
  let bytes = 0;
  const add = (terms: readonly string[], weight: string) => {
    for (const term of terms) {
      if (!isStorable(term)) continue;
      let places = positions.get(term);
      if (!places) {
        bytes += Buffer.byteLength(team) + Buffer.byteLength(term) + 8;
        if (bytes > MAX_LEXEME_BYTES) return;
        places = [];
        positions.set(term, places);
      }
      position = Math.min(position + 1, LAST_POSITION);
      if (places.length < MAX_POSITIONS) places.push(`${position}${weight}`);
    }
  };
  add(termsOf(`${memory.name}\n${memory.description}`), "A");
  add(memory.terms, "D");
  return [...positions].map(([term, places]) => `${quote(team, term)}:${places.join(",")}`).join(" ");
}

/** One lexeme, as tsvector and tsquery read it. The team's name is part of it: see schema.ts. */
function quote(team: string, term: string): string {
  return `'${`${team} ${term}`.replace(/['\\]/g, "$&$&")}'`;
}

function isStorable(term: string): boolean {
  return term !== "" && term.isWellFormed() && !term.includes("\0") && Buffer.byteLength(term) <= 1000;
}

function formatVector(vector: Float32Array): string {
  return `[${[...vector].map((value) => (Number.isFinite(value) ? value : 0)).join(",")}]`;
}
