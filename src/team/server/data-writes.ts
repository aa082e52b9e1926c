/** Writing memories: every write names what it is based on, and leaves a version and a line in the audit log. */

import { findEntryProblem } from "../entry-path.ts";
import type { RemoteOutcome } from "../remote.ts";
import { covers } from "./auth.ts";
import { type Base, readRepository, writeAudit } from "./data-base.ts";
import { ENTRY_COLUMNS, formEntry, unknownRepository } from "./data-memories.ts";
import { dropFromSearch, putIntoSearch } from "./data-search.ts";
import type { Row, Sql } from "./sql.ts";
import type { Caller, DataLimits, TeamData } from "./team-data.ts";

type Verbs = Pick<TeamData, "putMemory" | "removeMemory" | "redact">;
type Memory = Parameters<TeamData["putMemory"]>[2];

export function openWrites(base: Base): Verbs {
  return {
    putMemory: (caller, repository, memory, expected, limits) =>
      write(base, caller, repository, { action: "write", path: memory.path }, async (sql, counts) => {
        const current = await readMemory(sql, caller, repository, memory.path);
        const there = current !== null && current.deleted !== true;
        if (there && current.hash === memory.hash)
          return { kind: "done", path: memory.path, revision: String(current.revision) };
        const based = expected === null ? !there : current?.revision === expected;
        if (!based) return { kind: "stale", path: memory.path, current: current && formEntry(current) };
        const reason =
          findTextProblem(memory) ??
          findLimitProblem(memory, there ? Number(current.bytes) : null, counts, limits) ??
          (await findCollision(sql, caller, repository, memory.path));
        if (reason) return { kind: "refused", path: memory.path, reason };
        return { kind: "done", path: memory.path, revision: await put(base, sql, caller, repository, memory, current) };
      }),

    removeMemory: (caller, repository, path, expected) =>
      write(base, caller, repository, { action: "remove", path }, async (sql) => {
        const current = await readMemory(sql, caller, repository, path);
        if (current === null) return { kind: "done", path, revision: "0" };
        if (current.deleted === true) return { kind: "done", path, revision: String(current.revision) };
        if (current.revision !== expected) return { kind: "stale", path, current: formEntry(current) };
        return { kind: "done", path, revision: await bury(base, sql, caller, repository, current) };
      }),

    redact: (caller, repository, path, revision) =>
      base.run(caller.team, (sql) => redact(base, sql, caller, repository, path, revision)),
  };
}

interface Counts {
  memories: number;
  bytes: number;
}

/**
 * One write, with its line in the audit log. Writers of one repository wait for one another at its row, which is always
 * the first lock they take: what `work` reads is what there is, and no two of them can wait in a circle.
 */
function write(
  base: Base,
  caller: Caller,
  repository: string,
  { action, path }: { action: string; path: string },
  work: (sql: Sql, counts: Counts) => Promise<RemoteOutcome>,
): Promise<RemoteOutcome> {
  const problem = findEntryProblem(path);
  if (problem) return Promise.resolve({ kind: "refused", path, reason: problem });
  return base.run(caller.team, async (sql) => {
    const found = await readRepository(sql, caller, repository, "lock");
    if (!found?.role) throw unknownRepository(repository);
    const outcome: RemoteOutcome = covers(found.role, "writer")
      ? await work(sql, { memories: Number(found.row.memories), bytes: Number(found.row.bytes) })
      : { kind: "refused", path, reason: "you may read here, and not write" };
    const revision = outcome.kind === "done" ? outcome.revision : null;
    await writeAudit(base, sql, caller, { action, repository, path, revision, outcome: outcome.kind });
    return outcome;
  });
}

/** The new revision. */
async function put(
  base: Base,
  sql: Sql,
  caller: Caller,
  repository: string,
  memory: Memory,
  current: Row | null,
): Promise<string> {
  const bytes = Buffer.byteLength(memory.text);
  const key = [caller.team, repository, memory.path];
  const at = base.now().toISOString();
  const [row] = await sql(
    `insert into memdir_memory as m (team, repository, path, folded, revision, hash, deleted, bytes, author, at, name, description)
     values ($1, $2, $3, $4, 1, $5, false, $6, $7, $8::timestamptz, $9, $10)
     on conflict (team, repository, path) do update set revision = m.revision + 1, hash = excluded.hash, deleted = false,
       bytes = excluded.bytes, author = excluded.author, at = excluded.at, name = excluded.name, description = excluded.description
     returning revision::text as number`,
    [...key, fold(memory.path), memory.hash, bytes, caller.person, at, clean(memory.name), clean(memory.description)],
  );
  const revision = String(row?.number);
  await sql(
    `insert into memdir_version (team, repository, path, revision, hash, deleted, author, at, text)
     values ($1, $2, $3, $4::bigint, $5, false, $6, $7::timestamptz, $8)`,
    [...key, revision, memory.hash, caller.person, at, memory.text],
  );
  await putIntoSearch(base, sql, key, memory);
  const before = current && current.deleted !== true ? Number(current.bytes) : null;
  await count(sql, caller, repository, before === null ? 1 : 0, bytes - (before ?? 0));
  return revision;
}

