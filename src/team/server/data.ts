/** The team's data in a database: every verb of the seam, each in a transaction that carries the tenant. */

import { openAudit } from "./data-audit.ts";
import { type DataWorld, openBase } from "./data-base.ts";
import { openMemories } from "./data-memories.ts";
import { openPeople } from "./data-people.ts";
import { openSearch } from "./data-search.ts";
import { openTokens } from "./data-tokens.ts";
import { openWrites } from "./data-writes.ts";
import type { Database } from "./database.ts";
import type { TeamData } from "./team-data.ts";

export type { DataWorld } from "./data-base.ts";

export function openTeamData(database: Database, world: DataWorld): TeamData {
  const base = openBase(database, world);
  return {
    migrate: () => database.migrate(),
    ping: () => database.ping(),
    close: () => database.close(),
    ...openPeople(base),
    ...openTokens(base),
    ...openMemories(base),
    ...openWrites(base),
    ...openSearch(base),
    ...openAudit(base),
  };
}
