/** What waits for a person: the inbox, whose proposals are decided one by one, and the plan of a dream. */

import type { VNode } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { type DreamAnswer, type InboxAnswer, type Job, MEMORY_TYPES, type ProposalRow } from "../../api.ts";
import { useKeys } from "../keyboard.ts";
import { jobs, useLive, useStart } from "../live.ts";
import { Age, Button, Field, List, Soft, Tag, TypeTag, useForm } from "../parts/basics.tsx";
import { change } from "../parts/change.ts";
import { ask } from "../parts/dialog.tsx";
import { formatCount, linesOf, showName } from "../parts/format.ts";
import { useBusy } from "../parts/hooks.ts";
import { JobState, startJob } from "../parts/jobs.tsx";
import { Empty, Page } from "../parts/layout.tsx";
import { Failed, Lines, tell } from "../parts/notice.tsx";
import { Diff } from "../parts/texts.tsx";
import { useStore } from "../store.ts";

const NONE = "When learning is set to inbox mode, its proposals appear here as diffs, with their origin.";

export function InboxView(_: { params: URLSearchParams }): VNode {
  const live = useLive<InboxAnswer>("/api/inbox");
  const count = live.value?.proposals.length ?? 0;
  const lead =
    count === 0
      ? "Proposals from agents wait here until you accept them."
      : `${formatCount(count, "proposal")} waiting for your decision.`;
  return (
    <Page
      title="Inbox"
      lead={lead}
      live={live}
      none={() => (count === 0 ? <Empty title="The inbox is empty" text={NONE} /> : null)}
    >
      {({ proposals }) => <Proposals proposals={proposals} />}
    </Page>
  );
}

function Proposals({ proposals }: { proposals: ProposalRow[] }): VNode {
  const { readOnly } = useStart();
  const [chosen, setChosen] = useState(0);
  const [editing, setEditing] = useState<string | null>(null);
  const [isBusy, run] = useBusy();
  const list = useRef<HTMLUListElement>(null);
  const at = Math.min(chosen, proposals.length - 1);
  const current = proposals[at];
  const isMoved = useRef(false);
  useEffect(() => {
    // Only after a key press: do not move a person who scrolls.
    if (isMoved.current) (list.current?.children[at] as HTMLElement | undefined)?.focus();
    isMoved.current = false;
  }, [at, proposals.length]);

  const decide = async (proposal: ProposalRow, path: string, body: object) => {
    if (isBusy || (await run(change(path, { id: proposal.id, ...body }))) === null) return;
    setEditing(null);
    isMoved.current = true;
  };
  const accept = (proposal: ProposalRow, amended?: Amended) =>
    decide(proposal, "/api/inbox/accept", amended === undefined ? {} : { amended });
  const reject = async (proposal: ProposalRow) => {
    const title = `Reject “${proposal.name}”?`;
    const given = await ask({ title, text: "It will not be proposed again.", yes: "Reject", isDanger: true });
    if (given !== null) await decide(proposal, "/api/inbox/reject", {});
  };
  const edit = (proposal: ProposalRow) => {
    if (isEditable(proposal)) setEditing(proposal.id);
  };
  const move = (by: number) => (event: KeyboardEvent) => {
    // There the arrow keys scroll.
    if (event.target instanceof Element && event.target.closest(".diff") !== null) return;
    event.preventDefault();
    isMoved.current = true;
    setChosen(Math.min(proposals.length - 1, Math.max(0, at + by)));
  };
  const press = (act: (proposal: ProposalRow) => unknown) => (event: KeyboardEvent) => {
    if (readOnly || current === undefined || editing !== null) return;
    event.preventDefault();
    void act(current);
  };
  useKeys({
    ArrowDown: move(1),
    ArrowUp: move(-1),
    a: press((each) => accept(each)),
    r: press(reject),
    e: press(edit),
  });
  return (
    <>
      <KeysLine readOnly={readOnly} />
      <ul class="stack list" ref={list}>
        {proposals.map((proposal, place) => (
          <li
            key={proposal.id}
            class={`card proposal stack-s${place === at ? " is-current" : ""}`}
            tabIndex={place === at ? 0 : -1}
            aria-current={place === at}
            aria-label={`${proposal.action}: ${proposal.name}`}
            onFocusIn={() => setChosen(place)}
          >
            <ProposalHead proposal={proposal} />
            {editing === proposal.id ? (
              <ProposalForm
                proposal={proposal}
                isBusy={isBusy}
                onCancel={() => setEditing(null)}
                onAccept={(amended) => accept(proposal, amended)}
              />
            ) : (
              <>
                <Diff lines={proposal.diff} label={`What ${proposal.name} would change`} />
                {readOnly ? null : (
                  <div class="row">
                    <Button text="Accept" kind="primary" isBusy={isBusy} onClick={() => accept(proposal)} />
                    {isEditable(proposal) ? <Button text="Edit first" onClick={() => edit(proposal)} /> : null}
                    <Button text="Reject" kind="danger" onClick={() => reject(proposal)} />
                  </div>
                )}
              </>
            )}
          </li>
        ))}
      </ul>
    </>
  );
}

