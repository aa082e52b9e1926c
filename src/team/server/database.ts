/** A database as the team server uses it: transactions that carry the tenant, a role that row-level security binds, the schema's history. */

import { type ErrorCode, MemdirError } from "../../errors.ts";
import { CALLED } from "./functions.ts";
import { ADDITIONS, MIGRATIONS, type Migration, TENANT_TABLES } from "./schema.ts";

export type Database = ReturnType<typeof openDatabase>;

export interface TransactionOptions {
  /** Search has connections of its own, so that it cannot take everybody's. */
  lane?: Lane;
  /** For each statement. */
  timeoutMs?: number;
  /** With the rights of the tables' owner, for retention: the audit log is append-only for everybody else. */
  asOwner?: boolean;
}

export type Lane = "main" | "search";

/** A statement of ours takes milliseconds: one that takes this long waits for something that will not come. */
const STATEMENT_MS = 15_000;

/** `now` is only for the table of migrations. */
export function openDatabase(connection: Connection, now: () => Date) {
  let access: Awaited<ReturnType<typeof findAccess>> | null = null;
  let closing: Promise<void> | null = null;

  // Looked up once for each process, but a failure is not kept: the database may only have been away.
  const readAccess = async () => {
    access ??= await begin(connection, findAccess);
    return access;
  };

  return {
    /** How many transactions run at the same time, searches apart. */
    size: connection.size,
    usage: connection.usage,
    /** Named migrations, each once, even if several processes start at the same time. Returns those that were applied now. */
    async migrate(): Promise<string[]> {
      const applied = await migrateDatabase((work) => begin(connection, work), now);
      access = await begin(connection, findAccess);
      return applied;
    },
    /**
     * `tenant` is all that `work` can see and change. Null is the operator, who may list teams and count, and see no memory.
     * A statement that failed rolls everything back, even if `work` caught its error.
     */
    async transaction<T>(tenant: string | null, work: (sql: Sql) => Promise<T>, options: TransactionOptions = {}) {
      const { lane = "main", timeoutMs = STATEMENT_MS, asOwner = false } = options;
      const { role } = await readAccess();
      // All of these end with the transaction: a pooler in front may give the connection to somebody else then.
      const settings: [string, string][] = [
        ["memdir.team", tenant ?? ""],
        ["memdir.operator", tenant === null ? "on" : "off"],
        ["statement_timeout", String(timeoutMs)],
        ["idle_in_transaction_session_timeout", String(STATEMENT_MS * 2)],
        // Setting `role` like this is SET LOCAL ROLE.
        ...(role && !asOwner ? [["role", role] as [string, string]] : []),
      ];
      const opening = settings.map(([name, value]) => `set_config('${name}', ${quoteLiteral(value)}, true)`).join(", ");
      return begin(connection, work, { lane, opening: `select ${opening}` });
    },
    /** One statement in one round trip: a call of a function of ours (functions.ts), which sets its tenant itself. */
    async call<T>(text: string, values: unknown[]): Promise<T[]> {
      await readAccess();
      return connection.query<T>(text, values).catch((error) => {
        throw databaseError(error);
      });
    },
    /** Rejects where the database does not answer, and where it takes no writes. */
    async ping(): Promise<void> {
      const [row] = await begin(connection, (sql) =>
        sql("select pg_is_in_recovery() or current_setting('transaction_read_only') = 'on' as is_read_only"),
      );
      if (row?.is_read_only) throw databaseError({ code: READ_ONLY });
    },
    /** What the operator should do in the database, each with the SQL to run; nothing where all is well. */
    advise: () => begin(connection, advise),
    close: () => (closing ??= connection.close()),
    /** Whether vectors can be stored and compared here. */
    hasVectors: async () => (await readAccess()).vectors,
  };
}

/** Only for names of teams and numbers of ours; whatever else comes from outside is a value of a statement. */
function quoteLiteral(text: string): string {
  if (/[\0\\]/.test(text)) throw new MemdirError("usage", "a team cannot have this name");
  return `'${text.replaceAll("'", "''")}'`;
}

export type Row = Record<string, unknown>;

/** One statement. Whatever comes from outside goes into `values`, never into `text`. */
export type Sql = <T = Row>(text: string, values?: unknown[]) => Promise<T[]>;

/** What a driver gives: everything else is the same for all of them. */
export interface Connection {
  readonly size: number;
  /** Connections, and transactions that wait for one. */
  usage(): Record<"open" | "idle" | "waiting", number>;
  /** Commits when `work` resolves, rolls back when it rejects. `opening` is a statement that needs no answer. */
  begin<T>(work: (sql: Sql) => Promise<T>, options: { lane: Lane; opening: string | null }): Promise<T>;
  /** One statement, which is its own transaction. */
  query: Sql;
  close(): Promise<void>;
}

/** A transaction whose errors are ours. A statement that failed fails it, even if `work` caught the error. */
async function begin<T>(
  connection: Connection,
  work: (sql: Sql) => Promise<T>,
  options: { lane: Lane; opening: string | null } = { lane: "main", opening: null },
): Promise<T> {
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
    }, options);
  } catch (error) {
    // Errors of `work` itself stay as they are; what the database or the way to it said becomes one of ours.
    throw isOwn ? error : databaseError(failures[0] ?? error);
  }
}

/** A primary that became a standby, or is about to be one. */
export const READ_ONLY = "25006";

/** SQLSTATEs after which the same transaction may well succeed: a serialisation failure, a deadlock. */
const AGAIN = new Set(["40001", "40P01"]);

