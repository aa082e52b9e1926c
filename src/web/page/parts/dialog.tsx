/** Questions that block everything else: the browser's own dialog, so that focus and Esc behave. */
import type { ComponentChildren, VNode } from "preact";
import { useId, useLayoutEffect, useRef, useState } from "preact/hooks";
import { guardRoute } from "../router.ts";
import { makeStore, useStore } from "../store.ts";
import { Button, Field } from "./basics.tsx";

interface Props {
  title: string;
  isWide?: boolean;
  onClose: () => void;
  children?: ComponentChildren;
  /** Buttons; the dialog has none of its own. */
  actions: ComponentChildren;
}

export function Dialog({ title, isWide = false, onClose, children, actions }: Props): VNode {
  const id = useId();
  const modal = useModal(onClose);
  return (
    <dialog {...modal} class={`dialog stack${isWide ? " dialog-wide" : ""}`} aria-labelledby={id}>
      <h2 id={id}>{title}</h2>
      {children}
      <div class="row">{actions}</div>
    </dialog>
  );
}

/** What makes a dialog block the rest of the page from its first moment: what is typed next belongs in it. */
export function useModal(onClose: () => void) {
  const element = useRef<HTMLDialogElement>(null);
  useLayoutEffect(() => {
    const before = document.activeElement;
    element.current?.showModal();
    return () => {
      // While it is open nothing behind it can have the focus.
      element.current?.close();
      if (before instanceof HTMLElement) before.focus();
    };
  }, []);
  const onCancel = (event: Event) => {
    event.preventDefault();
    onClose();
  };
  return { ref: element, onCancel };
}

interface Question {
  title: string;
  text?: string;
  /** On the button that confirms. */
  yes: string;
  no?: string;
  /** A line of text to fill in. */
  field?: { label: string; value?: string; isRequired?: boolean };
}

interface Asked extends Question {
  answer: (given: string | null) => void;
}

const asked = makeStore<Asked | null>(null);

/** The text that was entered, or "" if none was requested; null if the person cancelled. */
export function ask(question: Question): Promise<string | null> {
  asked.get()?.answer(null);
  return new Promise((resolve) => {
    asked.set({
      ...question,
      answer: (given) => {
        asked.set(null);
        resolve(given);
      },
    });
  });
}

/** Is in the page once and shows what `ask` asks. */
export function Questions(): VNode | null {
  const question = useStore(asked);
  return question === null ? null : <QuestionDialog key={question.title} question={question} />;
}

function QuestionDialog({ question }: { question: Asked }): VNode {
  const { title, text: says, yes, no = "Cancel", field, answer } = question;
  const [text, setText] = useState(field?.value ?? "");
  const isReady = field?.isRequired !== true || text.trim() !== "";
  const cancel = () => answer(null);
  const confirm = () => answer(text.trim());
  return (
    <Dialog
      title={title}
      onClose={cancel}
      actions={
        <>
          <Button kind="quiet" text={no} onClick={cancel} />
          <Button kind="primary" text={yes} disabled={!isReady} onClick={confirm} />
        </>
      }
    >
      {says === undefined ? null : <p>{says}</p>}
      {field === undefined ? null : (
        <Field
          label={field.label}
          autocomplete="off"
          value={text}
          onInput={setText}
          onKeyDown={(event) => {
            if (event.key !== "Enter" || !isReady || event.isComposing) return;
            // The focus goes back at once: the button there must not take this key for its own.
            event.preventDefault();
            confirm();
          }}
        />
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
