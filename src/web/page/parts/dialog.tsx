/** A question in the way of everything else: the browser's own dialog, so that focus and Esc behave. */
import type { ComponentChildren, VNode } from "preact";
import { useEffect, useId, useRef, useState } from "preact/hooks";
import { makeStore, useStore } from "../store.ts";
import { Button } from "./button.tsx";

interface Props {
  title: string;
  onClose: () => void;
  children?: ComponentChildren;
  /** Buttons; the dialog brings none of its own. */
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

export interface Question {
  title: string;
  text?: string;
  /** What the button says that goes ahead. */
  yes: string;
  no?: string;
  isDanger?: boolean;
  /** Asks for a line of text too. */
  field?: { label: string; value?: string; isRequired?: boolean };
}

interface Asked extends Question {
  answer: (given: string | null) => void;
}

const asked = makeStore<Asked | null>(null);

/** The text given, or "" where none was asked for; null where the person said no. */
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

/** Stands once in the page and shows what `ask` asks. */
export function Questions(): VNode | null {
  const question = useStore(asked);
  return question === null ? null : <QuestionDialog key={question.title} question={question} />;
}

function QuestionDialog({ question }: { question: Asked }): VNode {
  const [text, setText] = useState(question.field?.value ?? "");
  const id = useId();
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
        <p class="field">
          <label for={id}>{question.field.label}</label>
          <input
            id={id}
            type="text"
            dir="auto"
            autocomplete="off"
            value={text}
            onInput={(event) => setText(event.currentTarget.value)}
            onKeyDown={(event) => {
              if (event.key === "Enter" && isReady && !event.isComposing) question.answer(text.trim());
            }}
          />
        </p>
      )}
    </Dialog>
  );
}