function KeysLine({ readOnly }: { readOnly: boolean }): VNode {
  const keys = { "↑ ↓": "move", ...(readOnly ? {} : { a: "accept", e: "edit", r: "reject" }) };
  return (
    <p class="row soft small keys-line">
      {Object.entries(keys).map(([key, says]) => (
        <span key={key}>
          <kbd>{key}</kbd> {says}
        </span>
      ))}
    </p>
  );
}

/** A proposal to forget a memory has no text to edit. */
function isEditable({ action }: ProposalRow): boolean {
  return action !== "forget";
}

function ProposalHead({ proposal }: { proposal: ProposalRow }): VNode {
  return (
    <div class="stack-xs">
      <h2>
        <bdi>{showName(proposal.name)}</bdi>
      </h2>
      <p class="row">
        <Tag text={proposal.action} tone={proposal.action === "forget" ? "bad" : "accent"} />
        <TypeTag type={proposal.type} />
        <span class="soft">
          from {proposal.from}, <Age at={proposal.at} />
        </span>
      </p>
      <Soft text={proposal.why} />
    </div>
  );
}

type Amended = Record<string, string | string[]>;

interface FormProps {
  proposal: ProposalRow;
  isBusy: boolean;
  onAccept: (amended: Amended) => void;
  onCancel: () => void;
}

/** A proposal's fields, to be changed before it is accepted. */
function ProposalForm({ proposal, isBusy, onAccept, onCancel }: FormProps): VNode {
  const { name, type, description, body, cues } = proposal;
  const { values, field } = useForm({ name, type: type as string, description, body, cues: cues.join("\n") });
  const form = useRef<HTMLFormElement>(null);
  useEffect(() => form.current?.querySelector("input")?.focus(), []);
  const accept = () => onAccept({ ...values, cues: linesOf(values.cues) });
  return (
    <form
      class="stack-s"
      ref={form}
      onSubmit={(event) => {
        event.preventDefault();
        accept();
      }}
      onKeyDown={(event) => {
        if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) accept();
        if (event.key !== "Escape") return;
        event.stopPropagation();
        onCancel();
      }}
    >
      <div class="row">
        <Field label="Name" fieldClass="field grow" required {...field("name")} />
        <Field label="Type" options={MEMORY_TYPES} {...field("type")} />
      </div>
      <Field label="Description" {...field("description")} />
      <Field label="Text" rows={8} {...field("body")} />
      <Field label="Cues, one per line: what a person would say when it helps" rows={3} {...field("cues")} />
      <div class="row">
        <Button type="submit" text="Accept with changes" kind="primary" disabled={isBusy} />
        <Button text="Cancel" kind="quiet" onClick={onCancel} />
      </div>
    </form>
  );
}

// --- The dream: a plan to tidy up the memories, made by a job that can be stopped, shown as diffs, applied and undone.

const WHAT =
  "A dream reads all memories and the latest conversations and plans what to merge, rewrite or retire. Nothing changes until you apply the plan.";

export function DreamView(_: { params: URLSearchParams }): VNode {
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
