/** Whether a rule holds for more than the case at hand. */

import type { Setting } from "./said-row.ts";

/** Words that make a sentence hold for more than one case. */
export const GENERAL =
  /\b(?:any(?:thing|where|one|body)?|ever|every(?:thing|where|one)?|always|never|yourself|again|unless|whenever|without asking|each|by default|as a rule|in (?:the )?(?:[\w-]+ )?(?:tests|docs|code|repo|repository|project|codebase|production|prod|api|commits?|commit messages|comments|changelog|answers|responses))\b|\bunder \S+\//i;
/** What is broken now is for the session, not for memory. */
export const BREAKAGE = /\b(?:bugs?|errors?|crash(?:es|ed)?|failing|fail(?:s|ed)?|broken|red|takes|hangs?|still)\b/i;
export const HOUSE =
  /\b(?:everywhere|anywhere|always|(?:in|for) (?:everything|all|every|any)|(?:in|across) (?:this|the|our) (?:\w+ )?(?:repo|repository|project|codebase|team|company|monorepo))\b/i;

/** "don't push the branch, tests are red" is about this branch; "don't reformat files …, it ruins blame" about all of them. */
export function isStanding({ corrected, reasoned }: Setting, plain: string): boolean {
  const one = /^\S+(?: not)? (?:ever )?[a-z]+ (?:it|this|that|these|those|them|the|my|your|an?|another)\b/i.test(plain);
  const because = /, (?:the|it|they|that|we|nobody|our|this|he|she|otherwise|\w+ing)\b/i.test(plain);
  const many =
    /^\S+(?: not)? (?:ever )?[a-z]+ (?!(?:the|my|your|this|these|those|his|her|its)\b)(?:[\w-]+ ){0,2}[\w-]+s (?:by|with|without|through|via) /i.test(
      plain,
    );
  const told = reasoned || because;
  return many || GENERAL.test(plain) || (one ? corrected && told : corrected || told);
}

/** "Never trust a float" is what everybody says. */
export function isNoSaying({ corrected, reasoned }: Setting, plain: string): boolean {
  return corrected || reasoned || !SAYING.test(plain);
}

const SAYING = /^(?:never|always) (?:ever )?(?:(?:trust|believe|assume|underestimate)\b|[a-z]+ an? [\w-]+[.!]*$)/i;

/** "We never close the handle, that's the leak" tells of the code; "we never squash migrations" of the people. */
export function isCustom({ corrected, reasoned }: Setting, plain: string): boolean {
  const one = /^we \S+(?: not| longer)? [a-z]+ (?:it|this|that|these|those|them|the|an?)\b/i.test(plain);
  if (/, (?:so it|that's|thats|which is)\b/i.test(plain)) return false;
  return !one || corrected || reasoned || GENERAL.test(plain);
}
