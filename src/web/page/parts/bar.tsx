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

export interface BarPart {
  label: string;
  value: number;
  /** Shown in the legend behind the label, such as "4.1 KB · 1,020 tokens". */
  says?: string;
}

/** Colours go round after six parts. */
const COLOURS = 6;

export function StackedBar({ parts, label }: { parts: BarPart[]; label: string }): VNode {
  const total = parts.reduce((sum, part) => sum + part.value, 0);
  return (
    <div class="stacked">
      <div class="stacked-bar" role="img" aria-label={label}>
        {parts.map((part, at) => (
          <span
            key={part.label}
            class={`chart-${(at % COLOURS) + 1}`}
            style={{ width: `${total === 0 ? 0 : (part.value / total) * 100}%` }}
            title={`${part.label} ${part.says ?? part.value}`}
          />
        ))}
      </div>
      <ul class="legend">
        {parts.map((part, at) => (
          <li key={part.label}>
            <span class={`swatch chart-${(at % COLOURS) + 1}`} aria-hidden="true" />
            <span class="legend-label">{part.label}</span> <span class="soft">{part.says ?? part.value}</span>
          </li>
        ))}
      </ul>
    </div>
  );
}
