/** All routes of the server; here those of the team for every member, and those for machines that watch the server. */

import * as v from "valibot";
import { termsOf } from "../../text/terms.ts";
import {
  HealthAnswer,
  LoginAnswer,
  LoginFinished,
  LoginRequest,
  numberUpTo,
  SearchAnswer,
  TeamAnswer,
} from "../protocol.ts";
import type { StoredCounts } from "./data.ts";
import { READ_ONLY } from "./database.ts";
import { type Metrics, openMetrics } from "./metrics.ts";
import { makeOpenApi } from "./openapi.ts";
import { refuseRate } from "./request.ts";
import { type Route, refuse, route, type TeamServer } from "./route.ts";
import { ADMIN_ROUTES } from "./routes-admin.ts";
import { MEMORY_ROUTES } from "./routes-memories.ts";

/** In the order in which they are described. */
export function makeRoutes(metrics: Metrics = openMetrics()): Route[] {
  const routes: Route[] = [
    ...TEAM_ROUTES,
    ...LOGIN_ROUTES,
    ...MEMORY_ROUTES,
    ...ADMIN_ROUTES,
    ...makeStatusRoutes(metrics),
  ];
  routes.push(
    route("GET /openapi.json", {
      access: OPEN,
      summary: "This description",
      reply: [200, "An OpenAPI 3.1 document.", "application/json"],
      answer: async ({ version, limits }) => ({ body: makeOpenApi(routes, { version, limits }) }),
    }),
  );
  return routes;
}

const OPEN = { to: "open" } as const;
const MEMBER = { to: "member" } as const;
/** SQLSTATE of a statement that ran into its time-out. */
const CANCELLED = "57014";
const TOO_LONG = "the search took too long and was stopped: use fewer or rarer words";
const QUERY = "it must have 1 to 1000 characters";

const TEAM_ROUTES = [
  route("GET /v1/teams/:team", {
    access: MEMBER,
    summary: "Who the caller is, which limits hold, and the repositories that they may read",
    reply: [200, "The team as the caller sees it.", TeamAnswer],
    async answer({ data, limits: { memory: limits } }, { caller }) {
      const [role, repositories] = await Promise.all([data.teamRoleOf(caller), data.repositories(caller)]);
      return { body: { team: caller.team, person: caller.person, role, limits, repositories } };
    },
  }),
  route("GET /v1/teams/:team/search", {
    access: MEMBER,
    action: "search",
    summary: "Memories of all repositories that the caller may read, best first",
    query: v.object({
      q: v.pipe(
        v.string(),
        v.description("The words to search for, at most 1000 characters."),
        v.trim(),
        v.minLength(1, QUERY),
        v.maxLength(1000, QUERY),
      ),
      limit: numberUpTo(50, 10),
    }),
    reply: [200, "The hits.", SearchAnswer],
    async answer({ data, embed }, { caller, query: { q, limit } }) {
      const vector = (await embed?.(q)) ?? null;
      const hits = await data.search(caller, { terms: termsOf(q), vector, limit }).catch((error) => {
        const { sqlState } = (error as { details?: { sqlState?: string } }).details ?? {};
        // Cut off for its time: other words may well be found.
        throw sqlState === CANCELLED ? refuse(503, "search", TOO_LONG, { headers: { "retry-after": "5" } }) : error;
      });
      return { body: { hits } };
    },
  }),
];

/** Without a token: these make one. Each address has few of them. */
const LOGIN_ROUTES = [
  route("POST /v1/teams/:team/login", {
    access: OPEN,
    summary: "Begins to sign in with the identity provider of the server",
    reply: [200, "What the person opens and confirms.", LoginAnswer],
    others: { 404: "This team has no sign-in.", 429: "Too many requests.", 503: "The provider is not answering." },
    async answer(server, { params: { team = "" }, address }) {
      slowDown(server, address);
      const body = await server.oidc?.start(team);
      if (!body) throw refuse(404, "not-found", "this team has no sign-in here: ask one of its admins for a token");
      return { body };
    },
  }),
  route("POST /v1/teams/:team/login/finish", {
    access: OPEN,
    summary: "The token of who has confirmed",
    body: LoginRequest,
    reply: [200, "The token, or `pending`.", LoginFinished],
    others: {
      403: "They are in none of the groups that have a role.",
      404: "This team has no sign-in.",
      429: "Too many requests.",
    },
    async answer(server, { params: { team = "" }, address, body: { handle } }) {
      slowDown(server, address);
      const identity = await server.oidc?.finish(team, handle);
      if (!identity) return { body: { pending: true } };
      const made = await server.data.signIn(team, identity);
      const message = "you are in no group that has a role in this team: ask one of its admins";
      if (!made) throw refuse(403, "role", message);
      return { body: { pending: false, token: made.token, hours: identity.hours } };
    },
  }),
];

function slowDown({ admission, limits }: TeamServer, address: string): void {
  const wait = admission.waitForAddress(address);
  if (wait > 0) throw refuseRate(limits.rate, wait);
}

/** Counting is a walk through tables: every client may ask, but the database is asked no more often than this. */
const COUNT_EVERY_MS = 10_000;

/** Open to every client that reaches the server; they name no people. */
function makeStatusRoutes(metrics: Metrics): Route[] {
  let last: { at: number; counts: Promise<StoredCounts | null> } | null = null;
  const count = ({ data, now }: TeamServer) => {
    const at = now().getTime();
    if (!last || Math.abs(at - last.at) >= COUNT_EVERY_MS) last = { at, counts: data.counts().catch(() => null) };
    return last.counts;
  };
  return [
    route("GET /health", {
      access: OPEN,
      summary: "Whether the process runs",
      reply: [200, "It does.", HealthAnswer],
      answer: async ({ version }) => ({ body: { status: "ok", version } }),
    }),
    route("GET /ready", {
      access: OPEN,
      summary: "Whether the database answers and takes writes, and the server is not about to end",
      reply: [200, "It does.", HealthAnswer],
      others: { 503: "It does not." },
      async answer({ data, version, ending }) {
        if (ending.is) throw refuse(503, "ending", "the server is about to end: use another");
        await data.ping().catch((error) => {
          const { message, details } = error as { message: string; details?: { sqlState?: string } };
          const standby = "the database takes no writes: it is a standby, or being replaced";
          // Only messages of database.ts are sure to quote nothing.
          const why = details?.sqlState === undefined ? "the database is not answering" : message;
          throw refuse(503, "database", details?.sqlState === READ_ONLY ? standby : why);
        });
        return { body: { status: "ok", version } };
      },
    }),
    route("GET /metrics", {
      access: OPEN,
      summary: "Figures for Prometheus, without names of people, repositories or memories",
      reply: [200, "The figures.", "text/plain"],
      answer: async (server) => ({
        body: metrics.format(await count(server), server.data.figures()),
        headers: { "content-type": "text/plain; version=0.0.4; charset=utf-8" },
      }),
    }),
  ];
}
