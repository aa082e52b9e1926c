/** A database as the team server uses it: transactions that carry the tenant, a role that row-level security binds, the schema's history. */

import { type ErrorCode, MemdirError } from "../../errors.ts";
import { MIGRATIONS, OPTIONAL, TENANT_TABLES } from "./schema.ts";

export interface Database {
  /** Named migrations, each once, even if several processes start at the same time. Returns those that were applied now. */
  migrate(): Promise<string[]>;
  /**
   * `tenant` is all that `work` can see and change. Null is the operator, who may list teams and count, and see no memory.
   * A statement that failed rolls everything back, even if `work` caught its error.
   */
  transaction<T>(tenant: string | null, work: (sql: Sql) => Promise<T>): Promise<T>;
  ping(): Promise<void>;
  close(): Promise<void>;
  /** Whether vectors can be stored and compared here. */
  hasVectors(): Promise<boolean>;
}

/** `now` is only for the table of migrations. */
export function openDatabase(connection: Connection, now: () => Date): Database {
  let access: Access | null = null;

  // Looked up once for each process, but a failure is not kept: the database may only have been away.
  const readAccess = async () => {
    access ??= await begin(connection, findAccess);
    return access;
  };

  return {
    async migrate() {
      const applied = await migrateDatabase((work) => begin(connection, work), now);
      access = await begin(connection, findAccess);
      return applied;
    },
    async transaction(tenant, work) {
      const { role } = await readAccess();
      return begin(connection, async (sql) => {
        // Setting `role` like this is SET LOCAL ROLE; all three end with the transaction.
        await sql(
          `select set_config('memdir.team', $1, true), set_config('memdir.operator', $2, true)${role ? ", set_config('role', $3, true)" : ""}`,
          [tenant ?? "", tenant === null ? "on" : "off", ...(role ? [role] : [])],
        );
        return work(sql);
      });
    },
    async ping() {
      await begin(connection, (sql) => sql("select 1"));
    },
    close: () => connection.close(),
    hasVectors: async () => (await readAccess()).vectors,
  };
}

export type Row = Record<string, unknown>;

/** One statement. Whatever comes from outside goes into `values`, never into `text`. */
export type Sql = <T = Row>(text: string, values?: unknown[]) => Promise<T[]>;

/** What a driver gives: everything else is the same for all of them. */
export interface Connection {
  /** Commits when `work` resolves, rolls back when it rejects. */
  begin<T>(work: (sql: Sql) => Promise<T>): Promise<T>;
  close(): Promise<void>;
}

/** A transaction whose errors are ours. A statement that failed fails it, even if `work` caught the error. */
async function begin<T>(connection: Connection, work: (sql: Sql) => Promise<T>): Promise<T> {
  const failures: unknown[] = [];
  let isOwn = false;
  try {
    return await connection.begin(async (sql) => {
      const result = await work(<Row>(text: string, values?: unknown[]) =>
        sql<Row>(text, values).catch((error) => {
          failures.push(error);
          throw error;
        }),
      ).catch((error) => {
        isOwn = failures.length === 0;
        throw error;
      });
      // COMMIT after a failed statement rolls back silently: that must not look like success.
      if (failures.length > 0) throw failures[0];
      return result;
    });
  } catch (error) {
    // Errors of `work` itself stay as they are; what the database or the way to it said becomes one of ours.
    throw isOwn ? error : databaseError(failures[0] ?? error);
  }
}

/** SQLSTATEs after which the same transaction may well succeed: a serialisation failure, a deadlock. */
const AGAIN = new Set(["40001", "40P01"]);

export function isWorthAnotherTry(error: unknown): boolean {
  return AGAIN.has(sqlStateOf(error));
}

/** "" where the error is none of the database's. */
function sqlStateOf(error: unknown): string {
  if (error instanceof MemdirError) return (error.details as { sqlState?: string } | undefined)?.sqlState ?? "";
  const { code } = error as { code?: unknown };
  // A digit distinguishes them from codes of the system like EPIPE.
  return typeof code === "string" && /^(?=.*\d)[0-9A-Z]{5}$/.test(code) ? code : "";
}

