/** Merges two memories into one: both texts, the proposed text, which can be edited, and its diff. */
import type { VNode } from "preact";
import { useMemo, useState } from "preact/hooks";
import type { ChangedAnswer, MemoryTitle, MergeProposal, Ref } from "../../api.ts";
import { useLive, useStart } from "../live.ts";
import { type Failure, send } from "../remote.ts";
import { Button, type ButtonProps, Field } from "./basics.tsx";
import { tellDone } from "./change.ts";
import { Findings, useCheck } from "./check.tsx";
import { Dialog } from "./dialog.tsx";
import { useBusy } from "./hooks.ts";
import { Answered } from "./layout.tsx";
import { Failed } from "./notice.tsx";
import { Diff, Sides } from "./texts.tsx";

interface MergeProps extends ButtonProps {
  keep: MemoryTitle;
  other: MemoryTitle;
}

/** Opens the dialog; nothing if changes are not allowed. */
export function MergeButton({ keep, other, ...looks }: MergeProps): VNode | null {
  const [isOpen, setOpen] = useState(false);
  if (useStart().readOnly) return null;
  return (
    <>
      <Button text="Merge" {...looks} onClick={() => setOpen(true)} />
      {isOpen ? <MergeDialog keep={keep} other={other} onClose={() => setOpen(false)} /> : null}
    </>
  );
}

function MergeDialog({ keep: first, other: second, onClose }: MergeProps & { onClose: () => void }): VNode {
  const [isSwapped, setSwapped] = useState(false);
  const [keep, other] = isSwapped ? [second, first] : [first, second];
  const live = useLive<MergeProposal>("/api/merge", queryOf(keep, other), { isOnce: true });
  const proposal = live.isLoading ? null : live.value;
  const [text, setText] = useState<string | null>(null);
  const [isBusy, run] = useBusy();
  const [refused, setRefused] = useState<Failure | null>(null);
  const shown = text ?? proposal?.text ?? "";
  const [check] = useCheck(
    keep,
    useMemo(() => (proposal === null ? null : { base: proposal.left, text: shown }), [proposal, shown]),
  );
  const merge = async () => {
    // The text of both when they were read, so that later changes are not overwritten unseen.
    const { left, right } = proposal ?? {};
    const body = { keep: refOf(keep), other: refOf(other), text: shown, left, right };
    const { value, failure } = await run(send<ChangedAnswer>("POST", "/api/merge", body));
    setRefused(failure);
    if (value === null) return;
    tellDone(value);
    onClose();
  };
  const swap = () => {
    setSwapped(!isSwapped);
    setText(null);
  };
  const mayMerge = proposal !== null && shown.trim() !== "" && (check?.secrets.length ?? 0) === 0;
  return (
    <Dialog
      isWide
      title={`Merge “${other.name}” into “${keep.name}”`}
      onClose={onClose}
      actions={
        <>
          <Button text="Cancel" kind="quiet" onClick={onClose} />
          <Button text="Keep the other one" onClick={swap} />
          <Button text="Merge" kind="primary" onClick={merge} isBusy={isBusy} disabled={!mayMerge} />
        </>
      }
    >
      <Answered live={{ ...live, value: proposal }}>
        {(given) => (
          <div class="merge stack">
            <Sides left={{ title: keep.name, text: given.left }} right={{ title: other.name, text: given.right }} />
            <Field label="Merged text" rows={12} spellcheck={false} value={shown} onInput={setText} />
            <Findings check={check} />
            <Failed failure={refused} />
            <h3>What changes in “{keep.name}”</h3>
            <Diff lines={text === null ? given.diff : (check?.diff ?? [])} label={`Changes in ${keep.name}`} />
            <p class="soft">“{other.name}” is forgotten. One undo reverts both.</p>
          </div>
        )}
      </Answered>
    </Dialog>
  );
}

function queryOf(keep: Ref, other: Ref) {
  return {
    keepDirectory: keep.directory,
    keepFile: keep.file,
    otherDirectory: other.directory,
    otherFile: other.file,
  };
}

export function refOf({ directory, file }: Ref): Ref {
  return { directory, file };
}
