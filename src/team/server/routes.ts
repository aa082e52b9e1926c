/** All routes of the server; here those of the team for every member, and those for machines that watch the server. */

import * as v from "valibot";
import { termsOf } from "../../text/terms.ts";
import * as protocol from "../protocol.ts";
import type { TeamData } from "./data.ts";
import { READ_ONLY, sqlStateOf } from "./database.ts";
import { makeOpenApi } from "./openapi.ts";
import { type Route, refuse, refuseRate, route, type TeamServer } from "./route.ts";
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
    reply: [200, "The team as the caller sees it.", protocol.TeamAnswer],
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
      limit: protocol.numberUpTo(50, 10),
    }),
    reply: [200, "The hits.", protocol.SearchAnswer],
    async answer({ data, embed }, { caller, query: { q, limit } }) {
      const vector = (await embed?.(q)) ?? null;
      const hits = await data.search(caller, { terms: termsOf(q), vector, limit }).catch((error) => {
        // Cut off for its time: other words may well be found.
        if (sqlStateOf(error) === CANCELLED) throw refuse(503, "search", TOO_LONG, { headers: { "retry-after": "5" } });
        throw error;
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
    reply: [200, "What the person opens and confirms.", protocol.LoginAnswer],
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
    body: protocol.LoginRequest,
    reply: [200, "The token, or `pending`.", protocol.LoginFinished],
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
      reply: [200, "It does.", protocol.HealthAnswer],
      answer: async ({ version }) => ({ body: { status: "ok", version } }),
    }),
    route("GET /ready", {
      access: OPEN,
      summary: "Whether the database answers and takes writes, and the server is not about to end",
      reply: [200, "It does.", protocol.HealthAnswer],
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

// --- Figures of this process: requests by route and status, their time.

/** Seconds. A request that changes nothing takes a few milliseconds; over five something is wrong. */
const BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5];
const TIME = "memdir_request_seconds";
const HELP: Record<keyof StoredCounts, string> = {
  teams: "Teams on this server.",
  repositories: "Repositories of all teams.",
  memories: "Memories of all repositories, without tombstones.",
  bytes: "Size of these memories.",
};

type StoredCounts = Awaited<ReturnType<TeamData["counts"]>>;
type Metrics = ReturnType<typeof openMetrics>;

export function openMetrics() {
  const seconds = new Map<string, number[]>();
  let running = 0;
  return {
    begin: () => void running++,
    /** `route` is a pattern of ours, never a path. */
    end({ method, route, status, ms }: { method: string; route: string; status: number; ms: number }) {
      running--;
      const labels = `method="${method}",route="${route.replace(/[\\"]/g, "\\$&")}",status="${status}"`;
      const totals = seconds.get(labels) ?? [0, 0, ...BUCKETS.map(() => 0)];
      const within = BUCKETS.map((bound) => (ms / 1000 <= bound ? 1 : 0));
      seconds.set(
        labels,
        [1, ms / 1000, ...within].map((value, i) => value + (totals[i] ?? 0)),
      );
    },
    /** Without counts while the database does not answer: a gap says more than a wrong figure. */
    format(counts: StoredCounts | null, { open, idle, waiting, queued, auditLost }: ReturnType<TeamData["figures"]>) {
      const lines = [
        ...gauge("requests_running", "Requests that are being answered.", running),
        ...gauge("pool_connections", "Connections to the database.", open),
        ...gauge("pool_idle", "Connections that are not in use.", idle),
        ...gauge("pool_waiting", "Transactions that wait for a connection.", waiting),
        ...gauge("queue_waiting", "Transactions that wait for the turn of their team and token.", queued),
        ...gauge("audit_lost", "Rows of the audit log that could not be written.", auditLost),
        `# HELP ${TIME} Time from the first byte of a request to its answer.`,
        `# TYPE ${TIME} histogram`,
      ];
      for (const [labels, [count, sum, ...buckets]] of seconds) {
        lines.push(...BUCKETS.map((bound, i) => `${TIME}_bucket{${labels},le="${bound}"} ${buckets[i]}`));
        lines.push(`${TIME}_bucket{${labels},le="+Inf"} ${count}`);
        lines.push(`${TIME}_sum{${labels}} ${sum}`, `${TIME}_count{${labels}} ${count}`);
      }
      lines.push(...gauge("database_up", "Whether the database answers.", counts ? 1 : 0));
      if (counts)
        for (const [key, help] of Object.entries(HELP))
          lines.push(...gauge(key, help, counts[key as keyof StoredCounts]));
      return `${lines.join("\n")}\n`;
    },
  };
}

function gauge(name: string, help: string, value: number): string[] {
  return [`# HELP memdir_${name} ${help}`, `# TYPE memdir_${name} gauge`, `memdir_${name} ${value}`];
}