/**
 * An error of a driver as one of ours. The database's own words are dropped, as they quote what was stored: rule and
 * place are in its log, and the state's code is enough to look them up.
 */
function databaseError(error: unknown): MemdirError {
  if (error instanceof MemdirError) return error;
  const sqlState = sqlStateOf(error);
  const details = { sqlState, constraint: (error as { constraint?: string }).constraint };
  const [code, message] = explain(sqlState, (error as { code?: unknown }).code);
  return new MemdirError(code, message, { details });
}

function explain(sqlState: string, code: unknown): [ErrorCode, string] {
  // A character that no Postgres text can hold, U+0000.
  if (sqlState === "22021" || sqlState === "22P05")
    return ["usage", "the text contains a character that a database cannot store: remove U+0000"];
  const reason = typeof code === "string" && code !== "" ? code : "connection lost";
  if (sqlState === "" || AWAY.test(sqlState))
    return ["network", `the database is not answering (${reason}): try again shortly`];
  const advice = "check the name of the database, the user, their password and rights";
  if (/^(28|3D|42501)/.test(sqlState)) return ["network", `the database refuses us (SQLSTATE ${sqlState}): ${advice}`];
  return ["disk", `the database refused a statement (SQLSTATE ${sqlState}): its own log says which`];
}

/** Connection failures, shutdown, no resources, statements cut off for their time or lock. */
const AWAY = /^(08|53|57|58|55P03|25P03)/;

/** How this process may work in the database. */
interface Access {
  /** What every transaction drops to; null where the connecting user itself is bound by row-level security. */
  role: string | null;
  vectors: boolean;
}

const ROLE = "memdir_app";

/** Any number, the same in every version of memdir: who starts waits for who started before. */
const LOCK = 6_036_843_721;

type Begin = <T>(work: (sql: Sql) => Promise<T>) => Promise<T>;

async function migrateDatabase(begin: Begin, now: () => Date): Promise<string[]> {
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
async function findAccess(sql: Sql): Promise<Access> {
  const [row] = await sql(
    `select u.rolsuper or u.rolbypassrls as unbound, 
       to_regclass('memdir_vector') is not null and exists (select from pg_available_extensions where name = 'vector') as vectors,
       to_regclass('memdir_team') is not null as migrated, coalesce(r.rolsuper or r.rolbypassrls, false) as role_unbound,
       coalesce(pg_has_role(r.oid, 'member') and has_table_privilege(r.oid, to_regclass('memdir_team'), 'insert'), false) as usable
     from pg_roles u left join pg_roles r on r.rolname = $1 where u.rolname = current_user`,
    [ROLE],
  );
  if (!row?.migrated)
    throw new MemdirError("usage", "the database has not been set up yet: run `memdir serve` with it once");
  const usable = row.usable === true && row.role_unbound !== true;
  const unbound = `the database user is not bound by row-level security, and the role ${ROLE} cannot be used instead`;
  const advice = `connect as an ordinary user, or give ${ROLE} neither SUPERUSER nor BYPASSRLS`;
  if (row.unbound && !usable) throw new MemdirError("usage", `${unbound}: ${advice}`);
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
  const message = `the database was prepared by a newer memdir (it knows ${strange.join(", ")}): update this one`;
  if (strange.length > 0) throw new MemdirError("usage", message);
}

/** In a transaction of its own: it fails wherever the extension is not installed, and that is not an error. */
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
    const isMissingRight = sqlStateOf(error) === "42501";
    if (error instanceof MemdirError && error.code === "network" && !isMissingRight) throw error;
    return false;
  }
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
    // The log is append-only.
    const rights = table === "memdir_audit" ? "select, insert" : "select, insert, update, delete";
    await sql(`grant ${rights} on ${table} to ${ROLE}`);
  }
  await sql(`grant execute on function memdir_find(text[], text[], int) to ${ROLE}`);
  // Where transactions run as the role, this table's owner is only the function that looks things up: see schema.ts.
  const [bound] = await sql("select pg_has_role($1, 'member') as yes", [ROLE]);
  await sql(`alter table memdir_search ${bound?.yes ? "no force" : "force"} row level security`);
}
