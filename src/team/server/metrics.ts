/** Figures for Prometheus: requests of this process by route and status with their time, and what is stored. They name no people. */

import type { World } from "../../world.ts";
import type { TeamData } from "./data.ts";

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
export type Metrics = ReturnType<typeof openMetrics>;

/** Counting is a walk through tables: every client may ask, but the database is asked no more often than this. */
const COUNT_EVERY_MS = 10_000;

export function openMetrics({ counts, figures }: Pick<TeamData, "counts" | "figures">, now: World["now"]) {
  const seconds = new Map<string, number[]>();
  let running = 0;
  let last: { at: number; counts: Promise<StoredCounts | null> } | null = null;
  const count = () => {
    const at = now().getTime();
    if (!last || Math.abs(at - last.at) >= COUNT_EVERY_MS) last = { at, counts: counts().catch(() => null) };
    return last.counts;
  };
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
    async format() {
      const stored = await count();
      const { open, idle, waiting, queued, auditLost } = figures();
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
      lines.push(...gauge("database_up", "Whether the database answers.", stored ? 1 : 0));
      if (stored)
        for (const [key, help] of Object.entries(HELP))
          lines.push(...gauge(key, help, stored[key as keyof StoredCounts]));
      return `${lines.join("\n")}\n`;
    },
  };
}

function gauge(name: string, help: string, value: number): string[] {
  return [`# HELP memdir_${name} ${help}`, `# TYPE memdir_${name} gauge`, `memdir_${name} ${value}`];
}
