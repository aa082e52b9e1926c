/** How long ago something was, with the exact time on hover. */
import type { VNode } from "preact";
import { formatAge, formatMoment } from "./format.ts";

export function Age({ at }: { at: string }): VNode {
  const then = new Date(at);
  if (Number.isNaN(then.getTime())) return <span class="age">{at}</span>;
  return (
    <time class="age" dateTime={at} title={formatMoment(at)}>
      {formatAge(Date.now() - then.getTime())}
    </time>
  );
}
