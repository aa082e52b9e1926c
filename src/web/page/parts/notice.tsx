/** Notices: a box within a view, and short messages in the corner that disappear on their own. */
import type { ComponentChildren, VNode } from "preact";
import type { Answer, Failure } from "../remote.ts";
import { makeStore, useStore } from "../store.ts";
import { Button, type Tone } from "./basics.tsx";

export function Notice({ tone = "plain", children }: { tone?: Tone; children: ComponentChildren }): VNode {
  return <div class={`notice stack-xs tone-${tone}`} role={tone === "bad" ? "alert" : undefined} children={children} />;
}

/** One paragraph each; nothing if there are none. */
export function Lines({ lines, tone = "warn" }: { lines: readonly string[]; tone?: Tone }): VNode | null {
  return lines.length === 0 ? null : (
    <Notice tone={tone}>
      {lines.map((line) => (
        <p key={line} dir="auto" children={line} />
      ))}
    </Notice>
  );
}

export function Failed(props: { failure: { message: string } | null; children?: ComponentChildren }): VNode | null {
  return props.failure === null ? null : (
    <Notice tone="bad">
      <p>{props.failure.message}</p>
      {props.children}
    </Notice>
  );
}

interface Message {
  id: number;
  text: string;
  tone: Tone;
  action: Action | null;
}

interface Action {
  title: string;
  run: () => void;
  /** The change that it undoes: once that is undone, or another came after it, the message goes. */
  entry?: string;
}

/** Long enough to read two lines and reach the button. */
const STAYS_MS = 9000;
/** An error takes longer to read, and may be copied. */
const FAILURE_STAYS_MS = 30_000;
/** More would cover what they are about. */
const MOST = 2;

const messages = makeStore<Message[]>([]);
let nextId = 0;

/** Shows a message in the corner and reads it aloud; an error stays longer. */
export function tell(text: string, tone: Tone = "plain", action: Action | null = null): void {
  // A repeated message replaces the earlier one, and only the last change is offered to be undone.
  const others = messages
    .get()
    .filter((message) => message.text !== text && !(action !== null && message.action?.entry !== undefined));
  messages.set([...others.slice(1 - MOST), { id: nextId++, text, tone, action }]);
}

/** A change was undone elsewhere: its message no longer applies. */
export function endOffer(entry: string): void {
  messages.set(messages.get().filter((message) => message.action?.entry !== entry));
}

export function tellFailure(failure: Failure): void {
  if (failure.problem !== "aborted") tell(failure.message, "bad");
}

/** The answer to a request; null if it failed, which the person has been told. */
export async function told<T>(asked: Promise<Answer<T>>): Promise<T | null> {
  const { value, failure } = await asked;
  if (failure !== null) tellFailure(failure);
  return value;
}

export async function copy(text: string, says: string, refuse: () => void): Promise<void> {
  try {
    await navigator.clipboard.writeText(text);
    tell(says, "good");
  } catch {
    refuse();
  }
}

export function Messages(): VNode {
  return (
    <div class="stack-xs" role="status" aria-live="polite" aria-label="Messages">
      {useStore(messages).map((message) => (
        <MessageLine key={message.id} message={message} />
      ))}
    </div>
  );
}

function MessageLine({ message }: { message: Message }): VNode {
  const { text, tone, action } = message;
  const close = () => messages.set(messages.get().filter((other) => other !== message));
  const act = () => {
    close();
    action?.run();
  };
  return (
    <Passing tone={tone} isFinal onEnd={close} ms={tone === "bad" ? FAILURE_STAYS_MS : STAYS_MS}>
      <p class="grow" dir="auto" children={text} />
      {action === null ? null : <Button isSmall text={action.title} onClick={act} />}
      <Button kind="quiet" isSmall text="×" aria-label="Close this message" onClick={close} />
    </Passing>
  );
}

interface PassingProps {
  tone: Tone;
  /** Whether its time runs. */
  isFinal: boolean;
  ms?: number;
  onEnd: () => void;
  children: ComponentChildren;
}

/** A box in the corner that goes after a while, but not while the pointer or the focus is on it: the style sheet holds its time. */
export function Passing({ tone, isFinal, ms = STAYS_MS, onEnd, children }: PassingProps): VNode {
  const looks = `message row tone-${tone}${isFinal ? " is-final" : ""}`;
  return <div class={looks} style={{ "--stays": `${ms}ms` }} onAnimationEnd={onEnd} children={children} />;
}
