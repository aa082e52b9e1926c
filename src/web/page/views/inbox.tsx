/** The inbox: proposals as diffs, accepted, edited or rejected one by one, with the mouse or the keyboard. */
import type { VNode } from "preact";
import { useEffect, useId, useRef, useState } from "preact/hooks";
import { type InboxAnswer, MEMORY_TYPES, type ProposalRow } from "../../api.ts";
import { useKeys } from "../keyboard.ts";
import { useLive, useStart } from "../live.ts";
import { Age, Button, Soft, Tag, TextField, TypeTag } from "../parts/basics.tsx";
import { change } from "../parts/change.ts";
import { ask } from "../parts/dialog.tsx";
import { formatCount, linesOf, showName } from "../parts/format.ts";
import { Empty, PageHead, Waiting } from "../parts/layout.tsx";
import { Diff } from "../parts/texts.tsx";

export function View(_: { params: URLSearchParams }): VNode {
  const live = useLive<InboxAnswer>("/api/inbox");
  const proposals = live.value?.proposals ?? [];
  return (
    <>
      <PageHead
        title="Inbox"
        lead={
          proposals.length === 0
            ? "Proposals from agents wait here until you accept them."
            : `${formatCount(proposals.length, "proposal")} waiting for your decision.`
        }
      />
      {live.value === null ? (
        <Waiting live={live} />
      ) : proposals.length === 0 ? (
        <Empty title="The inbox is empty">
          <p>When learning is set to inbox mode, its proposals appear here as diffs, with their origin.</p>
        </Empty>
      ) : (
        <Proposals proposals={proposals} onChanged={live.reload} />
      )}
    </>
  );
}

