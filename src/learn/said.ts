/**
 * Finds what a person says that is worth keeping, by rules and without a model. It prefers missing something to
 * inventing it.
 */

import type { MemoryType } from "../store/store.ts";
import { findSecrets } from "../text/secrets.ts";
import { hasRelativeDate, hasUnsureWeekday, writeDates } from "./said-dates.ts";
import {
  DENIAL,
  type Draft,
  ELLIPSIS,
  findExplicit,
  findImplied,
  isContext,
  MAX_LIST,
  PRONOUN,
  RETRACTED,
} from "./said-draft.ts";
import {
  forbidsKeeping,
  isAny,
  isChatter,
  isHypothetical,
  isOrder,
  isQuestion,
  isTaskScoped,
  saysNothing,
} from "./said-gates.ts";
import type { Act } from "./said-patterns.ts";
import { SECRET, type Sentence, splitSpeech } from "./said-speech.ts";
import {
  describeStatement,
  endSentence,
  formatBody,
  nameStatement,
  stripLead,
  typeOfStatement,
} from "./said-statement.ts";

export interface Said {
  act: Act;
  /**
   * Whether they explicitly asked for it ("remember …", "#…"): then it is saved at once, else as the caller chooses.
   */
  explicit: boolean;
  type: MemoryType;
  /**
   * At most 8 words and 80 characters. Of a `forget` it is the subject; "that" stands for whatever was said last
   * ("forget that, I mixed it up").
   */
  name: string;
  description: string;
  body: string;
  /** 0 to 1. */
  confidence: number;
}

/** A person's own message is shorter; anything longer was pasted. */
const MAX_MESSAGE = 20_000;

/** One message never has more that is worth keeping. */
const MAX_SAID = 20;

/**
 * `text` must be what the person wrote, not a tool's result or a document. `answer` is what the agent had said right before,
 * if anything: "do it like that for every import" is kept only with it. `asked` is the person's own message before that: it says
 * what "it's in the wiki" is about. Throws only when secrets cannot be looked for.
 */
export async function understandSaid(text: string, now: Date, answer = "", asked = ""): Promise<Said[]> {
  const message = text.slice(0, MAX_MESSAGE).toWellFormed();
  if (forbidsKeeping(message)) return [];
  const clean = maskSecrets(message);
  const sentences = findQuickSave(clean) ?? splitSpeech(clean);
  const before = { meaning: meaningOf(maskSecrets(answer)), subject: subjectOf(maskSecrets(asked)) };
  const drafts = await draftAll(sentences, now, before);
  const finished = await Promise.all(drafts.slice(0, MAX_SAID).map((draft) => finish(draft, now, before)));
  const said = finished.filter((one) => one !== null);
  return said.filter(({ body }, i) => said.findIndex((other) => other.body === body) === i);
}

/** Whether they ask for something to be remembered, in whatever words. */
export async function asksToKeep(text: string, now: Date, answer: string): Promise<boolean> {
  return (await understandSaid(text, now, answer)).some(({ explicit, act }) => explicit && act !== "forget");
}

function maskSecrets(message: string): string {
  let masked = message;
  for (const { start, end } of findSecrets(message))
    masked = masked.slice(0, start) + SECRET.repeat(end - start) + masked.slice(end);
  return masked.replace(LIKE_A_PASSWORD, (word) => SECRET.repeat(word.length));
}

