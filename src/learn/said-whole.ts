/** What belongs to a statement in the same message: the half that was said before it, its reason, and what to do instead. */

import { pointsBack } from "./said-confirmed.ts";
import { DENIAL, type Draft, isContext, MAX_LIST, PRONOUN } from "./said-draft.ts";
import { isChatter, isHypothetical, isOrder, isQuestion, isTaskScoped, saysNothing } from "./said-gates.ts";
import type { Sentence } from "./said-speech.ts";
import { endSentence, stripLead } from "./said-statement.ts";

/** How much of what follows a statement is kept with it: its reason mostly comes in the next sentence or two. */
const MAX_CONTEXT = 3;

/** Whether a sentence goes on with what the one before it began. */
export function goesOn(open: Draft, sentence: Sentence): boolean {
  return (
    open.context.length < MAX_CONTEXT &&
    (isContext(sentence) || isRemark(sentence) || isManner(open, sentence) || isInstead(open, sentence))
  );
}

/** Who somebody is and how they like things is one memory when it is said in one breath; what begins with "she" goes on. */
export function belongsTogether(open: Draft, found: Draft, sentence: Sentence): boolean {
  if (open.act === "forget" || found.explicit) return false;
  if (open.context.length >= MAX_LIST) return false;
  const oneBreath = open.type === "user" && (found.type === "user" || found.type === "feedback");
  const { text } = stripLead(sentence);
  return oneBreath || found.back === true || PRONOUN.test(text) || DANGLING.test(text);
}

/** "It's a bank": short as it is, it is the reason. */
function isRemark({ plain }: Sentence): boolean {
  return (
    /^(?:it's|it is|they're|they are|he's|she's|we're|we are) (?!(?:ok|fine|done|good|late|ready|it|all)\b)[\w -]{3,40}[.!]*$/i.test(
      plain,
    ) &&
    !isTaskScoped(plain) &&
    !isHypothetical(plain)
  );
}

/** "I'm a pathologist. Explain things in terms of slides": how to talk to somebody belongs to who they are. */
function isManner(open: Draft, { plain }: Sentence): boolean {
  return (
    open.type === "user" &&
    /^(?:so |please )*(?:explain|assume|avoid|go easy|spell|keep it|skip)\b[^:?]*$/i.test(plain) &&
    !isTaskScoped(plain)
  );
}

/** "Don't put names in test data. Use the phantom set": what to do instead belongs to what not to do. */
function isInstead(open: Draft, { plain }: Sentence): boolean {
  return (
    (open.act === "correction" || open.act === "decision" || open.type === "feedback") &&
    isOrder(plain) &&
    !AT_HAND.test(plain) &&
    !isQuestion(plain) &&
    !isHypothetical(plain) &&
    plain.split(" ").length <= MAX_INSTEAD &&
    !isTaskScoped(plain)
  );
}

/** What is longer is the next task. */
const MAX_INSTEAD = 20;

/** Mends what was just done, which the next session knows nothing of. */
const AT_HAND =
  /^(?:now|then|next)\b|^(?:(?:please|pls|ok|and|so|also|just)[,.]? )*(?:(?:run|undo|revert|restore|redo|rerun|retry|fix|push|commit|continue|go|try|remove|delete|rename|move|change|update|finish|explain|summari[sz]e|implement|merge|rebase|deploy|install|build|look|find|read|open|close|create|clean)\b|[a-z]+ (?:it|this|that|these|those)\b)/i;

/** Shorter ones were mostly half of what was meant: the other half stood in the sentence before. */
const SHORT = 12;

/** Said as the second half of something, with the first half; null where "that" and "there" have nothing to stand for. */
export function withLead(draft: Draft, sentences: readonly Sentence[], at: number, taken: number): Draft | null {
  if (draft.act === "forget" || draft.act === "pointer" || pointsBack(draft.statement)) return draft;
  if (draft.back) return withChoice(draft, sentences[at - 2], at - 2 > taken);
  const dangling = DANGLING.test(draft.statement);
  const short = draft.statement.split(" ").length < SHORT;
  if (!dangling && !short) return draft;
  const before = sentences.slice(taken + 1, at).findLast((sentence) => !isChatter(sentence.plain));
  const told = before && isContext(before) && !DENIAL.test(before.plain) ? stripLead(before) : null;
  if (!told || isChatter(told.plain)) return dangling && !draft.explicit ? null : draft;
  // What a "no" was said to is there already.
  if (draft.context.includes(before!.text) || draft.statement.startsWith(told.text)) return draft;
  return { ...draft, statement: `${endSentence(told.text)} ${draft.statement}` };
}

/** "Nats then. Nobody here can run kafka. Final.": what was chosen may be two words, two sentences before. */
function withChoice(draft: Draft, chosen: Sentence | undefined, free: boolean): Draft {
  if (!chosen || !free || saysNothing(chosen) || isQuestion(chosen.plain) || isHypothetical(chosen.plain)) return draft;
  if (isOrder(chosen.plain) || NOD.test(chosen.plain)) return draft;
  return { ...draft, statement: `${endSentence(chosen.text)} ${draft.statement}` };
}

const NOD =
  /^(?:(?:ok|okay|yes|yep|no|nope|thanks|thank you|thx|great|good|fine|right|hm+|perfect|nice|cool|agreed|sure|done|ah|oh)[\s,.!]*)+$/i;

/** What it speaks of is not in it: "always do that before a release", "only the one I ask for". */
const DANGLING =
  /^(?:(?:please|always|never|don't|don’t|do not|stop|just|only|ever|no more) )*[a-z]+ (?:(?:that|this|it|them|those|these)(?=$|[.,;!]| (?:before|after|when|in|on|for|with|at|again|every|always|please|without|until|if|as|by)\b)|there\b)|^(?:\S+ ){0,4}(?:the one (?:i|we|you)|there(?=[.,;!]|$))/i;
