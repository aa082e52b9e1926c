/** Unsaved text: kept for this tab so that a reload loses nothing, and merged with changes made in the meantime. */
import { merge3 } from "../../../text/diff.ts";

export interface Draft {
  /** The file's text when editing began. */
  base: string;
  /** As the text field has it, with "\n" line endings only. */
  text: string;
}

/** The part of the browser's storage that drafts need. */
export type DraftStore = Pick<Storage, "getItem" | "setItem" | "removeItem">;

export function findDraft(store: DraftStore, place: string): Draft | null {
  try {
    const kept = JSON.parse(store.getItem(keyOf(place)) ?? "null") as Draft | null;
    return typeof kept?.base === "string" && typeof kept.text === "string" ? kept : null;
  } catch {
    return null;
  }
}

export function keepDraft(store: DraftStore, place: string, draft: Draft): void {
  try {
    if (draft.text === toField(draft.base)) dropDraft(store, place);
    else store.setItem(keyOf(place), JSON.stringify(draft));
  } catch {
    // The browser's storage is full: the text is still in the field, and leaving asks first.
  }
}

export function dropDraft(store: DraftStore, place: string): void {
  store.removeItem(keyOf(place));
}

/** The place is a project's folder and the memory in it: another project has a memory of the same name. */
function keyOf(place: string): string {
  return `memdir-draft ${place}`;
}

/** A text field has only one kind of line ending. */
export function toField(text: string): string {
  return text.replace(/\r\n?/g, "\n");
}

/** Restores the file's own line endings: an edit of one line must not change all. */
export function toFile({ base, text }: Draft): string {
  if (text === toField(base)) return base;
  const isWindows = base.includes("\r\n") && !/[^\r]\n/.test(base);
  return isWindows ? text.replaceAll("\n", "\r\n") : text;
}

/** Merging takes lines times lines: a memory is a page, and of something far longer mine is taken as a whole. */
const MOST_CELLS = 4_000_000;

/**
 * My changes on top of theirs, against the text that both began with; all three with "\n" at the ends of lines only.
 * `overlaps` counts the places that both changed: mine are kept there, and the review shows what of theirs goes.
 */
export function layOver(base: string, theirs: string, mine: string): { text: string; overlaps: number } {
  const [from, left, right] = [base, theirs, mine].map((text) => text.split("\n")) as [string[], string[], string[]];
  if (from.length * Math.max(left.length, right.length) > MOST_CELLS) return { text: mine, overlaps: 1 };
  const { lines, conflicts } = merge3(from, right, left);
  return { text: lines.join("\n"), overlaps: conflicts };
}
