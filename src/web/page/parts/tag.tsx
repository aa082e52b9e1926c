/** A small word in a coloured field: a type, a scope, a verdict. */
import type { ComponentChildren, VNode } from "preact";
import type { Tone } from "./bar.tsx";

interface Props {
  children: ComponentChildren;
  tone?: Tone;
  title?: string;
}

export function Tag({ children, tone = "plain", title }: Props): VNode {
  return (
    <span class={`tag tone-${tone}`} title={title}>
      {children}
    </span>
  );
}

/** Types of memories have a dot of their own colour before the word. */
export function TypeTag({ type }: { type: string }): VNode {
  return (
    <span class="type">
      <span class={`dot type-${type}`} aria-hidden="true" />
      {type}
    </span>
  );
}

/** The tone of a verdict of a memory or of a claim. */
export function toneOf(verdict: string): Tone {
  if (verdict === "holds") return "good";
  if (verdict === "gone" || verdict === "expired") return "bad";
  if (verdict === "moved" || verdict === "doubtful") return "warn";
  return "plain";
}