/** A tombstone in place of what was there. */
async function bury(base: Base, sql: Sql, caller: Caller, repository: string, current: Row): Promise<string> {
  const key = [caller.team, repository, current.path];
  const at = base.now().toISOString();
  const [row] = await sql(
    `update memdir_memory set revision = revision + 1, hash = '', deleted = true, bytes = 0, author = $4, at = $5::timestamptz,
       name = '', description = '' where team = $1 and repository = $2 and path = $3 returning revision::text as number`,
    [...key, caller.person, at],
  );
  const revision = String(row?.number);
  await sql(
    `insert into memdir_version (team, repository, path, revision, hash, deleted, author, at)
     values ($1, $2, $3, $4::bigint, '', true, $5, $6::timestamptz)`,
    [...key, revision, caller.person, at],
  );
  await dropFromSearch(sql, key);
  await count(sql, caller, repository, -1, -Number(current.bytes));
  return revision;
}

/** Rows are overwritten in the database's own time (vacuum); nothing of ours can read the text from here on. */
async function redact(
  base: Base,
  sql: Sql,
  caller: Caller,
  repository: string,
  path: string,
  revision: string,
): Promise<boolean> {
  const found = await readRepository(sql, caller, repository, "lock");
  if (!found || !covers(found.role, "admin")) return false;
  const taken = await sql(
    `update memdir_version set text = null, hash = '', redacted = true
     where team = $1 and repository = $2 and path = $3 and revision::text = $4 and not deleted returning path`,
    [caller.team, repository, path, revision],
  );
  if (taken.length === 0) return false;
  const current = await readMemory(sql, caller, repository, path);
  if (current?.revision === revision && current.deleted !== true) await bury(base, sql, caller, repository, current);
  await writeAudit(base, sql, caller, { action: "redact", repository, path, revision, outcome: "done" });
  return true;
}

async function readMemory(sql: Sql, caller: Caller, repository: string, path: string): Promise<Row | null> {
  const [row] = await sql(
    `select ${ENTRY_COLUMNS} from memdir_memory where team = $1 and repository = $2 and path = $3 for no key update`,
    [caller.team, repository, path],
  );
  return row ?? null;
}

async function count(sql: Sql, caller: Caller, repository: string, memories: number, bytes: number): Promise<void> {
  await sql(
    `update memdir_repository set state = state + 1, memories = memories + $3::int, bytes = bytes + $4::bigint
     where team = $1 and name = $2`,
    [caller.team, repository, memories, bytes],
  );
}

/** Names that are one on some systems, and a file where another memory has a folder. */
async function findCollision(sql: Sql, caller: Caller, repository: string, path: string): Promise<string | null> {
  const folded = fold(path);
  const parts = folded.split("/");
  const above = parts.map((_, at) => parts.slice(0, at + 1).join("/"));
  // "0" is the sign after "/": between the two lies everything below the folder of that name.
  const [other] = await sql(
    `select path from memdir_memory where team = $1 and repository = $2 and not deleted and path <> $3
       and (folded = any($4::text[]) or (folded >= $5 || '/' and folded < $5 || '0')) limit 1`,
    [caller.team, repository, path, above, folded],
  );
  return other ? `it cannot lie beside ${other.path}: not every system can tell the two apart` : null;
}

function findTextProblem(memory: Memory): string | null {
  if (!memory.text.isWellFormed()) return "its text is not well-formed Unicode";
  if (memory.text.includes("\0")) return "its text holds the character U+0000, which a database cannot keep";
  return null;
}

/** A memory that shrinks is taken even where the repository is full. */
function findLimitProblem(memory: Memory, before: number | null, counts: Counts, limits: DataLimits): string | null {
  const bytes = Buffer.byteLength(memory.text);
  if (bytes > limits.memoryBytes) return `it has ${bytes} bytes, and a memory may have ${limits.memoryBytes}`;
  if (before === null && counts.memories >= limits.repositoryMemories)
    return `the repository is full: it holds ${counts.memories} memories`;
  const grown = bytes - (before ?? 0);
  if (grown > 0 && counts.bytes + grown > limits.repositoryBytes)
    return `the repository is full: it holds ${counts.bytes} bytes of ${limits.repositoryBytes}`;
  return null;
}

function fold(path: string): string {
  return path.normalize("NFC").toLowerCase();
}

function clean(text: string): string {
  return text.toWellFormed().replaceAll("\0", "");
}
