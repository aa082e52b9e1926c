/** What stands where nothing is: why, and what to do about it; also while an answer is on its way or failed. */
import type { ComponentChildren, VNode } from "preact";
import type { Live } from "../live.ts";
import { Button } from "./button.tsx";
import { Notice } from "./notice.tsx";

export function Empty({ title, children }: { title: string; children?: ComponentChildren }): VNode {
  return (
    <div class="empty">
      <p class="empty-title">{title}</p>
      {children ? <div class="empty-words">{children}</div> : null}
    </div>
  );
}

/** Stands in for a view until its first answer: nothing for a moment, a line then, the failure with a way to try again. */
export function Waiting({ live }: { live: Live<unknown> }): VNode {
  if (live.failure !== null && !live.isLoading)
    return (
      <Notice tone="bad">
        <p>{live.failure.message}</p>
        <Button onClick={live.reload}>Try again</Button>
      </Notice>
    );
  return (
    <p class="waiting" role="status">
      Loading…
    </p>
  );
}
