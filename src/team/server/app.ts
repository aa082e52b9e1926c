/** The team server as a hono app: every route behind the guard, every answer logged and counted, nothing thrown outwards. */

import { randomUUID } from "node:crypto";
import type { IncomingMessage } from "node:http";
import { Hono } from "hono";
import { MemdirError } from "../../errors.ts";
import type { World } from "../../world.ts";
import type { Entered } from "./data.ts";
import type { Caller } from "./data-base.ts";
import { isWorthAnotherTry } from "./database.ts";
import {
  type Answer,
  admit,
  checkForm,
  enter,
  type OnCaller,
  Refusal,
  type Route,
  readContent,
  readQuery,
  refuse,
  SERVER_LIMITS,
  type TeamServer,
  toResponse,
} from "./route.ts";
import { makeRoutes, openMetrics } from "./routes.ts";
import { openAdmission } from "./turns.ts";

export interface AppOptions
  extends Pick<TeamServer, "data" | "now">,
    Partial<Pick<TeamServer, "limits" | "embed" | "version" | "oidc" | "ending">> {
  /** A proxy in front says where requests come from. */
  behindTls?: boolean;
  /** One line of JSON for each request, without a line break. */
  log: World["log"];
  /** Names of requests in answers and log. */
  newId?: World["newId"];
}

/** Finds the answer, or throws. */
type Find = (onCaller: OnCaller) => Promise<Answer>;

export function makeApp(options: AppOptions): Hono {
  const { data, now, log, embed = null, limits = SERVER_LIMITS, version = "", newId = randomUUID } = options;
  const { oidc = null, ending = { is: false }, behindTls = false } = options;
  const admission = openAdmission<Caller>(limits.rate, now);
  const server: TeamServer = { data, now, limits, embed, version, oidc, ending, admission };
  const metrics = openMetrics();
  const app = new Hono();

  const serve = async (route: Route | null, request: Request, find: Find): Promise<Response> => {
    const id = newId();
    const began = now().getTime();
    let caller: Caller | null = null;
    metrics.begin();
    const note = (line: object) => {
      const { team = null, personId = null } = (caller ?? {}) as Partial<Caller>;
      log(formatLine({ time: now().toISOString(), id, ...line, team, person: personId }));
    };
    const answer = await find((found) => {
      caller = found;
    }).catch((error) => {
      if (error instanceof Refusal) return error.answer;
      const failed = refuseFailure(error, id).answer;
      if (failed.status >= 500) note(describeFailure(error));
      return failed;
    });
    const status = answer.status ?? route?.reply[0] ?? 200;
    const line = { method: request.method, route: route?.path ?? "none", status, ms: now().getTime() - began };
    metrics.end(line);
    note(line);
    return toResponse({ ...answer, status }, id);
  };

  const routes = makeRoutes(metrics);
  for (const route of routes) {
    app.on(route.method, route.path, (c) => {
      const { incoming } = (c.env ?? {}) as { incoming?: IncomingMessage };
      const { url, socket } = incoming ?? {};
      const forwarded = behindTls ? c.req.header("x-forwarded-for")?.split(",").at(-1)?.trim() : undefined;
      // Without the way around: a web stream for each body costs as much as the rest of a request.
      const body = () => incoming?.iterator({ destroyOnReturn: false }) ?? c.req.raw.body;
      const arrival = { url, body, address: forwarded ?? socket?.remoteAddress ?? "" };
      return serve(route, c.req.raw, (onCaller) => answerRoute(server, route, c.req.raw, arrival, onCaller));
    });
  }
  for (const path of new Set(routes.map((route) => route.path))) {
    const same = routes.filter((route) => route.path === path);
    const allow = same.flatMap(({ method }) => (method === "GET" ? ["GET", "HEAD"] : [method])).join(", ");
    const { answer } = refuse(405, "method", `this path supports only ${allow}`, { headers: { allow } });
    app.all(path, (c) => serve(same[0] ?? null, c.req.raw, async () => answer));
  }
  const { answer } = refuse(404, "not-found", "there is nothing at this path: /openapi.json lists what there is");
  app.notFound((c) => serve(null, c.req.raw, async () => answer));
  return app;
}

/** What Node's server knows of a request, where there is one: tests ask the app directly. */
interface Arrival {
  url: string | undefined;
  address: string;
  body(): AsyncIterable<Uint8Array> | null;
}

