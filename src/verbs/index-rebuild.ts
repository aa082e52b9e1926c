/** Brings MEMORY.md back from the memories: every memory a line, hand-written lines kept, dead pointers out. */

import { type Directory, type IndexSync, syncIndex, withDirectory } from "../store/store.ts";

export async function rebuildIndex(directory: Directory): Promise<IndexSync> {
  return withDirectory(directory, (pinned) => syncIndex(pinned, { edits: [], rebuild: true }));
}
