/**
 * Finds what a person says that is worth keeping, without a model: explicit requests by rules, everything else by a trained
 * classifier. It prefers missing something to inventing it.
 */

import {
  beginStatement,
  describeStatement,
  endSentence,
  formatBody,
  nameStatement,
  stripLead,
  typeOfStatement,
} from "../memory/statement.ts";
import type { MemoryType } from "../store/store.ts";
import { writeDistances } from "../text/day-distances.ts";
import { hasRelativeDate, writeDates } from "../text/relative-dates.ts";
import { type Sentence, splitSpeech } from "../text/speech.ts";
import { termsOf } from "../text/terms.ts";
import { type Embed, type Judged, judge, type Kind, SURE, type Sure, TYPE_OF, UNSURE } from "./said-classifier.ts";
import {
  DEMONSTRATIVE,
  findRequest,
  forbidsKeeping,
  hasPart,
  maskSecrets,
  RETRACTED,
  type Request,
  saysNothing,
  subjectOfForget,
} from "./said-requests.ts";

export interface Said {
  act: "remember" | "forget" | Kind;
  /** Whether they explicitly asked for it ("remember …", "#…"). */
  explicit: boolean;
  type: MemoryType;
  /**
   * At most 8 words and 80 characters. Of a `forget` it is the subject; "that" stands for whatever was said last
   * ("forget that, I mixed it up").
   */
  name: string;
  description: string;
  body: string;
  /** Near the threshold: a person should look at it first. */
  isUnsure: boolean;
}

/** What goes with a message. */
export interface Heard {
  /** What the agent had said right before: "keep it that way" is kept only with it. */
  answer?: string;
  /** The person's own message before that: it says what "it's in the wiki" is about. */
  asked?: string;
  /** What both said until then, dated: "a week earlier" is counted from a day in it. */
  earlier?: readonly string[];
  /** Null or missing: only explicit requests are found. */
  embed?: Embed | null;
  /** From here on it is kept without asking; another one for measuring. */
  sure?: Sure;
}

/** A person's own message is shorter; anything longer was pasted. */
const MAX_MESSAGE = 20_000;
/** One message never has more that is worth keeping. */
const MAX_SAID = 20;

/** `text` must be what the person wrote, not a tool's result or a document. Throws only when secrets cannot be looked for. */
export async function understandSaid(text: string, now: Date, heard: Heard = {}): Promise<Said[]> {
  const message = text.slice(0, MAX_MESSAGE).toWellFormed();
  if (forbidsKeeping(message)) return [];
  const clean = maskSecrets(message);
  const sentences = findQuickSave(clean) ?? splitSpeech(clean);
  const { answer = "", asked = "", earlier = [], embed = null, sure = SURE } = heard;
  const before = { answer: maskSecrets(answer), asked: maskSecrets(asked), earlier, embed, sure };
  const drafts = draftAll(sentences, before).slice(0, MAX_SAID);
  const kept = drafts.map((draft) => keepSpecial(draft, sentences)).filter((one) => one !== null);
  const said = kept.map((draft) => finish(draft, now, before)).filter((one) => one !== null);
  return said.filter(({ body }, i) => said.findIndex((other) => other.body === body) === i);
}

/** Whether a message takes back what was said before it: a joke, a mere thought, a rule that does not hold after all. */
export function takesBackEarlier(text: string, answer: string, embed: Embed): boolean {
  const sentences = splitSpeech(maskSecrets(text.slice(0, MAX_MESSAGE).toWellFormed()));
  return sentences.slice(0, FIRST).some((_, at) => judge({ sentences, at, answer }, embed).takesBack >= TAKEN_BACK);
}

/** What takes something back comes first in its message. */
const FIRST = 3;
const TAKEN_BACK = 0.5;

/** Whether they ask for something to be remembered, in whatever words. */
export async function asksToKeep(text: string, now: Date): Promise<boolean> {
  return (await understandSaid(text, now)).some(({ explicit, act }) => explicit && act !== "forget");
}

