/** A route of the team server: where it is, who may use it, what it takes, what it answers or refuses. */

import type * as v from "valibot";
import type { World } from "../../world.ts";
import { LIMITS, type ProblemAnswer, type Role } from "../protocol.ts";
import type { Admission, RateLimit } from "./admission.ts";
import type { Entered, TeamData } from "./data.ts";
import type { Caller } from "./data-base.ts";
import type { Oidc } from "./oidc.ts";

/** Bytes and counts, and how many requests a token has in a window. */
export interface ServerLimits {
  memory: { [name in keyof typeof LIMITS]: number };
  rate: RateLimit;
}

export const SERVER_LIMITS: ServerLimits = {
  memory: LIMITS,
  // Fifty a second, as a first sync is a few thousand writes; in windows so short that a client can wait for the next one.
  rate: { requests: 500, seconds: 10 },
};

/** What routes answer from. */
export interface TeamServer extends Pick<World, "now"> {
  data: TeamData;
  limits: ServerLimits;
  /** A vector of length one, or null where there is no model. */
  embed: ((text: string) => Promise<Float32Array | null>) | null;
  version: string;
  admission: Admission;
  /** People sign in with an identity provider where there is one. */
  oidc: Oidc | null;
  /** Turns true when the server is about to end, so that a balancer sends nothing more. */
  ending: { is: boolean };
}

/**
 * `open`: no token is needed. `member`: any token of the team. `team`: a role in the whole team.
 * `repository`: a role in the repository that the path names.
 */
export type Access = { to: "open" } | { to: "member" } | { to: "team"; role: Role } | { to: "repository"; role: Role };

/** A request that was let in. */
export interface Asked<Query = unknown, Body = unknown> {
  caller: Caller;
  /** Where the route asks for a repository. */
  repository: string;
  /** Of that repository, when the request came; null elsewhere. */
  state: string | null;
  /** What changed since the state that the query names, where the route wants that. */
  listed: Entered["listed"];
  params: Readonly<Record<string, string>>;
  /** Where the request came from; "" where that is not known. */
  address: string;
  headers: Headers;
  query: Query;
  body: Body;
}

interface RouteOptions<Query, Body, Reply> {
  access: Access;
  /** As the audit log names it; nothing for what is not audited. The app notes what a GET has read, others note what they did. */
  action?: string;
  /**
   * `list`: `?since=STATE` is answered by the statement that says who asks. `write`: the statement that writes checks the token and
   * the role itself, so that one of a token that was valid a moment ago needs no other.
   */
  joins?: "list" | "write";
  summary: string;
  query?: v.ObjectSchema<v.ObjectEntries, undefined> & v.GenericSchema<unknown, Query>;
  /** With what they are for. */
  headers?: Readonly<Record<string, string>>;
  /** JSON, or `Markdown`. */
  body?: v.GenericSchema<unknown, Body>;
  /** The usual answer: its status, what it is, and its form or media type. */
  reply: readonly [status: number, text: string, form: v.GenericSchema<unknown, Reply> | string];
  /** Other answers than every route of this access has. */
  others?: Readonly<Record<number, string>>;
  /** May throw a `Refusal`. */
  answer(server: TeamServer, asked: Asked<Query, Body>): Promise<Answer<Reply>>;
}

export interface Route extends Omit<RouteOptions<unknown, unknown, unknown>, "answer"> {
  method: string;
  /** `:name` is one part of the path, `:name{.+}` is the rest of it. */
  path: string;
  answer(server: TeamServer, asked: Asked): Promise<Answer>;
}

export function route<Query, Body, Reply>(
  place: `${"GET" | "PUT" | "POST" | "DELETE"} /${string}`,
  options: RouteOptions<Query, Body, Reply>,
): Route {
  const [method = "", path = ""] = place.split(" ");
  // Query and body were read with the schemas of the same options.
  return { method, path, ...(options as RouteOptions<unknown, unknown, unknown>) };
}

/** What a route answers, as a value. */
export interface Answer<Body = unknown> {
  /** That of the route's reply, unless stated. */
  status?: number;
  /** As JSON; a text as it is, with its type in the headers. */
  body?: Body;
  headers?: Record<string, string>;
}

/** A request that is not answered as it wants; thrown, and sent by the app. */
export class Refusal extends Error {
  readonly answer: Answer & { status: number };

  constructor(answer: Answer & { status: number }) {
    super(`refused with ${answer.status}`);
    this.answer = answer;
  }
}

/** `message` says what, which and how to fix it; it never holds contents, tokens or SQL. */
export function refuse(
  status: number,
  problem: string,
  message: string,
  { headers = {}, ...more }: { headers?: Record<string, string>; secrets?: ProblemAnswer["secrets"] } = {},
): Refusal {
  return new Refusal({ status, body: { problem, message, ...more } satisfies ProblemAnswer, headers });
}

/** The same words for what is not there and for what the caller may not know of. */
export function notFound(what: string): Refusal {
  return refuse(404, "not-found", `there is no such ${what}, or you have no right to see it: ask an admin of the team`);
}

export function refuseRole(access: { to: "team" | "repository"; role: Role }): Refusal {
  const where = access.to === "team" ? "the whole team" : "this repository";
  return refuse(403, "role", `this needs the role ${access.role} in ${where}: ask an admin of the team for it`);
}

export function toResponse({ status = 200, body, headers = {} }: Answer, requestId: string): Response {
  const content = body === undefined || typeof body === "string" ? body : JSON.stringify(body);
  return new Response(content ?? null, {
    status,
    headers: {
      // Memories are not for caches between us and the client, nor for a browser that guesses at types.
      "cache-control": "no-store",
      "x-content-type-options": "nosniff",
      "memdir-request": requestId,
      ...(content !== undefined && { "content-type": "application/json; charset=utf-8" }),
      ...headers,
    },
  });
}
