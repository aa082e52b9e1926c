/** MEMORY.md in step with the memories: every memory a line, hand-written lines kept, pointers to nothing out; undoable. */

import { applyChange, type Directory, previewPages, withDirectory } from "../store/store.ts";

export interface RebuiltIndex {
  /** What was added, removed and moved, in words. */
  notices: string[];
  /** The journal entry to give to undo; null when nothing changed. */
  undo: string | null;
}

export async function rebuildIndex(directory: Directory): Promise<RebuiltIndex> {
  return withDirectory(directory, (directory) => {
    const preview = previewPages(directory, { changes: [], rebuild: true });
    if (!preview.isChange) return { notices: preview.notices, undo: null };
    const { entry, notices } = applyChange(directory, {
      action: "index",
      reason: "rebuilt from the memories",
      writes: new Map(),
      rebuild: true,
    });
    return { notices, undo: entry.id };
  });
}
