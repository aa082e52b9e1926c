/** A name and a type for what the user wants kept: guesses that they see and can change. */

import type { MemoryType } from "../../memory/type.ts";

/** About the person, a rule for the agent, where something is, else the project. */
export function guessType(text: string): MemoryType {
  if (
    /https?:\/\/|\b(tracked|documented|found|lives?|dashboards?|runbooks?|wiki|channel)\b.*\b(in|at|on)\b/i.test(text)
  )
    return "reference";
  if (/\b(never|always|don'?t|do not|stop|avoid|prefer to|use\b.*\b(instead|not)|instead of|must|should)\b/i.test(text))
    return "feedback";
  if (/^(i\b|i'm|my\b|me\b|we call me|the user\b)/i.test(text)) return "user";
  return "project";
}

/** The first words: enough to be recognised in a list. */
export function nameOf(text: string): string {
  return text
    .split(/\s+/)
    .slice(0, 8)
    .join(" ")
    .replace(/[.,;:!?]+$/, "")
    .slice(0, 80);
}
