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
  map: "M4 4.2a1.6 1.6 0 1 0 .01 0zM12 5.7a1.6 1.6 0 1 0 .01 0zM7 10.8a1.6 1.6 0 1 0 .01 0zM5.5 5.6l5 1.5M5 7.2l1.5 3.9M11 8.4l-2.7 3",
  keys: "M2 4.5h12v7H2zM4.5 7h.01M7 7h.01M9.5 7h.01M11.8 7h.01M5 9.3h6",
} as const;

export type IconName = keyof typeof PATHS;

export function Icon({ name }: { name: IconName }): VNode {
  return (
    <svg class="icon" viewBox="0 0 16 16" aria-hidden="true">
      <path d={PATHS[name]} />
    </svg>
  );
}
