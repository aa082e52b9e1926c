/** Dialogs that block everything else, one at a time: the browser's own dialog, so that focus and Esc behave. */
import { type ComponentChildren, Fragment, type VNode } from "preact";
import { useId, useLayoutEffect, useRef, useState } from "preact/hooks";
import { guardRoute } from "../router.ts";
import { makeStore, useStore } from "../store.ts";
import { Button, Field, Form } from "./basics.tsx";

/** The dialog that is open; another one takes its place. */
const opened = makeStore<VNode | null>(null);
let count = 0;

export function openDialog(dialog: VNode): void {
  opened.set(<Fragment key={count++}>{dialog}</Fragment>);
}

export function closeDialog(): void {
  opened.set(null);
}

/** Is in the page once. */
export function OpenDialog(): VNode | null {
  return useStore(opened);
}

interface Props {
  title: string;
  isWide?: boolean;
  /** On the button that closes it. */
  no?: string;
  children?: ComponentChildren;
  /** More buttons. */
  actions?: ComponentChildren;
}

export function Dialog({ title, isWide = false, no = "Close", children, actions }: Props): VNode {
  const id = useId();
  return (
    <dialog {...useModal()} class={`dialog stack${isWide ? " dialog-wide" : ""}`} aria-labelledby={id}>
      <h2 id={id}>{title}</h2>
      {children}
      <div class="row">
        <Button kind={actions ? "quiet" : "primary"} text={no} onClick={closeDialog} />
        {actions}
      </div>
    </dialog>
  );
}

/** What makes a dialog block the rest of the page from its first moment: what is typed next belongs in it. */
export function useModal() {
  const element = useRef<HTMLDialogElement>(null);
  useLayoutEffect(() => {
    element.current?.showModal();
    // Closed before it goes, it gives the focus back to what had it.
    return () => element.current?.close();
  }, []);
  const onCancel = (event: Event) => {
    event.preventDefault();
    closeDialog();
  };
  return { ref: element, onCancel };
}

interface Question {
  title: string;
  text?: string;
  /** On the button that confirms. */
  yes: string;
  no?: string;
  /** A line of text that must be filled in. */
  field?: { label: string; value?: string; placeholder?: string };
}

/** The text that was entered, or "" if none was requested; null if the person cancelled or another dialog was opened. */
export function ask(question: Question): Promise<string | null> {
  return new Promise((resolve) => openDialog(<QuestionDialog question={question} onAnswer={resolve} />));
}

function QuestionDialog(props: { question: Question; onAnswer: (given: string | null) => void }): VNode {
  const { title, text: says, yes, no = "Cancel", field } = props.question;
  const [text, setText] = useState(field?.value ?? "");
  const isReady = field === undefined || text.trim() !== "";
  // Before the next paint, or a question that is replaced at once would never be answered.
  useLayoutEffect(() => () => props.onAnswer(null), []);
  const confirm = () => {
    if (!isReady) return;
    props.onAnswer(text.trim());
    closeDialog();
  };
  return (
    <Dialog title={title} no={no} actions={<Button kind="primary" text={yes} disabled={!isReady} onClick={confirm} />}>
      {says === undefined ? null : <p>{says}</p>}
      {field === undefined ? null : (
        <Form onSubmit={confirm}>
          <Field {...field} value={text} onInput={setText} />
        </Form>
      )}
    </Dialog>
  );
}

/** Asks before unsaved text is left; returns what ends that. */
export function useGuard(isDirty: boolean): () => void {
  useLayoutEffect(() => {
    if (!isDirty) return;
    const unload = (event: BeforeUnloadEvent) => event.preventDefault();
    window.addEventListener("beforeunload", unload);
    guardRoute(async () => {
      const text = "Your changes are not saved. This tab keeps them: edit this memory again to continue.";
      return (await ask({ title: "Leave without saving?", text, yes: "Leave", no: "Stay" })) !== null;
    });
    return () => {
      window.removeEventListener("beforeunload", unload);
      guardRoute(null);
    };
  }, [isDirty]);
  return () => guardRoute(null);
}
