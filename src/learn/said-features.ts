/** What the classifier sees of a sentence: its meaning, that of its message and of the answer before it, and its form. */

import type { Sentence } from "./said-speech.ts";

export type Embed = (text: string) => Float32Array;

/** A sentence in its message. */
export interface Place {
  sentences: readonly Sentence[];
  at: number;
  /** What the agent had said right before, or "". */
  answer: string;
}

const WIDTH = 384;
/** The answer's beginning says what was done. */
const MAX_ANSWER = 300;
const MAX_MESSAGE = 800;

/** A day or a month by its name: the vectors of some languages do not show it. */
const DATED =
  /\b(?:mon|tues|wednes|thurs|fri|satur|sun)days?\b|\b(?:next|last) (?:week|month|year)\b|\b(?:january|february|march|april|june|july|august|september|october|november|december)\b|(?:mon|diens|donners|frei|sams|sonn)tag|mittwoch|(?:nächste|kommende|letzte)\w* (?:woche|monat)|januar|februar|märz|juni|juli|oktober|dezember|lunes|martes|miércoles|jueves|viernes|sábado|domingo|(?:enero|febrero|marzo|abril|mayo|junio|julio|agosto|septiembre|octubre|noviembre|diciembre)|lundi|mardi|mercredi|jeudi|vendredi|samedi|dimanche|janvier|février|avril|juillet|août|septembre|octobre|novembre|décembre|próxim[oa] (?:semana|mes)|(?:semaine|mois) prochaine?|[周期拜][一二三四五六日天]|[下上本]个?[周月]|[月火水木金土日]曜|[来先今][週月]|요일|(?:다음|지난|이번) ?[주달]|[\d一二三四五六七八九十][月号日월일]/i;

/** Each is true or false of the sentence, or a small number. */
const FORMS: readonly ((place: Place, text: string) => number | boolean)[] = [
  (_, text) => /[?？]\s*$/.test(text),
  (_, text) => /[!！]\s*$/.test(text),
  (_, text) => /[:：]/.test(text),
  (_, text) => text.includes(","),
  (_, text) => Math.min(text.length, 200) / 100,
  (_, text) => text.length < 16,
  (_, text) => text.length < 30,
  (_, text) => text.length > 90,
  (_, text) => /https?:\/\//.test(text),
  (_, text) => /(?:^|\s)(?:[\w.-]+\/)+[\w.-]+|\\\\\w/.test(text),
  (_, text) => /(?:^|\s)#[a-z][\w-]+/i.test(text),
  (_, text) => /\uFFFC|[`"“”„«»「」]/.test(text),
  (_, text) => /\d/.test(text),
  (_, text) => /\d{4}-\d\d|\d{1,2}[.:]\d\d|\d{1,2}(?:st|nd|rd|th)\b|\d{1,2}[.号日월일月]/.test(text),
  (_, text) => DATED.test(text),
  (_, text) => /[\p{Ll},] \p{Lu}\p{Ll}+/u.test(text),
  (_, text) => /\b\p{Lu}{2,}\b/u.test(text),
  (_, text) => /^\p{Lu}/u.test(text),
  (_, text) => /\p{Script=Han}/u.test(text),
  (_, text) => /[\p{Script=Hiragana}\p{Script=Katakana}]/u.test(text),
  (_, text) => /\p{Script=Hangul}/u.test(text),
  ({ at }) => at === 0,
  ({ at, sentences }) => at === sentences.length - 1,
  ({ sentences }) => Math.min(sentences.length, 6) / 3,
  ({ sentences, at }) => /[?？]\s*$/.test(sentences[at + 1]?.plain ?? ""),
  ({ sentences, at }) => /[?？]\s*$/.test(sentences[at - 1]?.plain ?? ""),
  ({ sentences, at }) => (sentences[at - 1]?.plain.length ?? 99) < 16,
  ({ answer }) => answer !== "",
  ({ answer }) => /[?？]\s*$/.test(answer),
];

export const DENSE = 3 * WIDTH + FORMS.length + 1;

/** The three vectors one after the other, then the form, then how much the sentence is about the answer. */
export function featuresOf(place: Place, embed: Embed): Float32Array {
  const { sentences, at, answer } = place;
  const { text } = sentences[at]!;
  const own = embed(text);
  const message = sentences.length === 1 ? own : embed(joinAll(sentences).slice(0, MAX_MESSAGE));
  const before = answer === "" ? null : embed(answer.slice(0, MAX_ANSWER));
  const dense = new Float32Array(DENSE);
  dense.set(own);
  dense.set(message, WIDTH);
  if (before) dense.set(before, 2 * WIDTH);
  FORMS.forEach((form, i) => {
    dense[3 * WIDTH + i] = Number(form(place, sentences[at]!.plain));
  });
  dense[DENSE - 1] = before ? own.reduce((sum, x, i) => sum + x * before[i]!, 0) : 0;
  return dense;
}

function joinAll(sentences: readonly Sentence[]): string {
  return sentences.map(({ text }) => text).join(" ");
}
