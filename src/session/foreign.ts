/** What the readers of other agents' sessions share. */

import type { ResumedSession } from "./session-reader.ts";
import { isRecord } from "./transcript-line.ts";

/** The part of a session that learning needs. */
export type HeardSession = Pick<ResumedSession, "id" | "path" | "messages" | "prompts" | "cwd" | "problems">;

/** What the beginning of a session's file says. */
export interface Head {
  id: string;
  cwd: string | null;
  /** Its prompts come from an agent, not a person; Claude Code does not say. */
  isSubAgent: boolean;
}

/** An id will be printed and written: anything but a plain name is rejected. */
export function plainId(given: unknown, otherwise: string): string {
  return typeof given === "string" && /^[\w.-]{1,128}$/.test(given) ? given : otherwise;
}

/** Whether a program says it in the user's name. A text wrapped in a tag comes from a program, or is a pasted document. */
export function isInjected(text: string, known: RegExp): boolean {
  return known.test(text.trim()) || /^<([a-z][\w-]*)(?:\s[^>]*)?>[\s\S]*<\/\1>$/i.test(text.trim());
}

/** Thinking is left out. */
export function textsOf(content: unknown): string[] {
  return partsOf(content).flatMap(({ text, thought }) =>
    typeof text === "string" && text !== "" && !thought ? [text] : [],
  );
}

/** A text, a part or a list of either. */
export function partsOf(content: unknown): Record<string, unknown>[] {
  const list = Array.isArray(content) ? content : [content];
  return list.flatMap((part) => (typeof part === "string" ? [{ text: part }] : isRecord(part) ? [part] : []));
}