/** "#the sandbox resets at midnight" as the whole message. Not a second heading, an issue's number or C. */
function findQuickSave(message: string): Sentence[] | null {
  const line = message.trim();
  if (!/^#\s*(?![#!\d\s]|(?:include|define|ifn?def|if|endif|pragma|else|region)\b)\S/.test(line) || line.includes("\n"))
    return null;
  const text = `remember: ${line.slice(1).trim()}`;
  return [{ text, plain: text }];
}

/** What is going to be one memory: a statement and the sentences that belong to it. */
interface Draft extends Pick<Said, "act" | "explicit" | "isUnsure"> {
  /** Null: by its words. */
  type: MemoryType | null;
  statement: string;
  context: string[];
  /** The number of its last sentence. */
  last: number;
}

function draftAll(sentences: readonly Sentence[], { answer, embed, sure }: Required<Heard>): Draft[] {
  const drafts: Draft[] = [];
  const unsure = isBare(sentences, answer) ? UNSURE_BARE : UNSURE;
  for (let at = 0; at < sentences.length; at++) {
    const sentence = sentences[at]!;
    const open = drafts.at(-1);
    if ((open?.last ?? -1) >= at || saysNothing(sentence)) continue;
    const request = findRequest(sentence.plain);
    const judged = embed && mayJudge(sentence) ? judge({ sentences, at, answer }, embed) : null;
    if (request?.act !== "forget" && (hasPart(sentence.plain, "takenBack") || (judged?.takesBack ?? 0) >= TAKEN_BACK)) {
      if (open?.last === at - 1) drafts.pop();
      continue;
    }
    if (request) {
      const asked = draftRequest(request, sentences, at);
      if (asked?.act === "forget" && asked.statement === RETRACTED) drafts.splice(0, drafts.length, asked);
      else if (asked?.act === "forget") drafts.push(asked);
      else if (asked) {
        // "From now on our customers do the testing" may be said in anger.
        const isUnsure = request.isRule && judged !== null && judged.keep < sure.feedback;
        drafts.push({ ...asked, type: typeByMeaning(asked, judged), isUnsure });
      }
      continue;
    }
    const isNext = open?.last === at - 1 && open.act !== "forget" && open.context.length < MAX_CONTEXT;
    if (judged && judged.keep >= unsure) {
      const draft = draftJudged(judged, sentences, at, open?.last ?? -1, sure);
      if (!isNext || !isOneBreath(open, draft)) drafts.push(draft);
      else {
        // The sentence that is surer says what kind it is.
        if (open.isUnsure && !draft.isUnsure && !open.explicit)
          Object.assign(open, { act: draft.act, type: draft.type });
        extend(open, sentence, at, open.isUnsure && draft.isUnsure);
      }
    } else if (isNext && (judged?.keep ?? 0) >= RELATED && !hasPart(sentence.plain, "question"))
      extend(open, sentence, at, open.isUnsure);
  }
  return drafts;
}

/** One short sentence after something was done: a rule without its reason scores low, but an order of the moment lower still. */
function isBare(sentences: readonly Sentence[], answer: string): boolean {
  const [only, ...more] = sentences.filter((sentence) => !saysNothing(sentence));
  if (answer === "" || only === undefined || more.length > 0) return false;
  return only.plain.length < BARE_CHARS && !hasPart(only.plain, "question");
}

const BARE_CHARS = 90;
/** Lower, the inbox would hold four wrong ones for each right one. */
const UNSURE_BARE = 0.05;

/** The type by the meaning, where the words do not name a place: "only the platform team does that" is no rule. */
function typeByMeaning({ statement, type }: Draft, judged: Judged | null): MemoryType {
  const byWords = type ?? typeOfStatement(statement);
  if (type !== null || judged === null || byWords === "reference") return byWords;
  return judged.typeShare >= SURE_OF_TYPE ? TYPE_OF[judged.kind] : byWords;
}

/** Below this it would often get the wrong type. */
const SURE_OF_KIND = 0.55;
/** What was explicitly asked for is kept anyway: only then is its meaning a better guess than its words. */
const SURE_OF_TYPE = 0.8;

/** No person's sentence is longer, and a shorter one says nothing. */
function mayJudge({ plain }: Sentence): boolean {
  const shortest = /[\p{Script=Han}\p{Script=Hangul}\p{Script=Hiragana}]/u.test(plain) ? 5 : 12;
  return plain.length >= shortest && plain.length <= 600;
}

function extend(draft: Draft, { text }: Sentence, at: number, isUnsure: boolean): void {
  draft.context.push(text);
  Object.assign(draft, { last: at, isUnsure });
}

/** With the sentence before it, unless that is `taken`. */
function draftJudged(judged: Judged, sentences: readonly Sentence[], at: number, taken: number, sure: Sure): Draft {
  const told = stripLead(sentences[at]!.text);
  const before = at - 1 > taken ? sentences[at - 1] : undefined;
  // It must be clear what "it" means, else the memory is useless to a later reader.
  const isLed = before && mayJudge(before) && !saysNothing(before) && !hasPart(before.plain, "question");
  const statement = isLed ? `${endSentence(stripLead(before.text))} ${told}` : told;
  // It may just as well be a correction of what the agent said.
  const kind = judged.kind === "confirmation" && judged.share < CONFIRMED ? "preference" : judged.kind;
  const isUnsure = judged.keep < sure[TYPE_OF[kind]] || judged.typeShare < SURE_OF_KIND;
  return { act: kind, explicit: false, type: TYPE_OF[kind], statement, context: [], last: at, isUnsure };
}

const CONFIRMED = 0.6;

const PRONOUN =
  /^(?:it|it's|its|this|that|that's|they|these|those|he|she|there|das|dies|es|der|die (?=ist|sind)|er|sie|eso|esto|está|ese|esa|ça|cela|c'est|il est|elle est|这|那|它|それ|これ|그건|그게)(?![\p{L}])/iu;

/** What is said in one breath is one memory, unless it is another thing: a place. */
function isOneBreath(open: Draft, next: Draft): boolean {
  if (open.explicit && open.context.length > 0) return false;
  return open.type === next.type || PRONOUN.test(next.statement) || open.isUnsure || next.isUnsure;
}

/** How much of what follows a statement is kept with it: its reason mostly comes in the next sentence or two. */
const MAX_CONTEXT = 3;
/** Below this a sentence is about something else, such as the next task. */
const RELATED = 0.02;

/** What is asked for explicitly. */
function draftRequest(request: Request, sentences: readonly Sentence[], at: number): Draft | null {
  const { text, plain } = sentences[at]!;
  const what = text
    .slice(request.start, request.end)
    .trim()
    .replace(/^[,:\s]+/, "");
  const base = { explicit: true, isUnsure: false, type: null, context: [], last: at };
  if (request.act === "forget") {
    const subject = subjectOfForget(what, text);
    if (subject === null) return null;
    return { ...base, act: "forget", explicit: subject !== RETRACTED, statement: subject, context: [text] };
  }
  const asked: Draft = { ...base, act: "remember", type: request.isRule ? "feedback" : null, statement: "" };
  if (/[\p{L}\p{N}]{2}/u.test(what) && !DEMONSTRATIVE.test(what)) return { ...asked, statement: tidy(what) };
  // "Tests first, remember that." and "We deploy on Tuesdays. Remember that."
  const here = text.slice(0, request.at).trim();
  const before = here === "" ? sentences[at - 1] : { text: here, plain: here };
  if (/[:：]$/.test(plain) || !before) {
    const items = sentences
      .slice(at + 1, at + 1 + MAX_LIST)
      .filter((item) => !saysNothing(item) && !hasPart(item.plain, "question"));
    const [first, ...rest] = items.map((item) => item.text);
    return first === undefined ? null : { ...asked, statement: first, context: rest, last: at + items.length };
  }
  if (saysNothing(before) || hasPart(before.plain, "question")) return null;
  return { ...asked, statement: stripLead(before.text) };
}

/** How many sentences one memory may have; anything longer is a document. */
const MAX_LIST = 8;

function tidy(what: string): string {
  return what
    .replace(/^not to /i, "do not ")
    .replace(/^to (?=[a-z])/i, "")
    .replace(/\s*[?？]+$/, "");
}

/** A list that can be read elsewhere is not kept; what is said to be special about it is. */
function keepSpecial(draft: Draft, sentences: readonly Sentence[]): Draft | null {
  const { act, explicit, last } = draft;
  const parts = [draft.statement, ...draft.context].map((part) => part.replace(IN_BRACKETS, ""));
  const isList = (part: string) => LIST.test(part) || (explicit && parts.length >= MIN_LIST);
  const isElsewhere = sentences.some(({ text }, i) => ELSEWHERE.test(text) || (i > 0 && SPECIAL.test(text)));
  if (act === "forget" || !isElsewhere) return draft;
  if (!parts.some(isList)) return { ...draft, statement: parts[0]!, context: parts.slice(1) };
  const later = explicit ? sentences.slice(last + 1).filter((one) => SPECIAL.test(one.plain) && !saysNothing(one)) : [];
  const [statement, ...context] = [...parts, ...later.map(({ text }) => text)].flatMap((part) => {
    if (!isList(part)) return [part];
    const colon = part.search(/[:：]/);
    const items = part.slice(colon + 1).split(/(?<=[,，、;；.。] ?)/);
    const special = items.findIndex((item) => SPECIAL.test(item));
    return special === -1 ? [] : [part.slice(0, colon + 1) + items.slice(special).join("")];
  });
  return statement === undefined ? null : { ...draft, statement: tidy(statement), context };
}

const MIN_LIST = 4;
const ITEMS = "(?:[^,，、;；:：()（）.。]{1,24}[,，、;；] ?){3,}[^,，、;；:：()（）.。]{1,24}";
const LIST = new RegExp(`(?:^|[:：]|\\balso|\\bnamely) ?${ITEMS}|[:：](?:[^，、：。]{1,24}、){2,}`);
const IN_BRACKETS = new RegExp(` ?[(（]${ITEMS}[)）]`);
const ELSEWHERE =
  /\bREADME\b|\.env\b|\b[\w-]+\.(?:json|ya?ml|toml|md|lock|txt|ini|csv|xml|tsx?|jsx?|py|go|rs)\b|\b(?:the|our|im|en el|en la|dans le|dans la) (?:repo|repository|wiki|docs?|config|code|schema|handbook|compose file|código|dépôt)\b|仓库|文档|代码里|配置|リポジトリ|設定|저장소/i;
const SPECIAL =
  /\b(?:only|except|but|special|odd|weird|surprising|careful|unlike|important|watch out|matters|(?:doesn't|does not|don't) (?:tell|say|mention)|what(?:'s| is| isn't| is not) (?:in there|not)|nirgends|was nicht|nur|außer|aber|besonder\w*|wichtig|solo|sólo|excepto|pero|salvo|lo que no|no (?:pone|dice|sale)|especial|importante|único|ojo|seule?|sauf|mais|attention|particuli\w+)\b|只有|除了|没写|但|不过|特别|特殊|注意|留神|だけ|ただし|만 |다만|주의/i;

/** Null if a day in it could not be resolved: it would be wrong tomorrow. */
function finish(draft: Draft, now: Date, before: Required<Heard>): Said | null {
  const { act, explicit, isUnsure } = draft;
  const type = draft.type ?? typeOfStatement(draft.statement);
  if (act === "forget") {
    const [name, description] = [nameStatement(draft.statement), describeStatement(draft.statement)];
    return { act, explicit, isUnsure, type, name, description, body: draft.context.join(" ") };
  }
  const write = (text: string) => writeDates(text, now, type === "feedback" || type === "user");
  const dated = [draft.statement, ...draft.context].map(write).join("\n");
  const open = writeDistances(dated);
  const told = open.isOpen ? writeDistances(dated, findDay(dated, before.earlier)) : open;
  const [statement = "", ...context] = told.text.split("\n");
  const parts = [formatBody(type, statement, context)];
  if (act === "confirmation" || (!explicit && /^(?:that|this)(?:'s| is) (?:how|the way|what)\b/i.test(statement))) {
    const meant = joinTold(splitSpeech(before.answer.slice(0, MAX_ANSWER)).slice(0, 2));
    // Without what it confirms it says nothing, unless it repeats it.
    if (meant === null && statement.length < MIN_REPEATED) return null;
    if (meant !== null) parts.push(`${MEANT} ${write(meant)}`);
  }
  const isPart = act === "pointer" || act === "decision" || act === "person" ? PART.test(statement) : false;
  const asked = isPart ? subjectOf(before.asked) : null;
  if (asked !== null) parts.push(`**Asked about:** ${write(asked)}`);
  const body = parts.join("\n\n");
  if (hasRelativeDate(body, now)) return null;
  // A deadline without its day is not certain enough.
  const isDoubtful = isUnsure || (told.isOpen && type === "project" && !explicit);
  // A name has no room for both: "next Wednesday (2026-09-09)" is "2026-09-09" there.
  const short = statement.replace(/(?:(?:on|next|last|this) )?[^\s()]+ \((\d{4}-\d\d[^)]*)\)/gi, "$1");
  const picked = nameStatement(short);
  // A name leaves out small words: "in R for fifteen years" must not become "in fifteen years".
  const name = hasRelativeDate(picked, now) ? beginStatement(short) : picked;
  const whole = describeStatement(statement, { type, name });
  // What is cut could lose the date behind its words.
  const isCut = whole.endsWith("…") || statement.length > MAX_BOTH;
  const description = isCut ? describeStatement(short, { type, name }) : whole;
  return { act, explicit, isUnsure: isDoubtful, type, name, description, body };
}

/** The day that was named last in what is about the same thing, or in what was said right before. */
function findDay(statement: string, earlier: readonly string[]): string | null {
  const terms = new Set(termsOf(statement));
  const named = earlier.map((line) => ({ line, day: /\d{4}-\d\d-\d\d(?! to)/.exec(line)?.[0] }));
  const same = named.findLast(({ line, day }) => day && termsOf(line).some((term) => terms.has(term)));
  return same?.day ?? named.slice(-2).findLast(({ day }) => day)?.day ?? null;
}

/** A longer one would be cut between the words and their date. */
const MAX_BOTH = 140;

/** How what the agent had said is marked. */
export const MEANT = "**What was meant:**";
const MIN_REPEATED = 40;
/** An answer, which says nothing without its question. */
const PART =
  /^(?:in|on|at|under|it|it's|they|they're|that|that's|those|these|he|he's|she|she's|moved|now|er|sie|es|die|der|das|im|in|unter|auf|está|están|ya|en|él|ella|lo|la|los|se|c'est|il|elle|dans|sur)(?![\p{L}])|^(?:在|改|推|他|她|它|那)/iu;
/** Its beginning says what was done; the rest is details. */
const MAX_ANSWER = 2_000;
const MAX_MEANING = 400;

/** The last sentences of what the person had said before; null if they ask nothing or must not be saved. */
function subjectOf(asked: string): string | null {
  const told = splitSpeech(asked).slice(-2);
  return told.some(({ plain }) => hasPart(plain, "question")) ? joinTold(told) : null;
}

function joinTold(told: readonly Sentence[]): string | null {
  if (told.length === 0 || told.some(saysNothing)) return null;
  const joined = told.map(({ text }) => endSentence(text)).join(" ");
  return joined.length <= MAX_MEANING ? joined : null;
}
