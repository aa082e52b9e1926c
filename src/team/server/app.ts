/** The team server as a hono app: every route behind the guard, every answer logged and counted, nothing thrown outwards. */

import { randomUUID } from "node:crypto";
import type { IncomingMessage } from "node:http";
import { Hono } from "hono";
import { MemdirError } from "../../errors.ts";
import type { World } from "../../world.ts";
import type { Entered } from "./data.ts";
import type { Caller } from "./data-base.ts";
import { isWorthAnotherTry, sqlStateOf } from "./database.ts";
import { openMetrics } from "./metrics.ts";
import {
  type Answer,
  type Arrival,
  admit,
  checkForm,
  enter,
  Refusal,
  type Route,
  readContent,
  readQuery,
  refuse,
  SERVER_LIMITS,
  type TeamServer,
  toResponse,
} from "./route.ts";
import { ROUTES } from "./routes.ts";
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

export function makeApp(options: AppOptions): Hono {
  const { data, now, log, embed = null, limits = SERVER_LIMITS, version = "", newId = randomUUID } = options;
  const { oidc = null, ending = { is: false }, behindTls = false } = options;
  const admission = openAdmission<Caller>(limits.rate, now);
  const metrics = openMetrics(data, now);
  const server: TeamServer = { data, now, limits, embed, version, oidc, ending, admission, metrics };
  const app = new Hono();

  const serve = async (
    route: Route | null,
    { method }: Request,
    find: (seen: Arrival["seen"]) => Promise<Answer>,
  ): Promise<Response> => {
    const id = newId();
    const began = now().getTime();
    const seen: Arrival["seen"] = { caller: null };
    metrics.begin();
    const note = (line: object) => {
      const { team, personId: person } = seen.caller ?? { team: null, personId: null };
      log(formatLine({ time: now().toISOString(), id, ...line, team, person }));
    };
    const answer = await find(seen).catch((error) => {
      if (error instanceof Refusal) return error.answer;
      const failed = refuseFailure(error, id).answer;
      if (failed.status >= 500) note(describeFailure(error));
      return failed;
    });
    const status = answer.status ?? route?.reply[0] ?? 200;
    const line = { method, route: route?.path ?? "none", status, ms: now().getTime() - began };
    metrics.end(line);
    note(line);
    return toResponse({ ...answer, status }, id);
  };

  for (const route of ROUTES) {
    app.on(route.method, route.path, (c) => {
      // What Node's server knows of a request, where there is one: tests ask the app directly.
      const { incoming } = (c.env ?? {}) as { incoming?: IncomingMessage };
      const { url, headers } = c.req.raw;
      const forwarded = behindTls ? c.req.header("x-forwarded-for")?.split(",").at(-1)?.trim() : undefined;
      const address = forwarded ?? incoming?.socket.remoteAddress ?? "";
      // Without the way around: a web stream for each body costs as much as the rest of a request.
      const body = () => incoming?.iterator({ destroyOnReturn: false }) ?? c.req.raw.body;
      return serve(route, c.req.raw, async (seen) => {
        const params = readParams(route.path, url, incoming?.url);
        return answerRoute({ server, route, url, headers, params, address, body, seen });
      });
    });
  }
  for (const path of new Set(ROUTES.map((route) => route.path))) {
    const same = ROUTES.filter((route) => route.path === path);
    const allow = same.flatMap(({ method }) => (method === "GET" ? ["GET", "HEAD"] : [method])).join(", ");
    const { answer } = refuse(405, "method", `this path supports only ${allow}`, { headers: { allow } });
    app.all(path, (c) => serve(same[0] ?? null, c.req.raw, async () => answer));
  }
  const { answer } = refuse(404, "not-found", "there is nothing at this path: /openapi.json lists what there is");
  app.notFound((c) => serve(null, c.req.raw, async () => answer));
  return app;
}

async function answerRoute(arrival: Arrival): Promise<Answer> {
  checkForm(arrival);
  const { server, route, url, headers, params, address, seen } = arrival;
  const { repository = "", path } = params;
  const { access, joins, method, action } = route;
  const answer = async ({ caller, state, listed }: Pick<Entered, "caller" | "state" | "listed">) => {
    seen.caller = caller;
    const query = readQuery(arrival);
    const body = await readContent(arrival);
    const asked = { caller, repository, state, listed, params, address, headers, query, body };
    const found = await route.answer(server, asked);
    // Where nothing has changed, nothing was read.
    if (method === "GET" && action && found.status !== 304)
      await server.data.audit(caller, [{ action, repository: repository || null, path: path ?? null, outcome: "ok" }]);
    return found;
  };
  if (access.to === "open") return answer(NOBODY);
  const admitted = admit(arrival);
  const since = joins === "list" ? /[?&]since=([\w.-]{1,200})(?:&|$)/.exec(url)?.[1] : undefined;
  const enterFully = () => enter(arrival, admitted, since ?? null);
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

/** `.` and `..` as parts of a path, in any spelling: resolving them before us would turn one path into another. */
const DOTS = /(?:^|\/)(?:\.|%2e){1,2}(?:[/?#]|$)/i;

/** Decoded once and strictly, from the path as it came: nothing in it is resolved, so `..` is seen and refused. */
function readParams(pattern: string, url: string, sent = ""): Record<string, string> {
  const parts = (/^[a-z]+:\/\/[^/]*([^?#]*)/i.exec(url)?.[1] ?? "").split("/");
  const params: Record<string, string> = {};
  const malformed = () => refuse(400, "form", "the path is not valid percent-encoded UTF-8, or holds `.` or `..`");
  if (DOTS.test(sent.split("?", 1)[0] ?? "")) throw malformed();
  try {
    for (const [i, part] of pattern.split("/").entries()) {
      const name = /^:(\w+)/.exec(part)?.[1];
      if (name === undefined) continue;
      params[name] = decodeURIComponent(part.endsWith("{.+}") ? parts.slice(i).join("/") : (parts[i] ?? ""));
    }
    return params;
  } catch {
    throw malformed();
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
    const { isProvider = false } = (error as { details?: { isProvider?: boolean } }).details ?? {};
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

/** Where it came from; messages of databases quote values, ours about the database and the identity provider do not. */
function describeFailure(error: unknown): object {
  const known = error instanceof Error ? error : null;
  const code = sqlStateOf(error) || ((error ?? {}) as { code?: unknown }).code;
  const isOurs = error instanceof MemdirError && (error.code === "network" || error.code === "disk");
  const frames = known?.stack?.split("\n").filter((line) => /^\s+at /.test(line)) ?? [];
  return {
    failure: known?.name ?? typeof error,
    code: typeof code === "string" && /^[\w-]{1,40}$/.test(code) ? code : null,
    ...(isOurs && { reason: error.message }),
    at: frames.slice(0, 8).map((line) => line.trim()),
  };
}
