/** Memories in the database: reading what is there now and every version, and writes, each of which names what it is based on. */

import { MemdirError } from "../../errors.ts";
import {
  covers,
  describeClash,
  type Fetched,
  findEntryProblem,
  foldPath,
  type LIMITS,
  type ListAnswer,
  type RemoteEntry,
  type Version,
  type VersionsAnswer,
} from "../protocol.ts";
import type { Had, RemoteOutcome } from "../remote.ts";
import { audit, type Call, type Caller, formState, iso, readRepository, type Transaction } from "./data-base.ts";
import { formatTerms, formatVector, type SharedMemory } from "./data-search.ts";
import type { Row } from "./database.ts";
import { VECTOR_WIDTH } from "./schema.ts";

/** A change over one of the first is refused inside the transaction that would write it; over one of the others, old versions go. */
export type DataLimits = { [name in Extract<keyof typeof LIMITS, `${"memory" | "repository"}${string}`>]: number };

/** A row of these is an entry. */
const ENTRY_COLUMNS = `path, revision::text as revision, hash, deleted, author, ${iso("at")}`;

/**
 * `state` changes with every write in the repository; the ETag is made of it. With a `since` that is an earlier state of this
 * repository, only what changed after it, and the answer names it; with any other one, everything.
 */
export async function listMemories(
  tx: Transaction,
  repository: string,
  since: string | null = null,
): Promise<ListAnswer & { state: string }> {
  // The state first: a write in between makes the list newer than its state, which costs one more list and loses nothing.
  const row = await mustRead(tx, repository);
  const { team } = tx.caller;
  const from = since === null ? null : await findState(tx, repository, row, since);
  const entries = await tx.sql<RemoteEntry>(
    `select ${ENTRY_COLUMNS} from memdir_memory where team = $1 and repository = $2 and ($3::bigint is null or changed > $3::bigint) order by path`,
    [team, repository, from],
  );
  const answer = { id: `${team}/${repository}/${row.id}`, state: formState(row), entries };
  return from === null || since === null ? answer : { ...answer, since };
}

export async function fetchMemories(tx: Transaction, repository: string, paths: readonly string[]): Promise<Fetched[]> {
  await mustRead(tx, repository);
  const rows = await tx.sql<Fetched>(
    `select m.path, m.revision::text as revision, m.hash, '.' || v.text as text
     from memdir_memory m join memdir_version v using (team, repository, path, revision)
     where m.team = $1 and m.repository = $2 and m.path = any($3::text[]) and not m.deleted and v.text is not null
     order by m.path`,
    [tx.caller.team, repository, paths],
  );
  return rows.map((row) => ({ ...row, text: wholeText(row.text) }));
}

/**
 * Those whose version is not in the history any more: its number was not given yet, or to another text. One that was redacted, or
 * dropped for its age or with an old tombstone, was there.
 */
export async function findLost(tx: Transaction, repository: string, had: readonly Had[]): Promise<string[]> {
  await mustRead(tx, repository);
  const rows = await tx.sql<{ path: string }>(
    `select had.path from unnest($3::text[], $4::text[], $5::text[]) as had (path, revision, hash)
       join memdir_repository r on r.team = $1 and r.name = $2
       left join memdir_memory m on m.team = $1 and m.repository = $2 and m.path = had.path
       left join memdir_version v on v.team = $1 and v.repository = $2 and v.path = had.path and v.revision::text = had.revision
     where (m.path is null and had.revision::numeric > r.floor) or (v.path is null and m.revision::numeric < had.revision::numeric)
       or (v.hash <> had.hash and not v.redacted)`,
    [tx.caller.team, repository, had.map(({ path }) => path), had.map(numberOf), had.map(({ hash }) => hash)],
  );
  return rows.map(({ path }) => path);
}

/** A revision that no server has given is later than any. */
function numberOf({ revision }: Had): string {
  return /^\d{1,18}$/.test(revision) ? revision : "1000000000000000000";
}

export interface VersionsQuery {
  /** A revision: only older ones. */
  before?: string | undefined;
  /** Only those with this text. */
  hash?: string | undefined;
  limit: number;
  /** Of all texts together; one is given however long it is. */
  bytes: number;
}

/** The newest ones that the query allows, oldest first; `more` where there are older ones. */
export async function versions(
  tx: Transaction,
  repository: string,
  path: string,
  { before, hash, limit, bytes }: VersionsQuery,
): Promise<VersionsAnswer> {
  await mustRead(tx, repository);
  const rows = await tx.sql<Version & { more: boolean }>(
    `select v.revision::text as revision, author, ${iso("at")}, '.' || text as text, deleted, redacted, place < all_of_them as more
     from memdir_version v join (
       select revision, place, all_of_them from (
         select revision, row_number() over newest as place, sum(bytes) over newest as size, count(*) over () as all_of_them
         from memdir_version where team = $1 and repository = $2 and path = $3 and ($4::bigint is null or revision < $4::bigint)
           and ($5::text is null or hash = $5) window newest as (order by revision desc)) counted
       where place <= $6::int and (place = 1 or size <= $7::bigint)) page using (revision)
     where team = $1 and repository = $2 and path = $3 order by v.revision`,
    [tx.caller.team, repository, path, before ?? null, hash ?? null, limit, bytes],
  );
  const found = rows.map(({ more: _, ...row }) => ({ ...row, text: row.text && wholeText(row.text) }));
  return { versions: found, more: rows[0]?.more ?? false };
}

