/** Icons of one line weight, drawn on a grid of 16. */
import type { VNode } from "preact";

const PATHS = {
  home: "M2.5 7.5 8 2.8l5.5 4.7v5.7H9.8V9.6H6.2v3.6H2.5z",
  review: "M2.5 9.5h3l1 2h3l1-2h3M2.5 9.5v3.7h11V9.5M2.5 9.5l2-6.7h7l2 6.7",
  memories: "M3.5 2.5h9v11h-9zM6 5.5h4M6 8h4M6 10.5h2.5",
  recall: "M7 2.5a4.5 4.5 0 1 0 0 9 4.5 4.5 0 0 0 0-9zM10.3 10.3l3.2 3.2",
  activity: "M1.8 8.5h2.7l2-5.5 3 10 2-4.5h2.7",
  settings: "M2.5 4.5h6.2M11.8 4.5h1.7M2.5 11.5h1.7M7.3 11.5h6.2M10.2 3v3M5.8 10v3",
  command: "M3 4.5 6.5 8 3 11.5M8 12h5",
} as const;

export type IconName = keyof typeof PATHS;

export function Icon({ name }: { name: IconName }): VNode {
  return (
    <svg class="icon" viewBox="0 0 16 16" aria-hidden="true">
      <path d={PATHS[name]} />
    </svg>
  );
}
