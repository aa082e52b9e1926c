/** Jobs: the button that starts one, its progress, and the tray in the corner that lists and stops them. */
import type { VNode } from "preact";
import { useEffect, useState } from "preact/hooks";
import type { Job, JobKind } from "../../api.ts";
import { jobs, noteJob, useStart } from "../live.ts";
import { formatQuery, send } from "../remote.ts";
import { route } from "../router.ts";
import { useStore } from "../store.ts";
import { Button, Soft } from "./basics.tsx";
import { STAYS_MS, useExpiry } from "./hooks.ts";
import { tellFailure } from "./notice.tsx";

const TITLES: Record<JobKind, string> = {
  warm: "Embedding memories",
  verify: "Checking claims",
  dream: "Planning a dream",
};

export async function startJob(kind: JobKind): Promise<void> {
  const { value, failure } = await send<Job>("POST", "/api/jobs", { kind });
  if (failure !== null) tellFailure(failure);
  else noteJob(value);
}

export async function stopJob({ id }: Job): Promise<void> {
  const { failure } = await send("DELETE", `/api/jobs${formatQuery({ id })}`);
  if (failure !== null) tellFailure(failure);
}

/** Nothing if changes are not allowed. */
export function JobButton({ kind, title, busy }: { kind: JobKind; title: string; busy: string }): VNode | null {
  const { readOnly } = useStart();
  const isRunning = useStore(jobs).some((job) => job.kind === kind && job.state === "running");
  return readOnly ? null : (
    <Button isSmall isDisabled={isRunning} onClick={() => void startJob(kind)}>
      {isRunning ? busy : title}
    </Button>
  );
}

/** A total of 0 means that it is unknown. */
export function Progress({ job: { done, total }, label }: { job: Job; label: string }): VNode {
  return (
    <progress class="progress" aria-label={label} value={total > 0 ? done : undefined} max={total > 0 ? total : 1} />
  );
}

/** Jobs that ended before this page was opened are not shown. */
const seen = new Set<string>();

export function JobTray(): VNode | null {
  const [closed, setClosed] = useState<string[]>([]);
  const all = useStore(jobs);
  const { view } = useStore(route);
  for (const job of all) if (job.state === "running") seen.add(job.id);
  const open = all.filter((job) => seen.has(job.id) && !closed.includes(job.id));
  // A view of the same name shows the job itself and its result.
  const shown = open.filter((job) => job.kind !== view);
  const told = open.filter((job) => job.kind === view && job.state !== "running").map(({ id }) => id);
  useEffect(() => {
    if (told.length > 0) setClosed([...closed, ...told]);
  }, [told.join(" ")]);
  if (shown.length === 0) return null;
  return (
    <section class="tray" aria-label="Jobs">
      {shown.map((job) => (
        <JobLine key={job.id} job={job} onClose={() => setClosed([...closed, job.id])} />
      ))}
    </section>
  );
}

function JobLine({ job, onClose }: { job: Job; onClose: () => void }): VNode {
  const title = TITLES[job.kind];
  const isRunning = job.state === "running";
  const held = useExpiry(isRunning ? null : STAYS_MS, onClose);
  const action = isRunning ? "Stop" : "Close";
  return (
    <div class={`job${job.state === "failed" ? " is-failed" : ""}`} {...held}>
      <div class="job-words">
        <strong>{title}</strong>{" "}
        <span class="soft" role="status">
          {!isRunning ? job.state : job.total > 0 ? `${job.done} of ${job.total}` : ""}
        </span>
      </div>
      <Button
        isSmall
        kind="quiet"
        label={`${action}: ${title}`}
        onClick={isRunning ? () => void stopJob(job) : onClose}
      >
        {action}
      </Button>
      {isRunning ? <Progress job={job} label={title} /> : null}
      <Soft text={job.says} />
    </div>
  );
}
