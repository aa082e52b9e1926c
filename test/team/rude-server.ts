/** A server that answers as a test wants it: in turn, wrongly, or not at all. */

import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { HttpOptions, Network } from "../../src/team/http.ts";
import { PATIENCE_MS } from "../until.ts";

export interface Request {
  method: string;
  path: string;
  headers: IncomingMessage["headers"];
  body: string;
}

export type Reply = (response: ServerResponse, request: Request) => void;

export interface RudeServer {
  url: string;
  requests: Request[];
  /** What the next requests get; the last one stays. */
  replies: Reply[];
  close(): Promise<void>;
}

export async function startRudeServer(): Promise<RudeServer> {
  const requests: Request[] = [];
  const replies: Reply[] = [];
  const server = createServer(async (incoming, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of incoming) chunks.push(chunk as Buffer);
    const request = {
      method: incoming.method ?? "",
      path: incoming.url ?? "",
      headers: incoming.headers,
      body: Buffer.concat(chunks).toString(),
    };
    requests.push(request);
    const reply = replies.length > 1 ? replies.shift() : replies[0];
    reply?.(response, request);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    replies,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

export function json(status: number, value: unknown, headers: Record<string, string> = {}): Reply {
  return (response) => {
    response.writeHead(status, { "content-type": "application/json", ...headers });
    response.end(typeof value === "string" ? value : JSON.stringify(value));
  };
}

export const drop: Reply = (response) => void response.socket?.destroy();

/** Begins to answer and then goes away. */
export const dropLate: Reply = (response) => {
  response.writeHead(200, { "content-type": "application/json" });
  response.write('{"id":"x",');
  setTimeout(() => response.socket?.destroy(), 5);
};

/** Never ends. */
export const endless: Reply = (response) => {
  response.writeHead(200, { "content-type": "application/json" });
  const chunk = Buffer.alloc(1_000_000, " ");
  const more = () => {
    while (!response.destroyed && response.write(chunk));
  };
  response.on("drain", more);
  more();
};

export const silent: Reply = () => {};

export const TOKEN = "memdir_a-token-that-nobody-may-see";

/** A network that waits for nothing; how long it would have waited is in `waits`. */
export function patientNetwork() {
  const waits: number[] = [];
  const logged: string[] = [];
  const network: Network = {
    fetch: globalThis.fetch,
    now: () => new Date(0),
    random: () => 1,
    sleep: async (ms) => void waits.push(ms),
    log: (message) => void logged.push(message),
  };
  return { ...network, waits, logged };
}

export function repositoryAt(server: string, more: Partial<HttpOptions> = {}) {
  return { server, token: TOKEN, timeoutMs: PATIENCE_MS, team: "acme", repository: "app", ...more };
}
