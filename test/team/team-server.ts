/** A real team server for tests of the client: hono on loopback over PGlite in memory. */

import { randomBytes } from "node:crypto";
import type { TeamData } from "../../src/team/server/data.ts";
import { openTeamData } from "../../src/team/server/data.ts";
import { openPglite } from "../../src/team/server/pglite.ts";
import { SERVER_LIMITS } from "../../src/team/server/route.ts";
import { startServer } from "../../src/team/server/serve.ts";
import { mustCall } from "./server/caller.ts";

export interface TeamServer {
  url: string;
  data: TeamData;
  logged: string[];
  /** A team of its own with the admin ann and the repository app; tokens of further people are made when they are asked for. */
  makeTeam(): Promise<{ team: string; admin: string; tokenOf(person: string): Promise<string> }>;
  close(): Promise<void>;
}

export async function startTeamServer(): Promise<TeamServer> {
  const now = () => new Date();
  const database = await openPglite(null, { load: () => import("@electric-sql/pglite"), now });
  const data = openTeamData(database, { now, randomBytes });
  await data.migrate();
  const logged: string[] = [];
  // Tests ask faster than people.
  const limits = { ...SERVER_LIMITS, rate: { requests: 100_000, seconds: 60 } };
  const server = await startServer({ data, now, log: (line) => void logged.push(line), limits, port: 0 });
  let counter = 0;
  return {
    url: server.url,
    data,
    logged,
    async makeTeam() {
      const team = `team-${++counter}`;
      const { token: admin } = await data.createTeam(team, "ann");
      const ann = await mustCall(data, admin);
      await data.addRepository(ann, "app");
      const tokens = new Map([["ann", admin]]);
      const tokenOf = async (person: string) => {
        const known = tokens.get(person);
        if (known) return known;
        await data.addPerson(ann, person, "writer");
        const made = await data.addToken(ann, person, { label: "", days: null });
        if (!made) throw new Error(`no token for ${person}`);
        tokens.set(person, made.token);
        return made.token;
      };
      return { team, admin, tokenOf };
    },
    close: () => server.close(),
  };
}
