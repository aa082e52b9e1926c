/** Figures of this process for Prometheus: requests by route and status, their time. No names of people, repositories or memories. */

import type { StoredCounts } from "./team-data.ts";

export interface Metrics {
  /** `route` is a pattern of ours, never a path. */
  note(request: { method: string; route: string; status: number; ms: number }): void;
  begin(): void;
  end(): void;
  format(counts: StoredCounts | null): string;
}

/** Seconds. A request that changes nothing takes a few milliseconds; over five something is wrong. */
const BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5];

interface Series {
  labels: string;
  count: number;
  seconds: number;
  buckets: number[];
}

export function openMetrics(): Metrics {
  const series = new Map<string, Series>();
  let running = 0;
  return {
    note({ method, route, status, ms }) {
      const labels = `method="${method}",route="${escapeLabel(route)}",status="${status}"`;
      const one = series.get(labels) ?? { labels, count: 0, seconds: 0, buckets: BUCKETS.map(() => 0) };
      series.set(labels, one);
      one.count++;
      one.seconds += ms / 1000;
      for (const [i, bound] of BUCKETS.entries()) if (ms / 1000 <= bound) one.buckets[i] = (one.buckets[i] ?? 0) + 1;
    },
    begin: () => void running++,
    end: () => void running--,
    format: (counts) => [...formatRequests([...series.values()], running), ...formatCounts(counts), ""].join("\n"),
  };
}

function formatRequests(series: readonly Series[], running: number): string[] {
  const name = "memdir_request_seconds";
  return [
    "# HELP memdir_requests_running Requests that are being answered.",
    "# TYPE memdir_requests_running gauge",
    `memdir_requests_running ${running}`,
    `# HELP ${name} Time from the first byte of a request to its answer.`,
    `# TYPE ${name} histogram`,
    ...series.flatMap(({ labels, count, seconds, buckets }) => [
      ...BUCKETS.map((bound, i) => `${name}_bucket{${labels},le="${bound}"} ${buckets[i]}`),
      `${name}_bucket{${labels},le="+Inf"} ${count}`,
      `${name}_sum{${labels}} ${seconds}`,
      `${name}_count{${labels}} ${count}`,
    ]),
  ];
}

/** Nothing while the database does not answer: a gap says more than a wrong figure. */
function formatCounts(counts: StoredCounts | null): string[] {
  const up = ["# HELP memdir_database_up Whether the database answers.", "# TYPE memdir_database_up gauge"];
  if (!counts) return [...up, "memdir_database_up 0"];
  const gauges = Object.entries(HELP).flatMap(([key, help]) => [
    `# HELP memdir_${key} ${help}`,
    `# TYPE memdir_${key} gauge`,
    `memdir_${key} ${counts[key as keyof StoredCounts]}`,
  ]);
  return [...up, "memdir_database_up 1", ...gauges];
}

const HELP: Record<keyof StoredCounts, string> = {
  teams: "Teams on this server.",
  repositories: "Repositories of all teams.",
  memories: "Memories of all repositories, without tombstones.",
  bytes: "Size of these memories.",
};

function escapeLabel(text: string): string {
  return text.replace(/[\\"]/g, "\\$&").replaceAll("\n", "\\n");
}
