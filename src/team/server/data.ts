/** The team's data: a URL or a folder in, a database that is up to date and everything that it may be asked out. */

import { randomBytes } from "node:crypto";
import { MemdirError } from "../../errors.ts";
import { findTextProblem } from "../protocol.ts";
import * as base from "./data-base.ts";
import * as memories from "./data-memories.ts";
import * as people from "./data-people.ts";
import { type SearchQuery, search } from "./data-search.ts";
import type { Database } from "./database.ts";
import { loadEngine, openPglite } from "./pglite.ts";

/** Everything is asked for a caller. Absence is null, and so is a missing right: `roleOf` distinguishes 404 from 403. */
export type TeamData = ReturnType<typeof openTeamData>;

export type Entered = NonNullable<Awaited<ReturnType<TeamData["enter"]>>>;

export function openTeamData(database: Database, outside: base.Outside) {
  const { run, call, waiting } = base.makeRun(database, outside);
  const { now } = outside;
  const writer = memories.openWriter(call, { now, hasVectors: database.hasVectors });
  const notes = base.openNotes(run, now);
  const verbs = forCallers(run, VERBS);
  return {
    ...verbs,
    /** For a team: by the operator on the machine of the server, and for who was identified by a provider (oidc.ts). */
    createTeam: (team: string, admin: string) => run(base.operatorOf(team), (tx) => people.createTeam(tx, admin)),
    issueToken: (team: string, person: string, options: people.TokenOptions) =>
      run(base.operatorOf(team), (tx) => people.issueToken(tx, person, options)),
    signIn: (team: string, who: people.Identity) => run(base.operatorOf(team), (tx) => people.signIn(tx, who)),
    migrate: database.migrate,
    ping: database.ping,
    advise: database.advise,
    async close() {
      await notes.flush();
      await database.close();
    },
    /** Connections, requests that wait for their turn, rows of the audit log that could not be written. */
    figures: () => ({ ...database.usage(), queued: waiting() + writer.waiting(), auditLost: notes.lost() }),
    teams: () => run(null, people.listTeams),
    counts: () => run(null, people.countAll),
    async enter(token: string, repository: string | null, turn: people.Turn | null, since: string | null = null) {
      const entered = await people.enter(call, token, { repository, turn, since }, now());
      if (entered) notes.addUse(entered.caller);
      else notes.addRefusal(people.teamOfToken(token) ?? "");
      return entered;
    },
    listMemories: (caller: base.Caller, repository: string, since: string | null = null) =>
      memories.listMemories(call, caller, repository, since),
    /** Checks the token itself, as it may be asked for a caller of a moment ago. */
    async write(caller: base.Caller, asked: memories.AskedWrite, limits: memories.DataLimits) {
      const { repository, path, memory } = asked;
      const reason = memory && findTextProblem(memory.text, limits.memoryBytes);
      if (reason) {
        notes.add(caller, [{ action: "write", repository, path, outcome: "refused" }]);
        return { kind: "refused" as const, path, reason };
      }
      notes.addUse(caller);
      return writer.write(caller, asked, limits);
    },
    search: (caller: base.Caller, query: SearchQuery) =>
      run(caller, (tx) => search(tx, query), { lane: "search", timeoutMs: SEARCH_MS }),
    /** Written down soon after; everything that changes something is written down in its own transaction. */
    audit: async (caller: base.Caller, entries: readonly base.AuditEntry[]) => notes.add(caller, entries),
    readAudit: async (...args: Parameters<typeof verbs.readAudit>) => {
      await notes.flush();
      return verbs.readAudit(...args);
    },
    tokens: async (caller: base.Caller) => {
      await notes.flush();
      return verbs.tokens(caller);
    },
    /** Drops what is older than it has to be kept, for every team. How many rows. */
    async sweep(retention: Retention): Promise<number> {
      let dropped = 0;
      for (const team of await run(null, people.listTeams))
        dropped += await run(base.operatorOf(team), (tx) => sweepTeam(tx, retention), {
          asOwner: true,
          timeoutMs: SWEEP_MS,
        });
      return dropped;
    },
  };
}

/** Ordinary searches take tens of milliseconds. One that takes this long is refused, so that it cannot be used to block others. */
const SEARCH_MS = 3_000;
/** A few thousand rows at a time. */
const SWEEP_MS = 60_000;

const VERBS = {
  roleOf: base.roleOf,
  teamRoleOf: base.teamRoleOf,
  readAudit: base.readAudit,
  repositories: base.repositories,
  people: people.people,
  addPerson: people.addPerson,
  removePerson: people.removePerson,
  setRole: people.setRole,
  addRepository: people.addRepository,
  tokens: people.tokens,
  addToken: people.addToken,
  revokeToken: people.revokeToken,
  fetchMemories: memories.fetchMemories,
  findLost: memories.findLost,
  versions: memories.versions,
  redact: memories.redact,
};