/** `.` and `..` as parts of a path, in any spelling: resolving them before us would turn one path into another. */
const DOTS = /(?:^|\/)(?:\.|%2e){1,2}(?:[/?#]|$)/i;

async function answerRoute(
  server: TeamServer,
  route: Route,
  request: Request,
  { url: sent, address, body: read }: Arrival,
  onCaller: OnCaller,
): Promise<Answer> {
  const { headers, url } = request;
  const params = readParams(route.path, url);
  if (!params || (sent !== undefined && DOTS.test(sent.split("?", 1)[0] ?? "")))
    throw refuse(400, "form", "the path is not valid percent-encoded UTF-8, or holds `.` or `..`");
  checkForm(server, route, url, headers);
  const { repository = "", path } = params;
  const { access, joins, method, action } = route;
  const answer = async ({ caller, state, listed }: Pick<Entered, "caller" | "state" | "listed">) => {
    onCaller(caller);
    const query = readQuery(route, url);
    const body = await readContent(server, route, headers, read);
    const asked = { caller, repository, state, listed, params, address, headers, query, body };
    const found = await route.answer(server, asked);
    // Where nothing has changed, nothing was read.
    if (method === "GET" && action && found.status !== 304)
      await server.data.audit(caller, [{ action, repository: repository || null, path: path ?? null, outcome: "ok" }]);
    return found;
  };
  if (access.to === "open") return answer(NOBODY);
  const admitted = admit(server, headers, address);
  const since = joins === "list" ? /[?&]since=([\w.-]{1,200})(?:&|$)/.exec(url)?.[1] : undefined;
  const enterFully = () => enter(server, route, admitted, { params, address, since: since ?? null, onCaller });
  const { known: caller } = admitted;
  if (joins !== "write" || !caller || caller.team !== params.team) return answer(await enterFully());
  return answer({ ...NOBODY, caller }).catch(async (error) => {
    // Whoever may not write here is told that, whatever else is wrong.
    const isOurs = error instanceof Refusal || (error instanceof MemdirError && error.code === "not-found");
    if (isOurs) await enterFully();
    throw error;
  });
}

/** Open routes have no use for a caller. */
const NOBODY = { caller: { team: "", personId: "", person: "", tokenId: "" }, state: null, listed: null };

/** Decoded once and strictly, from the path as it came: nothing in it is resolved, so `..` is seen and refused. */
function readParams(pattern: string, url: string): Record<string, string> | null {
  const parts = (/^[a-z]+:\/\/[^/]*([^?#]*)/i.exec(url)?.[1] ?? "").split("/");
  const params: Record<string, string> = {};
  try {
    for (const [i, part] of pattern.split("/").entries()) {
      const name = /^:(\w+)/.exec(part)?.[1];
      if (name === undefined) continue;
      params[name] = decodeURIComponent(part.endsWith("{.+}") ? parts.slice(i).join("/") : (parts[i] ?? ""));
    }
    return params;
  } catch {
    return null;
  }
}

/** What the data refuses in words for people, such as taking the last admin's role. */
const REFUSALS: Partial<Record<MemdirError["code"], [status: number, problem: string]>> = {
  conflict: [409, "conflict"],
  "not-found": [404, "not-found"],
  usage: [400, "form"],
};

const AWAY = "the database is not answering: nothing was changed; try again in a moment";

function refuseFailure(error: unknown, id: string): Refusal {
  const code = error instanceof MemdirError ? error.code : null;
  const known = code && REFUSALS[code];
  if (known) return refuse(...known, (error as MemdirError).message);
  // Asking again may help when the database was away or two transactions were in each other's way.
  if (code === "network" || code === "lock" || isWorthAnotherTry(error)) {
    const isProvider = detailsOf(error)?.isProvider === true;
    const { message } = code === "lock" || isProvider ? (error as MemdirError) : { message: AWAY };
    return refuse(503, isProvider ? "provider" : "database", message, { headers: { "retry-after": "1" } });
  }
  return refuse(500, "internal", `internal error; the server's log has details under the id ${id}`);
}

/**
 * One for each request and each failure, with patterns and ids: no contents, tokens, paths, queries or names of people. Plain
 * ASCII: nothing in a value can begin a line, move a cursor, or look like something else.
 */
function formatLine(line: object): string {
  return JSON.stringify(line).replace(
    /[^\x20-\x7e]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

/** Of an error of the database (database.ts) or of the identity provider (oidc.ts). */
function detailsOf(error: unknown): { sqlState?: string; isProvider?: boolean } | undefined {
  return ((error ?? {}) as { details?: object }).details;
}

/** Where it came from; messages of databases quote values, ours about the database and the identity provider do not. */
function describeFailure(error: unknown): object {
  const known = error instanceof Error ? error : null;
  const code = detailsOf(error)?.sqlState || ((error ?? {}) as { code?: unknown }).code;
  const isOurs = error instanceof MemdirError && (error.code === "network" || error.code === "disk");
  const frames = known?.stack?.split("\n").filter((line) => /^\s+at /.test(line)) ?? [];
  return {
    failure: known?.name ?? typeof error,
    code: typeof code === "string" && /^[\w-]{1,40}$/.test(code) ? code : null,
    ...(isOurs && { reason: error.message }),
    at: frames.slice(0, 8).map((line) => line.trim()),
  };
}
