/** The team server on a port: loopback unless there is TLS, strict with slow clients, and closed in order; and its first team and token. */

import { createServer as createPlain, type Server } from "node:http";
import { createServer as createSecure, type Server as SecureServer } from "node:https";
import { isIP } from "node:net";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { getRequestListener } from "@hono/node-server";
import { MemdirError } from "../../errors.ts";
import { listenOn } from "../http.ts";
import { isLoopback, writeToken } from "../membership.ts";
import { findPersonProblem, findPlainNameProblem, TOKEN_DAYS } from "../protocol.ts";
import { type AppOptions, makeApp } from "./app.ts";
import { RETENTION, type Retention, type TeamData } from "./data.ts";
import { makeFolder } from "./pglite.ts";
import { refuse, toResponse } from "./route.ts";

export interface ServerOptions extends AppOptions {
  /** 127.0.0.1 by default; any other needs `tls` or `behindTls`. */
  host?: string;
  /** 0 for any that is free. */
  port: number;
  tls?: { cert: string | Buffer; key: string | Buffer } | null;
  /** A proxy in front of us does TLS, and nothing else reaches the port. */
  behindTls?: boolean;
  timeouts?: Partial<Timeouts>;
  /** Old rows are dropped once an hour. */
  retention?: Retention;
}

/**
 * For the head of a request, and for the whole of it; how long /ready says that the server is about to end before it takes no more
 * requests, for a balancer to notice; for requests under way when the server ends.
 */
type Timeouts = Record<"headersMs" | "requestMs" | "drainMs" | "shutdownMs", number>;

export type RunningServer = Awaited<ReturnType<typeof startServer>>;

/** A megabyte over a telephone takes less than half a minute; a head is one packet. */
const TIMEOUTS: Timeouts = { headersMs: 10_000, requestMs: 30_000, drainMs: 0, shutdownMs: 10_000 };
/** A client that reads nothing of its answer for this long is gone. */
const IDLE_MS = 60_000;
const HOUR_MS = 3_600_000;
const KEEP_ALIVE_MS = 5_000;
const MAX_HEADER_BYTES = 16 * 1024;

export async function startServer(options: ServerOptions) {
  const { host = "127.0.0.1", tls = null } = options;
  checkHost(host, Boolean(tls || options.behindTls));
  const timeouts = { ...TIMEOUTS, ...options.timeouts };
  const ending = { is: false };
  const server = makeServer({ ...options, ending }, timeouts);
  const port = await listenOn(server, options.port, host);
  // One connection that fails must not end the process.
  server.on("error", () => {});
  const shown = isIP(host) === 6 ? `[${host}]` : host;
  const { data, retention = RETENTION } = options;
  // Not a reason for the process to stay; what fails is done in the next round.
  const sweeping = setInterval(() => void data.sweep(retention).catch(() => {}), HOUR_MS).unref();
  let closing: Promise<void> | null = null;
  const close = async () => {
    ending.is = true;
    clearInterval(sweeping);
    if (timeouts.drainMs > 0) await sleep(timeouts.drainMs);
    await endServer(server, timeouts.shutdownMs);
    await data.close();
  };
  return {
    /** Another certificate for connections from here on. */
    renew: (tls: NonNullable<ServerOptions["tls"]>): void => (server as SecureServer).setSecureContext?.(tls),
    /** "http://127.0.0.1:7373", without a slash. */
    url: `${tls ? "https" : "http"}://${shown}:${port}`,
    port,
    /** Takes no more requests, finishes those under way, closes the database. May be called twice. */
    close: () => (closing ??= close()),
  };
}