function Proposals({ proposals, onChanged }: { proposals: ProposalRow[]; onChanged: () => void }): VNode {
  const { readOnly } = useStart();
  const [chosen, setChosen] = useState(0);
  const [editing, setEditing] = useState<string | null>(null);
  const [busy, setBusy] = useState<string | null>(null);
  const list = useRef<HTMLUListElement>(null);
  const at = Math.min(chosen, proposals.length - 1);
  const current = proposals[at];
  const isMoved = useRef(false);
  useEffect(() => {
    // Only after a key press: do not move a person who scrolls.
    if (isMoved.current) list.current?.querySelector<HTMLElement>(`[data-at="${at}"]`)?.focus();
    isMoved.current = false;
  }, [at, proposals.length]);

  const decide = async (proposal: ProposalRow, path: string, body: object) => {
    if (busy !== null) return;
    setBusy(proposal.id);
    const done = await change(path, { id: proposal.id, ...body });
    setBusy(null);
    if (done === null) return;
    setEditing(null);
    isMoved.current = true;
    onChanged();
  };
  const accept = (proposal: ProposalRow, amended?: Amended) =>
    decide(proposal, "/api/inbox/accept", amended === undefined ? {} : { amended });
  const reject = async (proposal: ProposalRow) => {
    const given = await ask({
      title: `Reject “${proposal.name}”?`,
      text: "It will not be proposed again.",
      yes: "Reject",
      isDanger: true,
    });
    if (given !== null) await decide(proposal, "/api/inbox/reject", {});
  };
  const move = (by: number) => (event: KeyboardEvent) => {
    // There the arrow keys scroll.
    if (event.target instanceof Element && event.target.closest(".diff") !== null) return;
    event.preventDefault();
    isMoved.current = true;
    setChosen(Math.min(proposals.length - 1, Math.max(0, at + by)));
  };
  useKeys({
    ArrowDown: move(1),
    ArrowUp: move(-1),
    ...(readOnly || current === undefined || editing !== null
      ? {}
      : {
          a: () => void accept(current),
          r: (event) => {
            event.preventDefault();
            void reject(current);
          },
          e: (event) => {
            event.preventDefault();
            if (isEditable(current)) setEditing(current.id);
          },
        }),
  });
  return (
    <>
      <p class="soft small keys-line">
        <kbd>↑</kbd> <kbd>↓</kbd> move
        {readOnly ? null : (
          <>
            {" · "}
            <kbd>a</kbd> accept · <kbd>e</kbd> edit · <kbd>r</kbd> reject
          </>
        )}
      </p>
      <ul class="proposals" ref={list}>
        {proposals.map((proposal, place) => (
          <li
            key={proposal.id}
            class={`card proposal${place === at ? " is-current" : ""}`}
            tabIndex={place === at ? 0 : -1}
            data-at={place}
            aria-current={place === at}
            aria-label={`${proposal.action}: ${proposal.name}`}
            onFocusIn={() => setChosen(place)}
          >
            <ProposalHead proposal={proposal} />
            {editing === proposal.id ? (
              <ProposalForm
                proposal={proposal}
                isBusy={busy === proposal.id}
                onCancel={() => setEditing(null)}
                onAccept={(amended) => void accept(proposal, amended)}
              />
            ) : (
              <>
                <Diff lines={proposal.diff} label={`What ${proposal.name} would change`} />
                {readOnly ? null : (
                  <div class="actions">
                    <Button kind="primary" isBusy={busy === proposal.id} onClick={() => void accept(proposal)}>
                      Accept
                    </Button>
                    {isEditable(proposal) ? <Button onClick={() => setEditing(proposal.id)}>Edit first</Button> : null}
                    <Button kind="danger" onClick={() => void reject(proposal)}>
                      Reject
                    </Button>
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

/** A proposal to forget a memory has no text to edit. */
function isEditable({ action }: ProposalRow): boolean {
  return action !== "forget";
}

function ProposalHead({ proposal }: { proposal: ProposalRow }): VNode {
  return (
    <div class="proposal-head">
      <h2>
        <bdi>{showName(proposal.name)}</bdi>
      </h2>
      <p class="row">
        <Tag tone={proposal.action === "forget" ? "bad" : "accent"}>{proposal.action}</Tag>
        <TypeTag type={proposal.type} />
        <span class="soft">
          from {proposal.from}, <Age at={proposal.at} />
        </span>
      </p>
      <Soft text={proposal.why} />
    </div>
  );
}

type Amended = Pick<ProposalRow, "name" | "type" | "description" | "body" | "cues">;

interface FormProps {
  proposal: ProposalRow;
  isBusy: boolean;
  onAccept: (amended: Amended) => void;
  onCancel: () => void;
}

/** A proposal's fields, to be changed before it is accepted. */
function ProposalForm({ proposal, isBusy, onAccept, onCancel }: FormProps): VNode {
  const { name, type, description, body, cues } = proposal;
  const [amended, setAmended] = useState({ name, type, description, body, cues: cues.join("\n") });
  const id = useId();
  const form = useRef<HTMLFormElement>(null);
  useEffect(() => form.current?.querySelector("input")?.focus(), []);
  const set = (key: keyof typeof amended) => (value: string) => setAmended({ ...amended, [key]: value });
  const field = (key: keyof typeof amended) => ({ value: amended[key], onInput: set(key) });
  const accept = () => onAccept({ ...amended, cues: linesOf(amended.cues) });
  return (
    <form
      class="proposal-form"
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
      <div class="form-row">
        <TextField label="Name" fieldClass="grow" required {...field("name")} />
        <div class="field">
          <label for={id}>Type</label>
          <select id={id} value={amended.type} onChange={(event) => set("type")(event.currentTarget.value)}>
            {MEMORY_TYPES.map((known) => (
              <option key={known}>{known}</option>
            ))}
          </select>
        </div>
      </div>
      <TextField label="Description" {...field("description")} />
      <TextField label="Text" rows={8} {...field("body")} />
      <TextField label="Cues, one per line: what a person would say when it helps" rows={3} {...field("cues")} />
      <div class="actions">
        <button type="submit" class="button button-primary" disabled={isBusy}>
          Accept with changes
        </button>
        <Button kind="quiet" onClick={onCancel}>
          Cancel
        </Button>
      </div>
    </form>
  );
}
