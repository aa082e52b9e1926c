/** A team server for tests: two teams, people of every role, and a way to ask it. */

import { makeApp } from "../../../src/team/server/app.ts";
import type { TeamData } from "../../../src/team/server/data.ts";
import type { ServerLimits } from "../../../src/team/server/route.ts";
import { START } from "../../world.ts";
import { mustCall } from "./caller.ts";

export interface Asking {
  token?: string | null;
  headers?: Record<string, string>;
  /** An object is sent as JSON, a text as Markdown. */
  body?: object | string | Uint8Array;
}

export interface Told {
  status: number;
  headers: Headers;
  text: string;
  // biome-ignore lint/suspicious/noExplicitAny: the shape is what tests look at
  body: any;
}

export type Ask = (method: string, path: string, asking?: Asking) => Promise<Told>;

export interface Desk {
  ask: Ask;
  logged: string[];
  clock: { now: Date };
  /** By `TEAM PERSON`. */
  tokens: Record<string, string>;
}

export const APP = "/v1/teams/acme/repositories/app";

export function note(words = "It is so.", fields = "type: project"): string {
  return `---\nname: deploys\ndescription: how releases are cut\n${fields}\n---\n\n${words}\n`;
}

/** acme has admin ann, writer will, reader rita, and una with no role but writer in `side`; other has admin otto. */
export async function openDesk(
  data: TeamData,
  clock: { now: Date } = { now: new Date(START) },
  limits?: ServerLimits,
): Promise<Desk> {
  const tokens = await populate(data);
  const logged: string[] = [];
  const app = makeApp({
    data,
    now: () => clock.now,
    log: (line) => void logged.push(line),
    version: "1.2.3",
    behindTls: true,
    ...(limits && { limits }),
  });
  const ask: Ask = async (method, path, asking = {}) => {
    const response = await app.request(path, { method, ...requestOf(asking, tokens["acme ann"] ?? "") });
    return toTold(response);
  };
  return { ask, logged, clock, tokens };
}

export function requestOf({ token, headers = {}, body }: Asking, admin: string) {
  const bearer = token === undefined ? admin : token;
  const isJson = typeof body === "object" && !(body instanceof Uint8Array);
  return {
    headers: {
      "memdir-protocol": "1",
      ...(bearer === null ? {} : { authorization: `Bearer ${bearer}` }),
      ...(body === undefined ? {} : { "content-type": isJson ? "application/json" : "text/markdown" }),
      ...headers,
    },
    ...(body === undefined ? {} : { body: isJson ? JSON.stringify(body) : (body as string) }),
  };
}

export async function toTold(response: Response): Promise<Told> {
  const text = await response.text();
  const isJson = response.headers.get("content-type")?.startsWith("application/json");
  return {
    status: response.status,
    headers: response.headers,
    text,
    body: isJson && text !== "" ? JSON.parse(text) : null,
  };
}

export async function populate(data: TeamData): Promise<Record<string, string>> {
  const tokens: Record<string, string> = {};
  for (const [team, admin] of [
    ["acme", "ann"],
    ["other", "otto"],
  ] as const) {
    const { token } = await data.createTeam(team, admin);
    tokens[`${team} ${admin}`] = token;
    const caller = await mustCall(data, token);
    for (const repository of team === "acme" ? ["app", "side"] : ["secret-plans"]) {
      await data.addRepository(caller, repository);
    }
    if (team !== "acme") continue;
    for (const [person, role] of [
      ["will", "writer"],
      ["rita", "reader"],
      ["una", null],
    ] as const) {
      await data.addPerson(caller, person, role);
      const made = await data.addToken(caller, person, { label: "", days: null });
      tokens[`${team} ${person}`] = made?.token ?? "";
    }
    await data.setRole(caller, "una", "side", "writer");
  }
  return tokens;
}
