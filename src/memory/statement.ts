/** The shape of what is kept: the statement without small talk, its reason and use set apart, its name, description and type. */

import { fileNameFor, formatIndexLine, type MemoryType } from "../store/store.ts";
import { LONG_LINE } from "./save.ts";

/** "no, …", "by the way, …": more than a few of them is not how people begin. */
const LEAD =
  /^(?:(?:(?:oh|wait|hey|um|ah|ok|okay|hi|hello|hm+|ugh|well|yes|yep|yeah|right|good|great|nice|cool|perfect|fine|sorry|listen|look|thanks|thank you|thx|no|nope|nah|wrong|actually|also|and|but|so|then|anyway|important|one more thing|one thing|heads[- ]up|fyi|by the way|btw|just so you know|for context|for info|quick note|update|news|reminder|please|pls|nein|ja|genau|stimmt|übrigens|ach|also|bitte|danke|no|sí|vale|bueno|por cierto|gracias|non|oui|voilà|au fait|merci)(?:[,:;.!]| [-–—]) *)|(?:please|pls|and|also|but|so|then|ok|okay|oh|hey|bitte|und) (?=\S)|(?:不|不是|不对|对|好的?|嗯|另外|顺便说一下|いや|違う|はい|そうそう|ちなみに|아니|응|맞아|참고로)[，,、。 ] *){0,4}/i;

export function stripLead(text: string): string {
  const rest = text.slice(LEAD.exec(text)?.[0].length ?? 0);
  return /\p{L}/u.test(rest) ? rest : text;
}

/** The rule first, then why and what follows from it, where that was said. */
export function formatBody(type: MemoryType, statement: string, context: readonly string[]): string {
  const { rule, why, use } = splitReason(statement, type);
  // Read later by another person, "I" must be clear.
  const told = type === "user" && /^(?:i|i'm|i’m|my|im|call me)\b/i.test(rule) ? `The user says: ${rule}` : rule;
  const reasons = context.filter((sentence) => isReason(sentence));
  const rest = context.filter((sentence) => !reasons.includes(sentence));
  const parts = [
    [told, ...rest].map(endSentence).join(" "),
    ...(why || reasons.length > 0
      ? [`**Why:** ${[...(why ? [why] : []), ...reasons].map(endSentence).join(" ")}`]
      : []),
    ...(use ? [`**How to apply:** ${endSentence(use)}`] : []),
  ];
  return parts.join("\n\n");
}

/** "since" is a reason only where no time follows. */
const REASON =
  /(?:,| [-–—])?(?: (?:mostly|mainly|partly|just|simply))? (?:because(?! of\b)|'cause|cuz|so that(?!['’])|as otherwise|weil|parce que|parce qu'|puisque|porque|ya que|since (?=(?:we|it|they|there|nobody|everyone|our|he|she|you|i|this|that|not|some|all)\b(?! (?:day|week|month|year|morning|release|version)\b))) ?|[，,]?因为/i;
const USE =
  /(?:,|;) (?:so|therefore|deshalb|daher|así que|por eso|donc|du coup) (?!that\b|far\b|much\b|on\b)|[，,](?:所以|因此)/i;

function splitReason(statement: string, type: MemoryType): { rule: string; why: string | null; use: string | null } {
  const whole = { rule: statement, why: null, use: null };
  const because = REASON.exec(statement);
  const so = because || type === "feedback" ? null : USE.exec(statement);
  const match = because ?? so;
  if (!match || match.index < 6 || /\([^)]*$/.test(statement.slice(0, match.index))) return whole;
  const rest = statement.slice(match.index + match[0].length).trim();
  // One of a single word ("because reasons") is left where it is.
  if (rest.length < 8) return whole;
  const rule = statement.slice(0, match.index);
  if (so) return { rule, why: null, use: rest };
  return { rule, why: /so that/i.test(match[0]) ? `so that ${rest}` : rest, use: null };
}

function isReason(sentence: string): boolean {
  return /^(?:because|otherwise|the reason|that's why|weil|sonst|denn|der grund|porque|si no|de lo contrario|la razón|parce que|sinon|car|la raison)\b|^(?:因为|否则|不然)|から[。.]?$|ので[。.]?$/i.test(
    sentence,
  );
}

