/** Brings MEMORY.md back from the memories: every memory a line, hand-written lines kept, dead pointers out. */

import { withDirectory } from "./change.ts";
import type { Directory } from "./directory.ts";
import { type IndexSync, syncIndex } from "./index-sync.ts";

export async function rebuildIndex(directory: Directory): Promise<IndexSync> {
  return withDirectory(directory, (pinned) => syncIndex(pinned, { edits: [], rebuild: true }));
}
