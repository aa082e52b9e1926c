/** What every verb of the team's data works in: a transaction of its caller that is tried again, rights as values, the audit log. */

import { setTimeout as sleep } from "node:timers/promises";
import { MemdirError } from "../../errors.ts";
import type { World } from "../../world.ts";
import { type AuditRow, covers, type RepositoryAnswer, type Role } from "../protocol.ts";
import { type Database, isWorthAnotherTry, type Lane, type Sql, type TransactionOptions } from "./database.ts";
import { makeTurns } from "./turns.ts";

/** Who asks, as their token says. `team` is the tenant: nothing outside it can be seen or named. */
export interface Caller {
  team: string;
  personId: string;
  person: string;
  tokenId: string;
}

/** `randomBytes` cannot be guessed: tokens are made of them. */
export type Outside = Pick<World, "now"> & { randomBytes(bytes: number): Uint8Array };

/** The caller's team is all that it can see and change. */
export interface Transaction extends Outside, Pick<World, "newId">, Pick<Database, "hasVectors"> {
  sql: Sql;
  caller: Caller;
}

/** One transaction; null is the operator of all teams. Started again where the database says that it was only unlucky. */
export type Run = <T>(
  caller: Caller | null,
  work: (tx: Transaction) => Promise<T>,
  options?: TransactionOptions,
) => Promise<T>;

/** One call of a function in the database (functions.ts), in the caller's turn. */
export type Call = <T>(caller: Caller, text: string, values: unknown[]) => Promise<T[]>;

/** Deadlocks cannot come from our own order of locks; what else there is passes within a few tries. */
const TRIES = 5;
const PAUSE_MS = 20;

/** A few for one token, so that its own requests overlap; most of them for everybody else. */
const ONE_TOKENS_PART = 0.4;
/** About as many as one client with many processes has under way. */
export const WAITING_PER_TOKEN = 200;
export const WAITING = 5_000;
/** A search of one token at a time: the second would take all connections that search has. */
const SEARCHES = { size: 2, perToken: 1, waitingPerToken: 8, waiting: 200 };

export function makeRun(database: Database, outside: Outside): { run: Run; call: Call; waiting(): number } {
  const { transaction, hasVectors, size } = database;
  const { randomBytes } = outside;
  const newId = () => Buffer.from(randomBytes(8)).toString("hex");
  const perToken = Math.max(1, Math.floor(size * ONE_TOKENS_PART));
  const lanes = {
    main: makeTurns({ size, perToken, waitingPerToken: WAITING_PER_TOKEN, waiting: WAITING }),
    search: makeTurns(SEARCHES),
  };
  const patiently = async <T>(lane: Lane, caller: Caller, work: () => Promise<T>): Promise<T> => {
    for (let attempt = 1; ; attempt++) {
      try {
        return await lanes[lane].take(caller.team, caller.tokenId, work);
      } catch (error) {
        if (attempt >= TRIES || !isWorthAnotherTry(error)) throw error;
        const part = (randomBytes(1)[0] ?? 0) / 256;
        await sleep(PAUSE_MS * 2 ** (attempt - 1) * (0.5 + part));
      }
    }
  };
  return {
    waiting: () => lanes.main.waiting() + lanes.search.waiting(),
    run: (asking, work, options = {}) => {
      const caller = asking ?? operatorOf("");
      return patiently(options.lane ?? "main", caller, () =>
        transaction(asking && caller.team, (sql) => work({ ...outside, newId, hasVectors, sql, caller }), options),
      );
    },
    call: (caller, text, values) => patiently("main", caller, () => database.call(text, values)),
  };
}

/** For what is done on the server's own machine, with no token. */
export function operatorOf(team: string): Caller {
  return { team, personId: "", person: "(operator)", tokenId: "" };
}

/** A column with a time as ISO, as drivers give times in forms of their own. */
export function iso(column: string, name = column): string {
  return `to_char(${column} at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "${name}"`;
}

