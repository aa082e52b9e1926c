/** The page's server as a hono app: every request past the guard, every answer with the same strict headers, nothing thrown outwards. */

import { promisify } from "node:util";
import { gzip } from "node:zlib";
import { type Context, Hono } from "hono";
import { type ErrorCode, MemdirError } from "../errors.ts";
import type { Problem } from "./api.ts";
import type { Assets } from "./assets.ts";
import type { Desk } from "./desk.ts";
import { type Admission, type Guard, HOW_TO_COME_IN, MAX_BODY_BYTES } from "./guard.ts";
import { nameOf, objectOf, queryOf } from "./input.ts";
import type { Jobs } from "./jobs.ts";
import type { Live } from "./live.ts";
import type { Route } from "./routes.ts";

/** Long work is also taken away again. */
export type Endpoint = Omit<Route, "method"> & { method: Route["method"] | "DELETE" };

export interface AppWorld {
  desk: Desk;
  guard: Guard;
  assets: Assets;
  live: Live;
  jobs: Jobs;
  routes: readonly Endpoint[];
}

type Env = { Variables: { session: string } };

export function makeApp(world: AppWorld): Hono<Env> {
  const { desk, guard, assets, live } = world;
  const app = new Hono<Env>();

  app.use("*", async (c, next) => {
    const { pathname, searchParams } = new URL(c.req.raw.url);
    const admission = guard.admit({
      method: c.req.raw.method,
      path: pathname,
      query: searchParams,
      headers: c.req.raw.headers,
    });
    if (admission.kind === "in") {
      c.set("session", admission.session);
      await next();
    } else {
      c.res = admission.kind === "exchange" ? exchange(admission.cookie) : refuseEntry(admission, pathname);
    }
    for (const [name, value] of Object.entries(HEADERS)) if (!c.res.headers.has(name)) c.res.headers.set(name, value);
  });

  const routes = [...world.routes, ...jobRoutes(world.jobs)];
  for (const route of routes) app.on(route.method, route.path, (c) => answerRoute(desk, route, c));
  app.get("/api/live", (c) => stream(c, live));
  for (const [path, allow] of allowed([...routes, { method: "GET", path: "/api/live" }])) {
    app.all(path, (c) => c.json(problem("method", `this path knows only ${allow}`), 405, { allow }));
  }
  app.all("/api/*", (c) => c.json(problem("not-found", "there is nothing at this path"), 404));
  app.get("*", (c) => serveAsset(c, assets));
  app.notFound((c) => c.json(problem("method", "only GET and HEAD here"), 405, { allow: "GET, HEAD" }));
  app.onError((error, c) => {
    const { status, body } = explain(error);
    if (status === 500) desk.log(`the page: ${c.req.method} ${c.req.path}: ${error.stack}`);
    return c.json(body, status);
  });
  return app;
}

/** Nothing from anywhere else is loaded, nobody else embeds or reads this, and nothing of it stays in a cache. */
const HEADERS: Readonly<Record<string, string>> = {
  "content-security-policy":
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; font-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  "x-content-type-options": "nosniff",
  "x-frame-options": "DENY",
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
  // With none at all a browser calls its own origin "null" in some writes.
  "referrer-policy": "same-origin",
  "cache-control": "no-store",
};

async function answerRoute(desk: Desk, route: Endpoint, c: Context<Env>): Promise<Response> {
  if (route.writes && desk.readOnly) {
    const message = "this page only looks: start `memdir ui` without --read-only to change memories";
    return c.json(problem("read-only", message), 403);
  }
  const { searchParams } = new URL(c.req.raw.url);
  if (route.method === "GET") return pack(c, JSON.stringify(await route.answer(desk, searchParams, {})));
  const read = await readObject(c.req.raw.body);
  if ("refused" in read) return c.json(problem(read.refused, read.message), read.refused === "size" ? 413 : 400);
  return c.json((await route.answer(desk, searchParams, read.value)) as object);
}

/** Under this a connection takes longer to answer than to send. */
const PACKED_CHARS = 64 * 1024;

/** Thousands of rows are much alike: a tenth is left of them, in less time than a browser takes to read the rest. */
async function pack(c: Context<Env>, text: string): Promise<Response> {
  const type = { "content-type": "application/json" };
  if (text.length < PACKED_CHARS || !/\bgzip\b/.test(c.req.header("accept-encoding") ?? ""))
    return c.body(text, 200, type);
  const bytes = await promisify(gzip)(text, { level: 1 });
  return c.body(new Uint8Array(bytes), 200, { ...type, "content-encoding": "gzip", vary: "accept-encoding" });
}

function jobRoutes(jobs: Jobs): Endpoint[] {
  const path = "/api/jobs";
  return [
    { method: "GET", path, writes: false, answer: async () => jobs.list() },
    { method: "POST", path, writes: true, answer: async (_, __, body) => jobs.start(nameOf(objectOf(body), "kind")) },
    { method: "DELETE", path, writes: true, answer: async (_, query) => jobs.stop(nameOf(queryOf(query), "id")) },
  ];
}