/** One statement: precondition, version, search, audit. */
export async function putMemory(
  call: Call,
  caller: Caller,
  repository: string,
  memory: SharedMemory,
  expected: string | null,
  options: { now: Date; limits: DataLimits; vectors: boolean },
): Promise<RemoteOutcome> {
  const { path, hash, name, description } = memory;
  const asked = { repository, path, expected, hash, name: clean(name), description: clean(description) };
  return write(call, caller, asked, memory, options);
}

export async function removeMemory(
  call: Call,
  caller: Caller,
  repository: string,
  path: string,
  expected: string,
  options: { now: Date; limits: DataLimits; vectors: boolean },
): Promise<RemoteOutcome> {
  return write(call, caller, { repository, path, expected, hash: "", name: "", description: "" }, null, options);
}

interface AskedWrite extends Pick<SharedMemory, "path" | "hash" | "name" | "description"> {
  repository: string;
  expected: string | null;
}

/** `memory` null: a removal. */
async function write(
  call: Call,
  caller: Caller,
  asked: AskedWrite,
  memory: SharedMemory | null,
  { now, limits, vectors }: { now: Date; limits: DataLimits; vectors: boolean },
): Promise<RemoteOutcome> {
  const { path, repository } = asked;
  const problem = findEntryProblem(path);
  if (problem) return { kind: "refused", path, reason: problem };
  const { team, personId: person_id, person, tokenId: token_id } = caller;
  const at = now.toISOString();
  const all = {
    ...limits,
    ...asked,
    ...namesOf(path),
    team,
    person_id,
    person,
    token_id,
    at,
  };
  const { text = null, vector = null } = memory ?? {};
  const [row] = await call<{ done: Written }>(caller, "select memdir_write($1::jsonb, $2, $3, $4) as done", [
    JSON.stringify(all),
    text,
    memory && formatTerms(team, memory),
    vectors && vector?.length === VECTOR_WIDTH ? formatVector(vector) : null,
  ]);
  const done = row?.done;
  if (!done || done.kind === "missing") throw missing(repository);
  if (done.kind !== "refused") return { ...done, path };
  const reasons = {
    role: "you may read here, but not write",
    name: describeClash(done.other ?? ""),
    full: `the repository is full: it has ${done.memories} of ${limits.repositoryMemories} memories and ${done.bytes} of ${limits.repositoryBytes} bytes`,
  };
  return { kind: "refused", path, reason: reasons[done.reason] };
}

/** As memdir_write answers. */
type Written =
  | { kind: "missing" }
  | { kind: "done"; revision: string }
  | { kind: "stale"; current: RemoteEntry | null }
  | { kind: "refused"; reason: "role" | "name" | "full"; other?: string; memories?: number; bytes?: number };

/** What no other memory may be called beside it: its own name and those of its folders, folded, and how it spells these. */
function namesOf(path: string) {
  const parts = path.split("/");
  const above = parts.map((_, at) => parts.slice(0, at + 1).join("/"));
  const folders = above.slice(0, -1).map((folder) => `${folder}\n${foldPath(folder)}`);
  return { folded: foldPath(path), above: above.map(foldPath), folders };
}

/**
 * Removes the text of one version for good, and of the memory itself if it is the current one (a tombstone follows). Rows are
 * overwritten in the database's own time (vacuum); nothing of ours can read the text from here on.
 */
export async function redact(
  tx: Transaction,
  repository: string,
  path: string,
  revision: string,
  limits: DataLimits,
): Promise<boolean> {
  const { sql, caller } = tx;
  const found = await readRepository(tx, repository);
  if (!found || !covers(found.role, "admin")) return false;
  const taken = await sql(
    `update memdir_version set text = null, hash = '', redacted = true
     where team = $1 and repository = $2 and path = $3 and revision::text = $4 and not deleted returning path`,
    [caller.team, repository, path, revision],
  );
  if (taken.length === 0) return false;
  const [current] = await sql(
    "select 1 from memdir_memory where team = $1 and repository = $2 and path = $3 and revision::text = $4 and not deleted",
    [caller.team, repository, path, revision],
  );
  const call: Call = (_, text, values) => sql(text, values);
  const options = { now: tx.now(), limits, vectors: await tx.hasVectors() };
  if (current) await removeMemory(call, caller, repository, path, revision, options);
  await audit(tx, [{ action: "redact", repository, path, revision, outcome: "done" }]);
  return true;
}

function clean(text: string): string {
  return text.toWellFormed().replaceAll("\0", "");
}

/** Selected with a character in front: PGlite strips a byte order mark from the beginning of a text. */
function wholeText(value: string): string {
  return value.slice(1);
}

async function mustRead(tx: Transaction, repository: string): Promise<Row> {
  const found = await readRepository(tx, repository);
  if (found?.role) return found.row;
  throw missing(repository);
}

function missing(repository: string): MemdirError {
  return new MemdirError("not-found", `there is no repository ${JSON.stringify(repository)} that you may read`);
}

/**
 * The number in a state of this repository; null for one that it never had, or whose write is not in the history any more: a database
 * that was restored from a backup does not know the states that it had afterwards.
 */
async function findState(tx: Transaction, repository: string, row: Row, text: string): Promise<string | null> {
  if (text === formState(row)) return String(row.state);
  const number = text.startsWith(`${row.id}-`) ? text.slice(String(row.id).length + 1) : "";
  if (!/^\d{1,18}$/.test(number)) return null;
  const found = await tx.sql(
    "select 1 from memdir_version where team = $1 and repository = $2 and changed = $3::bigint and changed > 0",
    [tx.caller.team, repository, number],
  );
  return found.length > 0 ? number : null;
}
