/** Two memories made into one, as a single change: the text of one is replaced, the other goes. */

import { MemdirError } from "../errors.ts";

import { checkBase, checkEdit, stamp } from "./edit.ts";
import type { Found } from "./find.ts";
import { type SaveResult, writeMemory } from "./save.ts";

/** The text that two memories become. */
export interface MergeRequest {
  /** The new text of the one that stays, whole. */
  text: string;
  /** What both held when they were read: if one is no longer that, nothing is written. */
  base: { keep: string; other: string };
}

/** One entry in the journal, so that one undo brings both back. */
export async function mergeMemories(keep: Found, other: Found, { text, base }: MergeRequest): Promise<SaveResult> {
  if (keep.directory !== other.directory) {
    throw new MemdirError(
      "usage",
      `${keep.file} and ${other.file} are in different directories (${keep.directory.scope}, ${other.directory.scope}): edit one and forget the other, or promote it first`,
    );
  }
  if (keep.file === other.file) throw new MemdirError("usage", `${keep.file} cannot be merged with itself`);
  const checked = checkEdit(keep.file, base.keep, text, { trust: "user" });
  return keep.directory.change((directory) => {
    checkBase(directory, keep.file, base.keep);
    checkBase(directory, other.file, base.other);
    const stamped = stamp(directory, base.keep, checked.text);
    const reason = `merged with ${other.file}`;
    const merged = writeMemory(directory, keep.file, stamped, { action: "edit", reason }, [other.file]);
    return { ...merged, notices: [...checked.notices, ...merged.notices] };
  });
}
