/** Which of the four types a statement has that was asked to be kept: by its words. */

import type { MemoryType } from "../store/store.ts";
import { PLACE } from "./said-pointers.ts";

/** Enough to tell; a longer text is not searched to its end. */
const MAX_LOOK = 600;

export function typeOfStatement(text: string): MemoryType {
  const statement = text.slice(0, MAX_LOOK);
  if (REFERENCE.test(statement)) return "reference";
  if (FEEDBACK.test(statement)) return "feedback";
  return USER.test(statement) ? "user" : "project";
}

const REFERENCE = new RegExp(
  String.raw`https?:\/\/|\b(?:tracked|documented|found|lives?|kept|stored|dashboards?|runbooks?|is|are|go(?:es)?)\b.{0,80}\b(?:in|at|on|under|to)\b.{0,40}${PLACE}`,
  "i",
);
const FEEDBACK =
  /^(?:to|not to)\s|\b(?:never|always|don'?t|do not|stop|avoid|prefer to|use\b.{0,80}\b(?:instead|not)|instead of|must|should|please)\b|(?<!\p{L})(?:nie|niemals|immer|nur|kein(?:e[nrs]?)?|bitte|jamais|toujours|siempre|nunca)(?!\p{L})|不要|必须|一定|总是|永远|别|请|必ず|常に|ください|しないで|ないこと|禁止/iu;
const USER = /^(?:i\b|i'm|my\b|me\b|the user\b|ich\b|je\b|j'|mon\b|ma\b|yo\b|mi\b|mein|我|私)/i;
