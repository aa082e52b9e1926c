/**
 * MCP over HTTP for clients that need it: on loopback only, for programs that know the token, and no web page that a browser has
 * open. Clients before 2026-07-28 open a session with `initialize` and end it with DELETE; later ones have none, and repeat in
 * headers what a message says.
 */

import { createHash, timingSafeEqual } from "node:crypto";
import { createServer } from "node:http";
import { getRequestListener } from "@hono/node-server";
import { attempt } from "../errors.ts";
import { listenOn, readBody } from "../team/http.ts";
import type { World } from "../world.ts";
import {
  CODES,
  failure,
  findMessageProblem,
  isModern,
  LEGACY_VERSIONS,
  type Message,
  MODERN_VERSION,
  ProtocolError,
  readCaller,
  refusal,
} from "./protocol.ts";
import { type McpOptions, type McpServer, openMcpServer, openMemories } from "./server.ts";

/** `newId` names sessions: it must not be guessable. */
interface HttpOptions extends Pick<World, "newId"> {
  /** 0 for any that is free. */
  port: number;
  /** Clients that do not know it are refused. */
  token: string;
}

export type HttpServer = Awaited<ReturnType<typeof serveHttp>>;

/** Other machines never reach it. */
const ADDRESS = "127.0.0.1";
const PATH = "/mcp";
/** A message holds a memory at most. */
const MAX_BODY_BYTES = 4 * 1024 * 1024;

export async function serveHttp(mcp: McpOptions, options: HttpOptions) {
  const sessions = openSessions(mcp, options.newId);
  const answer = async (request: Request): Promise<Response> => {
    const refused = refuseStranger(request, options.token);
    if (refused) return refused;
    if (request.method === "DELETE") return sessions.end(request.headers);
    const body = await readBody(request.body, MAX_BODY_BYTES);
    if (body === null) return refuse("invalid", 413, `a message has at most ${MAX_BODY_BYTES} bytes`);
    // No JSON means undefined.
    const value = attempt<unknown, undefined>(() => JSON.parse(body.toString("utf8")), undefined);
    if (value === undefined) return respond(400, refusal("unreadable", "the body is not JSON"));
    return sessions.serve(value, request);
  };
  const errorHandler = (error: unknown) => {
    mcp.log(`mcp over http: ${(error as Error).stack ?? error}`);
    return respond(400);
  };
  const server = createServer(getRequestListener(answer, { overrideGlobalObjects: false, errorHandler }));
  const port = await listenOn(server, options.port);
  server.on("error", (error) => mcp.log(`mcp over http: ${error.message}`));
  return {
    url: `http://${ADDRESS}:${port}${PATH}`,
    async close(): Promise<void> {
      const closed = new Promise((done) => server.close(done));
      server.closeAllConnections();
      await closed;
    },
  };
}

/** Without a body for what is only acknowledged. */
function respond(status: number, body?: unknown, headers: Record<string, string> = {}): Response {
  // The unread rest of a refused request cannot be told from the next request.
  const all = status >= 400 ? { ...headers, connection: "close" } : headers;
  return body === undefined
    ? new Response(null, { status, headers: all })
    : Response.json(body, { status, headers: all });
}

const METHODS = ["POST", "DELETE"];
const LOOPBACK: ReadonlySet<string> = new Set(["127.0.0.1", "localhost", "[::1]"]);

/** Null for requests that are let in. In this order: a page that reached us by a false name learns nothing, and nothing gets further without the token. */
function refuseStranger({ headers, method, url }: Request, token: string): Response | null {
  // A page can make a browser resolve its own name to this address; the name is still in the header.
  if (!isLoopback(`http://${headers.get("host")}`))
    return refuse("invalid", 403, "the host is not a name of this machine");
  const origin = headers.get("origin");
  if (origin !== null && !isLoopback(origin)) return refuse("invalid", 403, "pages of other origins are refused");
  if (!knows(headers.get("authorization") ?? "", token)) {
    const help = "the token is missing or wrong: send it as `Authorization: Bearer TOKEN`";
    return refuse("invalid", 401, help, { "www-authenticate": "Bearer" });
  }
  if (new URL(url).pathname !== PATH) return refuse("invalid", 404, `there is only ${PATH} here`);
  if (!METHODS.includes(method)) {
    const help = "messages are sent with POST; there is no stream to listen to";
    return refuse("invalid", 405, help, { allow: METHODS.join(", ") });
  }
  // Forms of web pages can send other types without being asked.
  const isJson = /^application\/json\s*(?:;|$)/i.test(headers.get("content-type") ?? "");
  return method === "POST" && !isJson ? refuse("invalid", 415, "messages are application/json") : null;
}

function isLoopback(address: string): boolean {
  const url = attempt(() => new URL(address), null);
  return url !== null && /^https?:$/.test(url.protocol) && LOOPBACK.has(url.hostname);
}

/** Hashed, so that neither the length nor the time of comparing reveals anything. */
function knows(authorization: string, token: string): boolean {
  const given = /^Bearer +(\S+) *$/i.exec(authorization)?.[1] ?? "";
  const hash = (text: string) => createHash("sha256").update(text).digest();
  return token !== "" && timingSafeEqual(hash(given), hash(token));
}

/** Clients that leave without ending theirs: then the one that was idle longest ends. */
const MAX_SESSIONS = 64;

