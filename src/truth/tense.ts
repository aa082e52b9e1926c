/**
 * How a sentence mentions a thing: as existing, gone or planned; and whether it is about another project. What was gone before
 * the line was written is told by git (`examination.ts`); the few words here are for what is said first and committed later.
 */

import type { Passage } from "./passages.ts";

type Tense = "present" | "past" | "planned";

/** Words further away belong to something else. */
const REACH = 160;

/** Said before the thing; between them are only articles and further things, so that "removed A, see B" says nothing of B. */
const GONE_BEFORE =
  /(?:^|[\s(*])(?:removed?|deleted?|renamed?|replaced?|supersedes?|moved (?:it |them )?from|no longer|used to \w+(?: in| at)?|instead of|rather than|not in|(?:don['’]t|do not|never) use)\s+(?:(?:the|its|our|all|both|and|or|old|files?)\s+|\S*[`./_(]\S*\s+)*[`"'(*]*$/i;
/** "A was removed", "A and B are gone", "A (deleted)", "src/a.ts → src/b.ts". */
const GONE_AFTER =
  /^[`"')\s*:]*(?:(?:(?:and|or|,)\s*\S+\s+){0,3}(?:(?:is|was|are|were|has|have|been|now)\s+){0,3}[(,]?\s*(?:removed|deleted|renamed|replaced by|gone|no longer|moved to|does(?: not|n['’]t) exist)\b|(?:→|->|=>)\s*[`"']?[\w-]*[./]\w)/i;
/** What must not be done or used may well be gone. */
const FORBIDDEN = /^\s*(?:[-*+|]\s*|\d+[.)]\s+)?(?:\*\*)?[❌🚫⛔]/u;
const PLANNED =
  /\b(?:will|should|going to|plans? to|planned|todo|want to|need to)\b[^.]{0,60}?\b(?:add|creat|introduc|writ|build|extract|implement|mov|renam|replac)\w*|^\s*[-*+]\s+\[ \]|\bnot yet\b/i;
/** What stands under such a heading or in such a list, or behind such words and a colon. */
const PLANS =
  /\b(?:planned|todo|next steps?|not (?:yet )?(?:built|started|implemented)|do(?:es)?(?: not|n['’]t) exist)\b/i;

/** "in the billing repo"; what else sounds like another project was right nowhere. */
const NAMED_PROJECT =
  /\b(?:in|from|of|inside|under)\s+(?:the\s+)?[`"']?([\w.-]+(?:\/[\w.-]+)?)[`"']?(?:['’]s)?\s+(?:repo(?:sitory)?|project|codebase|monorepo)\b/gi;
const OWN = /^(?:this|our|the|same|main|current|whole|entire|my|own|mono|git|root|new)$/i;

/** Whether it is of another project is asked of the whole paragraph: `isForeign`. */
export function tenseOf({ text, lead, over }: Pick<Passage, "text" | "lead" | "over">, at: number, end: number): Tense {
  if (FORBIDDEN.test(text)) return "past";
  const before = text.slice(Math.max(0, at - REACH), at);
  if (GONE_BEFORE.test(before) || GONE_AFTER.test(text.slice(end, end + REACH))) return "past";
  const colon = /^[\s*#>-]*([^:`]{3,60}):\**\s/.exec(text.slice(0, at))?.[1] ?? "";
  // A title may be the name of a to-do application.
  const isPlan = [lead, colon, ...over.filter((each) => !each.startsWith("# "))].some((each) => PLANS.test(each));
  // A question claims nothing.
  return isPlan || text.trimEnd().endsWith("?") || PLANNED.test(before) ? "planned" : "present";
}

/** Said before a thing that is to be made; between them are only articles and further things. */
const MADE =
  /\b(?:add|creat|introduc|writ|build|implement|extract)(?:e|ing)?\s+(?:(?:the|an?|its|our|new|both|and|or|files?|class|function)\s+|\S*[`./_(]\S*\s+)*[`"'(*]*$/i;
const OPENS = /^[\s\-*+|>`#\d.)[\]]*(?:[^:`]{3,60}:\**[\s`]*)?$/;
const MISSING = /\b(?:planned|not (?:yet )?(?:built|started|implemented)|not yet|do(?:es)?(?: not|n['’]t) exist)\b/i;

/** Whether a plan says of this very thing that it is not there yet. Other plans, and the rules of a checklist, only use it. */
export function isMissing({ text, over }: Pick<Passage, "text" | "over">, at: number): boolean {
  const before = text.slice(0, at);
  return MADE.test(before.slice(-REACH)) || (OPENS.test(before) && [text, ...over].some((each) => MISSING.test(each)));
}

/** `names` are what this project is called. */
export function isForeign(text: string, names: readonly string[]): boolean {
  if (!/repo|project|codebase/i.test(text)) return false;
  for (const [, name = ""] of text.matchAll(NAMED_PROJECT)) {
    const own = OWN.test(name) || names.some((each) => each !== "" && name.toLowerCase().endsWith(each.toLowerCase()));
    if (!own) return true;
  }
  return false;
}
