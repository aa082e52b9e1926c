/** Memories in the database: reading what is there now and every version, and writes, each of which names what it is based on. */

import { MemdirError } from "../../errors.ts";
import {
  covers,
  describeClash,
  type Fetched,
  findEntryProblem,
  foldPath,
  type LIMITS,
  type RemoteEntry,
  type Version,
  type VersionsAnswer,
} from "../protocol.ts";
import type { Had, RemoteOutcome } from "../remote.ts";
import { audit, type Call, type Caller, iso, roleOf, type Transaction } from "./data-base.ts";
import { formatTerms, formatVector, type SharedMemory } from "./data-search.ts";
import { VECTOR_WIDTH } from "./schema.ts";
import { tooMany, WAITING, WAITING_PER_TOKEN } from "./turns.ts";

/** A change over one of the first is refused inside the transaction that would write it; over one of the others, old versions go. */
export type DataLimits = { [name in Extract<keyof typeof LIMITS, `${"memory" | "repository"}${string}`>]: number };

/**
 * `state` changes with every write in the repository; the ETag is made of it. With a `since` that is an earlier state of this
 * repository, only what changed after it, and the answer names it; with any other one, everything.
 */
export async function listMemories(call: Call, caller: Caller, repository: string, since: string | null = null) {
  const { team, personId } = caller;
  const values = [team, personId, repository, since];
  const [row] = await call<ListRow>(caller, "select * from memdir_list($1, $2, $3, $4)", values);
  if (!row) throw missing(repository);
  return formListed(team, repository, row);
}

export interface ListRow {
  id: string;
  /** Changes with every write in the repository, and differs for another repository of the same name. */
  state: string;
  since: string | null;
  entries: RemoteEntry[];
}

export function formListed(team: string, repository: string, row: ListRow) {
  const { id, state, since, entries } = row;
  return { id: `${team}/${repository}/${id}`, state, entries, ...(since !== null && { since }) };
}

export async function fetchMemories(tx: Transaction, repository: string, paths: readonly string[]): Promise<Fetched[]> {
  await mustRead(tx, repository);
  const rows = await tx.own<Fetched>(
    `select m.path, m.revision::text as revision, m.hash, '.' || v.text as text
     from memdir_memory m join memdir_version v using (team, repository, path, revision)
     where m.team = $1 and m.repository = $2 and m.path = any($3::text[]) and not m.deleted and v.text is not null
     order by m.path`,
    [repository, paths],
  );
  return rows.map((row) => ({ ...row, text: wholeText(row.text) }));
}

/**
 * Those whose version is not in the history any more: its number was not given yet, or to another text. One that was redacted, or
 * dropped for its age or with an old tombstone, was there.
 */
