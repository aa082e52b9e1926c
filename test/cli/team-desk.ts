/** A team server without a port or a disk, and people who share through it, each with a home of their own. */

import fs from "node:fs";
import path from "node:path";
import type { Call } from "../../src/cli/command.ts";
import { runOf } from "../../src/cli/command.ts";
import { makeApp } from "../../src/team/server/app.ts";
import type { TeamData } from "../../src/team/server/data.ts";
import { makeJoin, makeSync } from "../../src/verbs/sync.ts";
import { makeTeam } from "../../src/verbs/team.ts";
import { mustCall } from "../team/server/caller.ts";
import { openMemoryData } from "../team/server/memory-data.ts";
import { makeWorld, START, type World } from "../world.ts";
import { type CallOptions, type HeardCall, hearCall } from "./call.ts";

export const URL = "https://memory.example/acme/app";

/** Those of the data in memory are too short to be tokens. */
export const LONG = "memdir_of_a_test_";

export interface TeamDesk {
  data: TeamData;
  /** Every request that reached the server, as `METHOD path`. */
  requests: string[];
  /** Runs before each request; may throw as a broken network does. */
  onRequest: (request: string) => void;
  /** A world and a token for them. */
  addPerson(name: string, role: "reader" | "writer" | "admin"): Promise<Member>;
}

export interface Member {
  world: World;
  tokenFile: string;
  run(command: "join" | "sync" | "team", options?: CallOptions): Promise<Heard>;
  watch(call: Call, stop: AbortController): Promise<number>;
}

export type Heard = HeardCall & { code: number };

export async function openTeamDesk(): Promise<TeamDesk> {
  const now = () => new Date(START);
  const data = openMemoryData(now);
  const app = makeApp({ data, now, log: () => {} });
  const { token } = await data.createTeam("acme", "ann");
  const ann = await mustCall(data, token);
  const desk: TeamDesk = {
    data,
    requests: [],
    onRequest: () => {},
    async addPerson(name, role) {
      if (name !== "ann") await data.addPerson(ann, name, role);
      const own = name === "ann" ? token : ((await data.addToken(ann, name, { label: "", days: null }))?.token ?? "");
      return makeMember(own);
    },
  };
  const fetch: typeof globalThis.fetch = async (input, init) => {
    const request = `${init?.method} ${String(input).replace(/^https:\/\/[^/]*/, "")}`;
    desk.requests.push(request);
    desk.onRequest(request);
    const headers = new Headers(init?.headers);
    headers.set("authorization", headers.get("authorization")?.replace(LONG, "") ?? "");
    return app.request(String(input), { ...init, headers });
  };
  const network = { fetch, sleep: async () => {} };
  const commands = {
    join: runOf(makeJoin(network)),
    sync: runOf(makeSync(network)),
    team: runOf(makeTeam(network)),
  };
  const makeMember = (own: string): Member => {
    const world = makeWorld();
    const tokenFile = path.join(world.top, "token");
    fs.writeFileSync(tokenFile, `${LONG}${own}\n`, { mode: 0o600 });
    return {
      world,
      tokenFile,
      watch: (call, { signal }) => runOf(makeSync({ fetch }), { call: (words) => words, signal })(call),
      async run(command, options = {}) {
        const heard = hearCall(world, options);
        return { ...heard, code: await commands[command](heard.call) };
      },
    };
  };
  return desk;
}

/** A memory in somebody's mirror. */
export function share(world: World, file: string, words: string, fields = "type: project"): void {
  const name = file.replace(/\.md$/, "");
  world.write(`team/${file}`, `---\nname: ${name}\ndescription: about ${name}\n${fields}\n---\n\n${words}\n`);
}
