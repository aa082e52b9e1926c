/** Routes for machines that watch the server, open to whoever reaches it: health, readiness, metrics. They name nobody. */

import { refuse } from "./answer.ts";
import type { StoredCounts } from "./metrics.ts";
import type { Route, ServerWorld } from "./route.ts";

const OPEN = { to: "open" } as const;

/** Counting is a walk through tables: anybody may ask, but the database is asked no more often than this. */
const COUNT_EVERY_MS = 10_000;

export function makeStatusRoutes(): Route[] {
  let last: { at: number; counts: Promise<StoredCounts | null> } | null = null;
  const count = ({ data, now }: ServerWorld) => {
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
          return refuse(503, "database", "the database does not answer: see the log of the server");
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
      async answer(world) {
        const content = world.metrics.format(await count(world));
        return { status: 200, text: { type: "text/plain; version=0.0.4; charset=utf-8", content } };
      },
    },
  ];
}
