/** Composition root of the server's data: a URL or a folder -> a database that is up to date. */

import { randomBytes } from "node:crypto";
import { MemdirError } from "../../errors.ts";
import { openTeamData } from "./data.ts";
import type { Database } from "./database.ts";
import { loadEngine } from "./engine.ts";
import { openPglite } from "./pglite.ts";
import type { TeamData } from "./team-data.ts";

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
  const database = await open(source, now);
  const data = openTeamData(database, { now, random: randomBytes });
  try {
    await data.migrate();
    return { data, name, hasVectors: await database.hasVectors() };
  } catch (error) {
    await data.close().catch(() => {});
    throw error;
  }
}

async function open(source: DataSource, now: () => Date): Promise<Database> {
  if ("folder" in source) {
    return openPglite(source.folder, { now, load: async () => loadEngine(await source.engine()) });
  }
  // Whoever has no PostgreSQL does not wait for its client to load.
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