type ForCaller<V> = V extends (tx: base.Transaction, ...rest: infer Rest) => infer R
  ? (caller: base.Caller, ...rest: Rest) => R
  : never;

/** Each in a transaction of its own, which carries the tenant. */
function forCallers<V extends object>(run: base.Run, verbs: V): { [K in keyof V]: ForCaller<V[K]> } {
  const bound = Object.entries(verbs).map(([name, verb]) => [
    name,
    (caller: base.Caller, ...rest: unknown[]) => run(caller, (tx) => verb(tx, ...rest)),
  ]);
  return Object.fromEntries(bound);
}

// --- What is dropped because it is old: the audit log, versions that were replaced, tombstones.

/** Days; null keeps for ever (versions and tombstones within their quotas). */
export interface Retention {
  auditDays: number | null;
  versionDays: number | null;
  tombstoneDays: number | null;
}

/** A machine that was off for longer than a year may bring back what was removed meanwhile. */
export const RETENTION: Retention = { auditDays: 400, versionDays: null, tombstoneDays: 400 };

/** For each team and round, so that no transaction is long; the rest goes in the next round. */
const MOST = 5_000;

/** Any number, the same in every version: of several servers one sweeps at a time. */
const LOCK = 6_036_843_722;

/** How many rows went. */
async function sweepTeam(tx: base.Transaction, retention: Retention): Promise<number> {
  const { sql, own, now } = tx;
  const [mine] = await sql("select pg_try_advisory_xact_lock($1) as yes", [LOCK]);
  if (!mine?.yes) return 0;
  const before = (days: number) => new Date(now().getTime() - days * 86_400_000).toISOString();
  let dropped = 0;
  if (retention.auditDays !== null) {
    const text = `delete from memdir_audit where team = $1 and id in (
      select id from memdir_audit where team = $1 and at < $2::timestamptz order by at limit $3) returning id`;
    dropped += (await own(text, [before(retention.auditDays), MOST])).length;
  }
  if (retention.versionDays !== null) {
    // As every write does, so that none waits for this one crosswise.
    await own("select from memdir_repository where team = $1 order by name for no key update");
    const [row] = await own<{ count: number }>(
      `select memdir_drop_versions($1, array_agg(o.repository), array_agg(o.path), array_agg(o.revision)) as count from (
         select v.repository, v.path, v.revision from memdir_version v join memdir_memory m using (team, repository, path)
         where v.team = $1 and v.at < $2::timestamptz and v.revision < m.revision limit $3) o`,
      [before(retention.versionDays), MOST],
    );
    dropped += row?.count ?? 0;
  }
  if (retention.tombstoneDays !== null) {
    const rows = await own<{ dropped: number }>(
      "select memdir_drop_tombstones($1, r.name, $2::timestamptz, $3) as dropped from memdir_repository r where r.team = $1",
      [before(retention.tombstoneDays), MOST],
    );
    dropped += rows.reduce((sum, row) => sum + row.dropped, 0);
  }
  return dropped;
}

export type DataSource =
  | { database: string; pool?: number | undefined }
  /** `engine` gives the file of the embedded database's program. */
  | { folder: string; engine: () => Promise<string> };

export type OpenedData = Awaited<ReturnType<typeof openServerData>>;

/** `name` is for messages and never holds a password. An embedded database, in a folder, does not wait for the disk. */
export async function openServerData(source: DataSource, now: () => Date) {
  const name = "database" in source ? nameDatabase(source.database) : source.folder;
  const database =
    "folder" in source
      ? await openPglite(source.folder, { now, load: async () => loadEngine(await source.engine()) })
      : // Without PostgreSQL its client is not loaded.
        (await import("./postgres.ts")).openPostgres({ url: source.database, now, max: source.pool });
  const data = openTeamData(database, { now, randomBytes });
  try {
    await data.migrate();
    return { data, name, hasVectors: await database.hasVectors(), isEmbedded: "folder" in source };
  } catch (error) {
    await data.close().catch(() => {});
    if (!(error instanceof MemdirError) || error.code !== "network") throw error;
    throw new MemdirError("network", `${name}: ${error.message}`, { details: error.details });
  }
}

/** What is wrong with a URL is said without it: it may hold a password. */
function nameDatabase(url: string): string {
  const parsed = URL.canParse(url) ? new URL(url) : null;
  if (!parsed || !/^postgres(ql)?:$/.test(parsed.protocol)) {
    throw new MemdirError("usage", "the URL of the database must be postgres://USER:PASSWORD@HOST/DATABASE");
  }
  return `postgres://${parsed.host}${parsed.pathname}`;
}
