/** What the page says: a box within a view, and short messages at the edge that go by themselves. */
import type { ComponentChildren, VNode } from "preact";
import type { Failure } from "../remote.ts";
import { makeStore, useStore } from "../store.ts";
import type { Tone } from "./bar.tsx";
import { Button } from "./button.tsx";

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

/** Long enough to read two lines and reach the button. */
const STAYS_MS = 9000;

const messages = makeStore<Message[]>([]);
let nextId = 0;

/** Shows a message at the edge and reads it aloud; a failure stays until it is closed. */
export function tell(text: string, tone: Tone = "plain", action: Message["action"] = null): void {
  const id = nextId++;
  messages.set([...messages.get().slice(-3), { id, text, tone, action }]);
  if (tone !== "bad") setTimeout(() => close(id), STAYS_MS);
}

export function tellFailure(failure: Failure): void {
  if (failure.problem !== "aborted") tell(failure.message, "bad");
}

export function Messages(): VNode {
  return (
    <div class="messages" role="status" aria-live="polite" aria-label="Messages">
      {useStore(messages).map((message) => (
        <div key={message.id} class={`message tone-${message.tone}`}>
          <p dir="auto">{message.text}</p>
          {message.action === null ? null : (
            <Button
              isSmall
              onClick={() => {
                close(message.id);
                message.action?.run();
              }}
            >
              {message.action.title}
            </Button>
          )}
          <Button kind="quiet" isSmall label="Close this message" onClick={() => close(message.id)}>
            ×
          </Button>
        </div>
      ))}
    </div>
  );
}

function close(id: number): void {
  messages.set(messages.get().filter((message) => message.id !== id));
}
