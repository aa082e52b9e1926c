/** The mark of a memory that was kept because it could not be merged with another: which one it competes with. */

import type { Memory } from "./memory.ts";

export const CONFLICT_FIELD = "conflict_with";

/** Two people said different things: which one holds is for neither of them to find decided. */
export function isConflictCopy({ metadata }: Pick<Memory, "metadata">): boolean {
  return metadata[CONFLICT_FIELD] !== undefined;
}
