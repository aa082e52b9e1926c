/** Figures of this process for Prometheus: requests by route and status, their time. No names of people, repositories or memories. */

import type { ServerFigures, StoredCounts } from "./data.ts";

/** Seconds. A request that changes nothing takes a few milliseconds; over five something is wrong. */
const BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5];
const TIME = "memdir_request_seconds";
const HELP: Record<keyof StoredCounts, string> = {
  teams: "Teams on this server.",
  repositories: "Repositories of all teams.",
  memories: "Memories of all repositories, without tombstones.",
  bytes: "Size of these memories.",
};

export type Metrics = ReturnType<typeof openMetrics>;

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
    format(counts: StoredCounts | null, { open, idle, waiting, queued, auditLost }: ServerFigures): string {
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
