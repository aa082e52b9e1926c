/** Notices: a box within a view, and short messages in the corner that disappear on their own. */
import type { ComponentChildren, VNode } from "preact";
import type { Failure } from "../remote.ts";
import { makeStore, useStore } from "../store.ts";
import { Button, type Tone } from "./basics.tsx";
import { STAYS_MS, useExpiry } from "./hooks.ts";

export function Notice({ tone = "plain", children }: { tone?: Tone; children: ComponentChildren }): VNode {
  return (
    <div class={`notice tone-${tone}`} role={tone === "bad" ? "alert" : undefined}>
      {children}
    </div>
  );
}

/** One paragraph each; nothing if there are none. */
export function Lines({ lines, tone = "warn" }: { lines: readonly string[]; tone?: Tone }): VNode | null {
  return lines.length === 0 ? null : (
    <Notice tone={tone}>
      {lines.map((line) => (
        <p key={line} dir="auto">
          {line}
        </p>
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
  action: { title: string; run: () => void } | null;
}

/** An error takes longer to read, and may be copied. */
const FAILURE_STAYS_MS = 30_000;
/** More would cover what they are about. */
const MOST = 2;

const messages = makeStore<Message[]>([]);
let nextId = 0;

/** Shows a message in the corner and reads it aloud; an error stays longer. */
export function tell(text: string, tone: Tone = "plain", action: Message["action"] = null): void {
  const id = nextId++;
  // A repeated message replaces the earlier one.
  const others = messages.get().filter((message) => message.text !== text);
  messages.set([...others.slice(1 - MOST), { id, text, tone, action }]);
}

export function tellFailure(failure: Failure): void {
  if (failure.problem !== "aborted") tell(failure.message, "bad");
}

export function Messages(): VNode {
  return (
    <div class="messages" role="status" aria-live="polite" aria-label="Messages">
      {useStore(messages).map((message) => (
        <MessageLine key={message.id} message={message} />
      ))}
    </div>
  );
}

function MessageLine({ message: { id, text, tone, action } }: { message: Message }): VNode {
  const close = () => messages.set(messages.get().filter((message) => message.id !== id));
  const held = useExpiry(tone === "bad" ? FAILURE_STAYS_MS : STAYS_MS, close);
  const act = () => {
    close();
    action?.run();
  };
  return (
    <div class={`message tone-${tone}`} {...held}>
      <p dir="auto">{text}</p>
      {action === null ? null : (
        <Button isSmall onClick={act}>
          {action.title}
        </Button>
      )}
      <Button kind="quiet" isSmall label="Close this message" onClick={close}>
        ×
      </Button>
    </div>
  );
}
