/** How far long work is, and the tray at the edge that shows all of it with a way to stop. */
import type { VNode } from "preact";
import { useEffect, useState } from "preact/hooks";
import type { Job, JobKind } from "../../api.ts";
import { jobs, stopJob } from "../live.ts";
import { route } from "../router.ts";
import { useStore } from "../store.ts";
import { Button } from "./button.tsx";
import { STAYS_MS, useLinger } from "./linger.ts";
import { tellFailure } from "./notice.tsx";

const TITLES: Record<JobKind, string> = {
  warm: "Learning meanings",
  verify: "Checking claims",
  dream: "Planning a dream",
};

/** `total` 0 means that nobody knows how much there is. */
export function Progress({ done, total, label }: { done: number; total: number; label: string }): VNode {
  return (
    <progress class="progress" aria-label={label} value={total > 0 ? done : undefined} max={total > 0 ? total : 1} />
  );
}

/** Work that ended before this page looked is no news. */
const seen = new Set<string>();

export function JobTray(): VNode | null {
  const [closed, setClosed] = useState<string[]>([]);
  const all = useStore(jobs);
  const { view } = useStore(route);
  for (const job of all) if (job.state === "running") seen.add(job.id);
  const open = all.filter((job) => seen.has(job.id) && !closed.includes(job.id));
  // A view of the same name shows the work itself, and what came of it.
  const shown = open.filter((job) => job.kind !== view);
  const told = open.filter((job) => job.kind === view && job.state !== "running").map(({ id }) => id);
  useEffect(() => {
    if (told.length > 0) setClosed([...closed, ...told]);
  }, [told.join(" ")]);
  if (shown.length === 0) return null;
  return (
    <section class="tray" aria-label="Work under way">
      {shown.map((job) => (
        <JobLine key={job.id} job={job} onClose={() => setClosed([...closed, job.id])} />
      ))}
    </section>
  );
}

function JobLine({ job, onClose }: { job: Job; onClose: () => void }): VNode {
  const title = TITLES[job.kind];
  const isRunning = job.state === "running";
  const held = useLinger(isRunning ? null : STAYS_MS, onClose);
  const stop = async () => {
    const failure = await stopJob(job.id);
    if (failure !== null) tellFailure(failure);
  };
  return (
    <div class={`job${job.state === "failed" ? " is-failed" : ""}`} {...held}>
      <div class="job-words">
        <strong>{title}</strong>{" "}
        <span class="soft" role="status">
          {isRunning && job.total > 0 ? `${job.done} of ${job.total}` : job.state === "running" ? "" : job.state}
        </span>
      </div>
      <Button
        isSmall
        kind="quiet"
        label={`${isRunning ? "Stop" : "Close"}: ${title}`}
        onClick={isRunning ? stop : onClose}
      >
        {isRunning ? "Stop" : "Close"}
      </Button>
      {isRunning ? <Progress done={job.done} total={job.total} label={title} /> : null}
      {job.says === "" ? null : (
        <p class="soft" dir="auto">
          {job.says}
        </p>
      )}
    </div>
  );
}
