/** What every verb of the team's data works in: a transaction of its caller that is tried again, rights as values, the audit log. */

import { setTimeout as sleep } from "node:timers/promises";
import { MemdirError } from "../../errors.ts";
import type { World } from "../../world.ts";
import { type AuditRow, covers, type RepositoryAnswer, type Role } from "../protocol.ts";
import { type Database, isWorthAnotherTry, type Lane, type Sql, type TransactionOptions } from "./database.ts";
import { makeTurns, WAITING, WAITING_PER_TOKEN } from "./turns.ts";

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
  /** The same about the caller's team, which is $1. */
  own: Sql;
  caller: Caller;
}

export type Run = ReturnType<typeof makeRun>["run"];
export type Call = ReturnType<typeof makeRun>["call"];

/** Deadlocks cannot come from our own order of locks; what else there is passes within a few tries. */
const TRIES = 5;
const PAUSE_MS = 20;

/** A few for one token, so that its own requests overlap; most of them for everybody else. */
const ONE_TOKENS_PART = 0.4;
/** A search of one token at a time: the second would take all connections that search has. */
const SEARCHES = { size: 2, perToken: 1, waitingPerToken: 8, waiting: 200 };

export function makeRun(database: Database, outside: Outside) {
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
    /** One transaction; null is the operator of all teams. Started again where the database says that it was only unlucky. */
    run<T>(asking: Caller | null, work: (tx: Transaction) => Promise<T>, options: TransactionOptions = {}): Promise<T> {
      const caller = asking ?? operatorOf("");
      const begin = (sql: Sql) => {
        const own: Sql = (text, values = []) => sql(text, [caller.team, ...values]);
        return work({ ...outside, newId, hasVectors, sql, own, caller });
      };
      return patiently(options.lane ?? "main", caller, () => transaction(asking && caller.team, begin, options));
    },
    /** One call of a function in the database (functions.ts), in the caller's turn. */
    call: <T>(caller: Caller, text: string, values: unknown[]): Promise<T[]> =>
      patiently("main", caller, () => database.call(text, values)),
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

export interface Noted extends AuditEntry, Pick<Caller, "person" | "tokenId"> {
  at: string;
}

export async function audit(tx: Transaction, entry: AuditEntry): Promise<void> {
  const { person, tokenId } = tx.caller;
  await writeAudit(tx, [{ ...entry, at: tx.now().toISOString(), person, tokenId }]);
}

/** Nothing is written for a team that there is not: a token may name one. */
async function writeAudit({ own }: Transaction, rows: readonly Noted[]): Promise<void> {
  await own(
    `insert into memdir_audit (team, at, person, token_id, action, repository, path, revision, outcome)
     select t.team, n.at, n.person, n."tokenId", n.action, n.repository, n.path, n.revision, n.outcome from memdir_team t,
       jsonb_to_recordset($2::jsonb) as n (at timestamptz, person text, "tokenId" text, action text, repository text, path text, revision text, outcome text)
     where t.team = $1`,
    [JSON.stringify(rows)],
  );
}

/** Newest first, `before` an earlier row's `at`. */
export async function readAudit(tx: Transaction, { before, limit }: { before: string | null; limit: number }) {
  if (before !== null && Number.isNaN(Date.parse(before)))
    throw new MemdirError("usage", "`before` must be the time of an audit row, exactly as the log gave it");
  if (!(await isTeamAdmin(tx))) return [];
  // With everything that happened in the same millisecond: the next page begins before it, and would miss the rest.
  return tx.own<AuditRow>(
    `select ${iso("at")}, person, token_id as "tokenId", action, repository, path, revision, outcome from (
       select * from memdir_audit where team = $1 and ($2::timestamptz is null or at < $2::timestamptz)
       order by at desc fetch first ($3::int) rows with ties
     ) page order by page.at desc, id desc`,
    [before === null ? null : new Date(before).toISOString(), limit],
  );
}

/** Those that the caller may read, each with the stronger of their role in the team and in it; with a name that one. */
export async function findReadable({ own, caller }: Transaction, named: string | null = null) {
  const rows = await own<{ id: string; name: string; memories: number; bytes: number } & Roles>(
    `select r.id, r.name, r.memories, r.bytes::float8 as bytes, p.role as team_role, x.role as own_role from memdir_repository r
     join memdir_person p on p.team = r.team and p.id = $2 and p.removed is null
     left join memdir_right x on x.team = r.team and x.person_id = p.id and x.repository = r.name
     where r.team = $1 and (p.role is not null or x.role is not null) and ($3::text is null or r.name = $3) order by r.name`,
    [caller.personId, named],
  );
  return rows.map((row) => ({ ...row, role: strongest(row) as Role }));
}

export async function repositories(tx: Transaction): Promise<RepositoryAnswer[]> {
  const rows = (await findReadable(tx)).slice(0, 10_000);
  return rows.map(({ name, memories, bytes, role }) => ({ name, memories, bytes, role }));
}

/** Null: none, or no such repository (the caller does not learn which). */
export async function roleOf(tx: Transaction, repository: string): Promise<Role | null> {
  return (await findReadable(tx, repository))[0]?.role ?? null;
}

export async function teamRoleOf({ own, caller }: Transaction): Promise<Role | null> {
  const text = "select role from memdir_person where team = $1 and id = $2 and removed is null";
  return (await own<{ role: Role | null }>(text, [caller.personId]))[0]?.role ?? null;
}

export async function isTeamAdmin(tx: Transaction): Promise<boolean> {
  return covers(await teamRoleOf(tx), "admin");
}

/** In the whole team, and in one repository. */
export type Roles = Record<"team_role" | "own_role", Role | null>;

export function strongest({ team_role: one, own_role: other }: Roles): Role | null {
  return other === null || covers(one, other) ? one : other;
}

/** Of one team, for one transaction. */
interface TeamNotes {
  rows: Noted[];
  /** When each token was last used. */
  used: Map<string, string>;
  /** Tokens that named the team and are none of its. */
  refused: number;
}

/** Long enough to put many into one transaction, short enough that a crash loses little. */
const FLUSH_MS = 500;
/** Some megabytes: a database that is away for longer than these take loses the oldest. */
const MOST_ROWS = 20_000;
/** Nobody needs it more exactly. */
const USE_MS = 60_000;

/** What is written down after the answer, so that reads do not write: the audit log of reads and refusals, and when a token was last used. */
export function openNotes(run: Run, now: World["now"]) {
  let teams = new Map<string, TeamNotes>();
  let [rows, lost] = [0, 0];
  let timer: NodeJS.Timeout | null = null;
  let writing: Promise<void> = Promise.resolve();
  const uses = new Map<string, number>();

  const of = (team: string): TeamNotes => {
    const notes = teams.get(team) ?? { rows: [], used: new Map(), refused: 0 };
    teams.set(team, notes);
    // Not a reason for the process to stay.
    timer ??= setTimeout(() => void flush(), FLUSH_MS).unref();
    return notes;
  };
  const put = (team: string, noted: readonly Noted[]) => {
    const room = Math.max(0, MOST_ROWS - rows);
    lost += Math.max(0, noted.length - room);
    rows += Math.min(noted.length, room);
    of(team).rows.push(...noted.slice(0, room));
  };
  const writeAll = async () => {
    const taken = teams;
    teams = new Map();
    rows = 0;
    for (const [team, notes] of taken)
      await run(operatorOf(team), (tx) => writeNotes(tx, notes)).catch(() => {
        // The next time; a use or a refusal that is not noted harms nobody.
        put(team, notes.rows);
      });
  };
  const flush = () => {
    if (timer) clearTimeout(timer);
    timer = null;
    writing = writing.then(writeAll);
    return writing;
  };

  return {
    /** Writes all that was noted so far. */
    flush,
    /** Rows that were lost because the database took none for too long. */
    lost: () => lost,
    add({ team, person, tokenId }: Caller, entries: readonly AuditEntry[]) {
      const about = { at: now().toISOString(), person, tokenId };
      const noted = entries.map((entry) => ({ ...entry, ...about }));
      put(team, noted);
    },
    addUse({ team, tokenId }: Caller) {
      const at = now().getTime();
      if (at - (uses.get(tokenId) ?? 0) < USE_MS) return;
      uses.set(tokenId, at);
      of(team).used.set(tokenId, new Date(at).toISOString());
    },
    addRefusal: (team: string) => void of(team).refused++,
  };
}

/** What was noted since the last time, in one transaction. */
async function writeNotes(tx: Transaction, { rows, used, refused }: TeamNotes): Promise<void> {
  const wrong = { at: tx.now().toISOString(), person: "(unknown)", tokenId: "", action: "enter" };
  const all =
    refused > 0 ? [...rows, { ...wrong, outcome: `denied: unknown, expired or revoked tokens, ${refused}` }] : rows;
  if (all.length > 0) await writeAudit(tx, all);
  const text = `update memdir_token t set last_used = u.at::timestamptz from unnest($2::text[], $3::text[]) as u (id, at)
    where t.team = $1 and t.id = u.id`;
  if (used.size > 0) await tx.own(text, [[...used.keys()], [...used.values()]]);
}
