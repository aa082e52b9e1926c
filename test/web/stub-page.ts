/** A page on a real port, with answers of the test's own and a browser that knows its address. */

import { writeFileSync } from "node:fs";
import { request } from "node:http";
import { join } from "node:path";
import { brotliCompressSync, gzipSync } from "node:zlib";
import { onTestFinished } from "vitest";
import type { Route } from "../../src/web/answer.ts";
import { type PageOptions, type PageServer, startPage } from "../../src/web/server.ts";
import { makeTemporary } from "../temporary.ts";
import { makeWorld, type World } from "../world.ts";

export interface Told {
  status: number;
  headers: Record<string, string | string[] | undefined>;
  text: string;
  // biome-ignore lint/suspicious/noExplicitAny: the shape is what tests look at
  json: any;
}

export interface Sent {
  method?: string;
  path?: string;
  /** Null takes a header out. */
  headers?: Record<string, string | null>;
  body?: string | Uint8Array;
}

export interface StubPage {
  world: World;
  page: PageServer;
  /** What was asked of the routes, as "PUT /api/thing {…}". */
  asked: string[];
  logged: string[];
  /** Without a cookie. */
  ask(sent: Sent): Promise<Told>;
  /** With the cookie of a browser that came in, as the page itself asks. */
  call(sent: Sent): Promise<Told>;
  /** "name=value" of a browser that opens a new address. */
  enter(): Promise<string>;
}

/** The page's own files, with one that is packed as the build packs them. */
export function makeAssets(): { folder: string; code: string } {
  const folder = makeTemporary("page", "memory");
  const code = "let x = 1;\n".repeat(200);
  writeFileSync(join(folder, "index.html"), "<!doctype html><title>page</title>");
  writeFileSync(join(folder, "page.js"), code);
  writeFileSync(join(folder, "page.js.br"), brotliCompressSync(code));
  writeFileSync(join(folder, "page.js.gz"), gzipSync(code));
  return { folder, code };
}

export async function startStub(
  options: Partial<PageOptions> & { readOnly?: boolean; world?: World } = {},
): Promise<StubPage> {
  const { readOnly = false, world = makeWorld(), ...more } = options;
  const asked: string[] = [];
  const logged: string[] = [];
  const memdir = await world.open();
  const log = (message: string) => void logged.push(message);
  const page = await startPage({
    ...{ memdir, env: world.env, now: () => world.now, log, readOnly, version: "1.2.3" },
    ...{ assets: makeAssets().folder, port: 0, routes: stubRoutes(asked) },
    ...more,
  });
  onTestFinished(() => page.close());
  const ask = ({ headers = {}, ...sent }: Sent) => tell(page.port, { ...sent, headers });
  const enter = async () => {
    const { headers } = await ask({ path: page.newAddress().slice(page.url.length) });
    return String(headers["set-cookie"]).split(";", 1)[0] ?? "";
  };
  const cookie = await enter();
  const own = (method = "GET"): Record<string, string> =>
    method === "GET" ? {} : { "x-memdir": "1", "content-type": "application/json" };
  return {
    world,
    page,
    asked,
    logged,
    ask,
    enter,
    call: ({ headers, ...sent }) => ask({ ...sent, headers: { cookie, ...own(sent.method), ...headers } }),
  };
}

function stubRoutes(asked: string[]): Route[] {
  const answer = (name: string) => async (_: unknown, sent: object) => {
    asked.push(`${name} ${JSON.stringify(sent)}`);
    return { ok: true };
  };
  const path = "/api/thing";
  return [
    { method: "GET", path, writes: false, answer: answer("GET") },
    { method: "PUT", path, writes: true, answer: answer("PUT") },
    { method: "DELETE", path, writes: true, answer: answer("DELETE") },
    { method: "POST", path: "/api/look", writes: false, answer: answer("LOOK") },
  ];
}

/** By Node's own client: `fetch` sends no Host, Origin or cookie of our choice. */
export function tell(port: number, { method = "GET", path = "/", headers = {}, body }: Sent): Promise<Told> {
  const length = body === undefined ? {} : { "content-length": String(Buffer.byteLength(body)) };
  const given = Object.entries({ ...length, ...headers }).filter(
    (entry): entry is [string, string] => entry[1] !== null,
  );
  return new Promise((resolve, reject) => {
    const outgoing = request({
      port,
      host: "127.0.0.1",
      method,
      path,
      agent: false,
      headers: Object.fromEntries(given),
    });
    outgoing.on("error", reject);
    outgoing.on("response", (incoming) => {
      const chunks: Buffer[] = [];
      incoming.on("data", (chunk: Buffer) => chunks.push(chunk));
      incoming.on("error", reject);
      incoming.on("end", () => {
        const text = Buffer.concat(chunks).toString("utf8");
        const isJson = String(incoming.headers["content-type"]).startsWith("application/json");
        const json = isJson && text !== "" ? JSON.parse(text) : null;
        resolve({ status: incoming.statusCode ?? 0, headers: incoming.headers, text, json });
      });
    });
    outgoing.end(body);
  });
}
