/** The team server as a store, over a real connection. */

import { afterAll, beforeAll } from "vitest";
import { openServerStore } from "../../src/team/server-store.ts";
import { httpWorld } from "./rude-server.ts";
import { describeStore } from "./store-contract.ts";
import { startTeamServer, type TeamServer } from "./team-server.ts";

let server: TeamServer;
beforeAll(async () => {
  server = await startTeamServer();
});
afterAll(() => server.close());

describeStore(
  "server",
  async () => {
    const { team, tokenOf } = await server.makeTeam();
    return {
      open: async (who) =>
        openServerStore({ ...httpWorld(server.url), token: await tokenOf(who), team, repository: "app" }),
      cleanup: () => {},
    };
  },
  { many: 70 },
);
