/** What editing is made of: its head with the steps, the text field, and what a check found. */
import type { VNode } from "preact";
import { useId } from "preact/hooks";
import type { CheckAnswer } from "../../api.ts";
import { Button } from "../parts/button.tsx";
import { Notice } from "../parts/notice.tsx";
import { PageHead } from "../parts/page-head.tsx";

interface HeadProps {
  title: string;
  file: string;
  isReviewing: boolean;
  isSaving: boolean;
  mayReview: boolean;
  maySave: boolean;
  onClose: () => void;
  /** Null where nothing was typed. */
  onDiscard: (() => void) | null;
  onReview: (isReviewing: boolean) => void;
  onSave: () => void;
}

export function Head(props: HeadProps): VNode {
  return (
    <PageHead title={props.title} lead={<code dir="auto">{props.file}</code>}>
      <Button kind="quiet" onClick={props.onClose}>
        Close
      </Button>
      {props.onDiscard === null ? null : <Button onClick={props.onDiscard}>Discard</Button>}
      {props.isReviewing ? (
        <>
          <Button onClick={() => props.onReview(false)}>Keep writing</Button>
          <Button kind="primary" isBusy={props.isSaving} isDisabled={!props.maySave} onClick={props.onSave}>
            Save
          </Button>
        </>
      ) : (
        <Button kind="primary" isDisabled={!props.mayReview} onClick={() => props.onReview(true)}>
          Review
        </Button>
      )}
    </PageHead>
  );
}

export function TextField({ text, onInput }: { text: string; onInput: (text: string) => void }): VNode {
  const id = useId();
  return (
    <div class="field">
      <label for={id}>The whole file</label>
      <textarea
        id={id}
        class="editor"
        dir="auto"
        spellcheck={false}
        autocapitalize="off"
        rows={24}
        value={text}
        onInput={(event) => onInput(event.currentTarget.value)}
      />
    </div>
  );
}

export function Findings({ check }: { check: CheckAnswer | null }): VNode {
  const isFine = check === null || (check.problems.length === 0 && check.secrets.length === 0);
  return (
    <div class="findings" role="status" aria-live="polite">
      {isFine ? null : (
        <Notice tone={check.secrets.length > 0 ? "bad" : "warn"}>
          {check.secrets.map(({ rule, line }) => (
            <p key={`${line} ${rule}`}>
              Line {line} looks like a secret ({rule}). It must go before this can be saved.
            </p>
          ))}
          {check.problems.map((problem) => (
            <p key={problem} dir="auto">
              {problem}
            </p>
          ))}
        </Notice>
      )}
    </div>
  );
}
