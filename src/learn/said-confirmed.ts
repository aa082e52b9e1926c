/** "Do it like that whenever …": a way of working that the person liked, which only what was answered before can name. */

import type { Draft } from "./said-draft.ts";
import { isHypothetical, isQuestion, isTaskScoped, saysNothing } from "./said-gates.ts";
import { type Sentence, splitSpeech } from "./said-speech.ts";
import { endSentence, stripLead } from "./said-statement.ts";

/** The sentence as a rule, if it says that something is to be done so in more cases than this one. */
export function findConfirmed(sentence: Sentence, at: number): Draft | null {
  const { plain, text } = stripLead(sentence);
  if (isQuestion(plain) || isHypothetical(plain) || isTaskScoped(plain)) return null;
  const said = LIKE_THAT.exec(plain) ?? (PRAISE.test(sentence.plain) ? DO_THAT.exec(plain) : null);
  if (!said || !MORE_CASES.test(plain.slice(said.index)) || ONE_TASK.test(plain)) return null;
  return {
    act: "preference",
    explicit: false,
    type: "feedback",
    confidence: 0.7,
    statement: text,
    context: [],
    last: at,
  };
}

const LIKE_THAT =
  /\b(?:(?:do|keep|make|write|handle|lay) (?:it|this|these|them|things)(?: out)? (?:like (?:that|this)|(?:that|this|the same) way)|keep doing (?:that|it|this)|keep (?:that|this|it) (?=for (?:all|every|any)\b)|do (?:that|this|so)(?= (?:every time[.,!]?$|always|whenever you|each time[.,!]?$))|that(?:'s| is| was) (?:exactly |just )?(?:how|the way|the [\w-]+) i (?:want|like|need)|(?:exactly|just) like (?:that|this)(?=,? (?:always|every time))|keep (?!doing\b)[a-z]+ing (?:\S+ ){0,7}(?:like (?:that|this)|(?:that|this) way))\b/i;
const PRAISE =
  /^(?:(?:oh|yes|ok),? )?(?:good|great|perfect|love|nice|exactly|excellent|lovely|smart|clever|much better|well done)\b/i;
const DO_THAT = /\bdo (?:that|this|it) (?:for|with) (?:every|all|each|any)\b/i;
/** Many cases, all of them before our eyes. */
const ONE_TASK = /\buntil\b|\b(?:in|on|of) (?:the|this|that) (?:folder|file|list|page|table|directory|module|form)\b/i;
const MORE_CASES =
  /\b(?:keep [a-z]+ing (?:them|things|such|(?:[\w-]+ )?\w+s)|(?:for|with) (?:everything|every|all|any|each)|whenever|when(?:ever)? you|every|each|any|always|everywhere|next time|in future|(?:with|for|in) (?!(?:the|this|these|that|those|my|your)\b)(?:[\w-]+ ){0,2}[\w-]+s)\b/i;

/** What the agent had answered, in its first sentences; null where that says nothing or must not be kept. */
export function meaningOf(answer: string): string | null {
  const sentences = splitSpeech(answer.slice(0, MAX_ANSWER));
  const told = sentences.slice(0, 2);
  if (told.length === 0 || told.some((sentence) => saysNothing(sentence))) return null;
  const meaning = told.map(({ text }) => endSentence(text)).join(" ");
  return meaning.length <= MAX_MEANING ? meaning : null;
}

/** Its beginning says what was done; the rest is details. */
const MAX_ANSWER = 2_000;
const MAX_MEANING = 400;

/** What the person had asked or told before, in its last sentences; null where that says nothing or must not be kept. */
export function subjectOf(asked: string): string | null {
  const told = splitSpeech(asked).slice(-2);
  if (told.length === 0 || told.some((sentence) => saysNothing(sentence))) return null;
  const subject = told.map(({ text }) => endSentence(text)).join(" ");
  return told.some(({ plain }) => isQuestion(plain)) && subject.length <= MAX_MEANING ? subject : null;
}

/** Whether a statement needs what was answered to mean anything. */
export function pointsBack(statement: string): boolean {
  return LIKE_THAT.test(statement) || DO_THAT.test(statement);
}
