/** The team's data: a URL or a folder in, a database that is up to date and everything that it may be asked out. */

import { randomBytes } from "node:crypto";
import { MemdirError } from "../../errors.ts";
import * as base from "./data-base.ts";
import * as memories from "./data-memories.ts";
import * as people from "./data-people.ts";
import { search } from "./data-search.ts";
import type { Database } from "./database.ts";
import { loadEngine, openPglite } from "./pglite.ts";

/** Everything is asked for a caller. Absence is null, and so is a missing right: `roleOf` distinguishes 404 from 403. */
export type TeamData = ReturnType<typeof openTeamData>;

export type Entered = NonNullable<Awaited<ReturnType<TeamData["enter"]>>>;
export type StoredCounts = Awaited<ReturnType<TeamData["counts"]>>;

export function openTeamData(database: Database, outside: base.Outside) {
  const run = base.makeRun(database, outside);
  return {
    migrate: database.migrate,
    ping: database.ping,
    close: database.close,
    teams: () => run(null, people.listTeams),
    counts: () => run(null, people.countAll),
    /** For the operator, on the machine of the server: a team with its first admin and their token. */
    createTeam: (team: string, admin: string) => run(base.operatorOf(team), (tx) => people.createTeam(tx, admin)),
    /** For the operator, when the last admin lost their token. */
    issueToken: (team: string, person: string, options: people.TokenOptions) =>
      run(base.operatorOf(team), (tx) => people.issueToken(tx, person, options)),
    enter: (token: string, limit: people.RateLimit, repository: string | null) =>
      people.enter(run, token, limit, repository),
    ...forCallers(run, VERBS),
  };
}

const VERBS = {
  roleOf: base.roleOf,
  teamRoleOf: base.teamRoleOf,
  audit: base.audit,
  readAudit: base.readAudit,
  repositories: base.repositories,
  people: people.people,
  addPerson: people.addPerson,
  setRole: people.setRole,
  addRepository: people.addRepository,
  tokens: people.tokens,
  addToken: people.addToken,
  revokeToken: people.revokeToken,
  ...memories,
  search,
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

export type DataSource =
  | { database: string }
  /** `engine` gives the file of the embedded database's program. */
  | { folder: string; engine: () => Promise<string> };

export interface OpenedData {
  data: TeamData;
  /** For messages: never holds a password. */
  name: string;
  /** Whether vectors can be stored and compared. */
  hasVectors: boolean;
}

export async function openServerData(source: DataSource, now: () => Date): Promise<OpenedData> {
  const name = "database" in source ? nameDatabase(source.database) : source.folder;
  const database = await openDatabaseOf(source, now);
  const data = openTeamData(database, { now, randomBytes });
  try {
    await data.migrate();
    return { data, name, hasVectors: await database.hasVectors() };
  } catch (error) {
    await data.close().catch(() => {});
    throw error;
  }
}

async function openDatabaseOf(source: DataSource, now: () => Date): Promise<Database> {
  if ("folder" in source) {
    return openPglite(source.folder, { now, load: async () => loadEngine(await source.engine()) });
  }
  // Without PostgreSQL its client is not loaded.
  const { openPostgres } = await import("./postgres.ts");
  return openPostgres({ url: source.database, now });
}

/** What is wrong with a URL is said without it: it may hold a password. */
function nameDatabase(url: string): string {
  const parsed = URL.canParse(url) ? new URL(url) : null;
  if (!parsed || !/^postgres(ql)?:$/.test(parsed.protocol)) {
    throw new MemdirError("usage", "the URL of the database must be postgres://USER:PASSWORD@HOST/DATABASE");
  }
  return `postgres://${parsed.host}${parsed.pathname}`;
}
