/** Jobs: the button that starts one, its progress, and the tray in the corner that lists and stops them. */
import type { VNode } from "preact";
import { useEffect, useState } from "preact/hooks";
import type { Job, JobKind } from "../../api.ts";
import { jobs, noteJob, useStart } from "../live.ts";
import { formatQuery, send } from "../remote.ts";
import { route } from "../router.ts";
import { useStore } from "../store.ts";
import { Button, Soft } from "./basics.tsx";
import { Passing, tellFailure } from "./notice.tsx";

const TITLES: Record<JobKind, string> = {
  warm: "Embedding memories",
  verify: "Checking claims",
  dream: "Planning a tidy-up",
  learn: "Learning from past sessions",
};

export async function startJob(kind: JobKind): Promise<void> {
  const { value, failure } = await send<Job>("POST", "/api/jobs", { kind });
  if (failure !== null) tellFailure(failure);
  else noteJob(value);
}

async function stopJob({ id }: Job): Promise<void> {
  const { failure } = await send("DELETE", `/api/jobs${formatQuery({ id })}`);
  if (failure !== null) tellFailure(failure);
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

/** What a job is doing, how far it is and a way to stop or close it. A total of 0 means that it is unknown. */
export function JobState({ job, title, onClose }: { job: Job; title: string; onClose?: () => void }): VNode {
  const { state, done, total } = job;
  const isRunning = state === "running";
  const action = isRunning ? "Stop" : "Close";
  return (
    <>
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
        onClick={() => (isRunning ? stopJob(job) : onClose?.())}
      />
      {isRunning ? (
        <progress class="wide" aria-label={title} value={total > 0 ? done : undefined} max={total || 1} />
      ) : null}
      <Soft text={job.says} />
    </>
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
    <section class="stack-xs" aria-label="Jobs">
      {shown.map((job) => {
        const close = () => setClosed([...closed, job.id]);
        const tone = job.state === "failed" ? "bad" : "plain";
        return (
          <Passing key={job.id} tone={tone} isFinal={job.state !== "running"} onEnd={close}>
            <JobState job={job} title={TITLES[job.kind]} onClose={close} />
          </Passing>
        );
      })}
    </section>
  );
}