export type AuditEntry = Pick<AuditRow, "action" | "outcome"> &
  Partial<Pick<AuditRow, "repository" | "path" | "revision">>;

export async function audit({ sql, caller, now }: Transaction, entries: readonly AuditEntry[]): Promise<void> {
  for (const { action, repository = null, path = null, revision = null, outcome } of entries)
    await sql(
      `insert into memdir_audit (team, at, person, token_id, action, repository, path, revision, outcome)
       values ($1, $2::timestamptz, $3, $4, $5, $6, $7, $8, $9)`,
      [caller.team, now().toISOString(), caller.person, caller.tokenId, action, repository, path, revision, outcome],
    );
}

/** Newest first, `before` an earlier row's `at`. */
export async function readAudit(
  tx: Transaction,
  { before, limit }: { before: string | null; limit: number },
): Promise<AuditRow[]> {
  if (before !== null && Number.isNaN(Date.parse(before)))
    throw new MemdirError("usage", "`before` must be the time of an audit row, exactly as the log gave it");
  if (!(await isTeamAdmin(tx))) return [];
  // With everything that happened in the same millisecond: the next page begins before it, and would miss the rest.
  return tx.sql<AuditRow>(
    `select ${iso("at")}, person, token_id as "tokenId", action, repository, path, revision, outcome from (
       select * from memdir_audit where team = $1 and ($2::timestamptz is null or at < $2::timestamptz)
       order by at desc fetch first ($3::int) rows with ties
     ) page order by page.at desc, id desc`,
    [tx.caller.team, before === null ? null : new Date(before).toISOString(), limit],
  );
}

/** Those that the caller may read, each with their role in it. */
export async function repositories({ sql, caller }: Transaction): Promise<RepositoryAnswer[]> {
  const rows = await sql<{ name: string; memories: number; bytes: string; team: Role | null; own: Role | null }>(
    `select r.name, r.memories, r.bytes::text as bytes, p.role as team, x.role as own from memdir_repository r
     join memdir_person p on p.team = r.team and p.id = $2 and p.removed is null
     left join memdir_right x on x.team = r.team and x.person_id = p.id and x.repository = r.name
     where r.team = $1 and (p.role is not null or x.role is not null) order by r.name limit 10000`,
    [caller.team, caller.personId],
  );
  return rows.map(({ name, memories, bytes, team, own }) => {
    return { name, memories, bytes: Number(bytes), role: strongest(team, own) as Role };
  });
}

/** Changes with every write in the repository, and differs for another repository of the same name. */
export function formState({ id, state }: { id?: unknown; state?: unknown }): string {
  return `${id}-${state}`;
}

/** The stronger of the team's role and the repository's. Null: none, or no such repository (the caller does not learn which). */
export async function roleOf({ sql, caller }: Transaction, repository: string): Promise<Role | null> {
  const [row] = await sql<{ team: Role | null; own: Role | null }>(
    `select p.role as team, x.role as own from memdir_repository r
     join memdir_person p on p.team = r.team and p.id = $3 and p.removed is null
     left join memdir_right x on x.team = r.team and x.person_id = p.id and x.repository = r.name
     where r.team = $1 and r.name = $2`,
    [caller.team, repository, caller.personId],
  );
  return row ? strongest(row.team, row.own) : null;
}

export async function teamRoleOf({ sql, caller }: Transaction): Promise<Role | null> {
  const key = [caller.team, caller.personId];
  const [row] = await sql<{ role: Role | null }>(
    "select role from memdir_person where team = $1 and id = $2 and removed is null",
    key,
  );
  return row?.role ?? null;
}

export async function isTeamAdmin(tx: Transaction): Promise<boolean> {
  return covers(await teamRoleOf(tx), "admin");
}

export function strongest(one: Role | null, other: Role | null): Role | null {
  return other === null || covers(one, other) ? one : other;
}
