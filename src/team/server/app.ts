/** The team server as a hono app: every route behind the guard, every answer logged and counted, nothing thrown outwards. */

import { randomUUID } from "node:crypto";
import { Hono } from "hono";
import { MemdirError } from "../../errors.ts";
import { type Answer, refuse, toResponse } from "./answer.ts";
import { admitRequest } from "./guard.ts";
import { SERVER_LIMITS } from "./limits.ts";
import { openMetrics } from "./metrics.ts";
import { describeFailure, formatLine } from "./request-log.ts";
import type { Route, ServerLimits, ServerWorld } from "./route.ts";
import { makeRoutes } from "./routes.ts";
import type { Caller, TeamData } from "./team-data.ts";

export interface AppOptions {
  data: TeamData;
  now: () => Date;
  /** One line of JSON for each request, without a line break. */
  log: (line: string) => void;
  findSecrets: ServerWorld["findSecrets"];
  embed?: ServerWorld["embed"];
  limits?: ServerLimits;
  version?: string;
  /** Names of requests in answers and log. */
  newId?: () => string;
}

export function makeApp(options: AppOptions): Hono {
  const { data, now, findSecrets, embed = null, limits = SERVER_LIMITS, version = "", newId = randomUUID } = options;
  const world: ServerWorld = { data, now, limits, findSecrets, embed, metrics: openMetrics(), version };
  const app = new Hono();

  const serve = async (route: Route | null, request: Request, answer: () => Promise<Answered>): Promise<Response> => {
    const id = newId();
    const began = now().getTime();
    world.metrics.begin();
    const { answer: given, caller } = await answer().catch((error) => {
      const failed = answerFailure(error, id);
      if (failed.status >= 500) options.log(formatLine(describeFailure(error, id, now().toISOString())));
      return { answer: failed, caller: null };
    });
    world.metrics.end();
    const ms = now().getTime() - began;
    const line = { method: request.method, route: route?.path ?? "none", status: given.status, ms };
    world.metrics.note(line);
    const who = { team: caller?.team ?? null, person: caller?.personId ?? null };
    options.log(formatLine({ time: now().toISOString(), id, ...line, ...who }));
    return toResponse(given, id);
  };

  const routes = makeRoutes();
  for (const route of routes) {
    app.on(route.method, route.path, (c) =>
      serve(route, c.req.raw, () => answerRoute(world, route, c.req.raw, (c.env as Arrival)?.incoming?.url)),
    );
  }
  for (const path of new Set(routes.map((route) => route.path))) {
    const same = routes.filter((route) => route.path === path);
    const allow = same.flatMap(({ method }) => (method === "GET" ? ["GET", "HEAD"] : [method])).join(", ");
    const refused = refuse(405, "method", `this path knows only ${allow}`, { headers: { allow } });
    app.all(path, (c) => serve(same[0] ?? null, c.req.raw, async () => ({ answer: refused, caller: null })));
  }
  app.notFound((c) => {
    const refused = refuse(404, "not-found", "there is nothing at this path: /openapi.json lists what there is");
    return serve(null, c.req.raw, async () => ({ answer: refused, caller: null }));
  });
  return app;
}

interface Answered {
  answer: Answer;
  caller: Caller | null;
}

/** What Node's server knows of a request; absent where the app is asked directly. */
type Arrival = { incoming?: { url?: string } } | undefined;

/** `.` and `..` as parts of a path, in any spelling: resolving them before us would turn one path into another. */
const DOTS = /(?:^|\/)(?:\.|%2e){1,2}(?:[/?#]|$)/i;

async function answerRoute(
  world: ServerWorld,
  route: Route,
  request: Request,
  sent: string | undefined,
): Promise<Answered> {
  const { headers, url } = request;
  const params = readParams(route.path, url);
  if (!params || (sent !== undefined && DOTS.test(sent.split("?", 1)[0] ?? ""))) {
    return {
      answer: refuse(400, "form", "the path is not valid percent-encoded UTF-8, or holds `.` or `..`"),
      caller: null,
    };
  }
  const { caller, repository, state, refused } = await admitRequest(world, route, { url, headers, params });
  if (refused) return { answer: refused, caller };
  const query = new URLSearchParams(/\?([^#]*)/.exec(url)?.[1] ?? "");
  const asked = { caller: caller ?? NOBODY, repository, state, params, query, headers, body: request.body };
  return { answer: await route.answer(world, asked), caller };
}

/** Open routes ask for nobody, and have no use for one. */
const NOBODY: Caller = { team: "", personId: "", person: "", tokenId: "" };

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

/** Whoever asks again may be luckier when the database was away or two transactions were in each other's way. */
function answerFailure(error: unknown, id: string): Answer {
  // What the data refuses in words for people, e.g. to take the last admin's role.
  if (error instanceof MemdirError && error.code === "conflict") return refuse(409, "conflict", error.message);
  if (error instanceof MemdirError && error.code === "not-found") return refuse(404, "not-found", error.message);
  if (error instanceof MemdirError && error.code === "usage") return refuse(400, "form", error.message);
  if (isPassing(error)) {
    const message = "the database does not answer just now: nothing was changed, ask again in a moment";
    return refuse(503, "database", message, { headers: { "retry-after": "1" } });
  }
  return refuse(500, "internal", `the server failed; its log tells more under the id ${id}`);
}

/** Connection exceptions, shutdown of the server, too many connections, serialisation and deadlock; and what sockets say. */
const PASSING = /^(08...|57P0[1-5]|53300|40001|40P01|55P03|ECONN\w+|EPIPE|ETIMEDOUT|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH)$/;

function isPassing(error: unknown): boolean {
  if (error instanceof MemdirError) {
    const { sqlState = "" } = (error.details ?? {}) as { sqlState?: string };
    return error.code === "network" || error.code === "lock" || PASSING.test(sqlState);
  }
  if (!(error instanceof Error)) return false;
  const { code } = error as NodeJS.ErrnoException;
  if (typeof code === "string" && PASSING.test(code)) return true;
  // pg has no codes for these.
  return /^(Connection terminated|timeout exceeded when trying to connect|Client has encountered a connection error)/.test(
    error.message,
  );
}
