/** Bars: one share of a whole, and a whole made of parts. */
import type { VNode } from "preact";

export type Tone = "plain" | "accent" | "good" | "warn" | "bad";

interface BarProps {
  /** 0…1; what is outside is cut. */
  share: number;
  /** Read aloud, such as "words, 62 %". */
  label: string;
  tone?: Tone;
}

export function Bar({ share, label, tone = "accent" }: BarProps): VNode {
  const percent = Math.round(Math.min(1, Math.max(0, share)) * 100);
  return (
    <div class={`bar tone-${tone}`} role="img" aria-label={label}>
      <span style={{ width: `${percent}%` }} />
    </div>
  );
}
