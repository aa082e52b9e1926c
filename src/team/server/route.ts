/** A route of the team server: where it is, who may use it, what it takes, what it answers or refuses; and what every request passes first. */

import type * as v from "valibot";
import { attempt } from "../../errors.ts";
import { sha256 } from "../../text/hash.ts";
import type { World } from "../../world.ts";
import { readBody } from "../http.ts";
import {
  covers,
  findPlainNameProblem,
  findTextProblem,
  LIMITS,
  Markdown,
  PROTOCOL,
  type ProblemAnswer,
  type Role,
  readAs,
} from "../protocol.ts";
import type { Entered, TeamData } from "./data.ts";
import type { Caller } from "./data-base.ts";
import type { Metrics } from "./metrics.ts";
import type { Oidc } from "./oidc.ts";
import { networkOf, type openAdmission, type RateLimit } from "./turns.ts";

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
  admission: ReturnType<typeof openAdmission<Caller>>;
  /** People sign in with an identity provider where there is one. */
  oidc: Oidc | null;
  metrics: Metrics;
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

// --- What every request passes: form, size, token, rate, tenant and role, in this order, then its body and its precondition. Each step may throw a `Refusal`.

/** A request on its way to its route. */
export interface Arrival extends Pick<Asked, "params" | "address" | "headers"> {
  server: TeamServer;
  route: Route;
  url: string;
  body(): AsyncIterable<Uint8Array> | null;
  /** Where who asks is noted as soon as it is known, for the log. */
  seen: { caller: Caller | null };
}

/** Nothing of the body is read here, so that a caller without a right cannot make us hold one. */
export function checkForm({ server: { limits }, route: { access }, url, headers }: Arrival): void {
  const protocol = headers.get("memdir-protocol");
  if (access.to !== "open" && protocol !== PROTOCOL) {
    const what = protocol === null ? "no protocol is named" : "this server does not support that protocol";
    throw refuse(400, "protocol", `${what}: send \`Memdir-Protocol: ${PROTOCOL}\`, the version it supports`);
  }
  // A small body that unpacks to a large one is never unpacked.
  if ((headers.get("content-encoding") ?? "identity").trim().toLowerCase() !== "identity") {
    const message = "compressed bodies are not accepted: send it as it is, without Content-Encoding";
    throw refuse(415, "encoding", message, CLOSE);
  }
  const length = Number(headers.get("content-length") ?? 0);
  if (!(length <= limits.memory.requestBytes)) throw refuseSize("a request", limits.memory.requestBytes);
  if (access.to !== "open" && /[?&](?:access_?token|token)=/i.test(url)) {
    const message = "a token does not belong in a URL: send it as `Authorization: Bearer TOKEN` and revoke this one";
    throw refuse(400, "token", message);
  }
}

/** The unread rest of the request cannot be distinguished from the next one. */
const CLOSE = { headers: { connection: "close" } };

function refuseSize(what: string, maxBytes: number): Refusal {
  return refuse(413, "too-large", `${what} has at most ${maxBytes} bytes: make it smaller, or split it`, CLOSE);
}

/** Ours are 40 to 60 characters; the database is not asked for a hash of anything longer. */
const BEARER = /^Bearer +([A-Za-z0-9._~+/=-]{1,200}) *$/i;

/**
 * The token of a route that is not open; `known` is whose it was the last time. What is too much is refused before the database is
 * asked.
 */
export function admit({ server: { admission, limits }, headers, address }: Arrival) {
  // Only from the header: what is in a URL ends up in logs and histories.
  const token = BEARER.exec(headers.get("authorization") ?? "")?.[1];
  if (token === undefined) throw refuseToken("no token was sent: send it as `Authorization: Bearer TOKEN`");
  const hash = sha256(token);
  const wait = admission.waitFor(hash, address, Number(headers.get("content-length") ?? 0));
  if (wait > 0) throw refuseRate(limits.rate, wait);
  return { token, hash, known: admission.knownAs(hash) };
}

/**
 * Who asks, and whether they may: who cannot read a repository is told that there is none, who can is told which role is missing.
 * `since` is the state that a list is wanted from.
 */
