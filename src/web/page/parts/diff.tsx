/** A difference, line by line; what was added or removed is said by a sign and not by colour alone. */
import type { VNode } from "preact";
import type { DiffLine } from "../../api.ts";

const SIGNS = { same: " ", added: "+", removed: "−", skipped: " ", file: " " };
const WORDS = { same: "", added: "added: ", removed: "removed: ", skipped: "", file: "" };

interface Props {
  lines: DiffLine[];
  /** Read aloud. */
  label: string;
}

export function Diff({ lines, label }: Props): VNode {
  if (lines.every(({ kind }) => kind !== "added" && kind !== "removed")) return <p class="soft">Nothing differs.</p>;
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard
    <section class="diff" aria-label={label} tabIndex={0}>
      {lines.map((line, at) => (
        <div key={at} class={`diff-line diff-${line.kind}`}>
          <span class="diff-sign" aria-hidden="true">
            {SIGNS[line.kind]}
          </span>
          <span class="hidden">{WORDS[line.kind]}</span>
          <span class="diff-text" dir="auto">
            {line.kind === "skipped" ? `⋯ ${line.text}` : line.text}
          </span>
        </div>
      ))}
    </section>
  );
}
