/** The team server as a remote, over a real connection. */

import { afterAll, beforeAll } from "vitest";
import { openServerRemote } from "../../src/team/server-remote.ts";
import { describeRemote } from "./remote-contract.ts";
import { patientNetwork, repositoryAt } from "./rude-server.ts";
import { startTeamServer, type TeamServer } from "./team-server.ts";

let server: TeamServer;
beforeAll(async () => {
  server = await startTeamServer();
});
afterAll(() => server.close());

describeRemote(
  "server",
  async () => {
    const { team, tokenOf } = await server.makeTeam();
    return {
      open: async (who) =>
        openServerRemote(patientNetwork(), { ...repositoryAt(server.url, { token: await tokenOf(who) }), team }),
      cleanup: () => {},
    };
  },
  { many: 70 },
);
