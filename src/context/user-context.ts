/** What opens a conversation before the user says anything: instructions, the index, and where the work is done. */

import type { TextBlock } from "../model/ask.ts";
import { remind } from "./attachments.ts";

interface UserContext {
  /** As rendered, with or without a fence; may be "". */
  instructions: string;
  /** The part about MEMORY.md; may be "". */
  index: string;
  /** The `<env>` block. */
  environment: string;
  git: string | null;
  /** The date, when the host wants it told; behind everything else, since it is another one tomorrow. */
  today?: string | null;
}

/** Reminders, those that change least first, so that a provider's cache holds as far as it can. Empty ones are left out. */
export function buildUserContext(parts: UserContext): TextBlock[] {
  const today = parts.today?.trim() ? `Today is ${parts.today.trim()}.` : "";
  const place = [parts.environment, parts.git ?? "", today].filter((text) => text.trim() !== "").join("\n\n");
  return [
    { kind: "instructions", text: unfence(parts.instructions) },
    { kind: "memory-index", text: parts.index },
    { kind: "environment", text: place },
  ]
    .filter(({ text }) => text.trim() !== "")
    .map(({ kind, text }) => remind(kind, text));
}

const FENCED = /^<system-reminder>\n([\s\S]*)\n<\/system-reminder>$/;

/** Rendered for a user message they are fenced already, which `remind` would take for an end inside the text. */
function unfence(text: string): string {
  return FENCED.exec(text)?.[1] ?? text;
}
