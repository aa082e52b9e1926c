/** Merges two memories into one: both texts, the proposed text, which can be edited, and its diff. */
import type { VNode } from "preact";
import { useMemo, useState } from "preact/hooks";
import type { ChangedAnswer, MemoryTitle, MergeProposal, Ref } from "../../api.ts";
import { type Failure, get, send } from "../remote.ts";
import { Button, TextField } from "./basics.tsx";
import { tellChanged } from "./change.ts";
import { Findings, useCheck } from "./check.tsx";
import { Dialog } from "./dialog.tsx";
import { keyOf } from "./format.ts";
import { useAnswer } from "./hooks.ts";
import { Failed } from "./notice.tsx";
import { Diff, Sides } from "./texts.tsx";

interface Props {
  keep: MemoryTitle;
  other: MemoryTitle;
  onClose: () => void;
}

export function MergeDialog({ keep: first, other: second, onClose }: Props): VNode {
  const [isSwapped, setSwapped] = useState(false);
  const [keep, other] = isSwapped ? [second, first] : [first, second];
  const { proposal, failure } = useProposal(keep, other);
  const [text, setText] = useState<string | null>(null);
  const [isBusy, setBusy] = useState(false);
  const [refused, setRefused] = useState<Failure | null>(null);
  const shown = text ?? proposal?.text ?? "";
  const [check] = useCheck(
    keep,
    useMemo(() => (proposal === null ? null : { base: proposal.left, text: shown }), [proposal, shown]),
  );
  const merge = async () => {
    setBusy(true);
    // The text of both when they were read, so that later changes are not overwritten unseen.
    const { left, right } = proposal ?? {};
    const body = { keep: refOf(keep), other: refOf(other), text: shown, left, right };
    const answer = await send<ChangedAnswer>("POST", "/api/merge", body);
    setBusy(false);
    setRefused(answer.failure);
    if (answer.failure !== null) return;
    tellChanged(answer.value.message, answer.value.entry);
    onClose();
  };
  const swap = () => {
    setSwapped(!isSwapped);
    setText(null);
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
          <Button onClick={swap}>Keep the other one</Button>
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
        <Failed failure={failure} />
      ) : proposal === null ? (
        <p class="waiting">Loading…</p>
      ) : (
        <div class="merge">
          <Sides left={{ title: keep.name, text: proposal.left }} right={{ title: other.name, text: proposal.right }} />
          <TextField label="Merged text" rows={12} spellcheck={false} value={shown} onInput={setText} />
          <Findings check={check} />
          <Failed failure={refused} />
          <h3>What changes in “{keep.name}”</h3>
          <Diff lines={text === null ? proposal.diff : (check?.diff ?? [])} label={`Changes in ${keep.name}`} />
          <p class="soft">“{other.name}” is forgotten. One undo reverts both.</p>
        </div>
      )}
    </Dialog>
  );
}

function useProposal(keep: MemoryTitle, other: MemoryTitle) {
  const key = `${keyOf(keep)} ${keyOf(other)}`;
  const query = {
    keepDirectory: keep.directory,
    keepFile: keep.file,
    otherDirectory: other.directory,
    otherFile: other.file,
  };
  const { value, failure, isLoading } = useAnswer((signal) => get<MergeProposal>("/api/merge", query, signal), [key]);
  // The last answer is for the other direction.
  return isLoading ? { proposal: null, failure: null } : { proposal: value, failure };
}

export function refOf({ directory, file }: Ref): Ref {
  return { directory, file };
}
