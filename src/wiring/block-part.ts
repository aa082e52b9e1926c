/** A few lines of ours in a Markdown file, between two marks that no reader sees. */

import { MemdirError } from "../errors.ts";
import { eolOf, splice } from "./json-text.ts";

export interface BlockPart {
  kind: "block";
  file: string;
  why: string;
  text: string;
}

/** Others than those of `memdir export`, which may stand in the same file. */
const BEGIN = "<!-- memdir-init:begin -->";
const END = "<!-- memdir-init:end -->";

export function hasBlock(text: string): boolean {
  return text.includes(BEGIN);
}

export function addBlock(text: string | null, part: BlockPart): string {
  const before = text ?? "";
  const eol = eolOf(before);
  const block = `${BEGIN}\n${part.text.trim()}\n${END}`.replaceAll("\n", eol);
  const range = findBlock(before, part.file);
  if (range) return splice(before, range.from, range.to, block);
  if (before === "") return `${block}${eol}`;
  return `${before}${before.endsWith("\n") ? "" : eol}${eol}${block}${eol}`;
}

/** With one blank line before it: the one that was put there. */
export function removeBlock(text: string, part: BlockPart): string {
  const range = findBlock(text, part.file);
  if (!range) return text;
  const before = text.slice(0, range.from).replace(/(^|\n)\r?\n$/, "$1");
  return before + text.slice(range.to).replace(/^\r?\n/, "");
}

function findBlock(text: string, file: string): { from: number; to: number } | null {
  const from = text.indexOf(BEGIN);
  const end = text.indexOf(END);
  if (from < 0 && end < 0) return null;
  if (from < 0 || end < from || text.indexOf(BEGIN, from + 1) >= 0 || text.indexOf(END, end + 1) >= 0) {
    throw new MemdirError(
      "broken",
      `${file} has memdir's marks (${BEGIN}, ${END}) not as one pair; mend or remove them`,
    );
  }
  return { from, to: end + END.length };
}
