/**
 * Messages that come over HTTP. Clients before 2026-07-28 open a session with `initialize` and end it with DELETE; later ones
 * have none, and repeat in headers what a message says.
 */

import type { IncomingHttpHeaders } from "node:http";
import { isModern, LEGACY_VERSIONS, MODERN_VERSION, readCaller } from "./era.ts";
import type { HttpAnswer } from "./http-guard.ts";
import { CODES, failure, findMessageProblem, type Message, ProtocolError, refusal } from "./message.ts";
import { type McpServer, openMcpServer } from "./server.ts";
import type { McpWorld, Memories } from "./world.ts";

interface Sessions {
  /** Must not throw. `signal`: the client has gone. */
  serve(body: unknown, headers: IncomingHttpHeaders, signal: AbortSignal): Promise<HttpAnswer>;
  end(headers: IncomingHttpHeaders): HttpAnswer;
}

/** Clients that go without a word leave theirs behind: then the one that was idle longest ends. */
const MAX_SESSIONS = 64;

export function openSessions(world: McpWorld, memories: Memories, newId: () => string): Sessions {
  /** The one that was used last comes last. */
  const sessions = new Map<string, McpServer>();
  const find = (headers: IncomingHttpHeaders): { id: string; server: McpServer } | HttpAnswer => {
    const id = headers["mcp-session-id"];
    if (typeof id !== "string") return refuse(400, "there is no session: begin with initialize");
    const server = sessions.get(id);
    // 404 tells the client to begin anew.
    return server ? { id, server } : refuse(404, "there is no such session: begin with initialize");
  };
  const begin = async (message: Message): Promise<HttpAnswer> => {
    const server = openMcpServer(world, memories, null);
    const answer = await server.receive(message);
    if (!answer || "error" in answer) return answered(answer);
    const id = newId();
    for (const oldest of sessions.keys()) if (sessions.size >= MAX_SESSIONS) sessions.delete(oldest);
    sessions.set(id, server);
    return { ...answered(answer), headers: { "mcp-session-id": id } };
  };
  return {
    async serve(body, headers, signal) {
      const messages = Array.isArray(body) ? body : [body];
      const problem = messages.length === 0 ? "the batch is empty" : messages.map(findMessageProblem).find(Boolean);
      if (problem) return { status: 400, body: refusal("invalid", problem, body) };
      const [first] = messages as [Message];
      const saidModern = headers["mcp-protocol-version"] === MODERN_VERSION;
      if (saidModern || messages.some(({ params }) => isModern(params))) {
        if (Array.isArray(body)) return { status: 400, body: refusal("invalid", "there are no batches any more") };
        return serveModern(openMcpServer(world, memories, null), first, headers, signal);
      }
      if (first.method === "initialize" && !Array.isArray(body)) return begin(first);
      const found = find(headers);
      if (!("server" in found)) return found;
      const version = headers["mcp-protocol-version"] ?? LEGACY_VERSIONS[0];
      if (!LEGACY_VERSIONS.some((known) => known === version)) {
        return { status: 400, body: refusal("invalid", `the protocol versions are ${LEGACY_VERSIONS.join(", ")}`) };
      }
      sessions.delete(found.id);
      sessions.set(found.id, found.server);
      const answers = await Promise.all(messages.map((message) => found.server.receive(message as Message)));
      const given = answers.filter((answer) => answer !== null);
      return answered(given.length === 0 ? null : Array.isArray(body) ? given : given[0]);
    },
    end(headers) {
      const found = find(headers);
      if (!("server" in found)) return found;
      sessions.delete(found.id);
      return { status: 200 };
    },
  };
}

/** What is wrong with the request itself has a status of its own; what a method answers is 200. */
async function serveModern(
  server: McpServer,
  message: Message,
  headers: IncomingHttpHeaders,
  signal: AbortSignal,
): Promise<HttpAnswer> {
  try {
    if (message.id !== undefined && message.method !== undefined) checkHeaders(message, headers);
  } catch (error) {
    return { status: 400, body: failure(message.id ?? null, error) };
  }
  const answer = await server.receive(message, signal);
  const isUnknown = answer !== null && "error" in answer && answer.error.code === CODES.noMethod;
  return isUnknown ? { status: 404, body: answer } : answered(answer);
}

/** What the header Mcp-Name repeats, by method. */
const NAMED: Readonly<Record<string, string>> = {
  "tools/call": "name",
  "prompts/get": "name",
  "resources/read": "uri",
};

/** Whoever stands between decides by the headers: they must not say something else than the message. */
function checkHeaders({ method = "", params }: Message, headers: IncomingHttpHeaders): void {
  if (!isModern(params)) throw new ProtocolError("badParams", "_meta: the protocol version is missing");
  readCaller(params);
  const name = params?.[NAMED[method] ?? ""];
  const said: [string, unknown][] = [
    ["mcp-protocol-version", MODERN_VERSION],
    ["mcp-method", method],
    ...(typeof name === "string" ? ([["mcp-name", name]] as [string, string][]) : []),
  ];
  for (const [header, value] of said) {
    const given = headers[header];
    if (typeof given !== "string") throw new ProtocolError("headerMismatch", `the header ${header} is missing`);
    if (decode(given) !== value) {
      throw new ProtocolError("headerMismatch", `the header ${header} says something else than the message`);
    }
  }
}

/** Values that a header cannot hold come as `=?base64?…?=`. */
function decode(value: string): string {
  const encoded = /^=\?base64\?([A-Za-z0-9+/]*={0,2})\?=$/.exec(value.trim())?.[1];
  return encoded === undefined ? value.trim() : Buffer.from(encoded, "base64").toString("utf8");
}

function answered(body: unknown): HttpAnswer {
  return body === null ? { status: 202 } : { status: 200, body };
}

function refuse(status: number, message: string): HttpAnswer {
  return { status, body: refusal("noSession", message) };
}
