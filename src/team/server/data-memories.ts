/** Memories in the database: reading what is there now and every version, and writes, each of which names what it is based on. */

import { MemdirError } from "../../errors.ts";
import {
  covers,
  type Fetched,
  findEntryProblem,
  findTextProblem,
  type LIMITS,
  type ListAnswer,
  type RemoteEntry,
  type Version,
} from "../protocol.ts";
import type { Had, RemoteOutcome } from "../remote.ts";
import { audit, formState, iso, readRepository, type Transaction } from "./data-base.ts";
import { dropFromSearch, putIntoSearch, type SharedMemory } from "./data-search.ts";
import type { Row } from "./database.ts";

/** A change over one of these is refused inside the same transaction that would write it. */
export type DataLimits = { [name in Extract<keyof typeof LIMITS, `${"memory" | "repository"}${string}`>]: number };

/** A row of these is an entry. */
const ENTRY_COLUMNS = `path, revision::text as revision, hash, deleted, author, ${iso("at")}`;

/** `state` changes with every write in the repository; the ETag is made of it. */
export async function listMemories(tx: Transaction, repository: string): Promise<ListAnswer & { state: string }> {
  // The state first: a write in between makes the list newer than its state, which costs one more list and loses nothing.
  const row = await mustRead(tx, repository);
  const { team } = tx.caller;
  const entries = await tx.sql<RemoteEntry>(
    `select ${ENTRY_COLUMNS} from memdir_memory where team = $1 and repository = $2 order by path`,
    [team, repository],
  );
  return { id: `${team}/${repository}/${row.id}`, state: formState(row), entries };
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
 * removed because of its age, was there.
 */
export async function findLost(tx: Transaction, repository: string, had: readonly Had[]): Promise<string[]> {
  await mustRead(tx, repository);
  const rows = await tx.sql<{ path: string }>(
    `select had.path from unnest($3::text[], $4::text[], $5::text[]) as had (path, revision, hash)
       left join memdir_memory m on m.team = $1 and m.repository = $2 and m.path = had.path
       left join memdir_version v on v.team = $1 and v.repository = $2 and v.path = had.path and v.revision::text = had.revision
     where m.path is null or (v.path is null and m.revision::numeric < had.revision::numeric)
       or (v.hash <> had.hash and not v.redacted)`,
    [tx.caller.team, repository, had.map(({ path }) => path), had.map(numberOf), had.map(({ hash }) => hash)],
  );
  return rows.map(({ path }) => path);
}

/** A revision that no server has given is later than any. */
function numberOf({ revision }: Had): string {
  return /^\d{1,18}$/.test(revision) ? revision : "1000000000000000000";
}

export async function versions(tx: Transaction, repository: string, path: string): Promise<Version[]> {
  await mustRead(tx, repository);
  // In the order of the numbers: the output column is a text.
  const rows = await tx.sql<Version>(
    `select v.revision::text as revision, author, ${iso("at")}, '.' || text as text, deleted, redacted
     from memdir_version v where team = $1 and repository = $2 and path = $3 order by v.revision`,
    [tx.caller.team, repository, path],
  );
  return rows.map((row) => ({ ...row, text: row.text && wholeText(row.text) }));
}

/** One transaction: precondition, version, audit. */
export async function putMemory(
  tx: Transaction,
  repository: string,
  memory: SharedMemory,
  expected: string | null,
  limits: DataLimits,
): Promise<RemoteOutcome> {
  const { path } = memory;
  return write({ ...tx, repository, path }, "write", async (writing, current, counts) => {
    const there = current !== null && !current.deleted;
    if (there && current.hash === memory.hash) return { kind: "done", path, revision: current.revision };
    const based = expected === null ? !there : current?.revision === expected;
    if (!based) return { kind: "stale", path, current: current && entryOf(current) };
    const before = there ? current.bytes : null;
    const reason =
      findTextProblem(memory.text, limits.memoryBytes) ??
      findLimitProblem(memory, before, counts, limits) ??
      (await findCollision(writing));
    if (reason) return { kind: "refused", path, reason };
    return { kind: "done", path, revision: await put(writing, memory, before) };
  });
}

export async function removeMemory(
  tx: Transaction,
  repository: string,
  path: string,
  expected: string,
): Promise<RemoteOutcome> {
  return write({ ...tx, repository, path }, "remove", async (writing, current) => {
    if (current === null || current.deleted) return { kind: "done", path, revision: current?.revision ?? "0" };
    if (current.revision !== expected) return { kind: "stale", path, current: entryOf(current) };
    return { kind: "done", path, revision: await bury(writing, current) };
  });
}

/**
 * Removes the text of one version for good, and of the memory itself if it is the current one (a tombstone follows). Rows are
 * overwritten in the database's own time (vacuum); nothing of ours can read the text from here on.
 */
export async function redact(tx: Transaction, repository: string, path: string, revision: string): Promise<boolean> {
  const writing = { ...tx, repository, path };
  const found = await readRepository(tx, repository, "lock");
  if (!found || !covers(found.role, "admin")) return false;
  const taken = await tx.sql(
    `update memdir_version set text = null, hash = '', redacted = true
     where team = $1 and repository = $2 and path = $3 and revision::text = $4 and not deleted returning path`,
    [...keyOf(writing), revision],
  );
  if (taken.length === 0) return false;
  const current = await readMemory(writing);
  if (current?.revision === revision && !current.deleted) await bury(writing, current);
  await audit(tx, [{ action: "redact", repository, path, revision, outcome: "done" }]);
  return true;
}

/** One memory in a transaction that writes it. */
interface Writing extends Transaction {
  repository: string;
  path: string;
}

interface Counts {
  memories: number;
  bytes: number;
}

type CurrentEntry = RemoteEntry & { bytes: number };

/**
 * One write, with its line in the audit log. Writers of one repository wait for one another at its row, which is always
 * the first lock they take: what `work` gets is what there is, and no two of them can wait in a circle.
 */
async function write(
  writing: Writing,
  action: string,
  work: (writing: Writing, current: CurrentEntry | null, counts: Counts) => Promise<RemoteOutcome>,
): Promise<RemoteOutcome> {
  const { repository, path } = writing;
  const problem = findEntryProblem(path);
  if (problem) return { kind: "refused", path, reason: problem };
  const { row, role } = await mustFind(writing, repository, "lock");
  const counts = { memories: Number(row.memories), bytes: Number(row.bytes) };
  const outcome: RemoteOutcome = covers(role, "writer")
    ? await work(writing, await readMemory(writing), counts)
    : { kind: "refused", path, reason: "you may read here, but not write" };
  const revision = outcome.kind === "done" ? outcome.revision : null;
  await audit(writing, [{ action, repository, path, revision, outcome: outcome.kind }]);
  return outcome;
}

/** The new revision. `before`: how many bytes are replaced, null where there is no such memory. */
async function put(writing: Writing, memory: SharedMemory, before: number | null): Promise<string> {
  const { path, hash, text, name, description } = memory;
  const bytes = Buffer.byteLength(text);
  const [row] = await writing.sql<{ revision: string }>(
    `insert into memdir_memory as m (team, repository, path, folded, revision, hash, deleted, bytes, author, at, name, description)
     values ($1, $2, $3, $6, 1, $7, false, $8, $4, $5::timestamptz, $9, $10)
     on conflict (team, repository, path) do update set revision = m.revision + 1, hash = excluded.hash, deleted = false,
       bytes = excluded.bytes, author = excluded.author, at = excluded.at, name = excluded.name, description = excluded.description
     returning revision::text as revision`,
    [...stampOf(writing), fold(path), hash, bytes, clean(name), clean(description)],
  );
  const revision = await keepVersion(writing, row, hash, text);
  await putIntoSearch(writing, keyOf(writing), memory);
  await count(writing, before === null ? 1 : 0, bytes - (before ?? 0));
  return revision;
}

/** A tombstone in place of what was there. */
async function bury(writing: Writing, current: CurrentEntry): Promise<string> {
  const [row] = await writing.sql<{ revision: string }>(
    `update memdir_memory set revision = revision + 1, hash = '', deleted = true, bytes = 0, author = $4, at = $5::timestamptz,
       name = '', description = '' where team = $1 and repository = $2 and path = $3 returning revision::text as revision`,
    stampOf(writing),
  );
  const revision = await keepVersion(writing, row, "", null);
  await dropFromSearch(writing, keyOf(writing));
  await count(writing, -1, -current.bytes);
  return revision;
}

/** Text null: a tombstone. */
async function keepVersion(writing: Writing, row: { revision: string } | undefined, hash: string, text: string | null) {
  const revision = String(row?.revision);
  await writing.sql(
    `insert into memdir_version (team, repository, path, author, at, revision, hash, deleted, text)
     values ($1, $2, $3, $4, $5::timestamptz, $6::bigint, $7, $8, $9)`,
    [...stampOf(writing), revision, hash, text === null, text],
  );
  return revision;
}

/** Which memory, by whom and when. */
function stampOf(writing: Writing): string[] {
  return [...keyOf(writing), writing.caller.person, writing.now().toISOString()];
}

async function readMemory(writing: Writing): Promise<CurrentEntry | null> {
  const [row] = await writing.sql<CurrentEntry>(
    `select ${ENTRY_COLUMNS}, bytes from memdir_memory where team = $1 and repository = $2 and path = $3 for no key update`,
    keyOf(writing),
  );
  return row ?? null;
}

function keyOf({ caller, repository, path }: Writing): string[] {
  return [caller.team, repository, path];
}

function entryOf({ bytes: _, ...entry }: CurrentEntry): RemoteEntry {
  return entry;
}

async function count({ sql, caller, repository }: Writing, memories: number, bytes: number): Promise<void> {
  await sql(
    `update memdir_repository set state = state + 1, memories = memories + $3::int, bytes = bytes + $4::bigint
     where team = $1 and name = $2`,
    [caller.team, repository, memories, bytes],
  );
}

/** Names that are one on some systems, and a file where another memory has a folder. */
async function findCollision({ sql, caller, repository, path }: Writing): Promise<string | null> {
  const folded = fold(path);
  const parts = folded.split("/");
  const above = parts.map((_, at) => parts.slice(0, at + 1).join("/"));
  // "0" is the character after "/": between the two is everything below the folder of that name.
  const [other] = await sql(
    `select path from memdir_memory where team = $1 and repository = $2 and not deleted and path <> $3
       and (folded = any($4::text[]) or (folded >= $5 || '/' and folded < $5 || '0')) limit 1`,
    [caller.team, repository, path, above, folded],
  );
  return other ? `it cannot exist beside ${other.path}: some file systems cannot distinguish the two names` : null;
}

/** A memory that shrinks is taken even where the repository is full. */
function findLimitProblem(
  memory: SharedMemory,
  before: number | null,
  counts: Counts,
  limits: DataLimits,
): string | null {
  const bytes = Buffer.byteLength(memory.text);
  if (before === null && counts.memories >= limits.repositoryMemories)
    return `the repository is full: it has ${counts.memories} memories`;
  const grown = bytes - (before ?? 0);
  if (grown > 0 && counts.bytes + grown > limits.repositoryBytes)
    return `the repository is full: it has ${counts.bytes} of ${limits.repositoryBytes} bytes`;
  return null;
}

function fold(path: string): string {
  return path.normalize("NFC").toLowerCase();
}

function clean(text: string): string {
  return text.toWellFormed().replaceAll("\0", "");
}

/** Selected with a character in front: PGlite strips a byte order mark from the beginning of a text. */
function wholeText(value: string): string {
  return value.slice(1);
}

async function mustRead(tx: Transaction, repository: string): Promise<Row> {
  return (await mustFind(tx, repository, "look")).row;
}

async function mustFind(tx: Transaction, repository: string, lock: "lock" | "look") {
  const found = await readRepository(tx, repository, lock);
  if (found?.role) return found;
  throw new MemdirError("not-found", `there is no repository ${JSON.stringify(repository)} that you may read`);
}