export function endSentence(text: string): string {
  const trimmed = text.trim();
  return /[.!?…:。！？]$/.test(trimmed)
    ? trimmed
    : `${trimmed}${/[\u3040-\u30ff\u4e00-\u9fff]$/.test(trimmed) ? "。" : "."}`;
}

/** The length of a title that fits a line of a list. */
const MAX_WORDS = 8;
const MAX_NAME = 80;
const MAX_DESCRIPTION = 140;
/** A shorter one says nothing: a name that leaves less room was given, not derived. */
const MIN_DESCRIPTION = 18;

/**
 * Statements that begin alike get different names, as a save under a name that is taken would be an update: of a long one the
 * first words are taken and the most telling ones of the rest (names, numbers, identifiers), in their order.
 */
export function nameStatement(statement: string): string {
  // Without its "every" a weekday would be one day.
  const line = statement
    .replace(/\s+/g, " ")
    .trim()
    .replace(/\b(?:every|each) ((?:mon|tues|wednes|thurs|fri|satur|sun)day)\b/gi, "$1s");
  const picked = isSpaced(line) ? pickWords(line.split(" ")) : pickUnspaced(line);
  // Text without spaces may still hold many short words of another script.
  const cut = picked.split(" ").slice(0, MAX_WORDS).join(" ");
  return stripEnds(cut.replace(/["“”„«»「」『』`]/g, "")) || "note";
}

/** Its first words as they stand, where the picked ones would say something else. */
export function beginStatement(statement: string): string {
  return stripEnds(wellFormed(statement.split(/\s+/, MAX_WORDS).join(" ").slice(0, MAX_NAME))) || "note";
}

/** Short enough that the line of the index, with the name and its file, is not too long. */
export function describeStatement(statement: string, memory?: { type: MemoryType; name: string }): string {
  const line = statement.replace(/\s+/g, " ").trim();
  const max = memory ? Math.min(MAX_DESCRIPTION, Math.max(MIN_DESCRIPTION, roomFor(memory))) : MAX_DESCRIPTION;
  if (line.length <= max) return line;
  const cut = line.slice(0, max - 1);
  const end = isSpaced(line) ? cut.lastIndexOf(" ") : lastWordEnd(cut);
  return `${stripEnds(end > 0 ? cut.slice(0, end) : wellFormed(cut))}…`;
}

function roomFor({ type, name }: { type: MemoryType; name: string }): number {
  return LONG_LINE - formatIndexLine({ file: fileNameFor(type, name), name, description: "-" }).length + 1;
}

/** Chinese and Japanese write words without spaces between them. */
function isSpaced(line: string): boolean {
  const unspaced = line.match(/[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]/gu)?.length ?? 0;
  return unspaced < line.length / 4;
}

const FILLER =
  /^(?:a|an|the|please|just|really|very|also|that|which|so|then|is|are|was|were|be|been|will|it|its|it's|our|we|you|they|and|there)$/i;

function pickWords(all: readonly string[]): string {
  const fitting = all.map((word) => (word.length > MAX_NAME ? wellFormed(word.slice(0, MAX_NAME)) : word));
  const whole = (words: readonly string[]) => words.length <= MAX_WORDS && words.join(" ").length <= MAX_NAME;
  if (whole(fitting)) return fitting.join(" ");
  const clause = firstClause(fitting);
  if (whole(clause)) return clause.join(" ");
  const words = dropFiller(clause);
  if (whole(words)) return words.join(" ");
  const opening = words.slice(0, MAX_WORDS - TELLING);
  const telling = words
    .map((word, at) => ({ at, weight: weigh(word) }))
    .slice(opening.length)
    .sort((a, b) => b.weight - a.weight || a.at - b.at)
    .slice(0, TELLING)
    .sort((a, b) => a.at - b.at)
    .map(({ at }) => words[at]!);
  let name = "";
  for (const word of [...opening, ...telling]) {
    const longer = name === "" ? word : `${name} ${word}`;
    if (longer.length <= MAX_NAME) name = longer;
  }
  return name.replace(/[,;:](?= )/g, "");
}

/** How many of the words come from the rest of a long statement. */
const TELLING = 2;

/** A clause shorter than this says too little alone; one that is followed by an exception, or is about "them", says something else. */
const MIN_CLAUSE = 4;

function firstClause(words: readonly string[]): readonly string[] {
  if (/^(?:it|they|this|that|these|those|he|she|there)$/i.test(words[0] ?? "")) return words;
  const end = words.findIndex((word, i) => i >= MIN_CLAUSE - 1 && /[,;.]$/.test(word)) + 1;
  return end === 0 || /^(?:except|unless|not|but|only|and|or|if|when)$/i.test(words[end] ?? "")
    ? words
    : words.slice(0, end);
}

function dropFiller(words: readonly string[]): readonly string[] {
  return words.filter((word, i) => i === 0 || !FILLER.test(bare(word)));
}

function weigh(word: string): number {
  const core = bare(word);
  const digits = /\d/.test(core) ? 6 : 0;
  if (core.length < 2) return digits;
  return digits + (/\p{Lu}/u.test(core) ? 5 : 0) + (/[_/.-]/.test(core) ? 3 : 0) + Math.min(core.length, 10) / 3;
}

/** The first clause, in whole words. */
function pickUnspaced(line: string): string {
  const clause = /^[^，。、；,;]{6,40}(?=[，。、；,;])/u.exec(line)?.[0];
  if (clause && line.length > 40) return `${clause}${pickTail(line.slice(clause.length))}`;
  return line.length <= 40 ? line : line.slice(0, lastWordEnd(line.slice(0, 40)));
}

/** Latin words and numbers after the first clause distinguish two such statements. */
function pickTail(rest: string): string {
  const words = rest.match(/[A-Za-z0-9][\w./-]{1,20}/g)?.slice(0, 2) ?? [];
  return words.length > 0 ? ` ${words.join(" ")}` : "";
}

function lastWordEnd(text: string): number {
  let last = 0;
  for (const { index } of new Intl.Segmenter(undefined, { granularity: "word" }).segment(text)) last = index;
  return last || wellFormed(text).length;
}

function bare(word: string): string {
  return word.replace(/^[^\p{L}\p{N}#@\\/]+|[^\p{L}\p{N}]+$/gu, "");
}

/** No punctuation at the ends, and no word that waits for another one. */
function stripEnds(name: string): string {
  return name
    .replace(/^[\s.,;:!?、。，：–—-]+|[\s.,;:!?、。，：–—-]+$/gu, "")
    .replace(/(?: (?:the|a|an|of|and|or|to|in|on|at|for|with|by|from|that|is|are|because|but|not))+$/i, "");
}

function wellFormed(text: string): string {
  return text.replace(/[\uD800-\uDBFF]$/, "");
}

/** Enough to tell; a longer text is not searched to its end. */
const MAX_LOOK = 600;

/** By words alone, for what was explicitly asked for. */
export function typeOfStatement(text: string): MemoryType {
  const statement = text.slice(0, MAX_LOOK);
  if (REFERENCE.test(statement)) return "reference";
  if (FEEDBACK.test(statement)) return "feedback";
  return USER.test(statement) ? "user" : "project";
}

/** An address, or something that is kept in a system with a name. */
const REFERENCE =
  /https?:\/\/|\\\\\w|(?<![\w&])#[a-z][\w-]{2,}|(?<!\p{L})(?:tracked|documented|found|kept|stored|collected|lives?|liegt|liegen|steht|stehen|está|están|se trouve|est|sont) (?:in|at|on|under|auf|unter|en|dans|sur) (?:\p{Ll}+ ){0,2}\p{Lu}/u;
const FEEDBACK =
  /^(?:to|not to)\s|\b(?:never|always|don'?t|do not|stop|avoid|prefer to|use\b.{0,80}\b(?:instead|not)|instead of|must|should|please)\b|(?<!\p{L})(?:nie|niemals|immer|nur|kein(?:e[nrs]?)?|bitte|jamais|toujours|siempre|nunca)(?!\p{L})|不要|必须|一定|总是|永远|别|请|必ず|常に|ください|しないで|ないこと|禁止|항상|절대|지 마/iu;
const USER = /^(?:i\b|i'm|my\b|me\b|the user\b|ich\b|je\b|j'|mon\b|ma\b|yo\b|soy\b|mi\b|mein|我|私|나는|저는)/i;
