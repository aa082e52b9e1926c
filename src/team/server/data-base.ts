/** What every verb of the team's data stands on: transactions that are tried again, times and rights as values, the audit log's pen. */

import { setTimeout as sleep } from "node:timers/promises";
import { MemdirError } from "../../errors.ts";
import type { Role } from "../protocol.ts";
import { covers } from "./auth.ts";
import type { Database } from "./database.ts";
import { isWorthAnotherTry, type Row, type Sql } from "./sql.ts";
import type { AuditRow, Caller } from "./team-data.ts";

export interface DataWorld {
  now: () => Date;
  /** Bytes that nobody can guess: tokens are made of them. */
  random: (bytes: number) => Uint8Array;
}

export interface Base extends DataWorld {
  database: Database;
  /** One transaction of this team; null is the operator. Started again where the database says that it was only unlucky. */
  run<T>(team: string | null, work: (sql: Sql) => Promise<T>): Promise<T>;
  /** An identifier nobody else has. */
  newId(): string;
}

/** Deadlocks cannot come from our own order of locks; what else there is passes within a few tries. */
const TRIES = 5;
const PAUSE_MS = 20;

export function openBase(database: Database, world: DataWorld): Base {
  return {
    ...world,
    database,
    newId: () => Buffer.from(world.random(8)).toString("hex"),
    async run(team, work) {
      for (let attempt = 1; ; attempt++) {
        try {
          return await database.transaction(team, work);
        } catch (error) {
          if (attempt >= TRIES || !isWorthAnotherTry(error)) throw error;
          const part = (world.random(1)[0] ?? 0) / 256;
          await sleep(PAUSE_MS * 2 ** (attempt - 1) * (0.5 + part));
        }
      }
    },
  };
}

/** `lock`: nobody else writes in this repository until the transaction ends. Null where there is no such repository. */
export async function readRepository(
  sql: Sql,
  caller: Caller,
  repository: string,
  lock: "lock" | "look" = "look",
): Promise<{ role: Role | null; row: Row } | null> {
  const [row] = await sql(
    `select r.id, r.state::text as state, r.memories, r.bytes::text as bytes, p.role as team_role,
       (select x.role from memdir_right x where x.team = r.team and x.person_id = p.id and x.repository = r.name) as own_role
     from memdir_repository r left join memdir_person p on p.team = r.team and p.id = $3
     where r.team = $1 and r.name = $2${lock === "lock" ? " for no key update of r" : ""}`,
    [caller.team, repository, caller.personId],
  );
  return row ? { role: strongest(row.team_role as Role | null, row.own_role as Role | null), row } : null;
}

/** Changes with every write in the repository, and is another one for another repository of the same name. */
export function formState({ id, state }: Row): string {
  return `${id}-${state}`;
}

export async function readTeamRole(sql: Sql, caller: Caller): Promise<Role | null> {
  const [row] = await sql("select role from memdir_person where team = $1 and id = $2", [caller.team, caller.personId]);
  return (row?.role as Role | null | undefined) ?? null;
}

export async function isTeamAdmin(sql: Sql, caller: Caller): Promise<boolean> {
  return covers(await readTeamRole(sql, caller), "admin");
}

export type AuditEntry = Omit<AuditRow, "at" | "person" | "tokenId">;

export async function writeAudit(base: Base, sql: Sql, caller: Caller, entry: AuditEntry): Promise<void> {
  await sql(
    `insert into memdir_audit (team, at, person, token_id, action, repository, path, revision, outcome)
     values ($1, $2::timestamptz, $3, $4, $5, $6, $7, $8, $9)`,
    [
      caller.team,
      base.now().toISOString(),
      caller.person,
      caller.tokenId,
      entry.action,
      entry.repository,
      entry.path,
      entry.revision,
      entry.outcome,
    ],
  );
}

/** For what is done on the server's own machine, with no token. */
export function operatorOf(team: string): Caller {
  return { team, personId: "", person: "(operator)", tokenId: "" };
}

/** Drivers give times as dates, or as numbers of their own. */
export function isoOf(value: unknown): string {
  return new Date(value as Date | string | number).toISOString();
}

export function isoOrNull(value: unknown): string | null {
  return value === null || value === undefined ? null : isoOf(value);
}

export function refuseName(what: string, name: string, problem: string | null): void {
  if (problem) throw new MemdirError("usage", `${what} cannot be called ${JSON.stringify(name)}: ${problem}`);
}

function strongest(one: Role | null, other: Role | null): Role | null {
  if (one === null || other === null) return one ?? other;
  return covers(one, other) ? one : other;
}
