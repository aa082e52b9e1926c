/** Turns one sentence into the beginning of a memory: by an explicit request, else by the table of patterns. */

import type { MemoryType } from "../store/store.ts";
import { hasDate } from "./said-dates.ts";
import {
  endsInTask,
  isAboutProgram,
  isAny,
  isChatter,
  isDerivable,
  isHypothetical,
  isNoPerson,
  isOrder,
  isPassingUse,
  isQuestion,
  isReminder,
  isReported,
  isSigh,
  isSpot,
  isTaskScoped,
  saysNothing,
} from "./said-gates.ts";
import { type Act, REQUESTS, ROWS, type Row, type Setting } from "./said-patterns.ts";
import type { Sentence } from "./said-speech.ts";
import { endSentence, type Statement, stripLead, stripOrder, typeOfStatement } from "./said-statement.ts";

/** What is going to be one memory: a statement and the sentences that belong to it. */
export interface Draft {
  act: Act;
  explicit: boolean;
  type: MemoryType | null;
  confidence: number;
  statement: string;
  context: string[];
  /** The number of its last sentence. */
  last: number;
  /** It says that the sentence before it holds. */
  back?: boolean;
}

/** The name of a `forget` that means whatever was said last ("forget that, I mixed it up"). */
export const RETRACTED = "that";

/** A sentence that no person would say: only an explicit request counts in it. */
const MAX_SENTENCE = 600;

/** How many sentences one memory may have; anything longer is a document. */
export const MAX_LIST = 8;

