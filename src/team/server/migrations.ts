/** The schema's history, applied once by whoever starts first, and the roles that make row-level security bind. */

import { MemdirError } from "../../errors.ts";
import { MIGRATIONS, OPTIONAL, TENANT_TABLES } from "./schema.ts";
import type { Sql } from "./sql.ts";

/** How this process may work in the database. */
export interface Access {
  /** What every transaction drops to; null where the connecting user itself is bound by row-level security. */
  role: string | null;
  vectors: boolean;
}

const ROLE = "memdir_app";

/** Any number, the same in every version of memdir: who starts waits for who started before. */
const LOCK = 6_036_843_721;

type Begin = <T>(work: (sql: Sql) => Promise<T>) => Promise<T>;

export async function migrateDatabase(begin: Begin, now: () => Date): Promise<string[]> {
  const hasVectorType = await addVectorType(begin);
  return begin(async (sql) => {
    // Waiting for another process, and a change of a large table, may take longer than a statement otherwise may.
    await sql("select set_config('statement_timeout', '0', true)");
    await sql("select pg_advisory_xact_lock($1)", [LOCK]);
    const done = await listApplied(sql);
    refuseNewer(done);
    const wanted = [...MIGRATIONS, ...(hasVectorType ? OPTIONAL : [])].filter(({ name }) => !done.includes(name));
    for (const { name, statements } of wanted) {
      for (const statement of statements) await sql(statement);
      await sql("insert into memdir_migration (name, at) values ($1, $2::timestamptz)", [name, now().toISOString()]);
    }
    const vectors = hasVectorType || done.includes("vectors");
    await bindTables(sql, vectors);
    return wanted.map(({ name }) => name);
  });
}

/** Refuses where nothing would keep one team's rows from another's. */
export async function findAccess(sql: Sql): Promise<Access> {
  const [row] = await sql(
    `select u.rolsuper or u.rolbypassrls as unbound, 
       to_regclass('memdir_vector') is not null and exists (select from pg_available_extensions where name = 'vector') as vectors,
       to_regclass('memdir_team') is not null as migrated, coalesce(r.rolsuper or r.rolbypassrls, false) as role_unbound,
       coalesce(pg_has_role(r.oid, 'member') and has_table_privilege(r.oid, to_regclass('memdir_team'), 'insert'), false) as usable
     from pg_roles u left join pg_roles r on r.rolname = $1 where u.rolname = current_user`,
    [ROLE],
  );
  if (!row?.migrated)
    throw new MemdirError(
      "usage",
      "the database holds no team memory yet: start `memdir serve` on it, which prepares it",
    );
  const usable = row.usable === true && row.role_unbound !== true;
  if (row.unbound && !usable)
    throw new MemdirError(
      "usage",
      `the database user is not bound by row-level security, and the role ${ROLE} cannot be used instead: connect as an ordinary user, or give ${ROLE} neither SUPERUSER nor BYPASSRLS`,
    );
  return { role: usable ? ROLE : null, vectors: row.vectors === true };
}

async function listApplied(sql: Sql): Promise<string[]> {
  const [there] = await sql("select to_regclass('memdir_migration') is not null as yes");
  if (!there?.yes) await sql("create table memdir_migration (name text primary key, at timestamptz not null)");
  return (await sql("select name from memdir_migration")).map(({ name }) => String(name));
}

function refuseNewer(done: readonly string[]): void {
  const known = new Set([...MIGRATIONS, ...OPTIONAL].map(({ name }) => name));
  const strange = done.filter((name) => !known.has(name));
  if (strange.length === 0) return;
  throw new MemdirError(
    "usage",
    `the database was prepared by a newer memdir (it knows ${strange.join(", ")}): bring this one up to date`,
  );
}

/** In a transaction of its own: it fails wherever the extension is not installed, and that is no fault. */
async function addVectorType(begin: Begin): Promise<boolean> {
  try {
    return await begin(async (sql) => {
      await sql("select set_config('statement_timeout', '0', true)");
      await sql("select pg_advisory_xact_lock($1)", [LOCK]);
      const [there] = await sql("select to_regtype('vector') is not null as yes");
      if (there?.yes) return true;
      const [offered] = await sql("select exists (select from pg_available_extensions where name = 'vector') as yes");
      if (!offered?.yes) return false;
      await sql("create extension vector");
      return true;
    });
  } catch (error) {
    if (error instanceof MemdirError && error.code === "network" && !isMissingRight(error)) throw error;
    return false;
  }
}

function isMissingRight(error: MemdirError): boolean {
  return (error.details as { sqlState?: string } | undefined)?.sqlState === "42501";
}

/**
 * Makes the role where that is allowed, and gives it what it needs. Done at every start, as rights may have come since.
 * A user that may not make roles goes on without it: the tables' own rules then bind that user, as their owner.
 */
async function bindTables(sql: Sql, vectors: boolean): Promise<void> {
  await sql(`do $$ begin
    begin
      if not exists (select from pg_roles where rolname = '${ROLE}') then
        create role ${ROLE} nologin nosuperuser nobypassrls nocreaterole nocreatedb;
      end if;
      if not pg_has_role('${ROLE}', 'member') then
        execute format('grant ${ROLE} to %I', current_user);
      end if;
    exception when insufficient_privilege or duplicate_object or unique_violation then null;
    end;
    if exists (select from pg_roles where rolname = '${ROLE}') then
      execute format('grant usage on schema %I to ${ROLE}', current_schema());
    end if;
  end $$`);
  const [role] = await sql("select exists (select from pg_roles where rolname = $1) as yes", [ROLE]);
  if (!role?.yes) return;
  for (const table of [...TENANT_TABLES, ...(vectors ? ["memdir_vector"] : [])]) {
    // Nobody rewrites the log.
    const rights = table === "memdir_audit" ? "select, insert" : "select, insert, update, delete";
    await sql(`grant ${rights} on ${table} to ${ROLE}`);
  }
  await sql(`grant execute on function memdir_find(text[], text[], int) to ${ROLE}`);
  // Where transactions run as the role, this table's owner is only the function that looks things up: see schema.ts.
  const [bound] = await sql("select pg_has_role($1, 'member') as yes", [ROLE]);
  await sql(`alter table memdir_search ${bound?.yes ? "no force" : "force"} row level security`);
}
