/** The page's server on loopback: started with a one-time address, ended at once with everything it holds. */

import { randomBytes, randomUUID } from "node:crypto";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { getRequestListener } from "@hono/node-server";
import { MemdirError } from "../errors.ts";
import { type Endpoint, makeApp } from "./app.ts";
import type { Assets } from "./assets.ts";
import type { Desk } from "./desk.ts";
import { openGuard } from "./guard.ts";
import { type JobsWorld, openJobs } from "./jobs.ts";
import { type LiveWorld, openLive } from "./live.ts";
import { ROUTES } from "./routes.ts";

export interface PageOptions {
  desk: Desk;
  assets: Assets;
  /** 0 for any that is free. */
  port: number;
  /** 256 bits that nobody can guess. */
  newSecret?: () => string;
  routes?: readonly Endpoint[];
  works?: JobsWorld["works"];
  watching?: LiveWorld["watching"];
}

export interface Page {
  /** "http://127.0.0.1:41234", without a slash. */
  url: string;
  port: number;
  /** An address that lets one browser in, once and within ten minutes; it voids the one before. */
  newAddress(): string;
  /** Stops jobs, streams, watchers and connections. May be called twice. */
  close(): Promise<void>;
}

/** Other machines never reach it. */
const ADDRESS = "127.0.0.1";
const HEADERS_MS = 10_000;
const REQUEST_MS = 30_000;
const MAX_HEADER_BYTES = 16 * 1024;

export async function startPage(options: PageOptions): Promise<Page> {
  const { desk, assets, routes = ROUTES, works, watching } = options;
  const newSecret = options.newSecret ?? (() => randomBytes(32).toString("base64url"));
  const server = createServer({
    headersTimeout: HEADERS_MS,
    requestTimeout: REQUEST_MS,
    maxHeaderSize: MAX_HEADER_BYTES,
    insecureHTTPParser: false,
  });
  await listen(server, options.port);
  const { port } = server.address() as AddressInfo;
  const guard = openGuard({ port, now: desk.now, newSecret });
  const jobs = openJobs({ desk, works, newId: randomUUID, tell: (job) => live.tell({ kind: "job", job }) });
  const live = openLive({
    directories: desk.memdir.directories,
    jobs: jobs.list,
    log: desk.log,
    watching,
    onChange: () => {
      desk.kept.version = (desk.kept.version ?? 0) + 1;
    },
  });
  desk.kept.version = 0;
  const app = makeApp({ desk, guard, assets, live, jobs, routes });
  server.on(
    "request",
    getRequestListener(app.fetch, {
      overrideGlobalObjects: false,
      // What is no request at all: no host, a backslash in its path.
      errorHandler: () => new Response(null, { status: 400, headers: { connection: "close" } }),
    }),
  );
  // One connection that fails must not end the process.
  server.on("error", (error) => desk.log(`the page: ${error.message}`));
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
    url,
    port,
    newAddress: () => `${url}/?token=${guard.issueToken()}`,
    close: () => (closing ??= close()),
  };
}

async function listen(server: Server, port: number): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    const fail = (error: NodeJS.ErrnoException) => reject(portError(error, port));
    server.once("error", fail);
    server.listen(port, ADDRESS, () => {
      server.off("error", fail);
      resolve();
    });
  });
}

function portError(error: NodeJS.ErrnoException, port: number): MemdirError {
  const fix: Record<string, string> = {
    EADDRINUSE:
      "something listens there already, perhaps another `memdir ui`; choose another with --port, or leave it out",
    EACCES: "ports below 1024 are for root; choose another with --port",
  };
  const what = fix[error.code ?? ""] ?? "choose another with --port";
  return new MemdirError("usage", `port ${port} cannot be used (${error.code}): ${what}`, { cause: error });
}
