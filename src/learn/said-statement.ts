/** A sentence as a statement: without the small talk before it, with its reason set apart. */

import type { MemoryType } from "../store/store.ts";
import { isOrder, isQuestion, saysNothing } from "./said-gates.ts";
import type { Sentence } from "./said-speech.ts";

export interface Statement extends Sentence {
  /** A "no" stood before it. */
  corrected: boolean;
  /** "heads up", "by the way" stood before it. */
  announced: boolean;
}

/** More than a few of them is not how people begin. */
const MAX_LEADS = 6;

export function stripLead({ text, plain }: Sentence): Statement {
  const statement: Statement = { text, plain, corrected: false, announced: false };
  for (let i = 0; i < MAX_LEADS; i++) {
    const lead = LEAD.exec(statement.plain);
    if (!lead || lead[0].length >= statement.plain.length) break;
    statement.corrected ||= lead.groups?.no !== undefined;
    statement.announced ||= lead.groups?.news !== undefined;
    statement.text = statement.text.slice(lead[0].length);
    statement.plain = statement.plain.slice(lead[0].length);
  }
  return statement;
}

const LEAD =
  /^(?:(?<no>(?:oh |wait,? |hey,? |um,? )?(?:no(?:,? no)?|nope|nah|wrong(?: again)?|actually|not (?:quite|like that|that way))(?:[,.!:;]| [-–—]) *|wait[,.!:;] ?)|(?<news>(?:heads[- ]up|fyi|for your information|by the way|btw|just so you know|so you know|good to know|for context|for info)[,:!.]? (?:that )?|(?:update|news|announcement|change of plans?|new plan|reminder): )|(?:(?:ah|oh),? (?:yes|right|ok|sure)|ok|okay|oh|ah|hey|hi|hello|yes|yep|yeah|right|well|quick intro|thanks|thank you|thx|good|great|nice|cool|perfect|fine|hm+|ugh|sorry|listen|look|then|one more thing|one thing|important|also|and|but|so|anyway|again)(?:[,:;.!]| [-–—]) *|(?:please|pls|and|also|but|so|then|ok|okay|oh|hey) (?=\S))/i;

/** What an order for work tells on the way: "update the roadmap: SDK 3 is dropped" -> "SDK 3 is dropped". */
export function stripOrder(sentence: Sentence): string | null {
  if (saysNothing(sentence) || isQuestion(sentence.plain)) return null;
  const { text, plain } = stripLead(sentence);
  if (!isOrder(plain)) return text;
  const colon = plain.indexOf(": ");
  return colon === -1 ? null : text.slice(colon + 2);
}

export function formatBody(type: MemoryType, statement: string, context: readonly string[]): string {
  const { rule, why } = splitReason(statement);
  // Read later by somebody else, "I" must be clear.
  const told = type === "user" && /^(?:i|i'm|i’m|my|im|call me)\b/i.test(rule) ? `The user says: ${rule}` : rule;
  const body = [told, ...context].map(endSentence).join(" ");
  return why === null ? body : `${body}\n\n**Why:** ${endSentence(why)}`;
}

/** "since" is a reason only where no time follows. */
const REASON =
  /(?:,| [-–—])?(?: (?:mostly|mainly|partly|just|simply))? (?:because(?! of\b)|'cause|cuz|so that(?!['’])|as otherwise|weil|parce que|parce qu'|puisque|porque|ya que|since (?=(?:we|it|they|there|nobody|everyone|our|he|she|you|i|this|that|not|some|all)\b(?! (?:day|week|month|year|morning|release|version)\b))) ?/i;

function splitReason(statement: string): { rule: string; why: string | null } {
  const match = REASON.exec(statement);
  if (!match || match.index < 8) return { rule: statement, why: null };
  const why = statement.slice(match.index + match[0].length).trim();
  // A reason of one word ("because reasons") or one in the middle of brackets is left where it is.
  if (why.split(" ").length < 2 || /\([^)]*$/.test(statement.slice(0, match.index)))
    return { rule: statement, why: null };
  const rule = statement.slice(0, match.index);
  return { rule, why: /so that/i.test(match[0]) ? `so that ${why}` : why };
}

export function endSentence(text: string): string {
  const trimmed = text.trim();
  return /[.!?…:。！？]$/.test(trimmed)
    ? trimmed
    : `${trimmed}${/[\u3040-\u30ff\u4e00-\u9fff]$/.test(trimmed) ? "。" : "."}`;
}
