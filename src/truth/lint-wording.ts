/** Wording: descriptions that do not describe, two facts in one file, the state of a task in place of a memory. */

import type { Memory } from "../store/store.ts";
import type { TermsOf } from "../text/likeness.ts";
import type { Remark } from "./remark.ts";
import { blankCode } from "./sentences.ts";

/** Words that could stand over any memory. */
const EMPTY_WORDS =
  /\b(?:notes?|misc(?:ellaneous)?|stuff|things?|info(?:rmation)?|details?|various|general|important|some|memory|memories|todo|tbd|wip|update[sd]?|untitled|new|description|see below|remember(?:ed)?|project|file|text|a|an|the|to|about|on|of|for|and|this|my|our)\b/gi;
const PLACEHOLDER = /^(?:n\/?a|none|\.{2,}|-+|x+|test|foo|lorem ipsum.*|see (?:below|above|body|file))$/i;
/** Scripts without spaces, or without our words: what they say is not judged. */
const OTHER_SCRIPT = /[^\p{Script=Latin}\p{Script=Common}\p{Script=Inherited}]/u;

/** A missing description is the format's matter. */
export function findVagueDescription({ description, name }: Memory, termsOf: TermsOf): Remark[] {
  if (description === "" || OTHER_SCRIPT.test(description)) return [];
  const add = (message: string): Remark[] => [{ rule: "vague-description", message, line: null }];
  const rest = description
    .replace(EMPTY_WORDS, " ")
    .replace(/[^\p{L}\p{N}]+/gu, " ")
    .trim();
  const advice = "say in one line what is in it, as somebody would look for it";
  if (rest === "" || PLACEHOLDER.test(description.trim()))
    return add(`the description ${JSON.stringify(description)} could stand over any memory: ${advice}`);
  const known = new Set(termsOf(name.replace(/[-_]+/g, " ")));
  const words = termsOf(rest);
  const isLonger = rest.split(" ").length > name.split(/[^\p{L}\p{N}]+/u).filter(Boolean).length;
  const isRepeated = squeeze(rest) === squeeze(name) || (!isLonger && words.every((word) => known.has(word)));
  return isRepeated ? add(`the description only repeats the name: ${advice}`) : [];
}

function squeeze(text: string): string {
  return text.toLowerCase().replace(/[^\p{L}\p{N}]+/gu, "");
}

const WHY = /^[ \t]*(?:\*\*why:?\*\*|#{1,6}[ \t]*why\b)/gim;
const TURN =
  /^[ \t]*(?:[-*+][ \t]+)?(?:unrelated(?:ly)?(?: to (?:this|that|the above))?|on (?:another|a different|an unrelated) note|separately|something else|different topic|another thing)\s*[:,]/im;
/** Parts of one memory, not memories of their own. */
const PART =
  /^(?:rule|fact|why|how(?: to apply)?|context|background|summary|details?|examples?|notes?|what(?: was decided)?|decision|status|exceptions?|see also|links?|references?|history|when|where|who|steps?|consequences?|alternatives?|impact|evidence|source)\b/i;
/** Two could be a fact and its background; three topics are three memories. */
const MAX_TOPICS = 2;

export function findTwoFacts({ body }: Memory): Remark[] {
  const text = blankCode(body);
  const add = (index: number, message: string): Remark[] => [
    { rule: "two-facts", message: `${message}: put each into a memory of its own`, line: lineAt(text, index) },
  ];
  const reasons = [...text.matchAll(WHY)];
  const [, second] = reasons;
  if (second) return add(second.index, `${reasons.length} reasons (**Why:**), so ${reasons.length} facts in one file`);
  const turn = TURN.exec(text);
  if (turn) return add(turn.index, `${JSON.stringify(turn[0].trim())} begins another fact`);
  const headings = [...text.matchAll(/^(#{1,4})[ \t]+(.+)$/gm)];
  const topics = headings.filter(([, , title = ""]) => !PART.test(title.trim()));
  const level = topics[0]?.[1];
  const same = topics.filter(([, marks]) => marks === level);
  if (same.length <= MAX_TOPICS) return [];
  return add(same[1]?.index ?? 0, `${same.length} topics under headings of their own`);
}

const PASSING: readonly RegExp[] = [
  /^(?:(?:i am|i'm|we are|we're) )?(?:currently|right now|still|now) (?:working on|debugging|fixing|refactoring|implementing|investigating|in the middle of)\b/im,
  /^(?:i am|i'm|we are|we're) (?:in the middle of|debugging|fixing|refactoring|implementing|working through)\b/im,
  /^(?:todo|to do|left to do|still to do|next steps?|remaining (?:work|steps)|progress(?: so far)?|status)\s*:/im,
  /^working on [A-Z]+-\d+\b/im,
];

/** Only how the memory begins: that a memory has a list of steps somewhere makes it no note of the moment. */
export function findPassing({ body }: Memory): Remark[] {
  const head = body.trimStart().split(/\n\s*\n/)[0] ?? "";
  if (!PASSING.some((pattern) => pattern.exec(head)?.index === 0)) return [];
  const message = "the state of a task is over with the session: keep it in the plan or the ticket, and forget this";
  return [{ rule: "passing", message, line: 1 }];
}

function lineAt(text: string, index: number): number {
  return text.slice(0, index).split("\n").length;
}