function stream(c: Context<Env>, live: Live): Response {
  const headers = { "content-type": "text/event-stream; charset=utf-8", "x-accel-buffering": "no" };
  if (c.req.raw.method === "HEAD") return c.body(null, 200, headers);
  const events = live.join(c.get("session"));
  // The one answer after which a browser does not come again by itself.
  return events ? c.body(events, 200, headers) : c.body(null, 204);
}

async function serveAsset(c: Context<Env>, assets: Assets): Promise<Response> {
  const asset = assets.get(c.req.path);
  if (!asset) return c.json(problem("not-found", "there is nothing at this path"), 404);
  const headers = { etag: asset.etag, "cache-control": "private, no-cache", vary: "accept-encoding" };
  if (c.req.header("if-none-match") === asset.etag) return c.body(null, 304, headers);
  const { bytes, encoding } = await asset.pack(c.req.header("accept-encoding") ?? "");
  return c.body(new Uint8Array(bytes), 200, {
    ...headers,
    "content-type": asset.type,
    "content-length": String(bytes.length),
    ...(encoding && { "content-encoding": encoding }),
  });
}

/** The token leaves the address, and with it the history of the browser. */
function exchange(cookie: string | null): Response {
  return new Response(null, {
    status: 303,
    headers: { location: "/", "referrer-policy": "no-referrer", ...(cookie !== null && { "set-cookie": cookie }) },
  });
}

function refuseEntry(
  { status, problem: code, message }: Extract<Admission, { kind: "refused" }>,
  path: string,
): Response {
  // What was not read of a refused request cannot be told from the next one.
  const headers = { connection: "close" };
  if (status !== 401 || path.startsWith("/api/")) return Response.json(problem(code, message), { status, headers });
  return new Response(ENTRY_PAGE, { status, headers: { ...headers, "content-type": "text/html; charset=utf-8" } });
}

const ENTRY_PAGE = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta name="color-scheme" content="light dark">
<title>memdir: a new address is needed</title>
<h1>This page needs a new address</h1>
<p>The address was used already, is too old, or belongs to a page that has ended.</p>
<p>To come in, ${HOW_TO_COME_IN.replace(/`([^`]+)`/g, "<code>$1</code>")}.</p>
</html>
`;

type ReadBody = { value: Readonly<Record<string, unknown>> } | { refused: "size" | "form"; message: string };

/** Up to its limit and never further, strictly UTF-8, an object or nothing. */
async function readObject(body: ReadableStream<Uint8Array> | null): Promise<ReadBody> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  const reader = body?.getReader();
  for (;;) {
    const { done, value } = reader ? await reader.read() : { done: true, value: undefined };
    if (done || !value) break;
    bytes += value.length;
    if (bytes > MAX_BODY_BYTES) {
      // Not waited for: a client that sends for ever would hold the answer up.
      reader?.cancel().catch(() => {});
      return { refused: "size", message: `a body has at most ${MAX_BODY_BYTES} bytes` };
    }
    chunks.push(value);
  }
  if (bytes === 0) return { value: {} };
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(Buffer.concat(chunks));
    const value: unknown = JSON.parse(text);
    if (value !== null && typeof value === "object" && !Array.isArray(value)) {
      return { value: value as Record<string, unknown> };
    }
  } catch {
    // Said below, without quoting the body.
  }
  return { refused: "form", message: "the body is no JSON object in UTF-8" };
}

const STATUS: Readonly<Record<ErrorCode, 400 | 403 | 404 | 409 | 500>> = {
  usage: 400,
  secret: 400,
  "not-found": 404,
  ambiguous: 409,
  conflict: 409,
  broken: 409,
  outside: 403,
  untrusted: 403,
  network: 500,
  model: 500,
  disk: 500,
  lock: 500,
};

/** Our own errors are words for people, with what programs need beside them; others stay in the log. */
function explain(error: unknown): { status: 400 | 403 | 404 | 409 | 500; body: Problem } {
  if (!(error instanceof MemdirError)) {
    const message = "the page's server failed; `MEMDIR_DEBUG=1 memdir ui` shows why";
    return { status: 500, body: problem("internal", message) };
  }
  const { details } = error;
  const more = details !== null && typeof details === "object" && !Array.isArray(details) ? details : {};
  return { status: STATUS[error.code], body: { ...more, ...problem(error.code, error.message) } };
}

function problem(code: string, message: string): Problem {
  return { problem: code, message };
}

function allowed(routes: readonly { method: string; path: string }[]): Map<string, string> {
  const methods = new Map<string, string[]>();
  for (const { method, path } of routes) {
    methods.set(path, [...(methods.get(path) ?? []), ...(method === "GET" ? ["GET", "HEAD"] : [method])]);
  }
  return new Map([...methods].map(([path, names]) => [path, names.join(", ")]));
}
