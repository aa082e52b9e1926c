/** Inputs and sentences that several verbs share. */

import { ageInWords, MEMORY_TYPES, type Row } from "../store/store.ts";
import { choice, dim, flag, notes, type Reader, type Said, type Span, text } from "../verb.ts";
import type { SaveResult } from "../verbs/save.ts";

export const TYPE = choice(MEMORY_TYPES, "user, feedback, project or reference", "TYPE");
export const REDACT = flag("mask secrets instead of refusing");
export const REASON = text("a note for the journal");
export const NAME = text("a memory's name, file name, or file name without .md", "NAME");

export function saySaved({ action, file, undo, notices }: SaveResult, { call }: Pick<Reader, "call">): Said {
  return [[`${action} ${file}`, ...undoHint(undo, call)], ...notes(notices)];
}

export function undoHint(undo: string | null, call: Reader["call"]): Span[] {
  return undo === null ? [] : [dim(`   (${call(`undo ${undo}`)})`)];
}

/** `[type] name — description`. A type that the file does not state is not shown. */
export function titleOf({ type, typeExplicit, name, description }: Row, weight: (name: string) => Span): Span[] {
  const isSaid = description === "" || description.replace(/[.!]$/, "") === name;
  return [typeExplicit ? `[${type}] ` : "", weight(name), isSaid ? "" : ` — ${description}`];
}

export function ageOf({ ageDays }: { ageDays: number }): string {
  return ageInWords(ageDays);
}
