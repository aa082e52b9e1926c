/** Somebody else changed the file: their change beside yours, and what to do about it. */
import type { VNode } from "preact";
import type { CheckAnswer } from "../../api.ts";
import { Button } from "../parts/button.tsx";
import { Diff } from "../parts/diff.tsx";
import { Notice } from "../parts/notice.tsx";

interface Props {
  check: CheckAnswer;
  /** All three are given what stands on disk. */
  onTake: (theirs: string) => void;
  onKeep: (theirs: string) => void;
  onCopy: () => void;
}

export function Conflict({ check, onTake, onKeep, onCopy }: Props): VNode | null {
  const { conflict } = check;
  if (conflict === null) return null;
  return (
    <section class="conflict" aria-label="The file changed on disk">
      <Notice tone="warn">
        <p role="alert">
          <strong>The file changed on disk while you were editing.</strong> Nothing is written over until you decide.
        </p>
        <div class="actions">
          <Button onClick={() => onTake(conflict.text)}>Take theirs</Button>
          <Button onClick={() => onKeep(conflict.text)}>Keep mine on top of theirs</Button>
          <Button onClick={onCopy}>Copy mine</Button>
        </div>
      </Notice>
      <div class="beside">
        <div class="section">
          <h2>Changed on disk</h2>
          {conflict.text === "" ? <p class="soft">The file is gone.</p> : null}
          <Diff lines={conflict.diff} label="Changed on disk" />
        </div>
        <div class="section">
          <h2>Changed by you</h2>
          <Diff lines={check.diff} label="Changed by you" />
        </div>
      </div>
    </section>
  );
}
