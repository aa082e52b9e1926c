/** What the page says: a box within a view, and short messages at the edge that go by themselves. */
import type { ComponentChildren, VNode } from "preact";
import type { Failure } from "../remote.ts";
import { makeStore, useStore } from "../store.ts";
import type { Tone } from "./bar.tsx";
import { Button } from "./button.tsx";
import { STAYS_MS, useLinger } from "./linger.ts";

export function Notice({ tone = "plain", children }: { tone?: Tone; children: ComponentChildren }): VNode {
  return (
    <div class={`notice tone-${tone}`} role={tone === "bad" ? "alert" : undefined}>
      {children}
    </div>
  );
}

interface Message {
  id: number;
  text: string;
  tone: Tone;
  action: { title: string; run: () => void } | null;
}

/** What failed is read twice, and perhaps copied. */
const FAILURE_STAYS_MS = 30_000;
/** More would cover what they speak of. */
const MOST = 2;

const messages = makeStore<Message[]>([]);
let nextId = 0;

/** Shows a message at the edge and reads it aloud; a failure stays longer. */
export function tell(text: string, tone: Tone = "plain", action: Message["action"] = null): void {
  const id = nextId++;
  // The same once more is the same message.
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
  const held = useLinger(tone === "bad" ? FAILURE_STAYS_MS : STAYS_MS, () => close(id));
  const act = () => {
    close(id);
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
      <Button kind="quiet" isSmall label="Close this message" onClick={() => close(id)}>
        ×
      </Button>
    </div>
  );
}

function close(id: number): void {
  messages.set(messages.get().filter((message) => message.id !== id));
}
