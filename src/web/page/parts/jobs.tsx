/** Jobs: the button that starts one, its progress, and the tray in the corner that lists and stops them. */
import type { VNode } from "preact";
import { useState } from "preact/hooks";
import type { Job, JobKind } from "../../api.ts";
import { jobs, noteJob, useStart } from "../live.ts";
import { formatQuery, send } from "../remote.ts";
import { useStore } from "../store.ts";
import { Button, Soft } from "./basics.tsx";
import { Passing, told } from "./notice.tsx";

const TITLES: Record<JobKind, string> = {
  warm: "Embedding memories",
  verify: "Checking claims",
  dream: "Planning a tidy-up",
  learn: "Learning from past sessions",
};

export async function startJob(kind: JobKind): Promise<void> {
  const job = await told(send<Job>("POST", "/api/jobs", { kind }));
  if (job !== null) noteJob(job);
}

/** Nothing if changes are not allowed. */
export function JobButton({ kind, title }: { kind: JobKind; title: string }): VNode | null {
  const { readOnly } = useStart();
  const isRunning = useStore(jobs).some((job) => job.kind === kind && job.state === "running");
  if (readOnly) return null;
  return (
    <Button isSmall disabled={isRunning} text={isRunning ? `${TITLES[kind]}…` : title} onClick={() => startJob(kind)} />
  );
}

/** Jobs that ended before this page was opened are not shown. */
const seen = new Set<string>();

export function JobTray(): VNode | null {
  const [closed, setClosed] = useState<string[]>([]);
  const all = useStore(jobs);
  for (const job of all) if (job.state === "running") seen.add(job.id);
  const shown = all.filter((job) => seen.has(job.id) && !closed.includes(job.id));
  if (shown.length === 0) return null;
  return (
    <section class="stack-xs" aria-label="Jobs">
      {shown.map((job) => (
        <JobState key={job.id} job={job} onClose={() => setClosed([...closed, job.id])} />
      ))}
    </section>
  );
}

/** What a job is doing, how far it is and a way to stop or close it. A total of 0 means that it is unknown. */
function JobState({ job, onClose }: { job: Job; onClose: () => void }): VNode {
  const { id, kind, state, done, total, says } = job;
  const title = TITLES[kind];
  const isRunning = state === "running";
  const [action, act] = isRunning
    ? ["Stop", () => told(send("DELETE", `/api/jobs${formatQuery({ id })}`))]
    : ["Close", onClose];
  return (
    <Passing tone={state === "failed" ? "bad" : "plain"} isFinal={!isRunning} onEnd={onClose}>
      <p class="grow">
        <strong>{title}</strong>{" "}
        <span class="soft" role="status">
          {!isRunning ? state : total > 0 ? `${done} of ${total}` : ""}
        </span>
      </p>
      <Button isSmall kind="quiet" text={action} aria-label={`${action}: ${title}`} onClick={act} />
      {isRunning ? (
        <progress class="wide" aria-label={title} value={total > 0 ? done : undefined} max={total || 1} />
      ) : null}
      <Soft text={says} />
    </Passing>
  );
}
