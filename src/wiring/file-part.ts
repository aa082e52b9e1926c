/** A file that is ours as a whole, known by its first lines. */

import { MemdirError } from "../errors.ts";

export interface FilePart {
  kind: "file";
  file: string;
  why: string;
  text: string;
  /** Stands in every version of it. */
  mark: string;
}

export function addWhole(text: string | null, part: FilePart): string {
  if (text !== null && text.trim() !== "" && !text.includes(part.mark)) {
    throw new MemdirError("broken", `${part.file} is not memdir's; move it away, as memdir needs this name`);
  }
  return part.text;
}

/** What somebody changed is not ours to throw away. */
export function removeWhole(text: string, part: FilePart): string | null {
  if (text === part.text) return null;
  if (!text.includes(part.mark)) return text;
  throw new MemdirError("broken", `${part.file} was changed by hand; look at it and remove it yourself`);
}
