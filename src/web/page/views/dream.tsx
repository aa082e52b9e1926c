/** The dream: a plan to tidy the memories, made by work that can be stopped, read as differences, applied and undone. */
import type { VNode } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import type { DreamAnswer, Job } from "../../api.ts";
import { jobs, startJob, stopJob, useLive } from "../live.ts";
import { Age } from "../parts/age.tsx";
import { Button } from "../parts/button.tsx";
import { change } from "../parts/change.ts";
import { Diff } from "../parts/diff.tsx";
import { Empty, Waiting } from "../parts/empty.tsx";
import { formatCount } from "../parts/format.ts";
import { Notice, tell, tellFailure } from "../parts/notice.tsx";
import { PageHead } from "../parts/page-head.tsx";
import { Progress } from "../parts/progress.tsx";
import { useStart } from "../parts/start.ts";
import { useStore } from "../store.ts";

export function View(_: { params: URLSearchParams }): VNode {
  const live = useLive<DreamAnswer>("/api/dream");
  const { readOnly } = useStart();
  const job = useStore(jobs).findLast(({ kind }) => kind === "dream") ?? null;
  const isRunning = job?.state === "running";
  const wasRunning = useRef(false);
  const wasMade = useRef(false);
  useEffect(() => {
    // A plan lies in no directory: nobody else tells of it.
    if (wasRunning.current && !isRunning) {
      live.reload();
      wasMade.current = job?.state === "done";
    }
    wasRunning.current = isRunning;
  }, [isRunning]);
  const plan = live.value?.plan ?? null;
  useEffect(() => {
    if (live.isLoading || !wasMade.current) return;
    wasMade.current = false;
    // A plan is seen; that there is nothing to plan is only said.
    if (plan === null && job !== null) tell(job.says, "good");
  }, [live.isLoading]);
  const begin = async () => {
    const failure = await startJob("dream");
    if (failure !== null) tellFailure(failure);
  };
  return (
    <>
      <PageHead title="Dream" lead={<Lead last={live.value?.last ?? null} />}>
        {readOnly || isRunning || live.value === null ? null : (
          <Button kind={plan === null ? "primary" : "plain"} onClick={begin}>
            {plan === null ? "Make a plan" : "Make a new plan"}
          </Button>
        )}
      </PageHead>
      {job === null ? null : <DreamJob job={job} />}
      {live.value === null ? (
        <Waiting live={live} />
      ) : plan !== null ? (
        <Plan plan={plan} isRunning={isRunning} onApplied={live.reload} />
      ) : isRunning ? null : (
        <Empty title="No plan is waiting">
          <p>
            A dream looks at all memories and the last conversations and plans what to join, rewrite or retire. Nothing
            changes before you have read the plan and applied it.
          </p>
        </Empty>
      )}
    </>
  );
}

function Lead({ last }: { last: string | null }): VNode {
  return (
    <>
      Tidying up: duplicates joined, stale memories rewritten or retired.{" "}
      {last === null ? (
        "There was none yet."
      ) : (
        <>
          The last was <Age at={last} />.
        </>
      )}
    </>
  );
}

function DreamJob({ job }: { job: Job }): VNode | null {
  const stop = async () => {
    const failure = await stopJob(job.id);
    if (failure !== null) tellFailure(failure);
  };
  if (job.state === "failed")
    return (
      <Notice tone="bad">
        <p>The plan could not be made: {job.says || "the work failed."}</p>
      </Notice>
    );
  if (job.state === "stopped")
    return (
      <Notice>
        <p>Making the plan was stopped. Nothing was changed.</p>
      </Notice>
    );
  if (job.state === "done") return null;
  return (
    <section class="card dream-job" aria-label="Making a plan">
      <p class="grow" role="status" dir="auto">
        {job.says || "Making a plan…"}
      </p>
      <span class="soft number">{job.total > 0 ? `${job.done} of ${job.total}` : ""}</span>
      <Button isSmall onClick={stop}>
        Stop
      </Button>
      <Progress done={job.done} total={job.total} label="Making a plan" />
    </section>
  );
}

interface PlanProps {
  plan: NonNullable<DreamAnswer["plan"]>;
  isRunning: boolean;
  onApplied: () => void;
}

function Plan({ plan, isRunning, onApplied }: PlanProps): VNode {
  const { readOnly } = useStart();
  const [isBusy, setBusy] = useState(false);
  const apply = async () => {
    setBusy(true);
    const isDone = await change("/api/dream/apply", { plan: plan.id });
    setBusy(false);
    if (isDone) onApplied();
  };
  return (
    <section class="stack" aria-label="The plan">
      <div class="plan-head">
        <div class="grow">
          <h2>The plan</h2>
          <p dir="auto">{plan.summary}</p>
          <p class="soft">
            {formatCount(plan.ops.length, "step")}, made <Age at={plan.made} />
          </p>
        </div>
        {readOnly || plan.ops.length === 0 ? null : (
          <Button kind="primary" onClick={apply} isBusy={isBusy} isDisabled={isRunning}>
            Apply the plan
          </Button>
        )}
      </div>
      {plan.ops.length === 0 ? <Empty title="The memories are tidy: there is nothing to do" /> : null}
      <ol class="ops">
        {plan.ops.map((op, at) => (
          <li key={at} class="card">
            <h3 dir="auto">
              <span class="soft">{at + 1}.</span> {op.says}
            </h3>
            {op.diff.length === 0 ? null : <Diff lines={op.diff} label={`Step ${at + 1}`} />}
          </li>
        ))}
      </ol>
    </section>
  );
}