export async function findLost(tx: Transaction, repository: string, had: readonly Had[]): Promise<string[]> {
  await mustRead(tx, repository);
  const rows = await tx.own<{ path: string }>(
    `select had.path from unnest($3::text[], $4::text[], $5::text[]) as had (path, revision, hash)
       join memdir_repository r on r.team = $1 and r.name = $2
       left join memdir_memory m on m.team = $1 and m.repository = $2 and m.path = had.path
       left join memdir_version v on v.team = $1 and v.repository = $2 and v.path = had.path and v.revision::text = had.revision
     where (m.path is null and had.revision::numeric > r.floor) or (v.path is null and m.revision::numeric < had.revision::numeric)
       or (v.hash <> had.hash and not v.redacted)`,
    [repository, had.map(({ path }) => path), had.map(numberOf), had.map(({ hash }) => hash)],
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
  const rows = await tx.own<Version & { more: boolean }>(
    `select v.revision::text as revision, author, ${iso("at")}, '.' || text as text, deleted, redacted, place < all_of_them as more
     from memdir_version v join (
       select revision, place, all_of_them from (
         select revision, row_number() over newest as place, sum(bytes) over newest as size, count(*) over () as all_of_them
         from memdir_version where team = $1 and repository = $2 and path = $3 and ($4::bigint is null or revision < $4::bigint)
           and ($5::text is null or hash = $5) window newest as (order by revision desc)) counted
       where place <= $6::int and (place = 1 or size <= $7::bigint)) page using (revision)
     where team = $1 and repository = $2 and path = $3 order by v.revision`,
    [repository, path, before ?? null, hash ?? null, limit, bytes],
  );
  const found = rows.map(({ more: _, ...row }) => ({ ...row, text: row.text && wholeText(row.text) }));
  return { versions: found, more: rows[0]?.more ?? false };
}

/** `memory` null: a removal. */
export interface AskedWrite {
  repository: string;
  path: string;
  expected: string | null;
  memory: SharedMemory | null;
}

/** What one call of memdir_write takes. */
type Values = [asked: string, text: string | null, terms: string | null, vector: string | null];

/** A few milliseconds of work: others in the repository wait that long at most. */
const TOGETHER = 16;
const TOGETHER_CHARACTERS = 500_000;
/** Of one token, so that everybody's turn comes. */
const TOGETHER_PER_TOKEN = 4;

/**
 * Writes of one repository wait for one another in the database. So they wait here, and those that came while one was under way go
 * together: one statement, one commit, and one connection for each repository at most.
 */
export function openWriter(call: Call, { now, hasVectors }: Pick<Transaction, "now" | "hasVectors">) {
  interface Waiting {
    caller: Caller;
    values: Values;
    done(written: Written): void;
    fail(error: unknown): void;
  }
  const queues = new Map<string, Waiting[]>();
  let waiting = 0;

  const send = async (some: readonly Waiting[]): Promise<void> => {
    const columns = [0, 1, 2, 3].map((at) => some.map(({ values }) => values[at]));
    try {
      const rows = await call<{ done: Written }>(
        (some[0] as Waiting).caller,
        `select memdir_write(asked::jsonb, new_text, terms, vector) as done
         from unnest($1::text[], $2::text[], $3::text[], $4::text[]) as w (asked, new_text, terms, vector)`,
        columns,
      );
      for (const [at, { done }] of some.entries()) done(rows[at]?.done ?? { kind: "missing" });
    } catch (error) {
      // What one of them did wrong is not the others' failure.
      const isOwn = error instanceof MemdirError && error.code !== "network" && error.code !== "lock";
      if (some.length === 1 || !isOwn) for (const { fail } of some) fail(error);
      else for (const one of some) await send([one]);
    }
  };
  const take = (queue: Waiting[]): Waiting[] => {
    const some: Waiting[] = [];
    const perToken = new Map<string, number>();
    let characters = 0;
    for (const one of queue) {
      const count = perToken.get(one.caller.tokenId) ?? 0;
      const size = one.values[1]?.length ?? 0;
      if (some.length === TOGETHER || (some.length > 0 && characters + size > TOGETHER_CHARACTERS)) break;
      if (count === TOGETHER_PER_TOKEN) continue;
      perToken.set(one.caller.tokenId, count + 1);
      characters += size;
      some.push(one);
    }
    return some;
  };
  const work = async (key: string, queue: Waiting[]) => {
    while (queue.length > 0) {
      const some = take(queue);
      const taken = new Set(some);
      queue.splice(0, queue.length, ...queue.filter((one) => !taken.has(one)));
      waiting -= some.length;
      await send(some);
    }
    queues.delete(key);
  };
  const ask = (caller: Caller, repository: string, values: Values): Promise<Written> => {
    const key = `${caller.team}/${repository}`;
    const queue = queues.get(key) ?? [];
    if (queue.filter((one) => one.caller.tokenId === caller.tokenId).length >= WAITING_PER_TOKEN || waiting >= WAITING)
      throw tooMany();
    return new Promise((done, fail) => {
      waiting++;
      queue.push({ caller, values, done, fail });
      if (queues.has(key)) return;
      queues.set(key, queue);
      void work(key, queue);
    });
  };
  return {
    waiting: () => waiting,
    async write(caller: Caller, asked: AskedWrite, limits: DataLimits): Promise<WriteOutcome> {
      const { repository, path, expected, memory } = asked;
      const problem = findEntryProblem(path);
      if (problem) return { kind: "refused", path, reason: problem };
      const { team, person, tokenId: token_id } = caller;
      const { text = null, hash = "", name = "", description = "", vector = null } = memory ?? {};
      const said = { repository, path, expected, hash, name: clean(name), description: clean(description) };
      const all = { ...limits, ...said, ...namesOf(path), team, person, token_id, at: now().toISOString() };
      const meaning = (await hasVectors()) && vector?.length === VECTOR_WIDTH ? formatVector(vector) : null;
      const terms = memory && formatTerms(team, memory);
      const done = await ask(caller, repository, [JSON.stringify(all), text, terms, meaning]);
      if (done.kind === "missing") throw missing(repository);
      if (done.kind !== "refused") return { ...done, path };
      const reasons = {
        role: "you may read here, but not write",
        name: describeClash(done.other ?? ""),
        full: `the repository is full: it has ${done.memories} of ${limits.repositoryMemories} memories and ${done.bytes} of ${limits.repositoryBytes} bytes`,
      };
      return { kind: "refused", path, reason: reasons[done.reason] };
    },
  };
}

/** The client is told what is there now. */
export type WriteOutcome =
  | Exclude<RemoteOutcome, { kind: "stale" }>
  | { kind: "stale"; path: string; current: RemoteEntry | null };

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
  const folders = above.slice(0, -1).map((spelling) => ({ spelling, folded: foldPath(spelling) }));
  return { folded: foldPath(path), above: above.map(foldPath), folders };
}

/**
 * Removes the text of one version for good, and of the memory itself if it is the current one (a tombstone follows). Rows are
 * overwritten in the database's own time (vacuum); nothing of ours can read the text from here on.
 */
export async function redact(tx: Transaction, repository: string, path: string, revision: string, limits: DataLimits) {
  if (!covers(await roleOf(tx, repository), "admin")) return false;
  const where = "where team = $1 and repository = $2 and path = $3 and revision::text = $4 and not deleted";
  const key = [repository, path, revision];
  const redaction = `update memdir_version set text = null, hash = '', redacted = true ${where} returning path`;
  if ((await tx.own(redaction, key)).length === 0) return false;
  const [current] = await tx.own(`select 1 from memdir_memory ${where}`, key);
  const { write } = openWriter((_, text, values) => tx.sql(text, values), tx);
  if (current) await write(tx.caller, { repository, path, expected: revision, memory: null }, limits);
  await audit(tx, { action: "redact", repository, path, revision, outcome: "done" });
  return true;
}

function clean(text: string): string {
  return text.toWellFormed().replaceAll("\0", "");
}

/** Selected with a character in front: PGlite strips a byte order mark from the beginning of a text. */
function wholeText(value: string): string {
  return value.slice(1);
}

async function mustRead(tx: Transaction, repository: string): Promise<void> {
  if (!(await roleOf(tx, repository))) throw missing(repository);
}

function missing(repository: string): MemdirError {
  return new MemdirError("not-found", `there is no repository ${JSON.stringify(repository)} that you may read`);
}
