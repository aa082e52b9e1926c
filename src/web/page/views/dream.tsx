/** The dream: a plan to tidy up the memories, made by a job that can be stopped, shown as diffs, applied and undone. */
import type { VNode } from "preact";
import { useEffect, useRef } from "preact/hooks";
import type { DreamAnswer, Job } from "../../api.ts";
import { jobs, useLive, useStart } from "../live.ts";
import { Age, Button, List } from "../parts/basics.tsx";
import { change } from "../parts/change.ts";
import { formatCount } from "../parts/format.ts";
import { useBusy } from "../parts/hooks.ts";
import { JobState, startJob } from "../parts/jobs.tsx";
import { Empty, Page } from "../parts/layout.tsx";
import { Failed, Lines, tell } from "../parts/notice.tsx";
import { Diff } from "../parts/texts.tsx";
import { useStore } from "../store.ts";

const WHAT =
  "A dream reads all memories and the latest conversations and plans what to merge, rewrite or retire. Nothing changes until you apply the plan.";

export function View(_: { params: URLSearchParams }): VNode {
  const live = useLive<DreamAnswer>("/api/dream");
  const { readOnly } = useStart();
  const job = useStore(jobs).findLast(({ kind }) => kind === "dream") ?? null;
  const isRunning = job?.state === "running";
  const wasRunning = useRef(false);
  wasRunning.current ||= isRunning;
  const plan = live.value?.plan ?? null;
  useEffect(() => {
    if (isRunning || live.isLoading || !wasRunning.current) return;
    wasRunning.current = false;
    // A plan is visible; an empty result has to be announced.
    if (plan === null && job?.state === "done") tell(job.says, "good");
  }, [live.isLoading]);
  const [kind, text] = plan === null ? (["primary", "Make a plan"] as const) : (["plain", "Make a new plan"] as const);
  const start =
    readOnly || isRunning || live.value === null ? null : (
      <Button kind={kind} text={text} onClick={() => startJob("dream")} />
    );
  return (
    <Page title="Dream" lead={<Lead last={live.value?.last ?? null} />} live={live} actions={start}>
      {() => (
        <>
          {job === null ? null : <DreamJob job={job} />}
          {plan !== null ? (
            <Plan plan={plan} isRunning={isRunning} />
          ) : isRunning ? null : (
            <Empty title="No plan is waiting" text={WHAT} />
          )}
        </>
      )}
    </Page>
  );
}

function Lead({ last }: { last: string | null }): VNode {
  return (
    <>
      Tidy up: merge duplicates, and rewrite or retire stale memories.{" "}
      {last === null ? (
        "No dream has run yet."
      ) : (
        <>
          The last dream was <Age at={last} />.
        </>
      )}
    </>
  );
}

function DreamJob({ job }: { job: Job }): VNode | null {
  if (job.state === "failed")
    return <Failed failure={{ message: `The plan could not be made: ${job.says || "the job failed."}` }} />;
  if (job.state === "stopped") return <Lines tone="plain" lines={["Planning was stopped. Nothing was changed."]} />;
  if (job.state === "done") return null;
  return (
    <section class="card row" aria-label="Making a plan">
      <JobState job={job} title="Making a plan" />
    </section>
  );
}

function Plan({ plan, isRunning }: { plan: NonNullable<DreamAnswer["plan"]>; isRunning: boolean }): VNode {
  const { readOnly } = useStart();
  const [isBusy, run] = useBusy();
  const apply = () => run(change("/api/dream/apply", { plan: plan.id }));
  return (
    <section class="stack" aria-label="The plan">
      <div class="row">
        <div class="grow">
          <h2>The plan</h2>
          <p dir="auto">{plan.summary}</p>
          <p class="soft">
            {formatCount(plan.ops.length, "step")}, made <Age at={plan.made} />
          </p>
        </div>
        {readOnly || plan.ops.length === 0 ? null : (
          <Button text="Apply the plan" kind="primary" onClick={apply} isBusy={isBusy} disabled={isRunning} />
        )}
      </div>
      {plan.ops.length === 0 ? <Empty title="The memories are tidy; there is nothing to do" /> : null}
      <List class="stack" item="card stack-s" isOrdered rows={plan.ops}>
        {({ says, diff }, at) => (
          <>
            <h3 dir="auto">
              <span class="soft">{at + 1}.</span> {says}
            </h3>
            {diff.length === 0 ? null : <Diff lines={diff} label={`Step ${at + 1}`} />}
          </>
        )}
      </List>
    </section>
  );
}
