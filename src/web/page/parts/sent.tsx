/** Text exactly as it is sent or kept. Every line finds its own direction, so that one in Arabic does not turn the next. */
import type { VNode } from "preact";

export function Sent({ text, label }: { text: string; label: string }): VNode {
  const lines = text.split("\n");
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard
    <section class="sent" aria-label={label} tabIndex={0}>
      <pre>
        {lines.map((line, at) => (
          <span key={`${at}`} class="line" dir="auto">
            {at === lines.length - 1 ? line : `${line}\n`}
          </span>
        ))}
      </pre>
    </section>
  );
}