export async function enter(
  arrival: Arrival,
  { token, hash, known }: ReturnType<typeof admit>,
  since: string | null,
): Promise<Entered> {
  const { server, route, params, address, seen } = arrival;
  const { data, admission } = server;
  const { access, action = "read" } = route;
  const { team, repository = "" } = params;
  const asked = access.to === "repository" && !findPlainNameProblem(repository) ? repository : null;
  // Strangers take turns by where they come from.
  const entered = await data.enter(token, asked, known ?? { team: "", tokenId: networkOf(address) }, since);
  admission.settle(hash, address, entered?.caller ?? null);
  if (!entered) throw refuseToken("the token is unknown, expired or revoked: ask an admin of the team for another");
  const { caller, role, teamRole } = entered;
  seen.caller = caller;
  const deny = async (refusal: Refusal, where: string | null = null) => {
    await data.audit(caller, [{ action, repository: where, outcome: "denied" }]);
    throw refusal;
  };
  if (team !== caller.team) await deny(notFound("team"));
  if (access.to === "repository" && !covers(role, access.role))
    await deny(role ? refuseRole(access) : notFound("repository"), role && repository);
  if (access.to === "team" && !covers(teamRole, access.role)) await deny(refuseRole(access));
  return entered;
}

function refuseToken(message: string): Refusal {
  return refuse(401, "token", message, { headers: { "www-authenticate": "Bearer" } });
}

export function refuseRate({ requests, seconds }: TeamServer["limits"]["rate"], wait: number): Refusal {
  const often = `a token has ${requests} requests in ${seconds} seconds, and a large memory counts as several`;
  const message = `too many requests: wait ${wait} seconds, then continue (${often})`;
  return refuse(429, "rate", message, { headers: { "retry-after": String(wait) } });
}

export function readQuery({ route: { query }, url }: Arrival): unknown {
  const given = new URLSearchParams(/\?([^#]*)/.exec(url)?.[1] ?? "");
  return query && readAs(query, Object.fromEntries(given), malformed);
}

/** JSON as the route's schema has it, or the text of a memory, read up to its limit and never further. */
export async function readContent({ server: { limits }, route, headers, body }: Arrival): Promise<unknown> {
  if (!route.body) return undefined;
  const isMemory = route.body === Markdown;
  const maxBytes = isMemory ? limits.memory.memoryBytes : limits.memory.requestBytes;
  checkType(headers.get("content-type") ?? "", isMemory ? ["text/markdown", "text/plain"] : ["application/json"]);
  const bytes = await readBody(body(), maxBytes);
  if (bytes === null) throw refuseSize(isMemory ? "a memory" : "a request", maxBytes);
  const text = decode(bytes);
  if (!isMemory) return readAs(route.body, parse(text ?? ""), malformed);
  const problem = text === null ? "it is not valid UTF-8" : findTextProblem(text, maxBytes);
  if (problem) throw refuse(422, "form", `the memory cannot be shared: ${problem}`);
  return text;
}

/** Never quotes the request. */
function malformed(problem: string): Refusal {
  return refuse(400, "form", `the request is not valid: ${problem}; see /openapi.json for its form`);
}

const MEDIA_TYPE = /^\s*([a-z]+\/[a-z0-9.+-]+)\s*(?:;\s*charset="?([a-z0-9-]+)"?\s*)?;?\s*$/i;

/** Forms of web pages can send other types without being asked. */
function checkType(header: string, types: readonly string[]): void {
  const [, type = "", charset = "utf-8"] = MEDIA_TYPE.exec(header) ?? [];
  if (types.includes(type.toLowerCase()) && /^utf-?8$/i.test(charset)) return;
  throw refuse(415, "type", `the body must be sent as \`Content-Type: ${types[0]}; charset=utf-8\``);
}

/** Byte for byte: a mark at its beginning stays. */
function decode(bytes: Uint8Array): string | null {
  return attempt(() => new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes), null);
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw refuse(400, "form", "the body is not JSON in UTF-8: see /openapi.json for its form");
  }
}

/** One strong tag. Quotes and what is outside ASCII cannot be in one of ours. */
const STRONG = /^"([\x21\x23-\x7e]{1,200})"$/;
const HOW = '`If-Match: "REVISION"`, one strong tag in quotes, for what is there';

/** The revision that a write is based on; null: there must be no such memory, where it `mayBeNew`. */
export function readPrecondition(headers: Headers, { mayBeNew }: { mayBeNew: boolean }): string | null {
  const match = headers.get("if-match");
  const noneMatch = headers.get("if-none-match");
  const how = mayBeNew ? `${HOW}, or \`If-None-Match: *\` for a new memory` : HOW;
  if (match === null && noneMatch === null)
    throw refuse(428, "precondition", `a write needs a precondition: send ${how}`);
  const revision = match !== null && noneMatch === null ? STRONG.exec(match)?.[1] : undefined;
  const isNew = mayBeNew && match === null && noneMatch === "*";
  if (revision === undefined && !isNew)
    throw refuse(400, "precondition", `this precondition cannot be used: send ${how}`);
  return revision ?? null;
}

/** Whether a reader has this already; weak tags count, as what is compared is a listing. */
export function holdsTag(header: string, tag: string): boolean {
  if (header.trim() === "*") return true;
  return header.split(",").some((one) => one.trim().replace(/^W\//, "") === tag);
}
