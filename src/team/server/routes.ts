/** All routes of the server; here those of the team for every member, and those for machines that watch the server. */

import { termsOf } from "../../text/terms.ts";
import type { SearchAnswer, TeamAnswer } from "../protocol.ts";
import { type Metrics, openMetrics } from "./metrics.ts";
import { makeOpenApi } from "./openapi.ts";
import { type Answer, type Asked, type Route, refuse, type TeamServer } from "./route.ts";
import { ADMIN_ROUTES } from "./routes-admin.ts";
import { MEMORY_ROUTES } from "./routes-memories.ts";
import type { StoredCounts } from "./team-data.ts";

/** In the order in which they are described. */
export function makeRoutes(metrics: Metrics = openMetrics()): Route[] {
  const routes: Route[] = [...TEAM_ROUTES, ...MEMORY_ROUTES, ...ADMIN_ROUTES, ...makeStatusRoutes(metrics)];
  routes.push({
    method: "GET",
    path: "/openapi.json",
    access: { to: "open" },
    action: "",
    description: {
      summary: "This description",
      answers: { 200: { text: "An OpenAPI 3.1 document.", type: "application/json" } },
    },
    answer: async ({ version, limits }) => ({ status: 200, body: makeOpenApi(routes, { version, limits }) }),
  });
  return routes;
}

const MAX_QUERY = 1000;
const MAX_HITS = 50;
const DEFAULT_HITS = 10;

const TEAM_ROUTES: readonly Route[] = [
  {
    method: "GET",
    path: "/v1/teams/:team",
    access: { to: "member" },
    action: "",
    description: {
      summary: "Who the caller is, which limits hold, and the repositories that they may read",
      answers: { 200: { text: "The team as the caller sees it.", schema: "TeamAnswer" } },
    },
    answer: showTeam,
  },
  {
    method: "GET",
    path: "/v1/teams/:team/search",
    access: { to: "member" },
    action: "search",
    description: {
      summary: "Memories of all repositories that the caller may read, best first",
      query: {
        q: { required: true, text: `What is looked for, at most ${MAX_QUERY} characters.` },
        limit: { text: `How many, from 1 to ${MAX_HITS}; ${DEFAULT_HITS} by default.` },
      },
      answers: { 200: { text: "The hits.", schema: "SearchAnswer" } },
    },
    answer: search,
  },
];

async function showTeam({ data, limits }: TeamServer, { caller }: Asked): Promise<Answer> {
  const [role, repositories] = await Promise.all([data.teamRoleOf(caller), data.repositories(caller)]);
  const { team, person } = caller;
  const body: TeamAnswer = { team, person, role, limits: limits.memory, repositories };
  return { status: 200, body };
}

async function search({ data, embed }: TeamServer, { caller, query }: Asked): Promise<Answer> {
  const text = query.get("q")?.trim() ?? "";
  const limit = query.get("limit") ?? String(DEFAULT_HITS);
  if (text === "" || text.length > MAX_QUERY) {
    throw refuse(400, "form", `\`q\` must have 1 to ${MAX_QUERY} characters`);
  }
  if (!/^\d{1,3}$/.test(limit) || Number(limit) < 1 || Number(limit) > MAX_HITS) {
    throw refuse(400, "form", `\`limit\` must be a number from 1 to ${MAX_HITS}`);
  }
  const vector = (await embed?.(text)) ?? null;
  const hits = await data.search(caller, { terms: termsOf(text), vector, limit: Number(limit) });
  await data.audit(caller, [{ action: "search", outcome: "ok" }]);
  const body: SearchAnswer = { hits };
  return { status: 200, body };
}

const OPEN = { to: "open" } as const;

/** Counting is a walk through tables: anybody may ask, but the database is asked no more often than this. */
const COUNT_EVERY_MS = 10_000;

/** Open to whoever reaches the server; they name nobody. */
function makeStatusRoutes(metrics: Metrics): Route[] {
  let last: { at: number; counts: Promise<StoredCounts | null> } | null = null;
  const count = ({ data, now }: TeamServer) => {
    const at = now().getTime();
    if (!last || Math.abs(at - last.at) >= COUNT_EVERY_MS) last = { at, counts: data.counts().catch(() => null) };
    return last.counts;
  };
  return [
    {
      method: "GET",
      path: "/health",
      access: OPEN,
      action: "",
      description: {
        summary: "Whether the process runs",
        answers: { 200: { text: "It does.", schema: "HealthAnswer" } },
      },
      answer: async ({ version }) => ({ status: 200, body: { status: "ok", version } }),
    },
    {
      method: "GET",
      path: "/ready",
      access: OPEN,
      action: "",
      description: {
        summary: "Whether the database answers",
        answers: {
          200: { text: "It does.", schema: "HealthAnswer" },
          503: { text: "It does not.", schema: "ProblemAnswer" },
        },
      },
      async answer({ data, version }) {
        try {
          await data.ping();
          return { status: 200, body: { status: "ok", version } };
        } catch {
          throw refuse(503, "database", "the database does not answer: see the log of the server");
        }
      },
    },
    {
      method: "GET",
      path: "/metrics",
      access: OPEN,
      action: "",
      description: {
        summary: "Figures for Prometheus, without names of people, repositories or memories",
        answers: { 200: { text: "The figures.", type: "text/plain" } },
      },
      async answer(server) {
        const content = metrics.format(await count(server));
        return { status: 200, text: { type: "text/plain; version=0.0.4; charset=utf-8", content } };
      },
    },
  ];
}
