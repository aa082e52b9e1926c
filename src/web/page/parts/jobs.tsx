/** Jobs: the button that starts one, its progress, and the tray in the corner that lists and stops them. */
import type { VNode } from "preact";
import type { Job, JobKind } from "../../api.ts";
import { closeJob, jobs, noteJob, useStart } from "../live.ts";
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

export function JobTray(): VNode | null {
  const shown = useStore(jobs);
  return shown.length === 0 ? null : (
    <section class="stack-xs" aria-label="Jobs">
      {shown.map((job) => (
        <JobState key={job.id} job={job} />
      ))}
    </section>
  );
}

/** What a job is doing, how far it is and a way to stop or close it. A total of 0 means that it is unknown. */
function JobState({ job }: { job: Job }): VNode {
  const { id, kind, state, done, total, says } = job;
  const title = TITLES[kind];
  const isRunning = state === "running";
  const close = () => closeJob(job);
  const stop = () => told(send("DELETE", `/api/jobs${formatQuery({ id })}`));
  const action = isRunning ? "Stop" : "Close";
  return (
    <Passing tone={state === "failed" ? "bad" : "plain"} isFinal={!isRunning} onEnd={close}>
      <p class="grow">
        <strong>{title}</strong>{" "}
        <span class="soft" role="status">
          {!isRunning ? state : total > 0 ? `${done} of ${total}` : ""}
        </span>
      </p>
      <Button
        isSmall
        kind="quiet"
        text={action}
        aria-label={`${action}: ${title}`}
        onClick={isRunning ? stop : close}
      />
      {isRunning ? (
        <progress class="wide" aria-label={title} value={total > 0 ? done : undefined} max={total || 1} />
      ) : null}
      <Soft text={says} />
    </Passing>
  );
}