function openSessions(mcp: McpOptions, newId: () => string) {
  const memories = openMemories(mcp);
  /** The one that was used last comes last. */
  const sessions = new Map<string, McpServer>();
  const find = (headers: Headers): { id: string; server: McpServer } | Response => {
    const id = headers.get("mcp-session-id");
    if (id === null) return refuse("noSession", 400, "there is no session: begin with initialize");
    const server = sessions.get(id);
    // 404 tells the client to begin anew.
    return server ? { id, server } : refuse("noSession", 404, "there is no such session: begin with initialize");
  };
  const begin = async (message: Message): Promise<Response> => {
    const server = openMcpServer(mcp, memories, null);
    const answer = await server.receive(message);
    if (!answer || "error" in answer) return answered(answer);
    const id = newId();
    for (const oldest of sessions.keys()) if (sessions.size >= MAX_SESSIONS) sessions.delete(oldest);
    sessions.set(id, server);
    return respond(200, answer, { "mcp-session-id": id });
  };
  /** What is wrong with the request itself has a status of its own; what a method answers is 200. */
  const serveModern = async (message: Message, { headers, signal }: Request): Promise<Response> => {
    const refused = refuseHeaders(message, headers);
    if (refused) return refused;
    if (message.method === "subscriptions/listen" && message.id !== undefined)
      return streamOf((tell) => openMcpServer(mcp, memories, null, tell).receive(message, signal), signal);
    const answer = await openMcpServer(mcp, memories, null).receive(message, signal);
    const isUnknown = answer !== null && "error" in answer && answer.error.code === CODES.noMethod;
    return isUnknown ? respond(404, answer) : answered(answer);
  };
  return {
    async serve(body: unknown, request: Request): Promise<Response> {
      const messages: Message[] = Array.isArray(body) ? body : [body];
      const problem = messages.length === 0 ? "the batch is empty" : messages.map(findMessageProblem).find(Boolean);
      if (problem) return respond(400, refusal("invalid", problem, body));
      const [first] = messages as [Message];
      const version = request.headers.get("mcp-protocol-version") ?? LEGACY_VERSIONS[0];
      if (version === MODERN_VERSION || messages.some(({ params }) => isModern(params))) {
        if (Array.isArray(body)) return refuse("invalid", 400, "batches are no longer supported");
        return serveModern(first, request);
      }
      if (first.method === "initialize" && !Array.isArray(body)) return begin(first);
      const found = find(request.headers);
      if (found instanceof Response) return found;
      if (!LEGACY_VERSIONS.some((known) => known === version))
        return refuse("invalid", 400, `the protocol versions are ${LEGACY_VERSIONS.join(", ")}`);
      sessions.delete(found.id);
      sessions.set(found.id, found.server);
      const answers = await Promise.all(messages.map((message) => found.server.receive(message)));
      const given = answers.filter((answer) => answer !== null);
      return answered(given.length === 0 ? null : Array.isArray(body) ? given : given[0]);
    },
    end(headers: Headers): Response {
      const found = find(headers);
      if (found instanceof Response) return found;
      sessions.delete(found.id);
      return respond(200);
    },
  };
}

/** Messages as they come, and the answer last, until the client goes. */
function streamOf(serve: (tell: (message: unknown) => void) => Promise<unknown>, signal: AbortSignal): Response {
  const encoder = new TextEncoder();
  const body = new ReadableStream({
    async start(stream) {
      const tell = (message: unknown) => {
        if (!signal.aborted) stream.enqueue(encoder.encode(`data: ${JSON.stringify(message)}\n\n`));
      };
      tell(await serve(tell));
      if (!signal.aborted) stream.close();
    },
  });
  return new Response(body, { headers: { "content-type": "text/event-stream", "cache-control": "no-store" } });
}

function refuseHeaders(message: Message, headers: Headers): Response | null {
  try {
    if (message.id !== undefined && message.method !== undefined) checkHeaders(message, headers);
    return null;
  } catch (error) {
    return respond(400, failure(message.id ?? null, error));
  }
}

/** What the header Mcp-Name repeats, by method. */
const NAMED: Readonly<Record<string, string>> = {
  "tools/call": "name",
  "prompts/get": "name",
  "resources/read": "uri",
};

/** Proxies decide by the headers: they must not contradict the message. */
function checkHeaders({ method = "", params }: Message, headers: Headers): void {
  if (!isModern(params)) throw new ProtocolError("badParams", "_meta: the protocol version is missing");
  readCaller(params);
  const name = params?.[NAMED[method] ?? ""];
  const said = { "mcp-protocol-version": MODERN_VERSION, "mcp-method": method, "mcp-name": name };
  for (const [header, value] of Object.entries(said)) {
    if (typeof value !== "string") continue;
    const given = headers.get(header);
    if (given === null) throw new ProtocolError("headerMismatch", `the header ${header} is missing`);
    if (decode(given) !== value)
      throw new ProtocolError("headerMismatch", `the header ${header} contradicts the message`);
  }
}

/** Values that a header cannot hold come as `=?base64?…?=`. */
function decode(value: string): string {
  const encoded = /^=\?base64\?([A-Za-z0-9+/]*={0,2})\?=$/.exec(value.trim())?.[1];
  return encoded === undefined ? value.trim() : Buffer.from(encoded, "base64").toString("utf8");
}

function answered(body: unknown): Response {
  return body === null ? respond(202) : respond(200, body);
}

function refuse(kind: "invalid" | "noSession", status: number, message: string, headers = {}): Response {
  return respond(status, refusal(kind, message), headers);
}
