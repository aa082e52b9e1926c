/** Memories that came into question for a prompt: how sure each is against the threshold, and the reasons as bars. */
import type { VNode } from "preact";
import { useState } from "preact/hooks";
import type { InspectedMemory, Reason } from "../../api.ts";
import { Bar } from "../parts/bar.tsx";
import { Button } from "../parts/button.tsx";
import { MemoryLink } from "../parts/memory-link.tsx";
import { Tag, TypeTag } from "../parts/tag.tsx";

/** Those shown at first; what comes after them came less near. */
const AT_FIRST = 8;

/** Each reason begins with its kind, which stands before it already. */
const PREFIX = /^(words: |meaning: cue |meaning: |links: |age: )/;

interface Props {
  memories: InspectedMemory[];
  threshold: number;
  /** The largest confidence of all: it fills its bar. */
  most: number;
}

export function Hits({ memories, threshold, most }: Props): VNode {
  const [isAll, setAll] = useState(false);
  const shown = isAll ? memories : memories.slice(0, AT_FIRST);
  return (
    <>
      <ol class="hits">
        {shown.map((memory) => (
          <li key={`${memory.directory}/${memory.file}`} class={`hit hit-${memory.outcome}`}>
            <div class="hit-head">
              <h3>
                <MemoryLink memory={memory} />
              </h3>
              <p class="hit-kind">
                <TypeTag type={memory.type} /> <Tag>{memory.scope}</Tag>
              </p>
              <Confidence confidence={memory.confidence} threshold={threshold} most={most} />
            </div>
            <Reasons reasons={memory.reasons} />
          </li>
        ))}
      </ol>
      {shown.length < memories.length ? (
        <Button onClick={() => setAll(true)}>{`Show ${memories.length - shown.length} more`}</Button>
      ) : null}
    </>
  );
}

export function formatShare(share: number): string {
  return share.toFixed(2);
}

/** The bar with a mark where the threshold is. */
function Confidence({ confidence, threshold, most }: Record<"confidence" | "threshold" | "most", number>): VNode {
  const isSure = confidence >= threshold;
  return (
    <div class="confidence">
      <span class="number">{formatShare(confidence)}</span>
      <div class="confidence-bar">
        <Bar
          share={confidence / most}
          label={`confidence ${formatShare(confidence)}, ${isSure ? "over" : "under"} the threshold`}
          tone={isSure ? "accent" : "plain"}
        />
        <span class="mark" style={{ insetInlineStart: `${(threshold / most) * 100}%` }} aria-hidden="true" />
      </div>
    </div>
  );
}

function Reasons({ reasons }: { reasons: Reason[] }): VNode | null {
  if (reasons.length === 0) return null;
  return (
    <dl class="reasons">
      {reasons.map((reason) => (
        <div key={`${reason.what} ${reason.says}`}>
          <dt>{reason.what === "other" ? "note" : reason.what}</dt>
          <dd class="reason-bar">
            {reason.share === null ? null : (
              <Bar share={reason.share} label={`${reason.what} ${formatShare(reason.share)}`} />
            )}
          </dd>
          <dd class="reason-says" dir="auto">
            {reason.says.replace(PREFIX, "")}
          </dd>
        </div>
      ))}
    </dl>
  );
}
