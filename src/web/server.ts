/** The page's server on loopback: every request passes the guard, every answer has the same strict headers, and nothing is thrown outwards. */

import { randomBytes, randomUUID } from "node:crypto";
import { createServer } from "node:http";
import { promisify } from "node:util";
import { gzip } from "node:zlib";
import { getRequestListener } from "@hono/node-server";
import { serveStatic } from "@hono/node-server/serve-static";
import { type Context, Hono, type Next } from "hono";
import { etag } from "hono/etag";
import { attempt, type ErrorCode, isObject, MemdirError } from "../errors.ts";
import type { Watching } from "../memory/watch.ts";
import { listenOn, readBody } from "../team/http.ts";
import { openPage, type Page, post, type Route, type Sent, TEXT } from "./answer.ts";
import { type Guard, MAX_BODY_BYTES, openGuard } from "./guard.ts";
import { type Jobs, openJobs, type Works } from "./jobs.ts";
import { type Live, openLive } from "./live.ts";
import { findVerbRoute, ROUTES } from "./routes.ts";
import type { Problem } from "./shapes.ts";

export interface PageOptions extends Omit<Page, "generation" | "kept" | "tell" | "watch"> {
  /** The folder of the page's own files, and packed as browsers take them. */
  assets: string;
  /** 0 for any that is free. */
  port: number;
  /** 256 random bits. */
  newSecret?: () => string;
  routes?: readonly Route[];
  works?: Works;
  watching?: Watching;
}

export type PageServer = Awaited<ReturnType<typeof startPage>>;

/** Other machines cannot reach it. */
const ADDRESS = "127.0.0.1";
const HEADERS_MS = 10_000;
const REQUEST_MS = 30_000;
const MAX_HEADER_BYTES = 16 * 1024;

export async function startPage(options: PageOptions) {
  const { assets, port: wanted, newSecret = makeSecret, routes = ROUTES, works, watching, ...rest } = options;
  const page = openPage(rest);
  const server = createServer({
    headersTimeout: HEADERS_MS,
    requestTimeout: REQUEST_MS,
    maxHeaderSize: MAX_HEADER_BYTES,
    insecureHTTPParser: false,
  });
  const port = await listenOn(server, wanted);
  const guard = openGuard(port, page, newSecret);
  const jobs = openJobs(page, { works, newId: randomUUID, tell: (job) => live.tell({ kind: "job", job }) });
  const live = openLive(page.memdir.directories, {
    ...{ jobs: jobs.list, generation: () => page.generation, log: page.log, watching },
    onChange: () => {
      page.kept.version = (page.kept.version ?? 0) + 1;
    },
  });
  page.kept.version = 0;
  page.tell = live.tell;
  page.watch = () => live.watch(page.memdir.directories);
  const app = makeApp(page, guard, assets, live, [...routes, ...jobRoutes(jobs)]);
  server.on(
    "request",
    getRequestListener(app.fetch, {
      overrideGlobalObjects: false,
      // Not a request at all: no host, a backslash in its path.
      errorHandler: () => new Response(null, { status: 400, headers: { connection: "close" } }),
    }),
  );
  // One connection that fails must not end the process.
  server.on("error", (error) => page.log(`the page: ${error.message}`));
  const url = `http://${ADDRESS}:${port}`;
  let closing: Promise<void> | null = null;
  const close = async () => {
    const closed = new Promise<void>((resolve) => server.close(() => resolve()));
    live.close();
    await jobs.close();
    server.closeAllConnections();
    await closed;
  };
  return {
    /** "http://127.0.0.1:41234", without a slash. */
    url,
    port,
    /** An address that admits one browser, once and within ten minutes; it invalidates the previous one. */
    newAddress: () => `${url}/?token=${guard.issueToken()}`,
    /** Stops jobs, streams, watchers and connections. May be called twice. */
    close: () => (closing ??= close()),
  };
}

function makeSecret(): string {
  return randomBytes(32).toString("base64url");
}

type Env = { Variables: { session: string } };

function makeApp(page: Page, guard: Guard, assets: string, live: Live, routes: readonly Route[]): Hono<Env> {
  const app = new Hono<Env>();

  app.use("*", async (c, next) => {
    const admitted = guard.admit(c.req.raw);
    if (typeof admitted === "string") {
      c.set("session", admitted);
      await next();
    } else c.res = admitted;
    for (const [name, value] of Object.entries(HEADERS)) if (!c.res.headers.has(name)) c.res.headers.set(name, value);
  });

  for (const route of routes) app.on(route.method, route.path, (c) => answerRoute(page, route, c));
  app.post("/api/:verb", async (c, next) => {
    const route = await findVerbRoute(c.req.param("verb"));
    return route ? answerRoute(page, route, c) : next();
  });
  app.get("/api/live", (c) => stream(c, live));
  const known = [...routes, { method: "GET", path: "/api/live" }];
  for (const { path } of known) {
    const methods = known.flatMap((each) => (each.path === path ? each.method : [])).join(", ");
    const allow = methods.replace("GET", "GET, HEAD");
    app.all(path, (c) => c.json(problem("method", `this path accepts only ${allow}`), 405, { allow }));
  }
  app.all("/api/*", (c) => c.json(problem("not-found", "there is nothing at this path"), 404));
  app.use("*", etag(), letAskAgain, serveStatic({ root: assets, precompressed: true }));
  app.get("*", (c) => c.json(problem("not-found", "there is nothing at this path"), 404));
  app.notFound((c) => c.json(problem("method", "this path accepts only GET and HEAD"), 405, { allow: "GET, HEAD" }));
  app.onError((error, c) => {
    const { status, body } = explain(error);
    if (status === 500) page.log(`the page: ${c.req.method} ${c.req.path}: ${error.stack}`);
    return c.json(body, status);
  });
  return app;
}

