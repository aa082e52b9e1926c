/** A route of the team server: where it is, who may use it, what it answers or refuses, and how it is described. */

import type { World } from "../../world.ts";
import { LIMITS, type ProblemAnswer, type Role } from "../protocol.ts";
import type { Caller, TeamData } from "./team-data.ts";

/** Bytes and counts, and how many requests a token has in a window. */
export interface ServerLimits {
  memory: { [name in keyof typeof LIMITS]: number };
  rate: { requests: number; seconds: number };
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
}

/**
 * `open`: no token is needed. `member`: any token of the team. `team`: a role in the whole team.
 * `repository`: a role in the repository that the path names.
 */
export type Access = { to: "open" } | { to: "member" } | { to: "team"; role: Role } | { to: "repository"; role: Role };

/** A request that was let in. */
export interface Asked {
  caller: Caller;
  /** Where the route asks for a repository. */
  repository: string;
  /** Of that repository, when the request came; null elsewhere. */
  state: string | null;
  params: Readonly<Record<string, string>>;
  query: URLSearchParams;
  headers: Headers;
  body: ReadableStream<Uint8Array> | null;
}

export interface Route {
  method: "GET" | "PUT" | "POST" | "DELETE";
  /** `:name` is one part of the path, `:name{.+}` is the rest of it. */
  path: string;
  access: Access;
  /** As the audit log names it; "" for what is not audited. */
  action: string;
  description: RouteDescription;
  /** May throw a `Refusal`. */
  answer(server: TeamServer, asked: Asked): Promise<Answer>;
}

/** For the OpenAPI document; names of schemas are those in openapi.ts. */
export interface RouteDescription {
  summary: string;
  query?: Record<string, { required?: boolean; text: string }>;
  headers?: Record<string, { required?: boolean; text: string }>;
  /** A schema's name for JSON, or Markdown. */
  request?: string | { markdown: true };
  /** By status: a schema's name, or null for an answer without a body, or a media type. */
  answers: Record<number, { text: string; schema?: string; type?: string }>;
}

/** What a route answers, as a value. */
export interface Answer {
  status: number;
  /** As JSON. */
  body?: unknown;
  /** As it is, with its media type; instead of `body`. */
  text?: { type: string; content: string };
  headers?: Record<string, string>;
}

/** A request that is not answered as it wants; thrown, and sent by the app. */
export class Refusal extends Error {
  readonly answer: Answer;

  constructor(answer: Answer) {
    super(`refused with ${answer.status}`);
    this.answer = answer;
  }
}

/** `message` says what, which and how to fix it; it never holds contents, tokens or SQL. */
export function refuse(
  status: number,
  problem: string,
  message: string,
  more: { headers?: Record<string, string>; secrets?: ProblemAnswer["secrets"] } = {},
): Refusal {
  const body: ProblemAnswer = { problem, message, ...(more.secrets && { secrets: more.secrets }) };
  return new Refusal({ status, body, headers: more.headers });
}

/** The same words for what is not there and for what the caller may not know of. */
export function notFound(what: string): Refusal {
  return refuse(404, "not-found", `there is no such ${what}, or you have no right to see it: ask an admin of the team`);
}

/** For a request whose form is wrong. */
export function malformed(problem: string): Refusal {
  return refuse(400, "form", `${problem}; see /openapi.json for the form of this request`);
}

export function refuseSize(what: string, maxBytes: number): Refusal {
  const message = `${what} has at most ${maxBytes} bytes: make it smaller, or split it`;
  // What was not read of the request cannot be told from the next one.
  return refuse(413, "too-large", message, { headers: { connection: "close" } });
}

export function refuseRole(access: Exclude<Access, { to: "open" | "member" }>): Refusal {
  const where = access.to === "team" ? "the whole team" : "this repository";
  return refuse(403, "role", `this needs the role ${access.role} in ${where}: ask an admin of the team for it`);
}

export function toResponse(answer: Answer, requestId: string): Response {
  const { status, body, text, headers = {} } = answer;
  const content = text?.content ?? (body === undefined ? null : JSON.stringify(body));
  const type = text?.type ?? (body === undefined ? null : "application/json; charset=utf-8");
  return new Response(content, {
    status,
    headers: {
      // Memories are not for caches between us and the client, nor for a browser that guesses at types.
      "cache-control": "no-store",
      "x-content-type-options": "nosniff",
      "memdir-request": requestId,
      ...(type && { "content-type": type }),
      ...headers,
    },
  });
}