function makeServer(options: ServerOptions, { headersMs, requestMs }: Timeouts): Server {
  const app = makeApp(options);
  const listener = getRequestListener(app.fetch, {
    // What is not a request at all: no host, a backslash in its path.
    errorHandler: () => toResponse(refuse(400, "form", "this is not a well-formed HTTP request").answer, "none"),
  });
  const settings = {
    headersTimeout: headersMs,
    requestTimeout: requestMs,
    connectionsCheckingInterval: Math.min(1000, headersMs),
    keepAliveTimeout: KEEP_ALIVE_MS,
    maxHeaderSize: MAX_HEADER_BYTES,
    // Two ways to find where a request ends are how one is smuggled inside another.
    insecureHTTPParser: false,
  };
  const server = options.tls
    ? createSecure({ ...settings, ...options.tls, minVersion: "TLSv1.2" }, listener)
    : createPlain(settings, listener);
  server.setTimeout(IDLE_MS);
  return server;
}

/** Contents and tokens travel over TLS, or not beyond this machine. */
export function checkHost(host: string, isCovered: boolean): void {
  if (isCovered || isLoopback(host)) return;
  const danger = "lets other machines in, and tokens and memories would travel in the clear";
  const advice =
    "give --tls-cert and --tls-key, or --behind-tls when a proxy in front does TLS and nothing else reaches the port";
  throw new MemdirError("usage", `--host ${JSON.stringify(host)} ${danger}: ${advice}`);
}

async function endServer(server: Server, withinMs: number): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  // Connections become idle when their last answer is out; Node looks for them once only.
  const sweep = setInterval(() => server.closeIdleConnections(), 20);
  const cut = setTimeout(() => server.closeAllConnections(), withinMs);
  server.closeIdleConnections();
  await closed;
  clearInterval(sweep);
  clearTimeout(cut);
}

// --- Teams and tokens that the operator makes on the server's own machine; a token is only ever written to a file of theirs.

export type Start = Awaited<ReturnType<typeof prepareTeam>>;

/**
 * Makes the team with its first admin if it is not there; then their token is in `tokenFile`. Without a name: `default`, and only
 * where there is no team at all.
 */
export async function prepareTeam(
  data: TeamData,
  options: { team: string | undefined; admin: string; folder: string },
) {
  const teams = await data.teams();
  const team = options.team ?? chooseTeam(teams);
  if (teams.includes(team)) return { team, tokenFile: null };
  // Before the file is made: the team's name is part of its path.
  checkName("--team", team, findPlainNameProblem(team));
  checkName("--admin", options.admin, findPersonProblem(options.admin));
  const name = teams.length === 0 ? "admin-token" : `admin-token-${team}`;
  try {
    makeFolder(options.folder);
    const make = async () => (await data.createTeam(team, options.admin)).token;
    const tokenFile = await writeToken(join(options.folder, name), make);
    return { team, tokenFile };
  } catch (error) {
    // Another server on the same database was faster: its operator has the token.
    if ((await data.teams()).includes(team)) return { team, tokenFile: null };
    throw error;
  }
}

/** Where none is named. */
function chooseTeam(teams: readonly string[]): string {
  return teams.includes("default") ? "default" : (teams[0] ?? "default");
}

/** For the operator, when an admin lost their token. The file that holds it. */
export async function issueToken(
  data: TeamData,
  options: { team: string | undefined; person: string; file: string; isNamed: boolean },
): Promise<string> {
  const { person, file, isNamed } = options;
  const make = async () => {
    const teams = await data.teams();
    // A token for one of several must not be for another than was meant.
    if (options.team === undefined && teams.length > 1)
      throw new MemdirError("usage", `there are several teams: give --team with one of ${teams.join(", ")}`);
    const team = options.team ?? chooseTeam(teams);
    const made = await data.issueToken(team, person, { label: "from the operator", days: TOKEN_DAYS });
    if (made) return made.token;
    const what = teams.includes(team)
      ? `the team ${team} has no ${JSON.stringify(person)}: an admin can add people`
      : `there is no team ${JSON.stringify(team)}: give --team with one of ${teams.join(", ") || "none so far"}`;
    throw new MemdirError("not-found", what);
  };
  makeFolder(dirname(file));
  return writeToken(file, make, isNamed ? "name another file, or move it away" : undefined);
}

function checkName(option: string, name: string, problem: string | null): void {
  if (problem) throw new MemdirError("usage", `${option} ${JSON.stringify(name)} cannot be used: ${problem}`);
}
