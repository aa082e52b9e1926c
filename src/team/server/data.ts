/** The team's data: a URL or a folder in, a database that is up to date and every verb of the seam out. */

import { randomBytes } from "node:crypto";
import { MemdirError } from "../../errors.ts";
import type { World } from "../../world.ts";
import { type Base, openAudit, openBase } from "./data-base.ts";
import { openMemories } from "./data-memories.ts";
import { openPeople } from "./data-people.ts";
import { openSearch } from "./data-search.ts";
import { openTokens } from "./data-tokens.ts";
import type { Database } from "./database.ts";
import { loadEngine, openPglite } from "./pglite.ts";
import type { TeamData } from "./team-data.ts";

export function openTeamData(database: Database, outside: Pick<World, "now"> & Pick<Base, "randomBytes">): TeamData {
  const base = openBase(database, outside);
  return {
    migrate: () => database.migrate(),
    ping: () => database.ping(),
    close: () => database.close(),
    ...openPeople(base),
    ...openTokens(base),
    ...openMemories(base),
    ...openSearch(base),
    ...openAudit(base),
  };
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
