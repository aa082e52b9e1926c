/** Two memories made into one: both texts, the text that is proposed and may be changed, and what it changes. */
import type { VNode } from "preact";
import { useEffect, useState } from "preact/hooks";
import type { ChangedAnswer, CheckAnswer, MemoryTitle, MergeProposal } from "../../api.ts";
import { type Failure, get, send } from "../remote.ts";
import { Button } from "./button.tsx";
import { Dialog } from "./dialog.tsx";
import { Diff } from "./diff.tsx";
import { useLater } from "./later.ts";
import { Notice } from "./notice.tsx";
import { Sent } from "./sent.tsx";
import { tellChanged } from "./undo.ts";

interface Props {
  keep: MemoryTitle;
  other: MemoryTitle;
  onClose: () => void;
}

const PAUSE_MS = 300;

export function MergeDialog({ keep: first, other: second, onClose }: Props): VNode {
  const [isSwapped, setSwapped] = useState(false);
  const [keep, other] = isSwapped ? [second, first] : [first, second];
  const { proposal, failure } = useProposal(keep, other);
  const [text, setText] = useState<string | null>(null);
  const [isBusy, setBusy] = useState(false);
  const [refused, setRefused] = useState<Failure | null>(null);
  const shown = text ?? proposal?.text ?? "";
  const check = useCheck(keep, proposal, shown);
  const merge = async () => {
    setBusy(true);
    // What both held when they were read: nothing that came since is overwritten unseen.
    const { left, right } = proposal ?? {};
    const body = { keep: refOf(keep), other: refOf(other), text: shown, left, right };
    const answer = await send<ChangedAnswer>("POST", "/api/merge", body);
    setBusy(false);
    setRefused(answer.failure);
    if (answer.failure !== null) return;
    tellChanged(answer.value.message, answer.value.entry);
    onClose();
  };
  return (
    <Dialog
      title={`Merge “${other.name}” into “${keep.name}”`}
      onClose={onClose}
      actions={
        <>
          <Button kind="quiet" onClick={onClose}>
            Cancel
          </Button>
          <Button
            onClick={() => {
              setSwapped(!isSwapped);
              setText(null);
            }}
          >
            Keep the other one
          </Button>
          <Button
            kind="primary"
            onClick={merge}
            isBusy={isBusy}
            isDisabled={proposal === null || shown.trim() === "" || (check?.secrets.length ?? 0) > 0}
          >
            Merge
          </Button>
        </>
      }
    >
      {failure !== null ? (
        <Notice tone="bad">
          <p>{failure.message}</p>
        </Notice>
      ) : proposal === null ? (
        <p class="waiting">Loading…</p>
      ) : (
        <div class="merge">
          <Sides left={{ title: keep.name, text: proposal.left }} right={{ title: other.name, text: proposal.right }} />
          <div class="field">
            <label for="merge-text">The text that stays</label>
            <textarea
              id="merge-text"
              rows={12}
              dir="auto"
              spellcheck={false}
              value={shown}
              onInput={(event) => setText(event.currentTarget.value)}
            />
          </div>
          <Problems check={check} />
          {refused === null ? null : (
            <Notice tone="bad">
              <p>{refused.message}</p>
            </Notice>
          )}
          <h3>What changes in “{keep.name}”</h3>
          <Diff lines={text === null ? proposal.diff : (check?.diff ?? [])} label={`Changes in ${keep.name}`} />
          <p class="soft">“{other.name}” is forgotten. Both can be undone together.</p>
        </div>
      )}
    </Dialog>
  );
}

/** Two texts beside one another, under one another where there is no room. */
export function Sides({ left, right }: Record<"left" | "right", { title: string; text: string }>): VNode {
  return (
    <div class="sides">
      {[left, right].map(({ title, text }, at) => (
        <figure key={at}>
          <figcaption>
            <bdi>{title}</bdi>
          </figcaption>
          <Sent text={text} label={title} />
        </figure>
      ))}
    </div>
  );
}

function Problems({ check }: { check: CheckAnswer | null }): VNode | null {
  if (check === null || check.problems.length + check.secrets.length === 0) return null;
  return (
    <Notice tone={check.secrets.length > 0 ? "bad" : "warn"}>
      {check.secrets.map(({ rule, line }) => (
        <p key={`${rule} ${line}`}>
          Line {line} looks like a secret ({rule}): it cannot be kept in a memory.
        </p>
      ))}
      {check.problems.map((problem) => (
        <p key={problem}>{problem}</p>
      ))}
    </Notice>
  );
}

function useProposal(keep: MemoryTitle, other: MemoryTitle) {
  const [state, setState] = useState<{ proposal: MergeProposal | null; failure: Failure | null }>({
    proposal: null,
    failure: null,
  });
  useEffect(() => {
    const calling = new AbortController();
    const query = {
      keepDirectory: keep.directory,
      keepFile: keep.file,
      otherDirectory: other.directory,
      otherFile: other.file,
    };
    setState({ proposal: null, failure: null });
    get<MergeProposal>("/api/merge", query, calling.signal).then(({ value, failure }) => {
      if (!calling.signal.aborted) setState({ proposal: value, failure });
    });
    return () => calling.abort();
  }, [keep.directory, keep.file, other.directory, other.file]);
  return state;
}

/** As saving would see it; null while nobody has looked. */
function useCheck(keep: MemoryTitle, proposal: MergeProposal | null, text: string): CheckAnswer | null {
  const [check, setCheck] = useState<CheckAnswer | null>(null);
  const [asked] = useLater(text, PAUSE_MS);
  useEffect(() => {
    if (proposal === null || asked === "") return;
    const calling = new AbortController();
    const body = { ...refOf(keep), base: proposal.left, text: asked };
    send<CheckAnswer>("POST", "/api/check", body, calling.signal).then(({ value }) => {
      if (!calling.signal.aborted) setCheck(value);
    });
    return () => calling.abort();
  }, [proposal, asked]);
  return check;
}

function refOf({ directory, file }: MemoryTitle): { directory: number; file: string } {
  return { directory, file };
}
