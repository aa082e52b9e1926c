/** Text as terms: words without endings, identifiers and paths whole and in parts, CJK text as characters and pairs of them. */

import { lazily } from "../errors.ts";

/** Words with what joins them into identifiers, paths and versions: `max_retry_count`, `src/db/pool.ts`, `v1.2`. */
const ASCII_COMPOUND = /[A-Za-z0-9]+(?:[._/\\@#:'-]+[A-Za-z0-9]+)*/g;
const JOINT = /[._/\\@#:-]+/;
const ASCII = /^[\0-\x7f]*$/;
const WORD = /^[A-Z]?[a-z]+$/;

/** Where a word changes case, and where it is split because of that. */
interface Case {
  changes: RegExp;
  between: RegExp;
}

const ASCII_CASE: Case = {
  changes: /[a-z][A-Z]|[A-Z][A-Z][a-z]/,
  between: /(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])/,
};

/** Scripts written without spaces. */
const UNSPACED =
  "\\p{Script=Han}\\p{Script=Hiragana}\\p{Script=Katakana}\\p{Script=Thai}\\p{Script=Lao}\\p{Script=Khmer}";

/** The same for all scripts; plain ASCII text does not need it. */
const unicode = lazily(() => ({
  compound: /[\p{L}\p{N}\p{M}]+(?:[._/\\@#:'’-]+[\p{L}\p{N}\p{M}]+)*/gu,
  inCase: {
    changes: /\p{Ll}\p{Lu}|\p{Lu}\p{Lu}\p{Ll}/u,
    between: /(?<=[\p{Ll}\p{N}])(?=\p{Lu})|(?<=\p{Lu})(?=\p{Lu}\p{Ll})/u,
  },
  unspaced: new RegExp(`[${UNSPACED}ー々〆]+`, "gu"),
  hasUnspaced: new RegExp(`[${UNSPACED}]`, "u"),
  han: /\p{Script=Han}/u,
  hangul: /^\p{Script=Hangul}+$/u,
  hiragana: /\p{Script=Hiragana}/u,
}));

/** The beginning of a pasted log says as much about the request as a megabyte of it. */
const MAX_CHARACTERS = 200_000;
const MAX_TERM = 64;

/** In the order of the text, with repetitions. */
export function termsOf(text: string): string[] {
  const terms: string[] = [];
  const head = text.slice(0, MAX_CHARACTERS);
  // Most texts are plain ASCII, and preparing patterns for all of Unicode takes a new process milliseconds.
  if (ASCII.test(head)) {
    for (const compound of head.match(ASCII_COMPOUND) ?? []) addCompound(terms, compound, ASCII_CASE);
    return terms;
  }
  for (const [compound] of head.normalize("NFKC").matchAll(unicode().compound)) {
    if (unicode().hasUnspaced.test(compound)) addMixed(terms, compound);
    else addCompound(terms, compound, unicode().inCase);
  }
  return terms;
}

export function hasCjk(text: string): boolean {
  return !ASCII.test(text) && unicode().hasUnspaced.test(text);
}

/** Latin words inside CJK text are words; the rest is split into pairs, because its word boundaries are unknown. */
function addMixed(terms: string[], text: string): void {
  let end = 0;
  for (const match of text.matchAll(unicode().unspaced)) {
    addCompound(terms, trimJoints(text.slice(end, match.index)), unicode().inCase);
    addPairs(terms, match[0]);
    end = match.index + match[0].length;
  }
  addCompound(terms, trimJoints(text.slice(end)), unicode().inCase);
}

function trimJoints(text: string): string {
  return text.replace(/^[._/\\@#:'’-]+|[._/\\@#:'’-]+$/g, "");
}

/**
 * Also every Chinese character by itself: two words for a thing often share one. Two hiragana between other characters
 * are grammar, not a word.
 */
function addPairs(terms: string[], run: string): void {
  const { han, hiragana } = unicode();
  const characters = [...run];
  const isMixed = !characters.every((character) => hiragana.test(character));
  for (let i = 0; i < characters.length; i++) {
    const [character, next] = [characters[i] as string, characters[i + 1]];
    if (characters.length === 1 || han.test(character)) terms.push(character);
    if (next === undefined || (isMixed && hiragana.test(character) && hiragana.test(next))) continue;
    terms.push(character + next);
  }
}

function addCompound(terms: string[], compound: string, inCase: Case): void {
  // An ordinary word, as most are.
  if (inCase === ASCII_CASE && WORD.test(compound)) {
    addWord(terms, compound);
    return;
  }
  const pieces = compound.split(JOINT).filter((piece) => piece !== "");
  let parts = 0;
  for (const piece of pieces) {
    // `handleAuth` is handle and Auth, `HTTPServer` HTTP and Server; `v3` and `h100` stay whole.
    const words = inCase.changes.test(piece) ? piece.split(inCase.between) : [piece];
    parts += words.length;
    for (const word of words) addWord(terms, word);
    if (words.length > 1) addWhole(terms, piece);
  }
  // The whole identifier is rarer than its parts, so a match on it is specific.
  if (pieces.length > 1 && parts > 1) {
    addWhole(terms, compound.replace(/\\/g, "/"));
    const last = compound.split(/[/\\]/).at(-1) as string;
    if (last !== compound && last !== pieces.at(-1)) addWhole(terms, last);
  }
}

function addWord(terms: string[], word: string): void {
  const lower = ASCII.test(word) ? word.toLowerCase() : plain(terms, word.toLowerCase());
  if (STOP_WORDS.has(lower) || (lower.length === 1 && !/\d/.test(lower))) return;
  const term = stem(american(lower));
  if (term.length <= MAX_TERM) terms.push(term);
}

/** Accents are often left out when typing. Korean words carry their endings, so pairs of syllables are terms, too. */
function plain(terms: string[], word: string): string {
  if (!unicode().hangul.test(word))
    return word
      .replaceAll("’", "'")
      .normalize("NFD")
      .replace(/\p{M}+/gu, "")
      .normalize("NFC");
  for (let at = 0; word.length > 2 && at + 2 <= word.length; at++) terms.push(word.slice(at, at + 2));
  return word;
}

/** One spelling for both sides of the ocean: normalisation, colour. It does not matter that `raise` becomes `raize`. */
function american(word: string): string {
  if (word.length < 6) return word;
  return word.replace(/is(e|ed|es|er|ers|ing|ation|ations)$/, "iz$1").replace(/our(s|ed|ing|al)?$/, "or$1");
}

function addWhole(terms: string[], whole: string): void {
  const lower = whole.toLowerCase();
  if (lower.length <= MAX_TERM) terms.push(lower);
}

/** The share of letters beyond ASCII, 0 to 1. */
export function foreignShare(text: string): number {
  const head = text.slice(0, MAX_JUDGED);
  if (ASCII.test(head)) return 0;
  return count(head, /[^\p{ASCII}\P{L}]/gu) / Math.max(1, count(head, /\p{L}/gu));
}

/** The language shows within the first lines. */
const MAX_JUDGED = 2000;

function count(text: string, pattern: RegExp): number {
  return text.match(pattern)?.length ?? 0;
}

// --- English words cut to their stem (Porter's second algorithm), so that deploy, deploys and deploying are one term.

// @ts-expect-error: the package brings no types.
import porter2 from "wink-porter2-stemmer";

/** `word` in lower case; anything other than a–z and apostrophes, or too long for a word, is returned unchanged. */
export function stem(word: string): string {
  // The package's expressions take quadratic time.
  return /^[a-z']{3,45}$/.test(word) ? porter2(word) : word;
}

// --- Stop words of the languages that prompts are most often written in.

const ENGLISH =
  "a about above after again against all also am an and any anyone anything are aren't as at be because been before being below between both but by can can't cannot could couldn't did didn't do does doesn't doing don't done down during each either else ever every few for from further get gets getting give given go goes going got had hadn't has hasn't have haven't having he he'd he's her here hers herself him himself his how i i'd i'll i'm i've if in into is isn't it it's its itself just kind let let's like lot made make makes making many maybe me might mine more most much must my myself need needs no nor not now of off on once one ones only onto or other others our ours ourselves out over own per please put quite rather really same shall she should shouldn't since so some somebody someone something still such sure take taken tell than thank thanks that that's the their theirs them themselves then there there's these they they're thing things this those though through thus to together too toward towards under until up upon us use used uses using very via want wants was wasn't way we we'd we'll we're we've well were weren't what what's whatever when where whether which while who who's whom whose why will with within without won't would wouldn't yes yet you you'd you'll you're you've your yours yourself";
const GERMAN =
  "aber als am an auch auf aus bei bin bis da dann das dass dein dem den der des dich die dies diese dieser dir doch du durch ein eine einem einen einer eines er es für hat hatte ich ihm ihn ihr im in ist ja kann kein können mein mich mir mit muss nach nicht noch nur ob oder sein sich sie sind so soll über um und uns unser vom von vor war warum was wenn wer wie wir wird wo zu zum zur";
const FRENCH =
  "à au aux avec ce ces cette comme dans de des du elle en est et être il ils je la le les leur lui ma mais me mes moi mon ne nos notre nous on ou où par pas pour qu que qui sa se ses si son sur ta te tes toi ton tu un une vos votre vous";
const SPANISH =
  "al como con de del donde el ella en entre era es esta este esto la las le lo los me mi más muy no nos o para pero por porque que qué se sin sobre su sus también te tiene un una uno y ya yo";

export const STOP_WORDS: ReadonlySet<string> = new Set(`${ENGLISH} ${GERMAN} ${FRENCH} ${SPANISH}`.split(" "));
