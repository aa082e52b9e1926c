/** A link to a memory's own view. */
import type { VNode } from "preact";
import type { MemoryTitle, Ref } from "../../api.ts";
import { formatRoute } from "../router.ts";
import { showName } from "./name.ts";

export function MemoryLink({ memory }: { memory: MemoryTitle }): VNode {
  return (
    <a class="memory-link" href={formatMemoryRoute(memory)} dir="auto">
      {showName(memory.name)}
    </a>
  );
}

export function formatMemoryRoute({ directory, file }: Ref): string {
  return formatRoute("memory", { directory, file });
}