/** Nothing is loaded from elsewhere, no other page may embed or read this, and nothing of it stays in a cache. */
const HEADERS: Readonly<Record<string, string>> = {
  "content-security-policy":
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; font-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  "x-content-type-options": "nosniff",
  "x-frame-options": "DENY",
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
  // With no referrer at all a browser calls its own origin "null" in some writes.
  "referrer-policy": "same-origin",
  "cache-control": "no-store",
};

async function answerRoute(page: Page, route: Route, c: Context<Env>): Promise<Response> {
  const { method, writes } = route;
  const { signal, url } = c.req.raw;
  if (writes === true && page.readOnly) return c.json(READ_ONLY, 403);
  // The first of several parameters of one name counts.
  const query = Object.fromEntries([...new URL(url).searchParams].reverse());
  if (method === "GET") return pack(c, JSON.stringify(await route.answer(page, query, signal)));
  const bytes = await readBody(c.req.raw.body, MAX_BODY_BYTES);
  if (bytes === null) return c.json(problem("size", `a body must not exceed ${MAX_BODY_BYTES} bytes`), 413);
  const body = parseObject(bytes);
  // Without quoting the body.
  if (body === null) return c.json(problem("form", "the body is not a JSON object in UTF-8"), 400);
  const sent = method === "DELETE" ? query : body;
  const isWrite = typeof writes === "function" ? writes(sent) : writes;
  if (isWrite && page.readOnly) return c.json(READ_ONLY, 403);
  // Only now: another project may have been opened while the body was read. Who names none means the first.
  if (isWrite && Number(c.req.header("x-memdir-project") ?? 0) !== page.generation) return c.json(OTHER_PROJECT, 409);
  return c.json((await route.answer(page, sent, signal)) as object);
}

const READ_ONLY = problem(
  "read-only",
  "this page is read-only; start `memdir ui` without --read-only to change memories",
);

const OTHER_PROJECT = problem("project", "the page shows another project now: reload it");

/** A shorter answer takes longer to compress than to send. */
const PACKED_CHARS = 64 * 1024;

/** Thousands of rows are much alike: they shrink to a tenth, in less time than a browser takes to read the rest. */
async function pack(c: Context<Env>, text: string): Promise<Response> {
  const type = { "content-type": "application/json" };
  if (text.length < PACKED_CHARS || !/\bgzip\b/.test(c.req.header("accept-encoding") ?? ""))
    return c.body(text, 200, type);
  const bytes = await promisify(gzip)(text, { level: 1 });
  return c.body(new Uint8Array(bytes), 200, { ...type, "content-encoding": "gzip", vary: "accept-encoding" });
}

function jobRoutes(jobs: Jobs): Route[] {
  const path = "/api/jobs";
  return [
    { method: "GET", path, writes: false, answer: async () => jobs.list() },
    post(path, { kind: TEXT }, async (_, { kind }) => jobs.start(kind)),
    { ...post(path, { id: TEXT }, async (_, { id }) => jobs.stop(id)), method: "DELETE" },
  ];
}

function stream(c: Context<Env>, live: Live): Response {
  const headers = { "content-type": "text/event-stream; charset=utf-8", "x-accel-buffering": "no" };
  if (c.req.raw.method === "HEAD") return c.body(null, 200, headers);
  const events = live.join(c.get("session"));
  // The only status after which a browser does not reconnect.
  return events ? c.body(events, 200, headers) : c.body(null, 204);
}

/** The browser keeps the page's own files, and asks each time whether they have changed. */
async function letAskAgain(c: Context, next: Next): Promise<void> {
  c.header("cache-control", "private, no-cache");
  await next();
}

/** Strictly UTF-8, an object or nothing; null for anything else. */
function parseObject(bytes: Uint8Array): Sent | null {
  if (bytes.length === 0) return {};
  const decoder = new TextDecoder("utf-8", { fatal: true });
  const value = attempt<unknown, null>(() => JSON.parse(decoder.decode(bytes)), null);
  return isObject(value) ? value : null;
}

/** Anything else failed on this machine or beyond. */
const STATUS: Partial<Record<ErrorCode, 400 | 403 | 404 | 409>> = {
  usage: 400,
  secret: 400,
  outside: 403,
  untrusted: 403,
  "not-found": 404,
  ambiguous: 409,
  conflict: 409,
  broken: 409,
};

/** Our own errors are worded for people, with details for programs; others are only logged. */
function explain(error: unknown): { status: 400 | 403 | 404 | 409 | 500; body: Problem } {
  if (!(error instanceof MemdirError)) {
    const message = "the page's server failed; `MEMDIR_DEBUG=1 memdir ui` shows why";
    return { status: 500, body: problem("internal", message) };
  }
  const more = isObject(error.details) ? error.details : {};
  return { status: STATUS[error.code] ?? 500, body: { ...more, ...problem(error.code, error.message) } };
}

function problem(code: string, message: string): Problem {
  return { problem: code, message };
}
