/** A type that the words contradict: a rule filed under the user, a pointer under the project. Only what is plain to see. */

import type { Memory, MemoryType } from "../store/store.ts";
import type { Remark } from "./remark.ts";
import { findSentences, leadOf } from "./sentences.ts";

/** "Never commits": a habit. "Never commit": an order. */
const ORDER =
  /^(?:please )?(?:(?:never|always) (?!\w+(?:s|ed|ing)\b)[a-z-]+ |(?:do not|don['’]t) (?!know|like|have|want|care)[a-z-]+ |(?:stop|avoid) [a-z]+|use \S.{0,60}\b(?:instead of|rather than|and never|, never|, not)\b)/i;
const PERSON =
  /^(?:the user (?:is|has)|i am|i['’]m|i have) (?:an? (?:[\w-]+ ){0,4}(?:\w+er|\w+or|\w+ist|\w+ian|scientist|engineer|developer|designer|manager|student|lead|analyst|researcher|beginner|expert|veteran)\b|colou?r[- ]blind|new to|\w+ years of|left-handed|dyslexic|deaf)/i;
const SYSTEM =
  "(?:linear|jira|notion|confluence|slack|grafana|datadog|sentry|pagerduty|figma|miro|1password|google (?:drive|docs?|sheets?)|sharepoint|asana|trello|zendesk|looker|tableau|https?:\\/\\/\\S+)";
const POINTER = new RegExp(
  `^[^.!?]{3,80}?\\b(?:is|are|live|lives|goes|go)\\b(?: (?:tracked|documented|kept|filed|stored|found|recorded|posted))? (?:in|at|on|under) (?:the )?${SYSTEM}`,
  "i",
);
const DATED =
  /^(?:the |our )?[^.!?]{3,60}?\b(?:is|are|ends?|starts?|ships?)\b(?: (?:due|planned|frozen|switched off|released|closed|moved))? (?:on|until|by|from) \d{4}-\d\d-\d\d\b/i;
const RULE_WORDS = /\b(?:never|always|don['’]t|do not|must|should|avoid|prefer|use)\b/i;

export function findWrongType({ type, typeExplicit, body }: Memory): Remark[] {
  const [first] = typeExplicit ? findSentences(leadOf(body)) : [];
  const better = first === undefined ? null : typeOf(first, type);
  if (better === null || better === type) return [];
  const what = {
    feedback: "a rule",
    user: "about the user",
    reference: "a pointer",
    project: "a fact about the project",
  };
  const message = `reads like ${what[better]}, so its type should be ${better} and not ${type}`;
  return [{ rule: "wrong-type", message, line: null }];
}

/** Null where the words leave it open, as they mostly do. */
function typeOf(first: string, type: MemoryType): MemoryType | null {
  if (ORDER.test(first)) return type === "user" || type === "reference" ? "feedback" : null;
  if (PERSON.test(first)) return "user";
  if (RULE_WORDS.test(first)) return null;
  if (POINTER.test(first)) return type === "user" || type === "project" ? "reference" : null;
  return DATED.test(first) && (type === "user" || type === "feedback") ? "project" : null;
}
