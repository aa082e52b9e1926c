/** An edit of MEMORY.md on the model's behalf: one journal entry, and memories whose lines it dropped keep them. */

import {
  applyChange,
  type Directory,
  findName,
  INDEX_FILE,
  linkedFiles,
  parseIndexLine,
  restoreRemoved,
  splitLines,
} from "../store/store.ts";

/** `edit` is asked again if another program wrote the index meanwhile. The lock must be held. */
export function changeIndex(directory: Directory, edit: (index: string) => string): void {
  applyChange(directory, {
    action: "edit",
    reason: INDEX_FILE,
    writes: new Map(),
    keepPages: true,
    index: { edits: [], arrange: (index) => withLinesOf(directory, index, edit(index)) },
  });
}

/** The text with the lines that `before` had and it has not, as long as their memories exist. */
function withLinesOf(directory: Directory, before: string, text: string): string {
  const linked = linkedFiles(text);
  const lines = splitLines(before);
  const lost = lines.flatMap((line, at) => {
    const file = parseIndexLine(line)?.file;
    if (file === undefined || linked.has(file) || findName(directory, file) === null) return [];
    return [{ text: line, at, after: at === 0 ? null : (lines[at - 1] as string).trimEnd() }];
  });
  return restoreRemoved(splitLines(text), lost);
}