/** What is asked for explicitly. */
export function findExplicit(sentences: readonly Sentence[], at: number): Draft | null {
  const { text, plain } = sentences[at]!;
  const request = findRequest(plain);
  if (!request) return null;
  // What comes before the words of the request may be quoted.
  const ahead = plain.slice(0, request.at);
  if (isReported(ahead) || /\bif (?:i|you|we)\b/i.test(ahead)) return null;
  if (isQuestion(plain) && !/^(?:please )?(?:can|could|would|will) you\b.*\bthat\b/i.test(plain)) return null;
  const what = text
    .slice(request.start, request.end)
    .trim()
    .replace(/^[,:\s]+/, "");
  if (request.act === "forget") return isTaskScoped(plain) ? null : forgetting(what, text, at);
  if (isReminder(plain.slice(request.at), what)) return null;
  // "Remember" alone is plain enough; the others are said of the work at hand as well.
  const weak =
    request.isRule || /\b(?:forget|keep in mind|bear in mind)\b/i.test(plain.slice(request.at, request.start));
  if (weak && (isTaskScoped(plain) || endsInTask(what) || isAboutProgram(what) || /^(?:it's|it is|this)\b/i.test(what)))
    return null;

  const base = { act: "remember" as const, explicit: true, confidence: request.confidence, context: [], last: at };
  if (/[\p{L}\p{N}]{2}/u.test(what) && !DEMONSTRATIVE.test(what)) {
    const statement = what
      .replace(/^not to /i, "do not ")
      .replace(/^to (?=[a-z])/i, "")
      .replace(/\s*[?？]+$/, "");
    const type = typeOfStatement(what);
    const isRule = type === "project" && (request.isRule || isOrder(statement));
    return { ...base, type: isRule ? "feedback" : type, statement };
  }
  // "Tests first, remember that." and "We deploy on Tuesdays. Remember that."
  const here = text.slice(0, request.at).trim();
  const before = here === "" ? sentences[at - 1] : { text: here, plain: ahead.trim() };
  if (/[:：]$/.test(plain) || !before) return listed(base, sentences, at);
  if (saysNothing(before) || isQuestion(before.plain)) return null;
  const statement = stripLead(before).text;
  return { ...base, type: typeOfStatement(statement), statement };
}

/** The request in one sentence: what is to be kept or forgotten is empty when it is what was said before ("remember that."). */
function findRequest(plain: string) {
  for (const { pattern, act, confidence, marks } of REQUESTS) {
    const match = pattern.exec(plain);
    const [start, end] = match?.indices?.groups?.what ?? [];
    if (!match || start === undefined || end === undefined) continue;
    if (act === "forget" && /^to\b/i.test(plain.slice(start))) continue;
    return { act, confidence, start, end, at: match.index, isRule: marks.has("rule") };
  }
  return null;
}

/** "Remember:" and a list behind it. */
function listed(base: Omit<Draft, "type" | "statement">, sentences: readonly Sentence[], at: number): Draft | null {
  const end = sentences.findIndex((sentence, i) => i > at && (saysNothing(sentence) || isQuestion(sentence.plain)));
  const items = sentences.slice(at + 1, Math.min(end === -1 ? sentences.length : end, at + 1 + MAX_LIST));
  const [first, ...rest] = items.map(({ text }) => text);
  if (first === undefined) return null;
  return { ...base, type: typeOfStatement(first), statement: first, context: rest, last: at + items.length };
}

const DEMONSTRATIVE =
  /^(?:that|this|it|das|dies|ça|cela|eso|esto|这一点|这点|これ)(?: (?:please|bitte|down|for (?:next time|later|the future)|s'il te plaît|por favor))?[.!。！]*$/i;

function forgetting(what: string, text: string, at: number): Draft | null {
  const subject = what
    .split(/[,.;!，。；！]/)[0]!
    .replace(
      /^(?:what (?:i|we) (?:said|told you) about|everything about|the (?:note|memory) (?:about|on|of)|about|lo de[l]?) /i,
      "",
    )
    .trim();
  // "forget the tests, just make it work" is about the work.
  if (!/\p{L}/u.test(subject) || endsInTask(text) || /, (?:just|let's)\b/i.test(text)) return null;
  const retracts = /^(?:that|this|it|what i (?:just )?said|the last (?:one|thing)|das|ça|eso)$/i.test(subject);
  return {
    act: "forget",
    explicit: !retracts,
    type: typeOfStatement(subject),
    confidence: retracts ? 0.6 : 0.9,
    statement: retracts ? RETRACTED : subject,
    context: [text],
    last: at,
  };
}

/** By the table of patterns. `asked`: the person asked before what this answers, so that "it" and "she" are known. */
export async function findImplied(
  sentences: readonly Sentence[],
  at: number,
  now: Date,
  asked: boolean,
): Promise<Draft | null> {
  const sentence = sentences[at]!;
  if (sentence.plain.length > MAX_SENTENCE || isQuestion(sentence.plain)) return null;
  const statement = stripRecord(stripLead(sentence));
  const { plain, corrected, announced } = statement;
  if (isAny(plain, isHypothetical, isTaskScoped, isDerivable, isAboutProgram, isSpot)) return null;
  const [before, next] = [sentences[at - 1], sentences[at + 1]];
  const setting: Setting = {
    corrected: corrected || DENIAL.test(before?.plain ?? ""),
    announced: announced || /\bpost-?mortem\b|\bincident report\b/i.test(before?.plain ?? ""),
    reasoned: /\b(?:because|since|so that|otherwise)\b/i.test(plain) || (next !== undefined && isReason(next)),
    dated: await hasDate(plain, now),
  };
  const isKnown = asked && at === 0;
  for (const { row, told } of findRows(statement, setting)) {
    const isBack = row.marks.has("back");
    if (row.act === "pointer" && ELLIPSIS.test(told) && !isKnown) continue;
    // "You forgot the changelog again. Every change needs a line there."
    const isBlamed = row.act === "correction" && setting.corrected && !corrected && before !== undefined;
    const context = isBlamed && before.plain.split(" ").length > 3 && !isQuestion(before.text) ? [before.text] : [];
    const draft = { act: row.act, explicit: false, type: row.type, context, last: at, back: isBack };
    if (!PRONOUN.test(told) && !isBack) return { ...draft, confidence: row.confidence, statement: told };
    // It must be clear whom "she" means, else the memory is useless to a later reader.
    const subject = before && (isBack ? stripOrder(before) : isSubject(before) ? stripLead(before).text : null);
    if (subject) return { ...draft, confidence: row.confidence - 0.1, statement: `${endSentence(subject)} ${told}` };
    if (isBack) return null;
    if (isKnown && (row.act === "pointer" || /^s?he\b/i.test(told)))
      return { ...draft, confidence: row.confidence - 0.1, statement: told };
    if (row.act !== "pointer" && row.act !== "correction") return null;
    return { ...draft, confidence: row.confidence - 0.3, statement: told };
  }
  return null;
}

/** The rows that match, with what they say is told. */
function* findRows({ text, plain }: Statement, setting: Setting): Generator<{ row: Row; told: string }> {
  const isOrdered = isOrder(plain);
  const isTask = endsInTask(plain) || /^i\b(?!'m| am).* here[.!]*$/i.test(plain);
  const when = WHEN_FIRST.exec(plain)?.[0].length;
  for (const row of ROWS) {
    if ((isOrdered || isTask) && !row.marks.has("order")) continue;
    const late = row.act === "decision" && when ? plain.slice(when) : null;
    const match = row.pattern.exec(plain) ?? (late === null ? null : matchLate(row.pattern, late));
    if (!match || !row.isMet(plain, setting) || isPassing(row, plain)) continue;
    const [start, end] = match.indices?.groups?.what ?? [0, plain.length];
    yield { row, told: text.slice(start, end) };
  }
}

/** What looks like the row but is temporary, or a figure of speech. */
function isPassing({ act, marks, type }: Row, plain: string): boolean {
  if (type === "user") return isNoPerson(plain);
  if (act === "pointer") return isPassingUse(plain);
  return act === "preference" && type === "feedback" && !marks.has("order") && isSigh(plain);
}

/** "Yesterday the board decided …": the time may come first, the statement is all of it. */
const WHEN_FIRST =
  /^(?:(?:yesterday|today|this morning|last (?:night|week|month|[a-z]+day)|on [a-z]+day|just now|earlier today),? )(?=\S)/i;

function matchLate(pattern: RegExp, rest: string): RegExpExecArray | null {
  const match = pattern.exec(rest);
  // Its offsets would be those of the rest.
  return match?.groups?.what === undefined ? match : null;
}

/** "Start a postmortem: last night the run sent every mail twice": the fact to record is mentioned along the way. */
function stripRecord(statement: Statement): Statement {
  const head = /^[a-z]+ [^:]{0,40}\b(?:post-?mortem|incident (?:report|page)|outage report)\b[^:]{0,30}: /i.exec(
    statement.plain,
  );
  if (!head) return statement;
  const at = head[0].length;
  return { ...statement, text: statement.text.slice(at), plain: statement.plain.slice(at), announced: true };
}

/** A sentence that only says no: the next one says how it is instead. */
export const DENIAL =
  /^(?:(?:hey|hm+|um|oh|ugh|please|wait)[,.]? )?(?:(?:oh )?no|nope|nah|wrong(?: [\w-]+)?|stop|stop it|undo that|revert that|(?:please )?(?:don't|not) (?:do )?(?:like )?(?:that|this)(?: way)?(?: again)?|not (?:with|by|via|in) [^.]{2,40}|not (?:quite|again|what i (?:meant|wanted|asked for))|that's (?:wrong|not right|incorrect|not how we do (?:it|that|things))|that's too [\w-]+|you keep \w+ing(?: \S+){0,8}|(?:you|this) (?:\S+ ){1,8}again|why (?:did|do|are|have) you [^?]{2,80}\?|that (?:locks|breaks|ruins|hides|leaks|costs|kills|blocks|slows|loses|drops|confuses|violates) .{3,80}|(?:put|bring|take) \S.{2,40} (?:back|out)(?: again| please)?|(?:revert|undo|restore) (?:it|that|this|them|\S.{2,40}))[.!]*$/i;

/** Long enough to say whom "they" means. */
function isSubject(before: Sentence): boolean {
  return isContext(before) && stripLead(before).plain.split(" ").length > 3;
}

function isReason(next: Sentence): boolean {
  return isContext(next) && !/^(?:i|i'll|i'm|let's|we'll|you)\b/i.test(next.plain);
}

/** "In the wiki, page Rota": an answer, which says nothing without its question. */
export const ELLIPSIS = /^(?:in|on|at|under) /i;

export const PRONOUN = /^(?:it|this|that|they|these|those|he|she|there)\b/i;

/** A sentence that may go with a rule: a statement, not a question or an order, and not only for the task. */
export function isContext(sentence: Sentence): boolean {
  const { plain } = sentence;
  if (plain.length > MAX_SENTENCE || saysNothing(sentence)) return false;
  return !isAny(plain, isQuestion, isChatter, isOrder, isHypothetical, isTaskScoped);
}
