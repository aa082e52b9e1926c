/** MCP over HTTP for clients that need it: on loopback only, with a token, and gone when the process is. */

import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { MemdirError } from "../errors.ts";
import { findIntruder, type HttpAnswer } from "./http-guard.ts";
import { openSessions } from "./http-sessions.ts";
import { refusal } from "./message.ts";
import { type McpWorld, openMemories } from "./world.ts";

export interface HttpOptions {
  /** 0 for any that is free. */
  port: number;
  /** Who does not know it is refused. */
  token: string;
  /** Names of sessions, which nobody may guess. */
  newId: () => string;
}

export interface HttpServer {
  url: string;
  close(): Promise<void>;
}

/** Other machines never reach it. */
const ADDRESS = "127.0.0.1";
const PATH = "/mcp";
/** A message holds a memory at most. */
const MAX_BODY_BYTES = 4 * 1024 * 1024;

export async function serveHttp(world: McpWorld, options: HttpOptions): Promise<HttpServer> {
  const sessions = openSessions(world, openMemories(world), options.newId);
  const answer = async (incoming: IncomingMessage, signal: AbortSignal): Promise<HttpAnswer> => {
    const refused = findIntruder(incoming, { token: options.token, path: PATH });
    if (refused) return refused;
    if (incoming.method === "DELETE") return sessions.end(incoming.headers);
    const body = await readBody(incoming);
    if (body === null) {
      return { status: 413, body: refusal("invalid", `a message has at most ${MAX_BODY_BYTES} bytes`) };
    }
    try {
      return await sessions.serve(JSON.parse(body), incoming.headers, signal);
    } catch (error) {
      if (!(error instanceof SyntaxError)) throw error;
      return { status: 400, body: refusal("unreadable", "the body is no JSON") };
    }
  };
  const server = createServer((incoming, outgoing) => {
    const gone = new AbortController();
    outgoing.on("close", () => gone.abort());
    answer(incoming, gone.signal).then(
      (given) => send(outgoing, given),
      (error: Error) => {
        world.log(`mcp over http: ${error.stack}`);
        outgoing.destroy();
      },
    );
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", (error: NodeJS.ErrnoException) => reject(portError(error, options.port)));
    server.listen(options.port, ADDRESS, resolve);
  });
  server.on("error", (error) => world.log(`mcp over http: ${error.message}`));
  return {
    url: `http://${ADDRESS}:${(server.address() as AddressInfo).port}${PATH}`,
    async close() {
      const closed = new Promise((done) => server.close(done));
      server.closeAllConnections();
      await closed;
    },
  };
}

/** Null when it is too large; the rest is not read. */
async function readBody(incoming: IncomingMessage): Promise<string | null> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of incoming.iterator({ destroyOnReturn: false })) {
    bytes += (chunk as Buffer).length;
    if (bytes > MAX_BODY_BYTES) return null;
    chunks.push(chunk as Buffer);
  }
  return Buffer.concat(chunks).toString("utf8");
}

function send(outgoing: ServerResponse, { status, body, headers = {} }: HttpAnswer): void {
  outgoing.writeHead(status, {
    ...headers,
    ...(body !== undefined && { "content-type": "application/json" }),
    // What was not read of a refused request cannot be told from the next one.
    ...(status >= 400 && { connection: "close" }),
  });
  outgoing.end(body === undefined ? undefined : JSON.stringify(body));
}

function portError(error: NodeJS.ErrnoException, port: number): MemdirError {
  const fix = error.code === "EADDRINUSE" ? "something listens there already; choose another" : "choose another";
  return new MemdirError("usage", `port ${port} cannot be used (${error.code}): ${fix} with --port`, { cause: error });
}
