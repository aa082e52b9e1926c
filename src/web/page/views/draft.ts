/** What was typed and not saved: kept for this tab, so that a reload loses nothing. */
import type { Ref } from "../../api.ts";

export interface Draft {
  /** What the file held when the editing began. */
  base: string;
  /** As the text field holds it: its lines end with "\n" only. */
  text: string;
}

/** What the browser keeps for a tab. */
export interface DraftStore {
  getItem(key: string): string | null;
  setItem(key: string, value: string): void;
  removeItem(key: string): void;
}

export function findDraft(store: DraftStore, ref: Ref): Draft | null {
  try {
    const kept = JSON.parse(store.getItem(keyOf(ref)) ?? "null") as Draft | null;
    return typeof kept?.base === "string" && typeof kept.text === "string" ? kept : null;
  } catch {
    return null;
  }
}

export function keepDraft(store: DraftStore, ref: Ref, draft: Draft): void {
  try {
    if (draft.text === toField(draft.base)) dropDraft(store, ref);
    else store.setItem(keyOf(ref), JSON.stringify(draft));
  } catch {
    // The store is full: the text still stands in the field, and leaving asks.
  }
}

export function dropDraft(store: DraftStore, ref: Ref): void {
  store.removeItem(keyOf(ref));
}

/** A text field knows one kind of line end. */
export function toField(text: string): string {
  return text.replace(/\r\n?/g, "\n");
}

/** Back to the file's own line ends: an edit of one line must not change all. */
export function toFile({ base, text }: Draft): string {
  if (text === toField(base)) return base;
  const isWindows = base.includes("\r\n") && !/[^\r]\n/.test(base);
  return isWindows ? text.replaceAll("\n", "\r\n") : text;
}

function keyOf({ directory, file }: Ref): string {
  return `memdir-draft ${directory}/${file}`;
}