export function isWorthAnotherTry(error: unknown): boolean {
  return AGAIN.has(sqlStateOf(error));
}

/** "" where the error is none of the database's. */
export function sqlStateOf(error: unknown): string {
  if (error instanceof MemdirError) return (error.details as { sqlState?: string } | undefined)?.sqlState ?? "";
  const { code } = (error ?? {}) as { code?: unknown };
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
  if (sqlState === READ_ONLY) return ["network", "the database takes no writes at the moment: try again shortly"];
  const reason = typeof code === "string" && code !== "" ? code : "connection lost";
  const advice = ADVICE.find(([pattern]) => pattern.test(reason))?.[1];
  if (advice) return ["network", `the database refuses us (${sqlState ? `SQLSTATE ${sqlState}` : reason}): ${advice}`];
  if (sqlState === "" || AWAY.test(sqlState))
    return ["network", `the database is not answering (${reason}): try again shortly`];
  return ["disk", `the database refused a statement (SQLSTATE ${sqlState}): its own log says which`];
}

/** What an operator can do about it; waiting helps with the others. */
const ADVICE: readonly [code: RegExp, advice: string][] = [
  [/^28/, "the user or the password is wrong, or pg_hba.conf does not let them in from here"],
  [/^3D/, "there is no database with this name"],
  [/^42501/, "the user needs to own the database (alter database … owner to …)"],
  [/^53300/, "it has no connection left for us; allow more, or use a smaller --pool"],
  [/^ENOTFOUND/, "its host name is not known here"],
];

/** Connection failures, shutdown, no resources, statements cut off for their time or lock. */
const AWAY = /^(08|53|57|58|55P03|25P03)/;

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
    const first = await applyAll(sql, "memdir_migration", MIGRATIONS, hasVectorType, now);
    const vectors = hasVectorType || first.done.includes("vectors");
    const then = await applyAll(sql, "memdir_schema", ADDITIONS, vectors, now);
    await bindTables(sql, vectors);
    return [...first.applied, ...then.applied];
  });
}

/** Those that are not there yet, in their order. A newer server's are fine unless it says otherwise. */
async function applyAll(sql: Sql, table: string, all: readonly Migration[], vectors: boolean, now: () => Date) {
  const [there] = await sql("select to_regclass($1) is not null as yes", [table]);
  if (!there?.yes)
    await sql(
      `create table ${table} (name text primary key, at timestamptz not null, breaking boolean not null default true)`,
    );
  else if (table === "memdir_migration")
    await sql(`alter table ${table} add column if not exists breaking boolean not null default true`);
  const rows = await sql(`select name, breaking from ${table}`);
  const done = rows.map(({ name }) => String(name));
  const known = all.map(({ name }) => name);
  const strange = rows
    .filter(({ name, breaking }) => breaking && !known.includes(String(name)))
    .map(({ name }) => name);
  const message = `the database was prepared by a newer memdir (it knows ${strange.join(", ")}): update this one`;
  if (strange.length > 0) throw new MemdirError("usage", message);
  const missing = all.filter(({ name, needsVectors }) => !done.includes(name) && (vectors || !needsVectors));
  for (const { name, statements, breaking = false } of missing) {
    for (const statement of statements) await sql(statement);
    const values = [name, now().toISOString(), breaking];
    await sql(`insert into ${table} (name, at, breaking) values ($1, $2::timestamptz, $3)`, values);
  }
  return { applied: missing.map(({ name }) => name), done };
}

/**
 * How this process may work in the database. `role` is what every transaction drops to; null where the connecting user itself is
 * bound by row-level security. Refuses where nothing would keep one team's rows from another's.
 */
async function findAccess(sql: Sql) {
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

/** In a transaction of its own: it fails wherever the extension is not installed, and that is not an error. */
async function addVectorType(begin: Begin): Promise<boolean> {
  try {
    return await begin(async (sql) => {
      await sql("select set_config('statement_timeout', '0', true)");
      await sql("select pg_advisory_xact_lock($1)", [LOCK]);
      const [found] = await sql(
        `select to_regtype('vector') is not null as there,
           exists (select from pg_available_extensions where name = 'vector') as offered`,
      );
      if (found?.offered && !found.there) await sql("create extension vector");
      return found?.there === true || found?.offered === true;
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
  await sql(`grant select, insert, update, delete on memdir_words to ${ROLE}`);
  await sql(`grant execute on function memdir_find(text[], text[], int) to ${ROLE}`);
  // Where transactions run as the role, this table's owner is only the function of 0.1 that looks things up.
  const [bound] = await sql("select pg_has_role($1, 'member') as yes", [ROLE]);
  await sql(`alter table memdir_search ${bound?.yes ? "no force" : "force"} row level security`);
  // These set their tenant, and here they also drop the rights of whoever calls them.
  for (const name of CALLED) await sql(`alter function ${name} ${bound?.yes ? `set role to ${ROLE}` : "reset role"}`);
}

/** An index that is missing or was left unfinished makes search read everything. */
async function advise(sql: Sql): Promise<string[]> {
  const [row] = await sql(
    "select coalesce((select indisvalid from pg_index where indexrelid = to_regclass('memdir_words_terms')), false) as yes",
  );
  if (row?.yes) return [];
  const fix =
    "drop index if exists memdir_words_terms; create index memdir_words_terms on memdir_words using gin (terms)";
  return [`search cannot use its index and will be slow; run as the owner of the tables: ${fix}`];
}
