/** Questions that block everything else: the browser's own dialog, so that focus and Esc behave. */
import type { ComponentChildren, VNode } from "preact";
import { useEffect, useId, useRef, useState } from "preact/hooks";
import { guardRoute } from "../router.ts";
import { makeStore, useStore } from "../store.ts";
import { Button, TextField } from "./basics.tsx";

interface Props {
  title: string;
  onClose: () => void;
  children?: ComponentChildren;
  /** Buttons; the dialog has none of its own. */
  actions: ComponentChildren;
}

export function Dialog({ title, onClose, children, actions }: Props): VNode {
  const element = useRef<HTMLDialogElement>(null);
  const id = useId();
  useEffect(() => {
    const before = document.activeElement;
    element.current?.showModal();
    return () => {
      if (before instanceof HTMLElement) before.focus();
    };
  }, []);
  return (
    <dialog
      ref={element}
      class="dialog"
      aria-labelledby={id}
      onCancel={(event) => {
        event.preventDefault();
        onClose();
      }}
    >
      <h2 id={id}>{title}</h2>
      {children}
      <div class="actions">{actions}</div>
    </dialog>
  );
}

interface Question {
  title: string;
  text?: string;
  /** On the button that confirms. */
  yes: string;
  no?: string;
  isDanger?: boolean;
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
  const [text, setText] = useState(question.field?.value ?? "");
  const isReady = question.field?.isRequired !== true || text.trim() !== "";
  return (
    <Dialog
      title={question.title}
      onClose={() => question.answer(null)}
      actions={
        <>
          <Button kind="quiet" onClick={() => question.answer(null)}>
            {question.no ?? "Cancel"}
          </Button>
          <Button
            kind={question.isDanger ? "danger" : "primary"}
            isDisabled={!isReady}
            onClick={() => question.answer(text.trim())}
          >
            {question.yes}
          </Button>
        </>
      }
    >
      {question.text === undefined ? null : <p>{question.text}</p>}
      {question.field === undefined ? null : (
        <TextField
          label={question.field.label}
          autocomplete="off"
          value={text}
          onInput={setText}
          onKeyDown={(event) => {
            if (event.key === "Enter" && isReady && !event.isComposing) question.answer(text.trim());
          }}
        />
      )}
    </Dialog>
  );
}

/** Asks before unsaved text is left; returns a function that removes the guard. */
export function useGuard(isDirty: boolean): () => void {
  const needed = useRef(isDirty);
  needed.current = isDirty;
  const isOver = useRef(false);
  useEffect(() => {
    const isNeeded = () => needed.current && !isOver.current;
    const mayLeave = async () => {
      const text = "Your changes are not saved. This tab keeps them: edit this memory again to continue.";
      return (await ask({ title: "Leave without saving?", text, yes: "Leave", no: "Stay" })) !== null;
    };
    const unload = (event: BeforeUnloadEvent) => {
      if (isNeeded()) event.preventDefault();
    };
    window.addEventListener("beforeunload", unload);
    const free = guardRoute({ isNeeded, mayLeave });
    return () => {
      window.removeEventListener("beforeunload", unload);
      free();
    };
  }, []);
  return () => {
    isOver.current = true;
  };
}