/** Letters, digits and a sign between them that no ordinary word has, whatever comes before it: "log in with Nordlys!2026". */
const LIKE_A_PASSWORD =
  /(?<![^\s"'`(=:])(?=[^\s/]{0,40}\p{L})(?=[^\s/]{0,40}\d)(?=[^\s/!#$%^&*?~]{1,40}[!#$%^&*?~][\p{L}\p{N}])[^\s/"'`()<>]{8,60}/gu;

/** "#the sandbox resets at midnight" as the whole message. Not a second heading, an issue's number or C. */
function findQuickSave(message: string): Sentence[] | null {
  const line = message.trim();
  if (!/^#\s*(?![#!\d\s]|(?:include|define|ifn?def|if|endif|pragma|else|region)\b)\S/.test(line) || line.includes("\n"))
    return null;
  const text = `remember: ${line.slice(1).trim()}`;
  return [{ text, plain: text }];
}

/** What was said before, where it can be kept. */
interface Before {
  meaning: string | null;
  subject: string | null;
}

async function draftAll(sentences: readonly Sentence[], now: Date, { meaning, subject }: Before): Promise<Draft[]> {
  const drafts: Draft[] = [];
  for (let at = 0; at < sentences.length; at++) {
    const sentence = sentences[at]!;
    const covered = (drafts.at(-1)?.last ?? -1) >= at;
    if (covered || saysNothing(sentence)) continue;
    const open = drafts.at(-1)?.last === at - 1 ? drafts.at(-1)! : null;
    const found =
      findExplicit(sentences, at) ??
      (await findImplied(sentences, at, now, subject !== null)) ??
      (meaning === null ? null : findConfirmed(sentence, at));
    if (!found) {
      if (open && goesOn(open, sentence)) extend(open, sentence, at);
    } else if (found.act === "forget" && found.statement === RETRACTED) {
      drafts.splice(0, drafts.length, found);
    } else if (open && belongsTogether(open, found, sentence)) {
      extend(open, sentence, at);
    } else {
      const whole = withLead(found, sentences, at, drafts.at(-1)?.last ?? -1);
      if (whole) drafts.push(whole);
    }
  }
  return drafts;
}

function extend(draft: Draft, { text }: Sentence, at: number): void {
  draft.context.push(text);
  draft.last = at;
}

/** null if a day in it could not be resolved: it would be wrong tomorrow. */
async function finish(draft: Draft, now: Date, { meaning, subject }: Before): Promise<Said | null> {
  if ([draft.statement, ...draft.context].some(hasUnsureWeekday)) return null;
  const { act, explicit } = draft;
  const isForget = act === "forget";
  const statement = await writeDates(draft.statement, now);
  const context = await Promise.all(draft.context.map((sentence) => writeDates(sentence, now)));
  const type = draft.type ?? typeOfStatement(statement);
  const parts = [isForget ? context.join(" ") : formatBody(type, statement, context)];
  if (meaning !== null && !isForget && pointsBack(statement))
    parts.push(`**What was meant:** ${await writeDates(meaning, now)}`);
  const isPart = PRONOUN.test(statement) || (act === "pointer" && ELLIPSIS.test(statement));
  if (subject !== null && !isForget && !explicit && isPart)
    parts.push(`**Asked about:** ${await writeDates(subject, now)}`);
  const body = parts.join("\n\n");
  if (!isForget && (await hasRelativeDate(body, now))) return null;
  const [name, description] = [nameStatement(statement), describeStatement(statement)];
  return { act, explicit, type, name, description, body, confidence: Math.round(draft.confidence * 100) / 100 };
}

/** How much of what follows a statement is kept with it: its reason mostly comes in the next sentence or two. */
const MAX_CONTEXT = 3;

/** Whether a sentence continues the one before it. */
function goesOn(open: Draft, sentence: Sentence): boolean {
  return (
    open.context.length < MAX_CONTEXT &&
    (isContext(sentence) || isRemark(sentence) || isManner(open, sentence) || isInstead(open, sentence))
  );
}

/**
 * Who a person is and what they like is one memory if it is said in one breath; a sentence that begins with "she"
 * continues.
 */
function belongsTogether(open: Draft, found: Draft, sentence: Sentence): boolean {
  if (open.act === "forget" || found.explicit) return false;
  if (open.context.length >= MAX_LIST) return false;
  const oneBreath = open.type === "user" && (found.type === "user" || found.type === "feedback");
  const { text } = stripLead(sentence);
  return oneBreath || found.back === true || PRONOUN.test(text) || DANGLING.test(text);
}

/** "It's a bank": short as it is, it is the reason. */
function isRemark({ plain }: Sentence): boolean {
  return REMARK.test(plain) && !isAny(plain, isTaskScoped, isHypothetical);
}

const REMARK =
  /^(?:it's|it is|they're|they are|he's|she's|we're|we are) (?!(?:ok|fine|done|good|late|ready|it|all)\b)[\w -]{3,40}[.!]*$/i;

/** "I'm a pathologist. Explain things in terms of slides": how to talk to a person belongs to who they are. */
function isManner(open: Draft, { plain }: Sentence): boolean {
  const isHow = /^(?:so |please )*(?:explain|assume|avoid|go easy|spell|keep it|skip)\b[^:?]*$/i.test(plain);
  return open.type === "user" && isHow && !isTaskScoped(plain);
}

/** "Don't put names in test data. Use the phantom set": what to do instead belongs to what not to do. */
function isInstead(open: Draft, { plain }: Sentence): boolean {
  const isRule = open.act === "correction" || open.act === "decision" || open.type === "feedback";
  if (!isRule || !isOrder(plain) || AT_HAND.test(plain) || plain.split(" ").length > MAX_INSTEAD) return false;
  return !isAny(plain, isQuestion, isHypothetical, isTaskScoped);
}

/** What is longer is the next task. */
const MAX_INSTEAD = 20;

/** Fixes what was just done, which the next session knows nothing of. */
const AT_HAND =
  /^(?:now|then|next)\b|^(?:(?:please|pls|ok|and|so|also|just)[,.]? )*(?:(?:run|undo|revert|restore|redo|rerun|retry|fix|push|commit|continue|go|try|remove|delete|rename|move|change|update|finish|explain|summari[sz]e|implement|merge|rebase|deploy|install|build|look|find|read|open|close|create|clean)\b|[a-z]+ (?:it|this|that|these|those)\b)/i;

/** Shorter ones were mostly half of what was meant: the other half was in the sentence before. */
const SHORT = 12;

/**
 * A sentence that is the second half of something, with its first half; null if "that" and "there" refer to nothing.
 */
function withLead(draft: Draft, sentences: readonly Sentence[], at: number, taken: number): Draft | null {
  if (draft.act === "forget" || draft.act === "pointer" || pointsBack(draft.statement)) return draft;
  if (draft.back) return withChoice(draft, sentences[at - 2], at - 2 > taken);
  const dangling = DANGLING.test(draft.statement);
  const short = draft.statement.split(" ").length < SHORT;
  if (!dangling && !short) return draft;
  const before = sentences.slice(taken + 1, at).findLast((sentence) => !isChatter(sentence.plain));
  const told = before && isContext(before) && !DENIAL.test(before.plain) ? stripLead(before) : null;
  if (!told || isChatter(told.plain)) return dangling && !draft.explicit ? null : draft;
  // What the "no" refers to is already included.
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

/** What it refers to is not in it: "always do that before a release", "only the one I ask for". */
const DANGLING =
  /^(?:(?:please|always|never|don't|don’t|do not|stop|just|only|ever|no more) )*[a-z]+ (?:(?:that|this|it|them|those|these)(?=$|[.,;!]| (?:before|after|when|in|on|for|with|at|again|every|always|please|without|until|if|as|by)\b)|there\b)|^(?:\S+ ){0,4}(?:the one (?:i|we|you)|there(?=[.,;!]|$))/i;

/** The sentence as a rule, if it says that something is to be done so in more cases than this one. */
function findConfirmed(sentence: Sentence, at: number): Draft | null {
  const { plain, text } = stripLead(sentence);
  if (isAny(plain, isQuestion, isHypothetical, isTaskScoped)) return null;
  const said = LIKE_THAT.exec(plain) ?? (PRAISE.test(sentence.plain) ? DO_THAT.exec(plain) : null);
  if (!said || !MORE_CASES.test(plain.slice(said.index)) || ONE_TASK.test(plain)) return null;
  const base = { act: "preference", explicit: false, type: "feedback", confidence: 0.7 } as const;
  return { ...base, statement: text, context: [], last: at };
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

/** The first sentences of what the agent had answered; null if they say nothing or must not be saved. */
function meaningOf(answer: string): string | null {
  return joinTold(splitSpeech(answer.slice(0, MAX_ANSWER)).slice(0, 2));
}

/** Its beginning says what was done; the rest is details. */
const MAX_ANSWER = 2_000;
const MAX_MEANING = 400;

/** The last sentences of what the person had said before; null if they ask nothing or must not be saved. */
function subjectOf(asked: string): string | null {
  const told = splitSpeech(asked).slice(-2);
  return told.some(({ plain }) => isQuestion(plain)) ? joinTold(told) : null;
}

function joinTold(told: readonly Sentence[]): string | null {
  if (told.length === 0 || told.some(saysNothing)) return null;
  const joined = told.map(({ text }) => endSentence(text)).join(" ");
  return joined.length <= MAX_MEANING ? joined : null;
}

/** Whether a statement needs what was answered to mean anything. */
function pointsBack(statement: string): boolean {
  return LIKE_THAT.test(statement) || DO_THAT.test(statement);
}
