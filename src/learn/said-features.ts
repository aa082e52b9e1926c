/** What the classifier sees of a sentence: its meaning, that of its message and of the answer before it, and its form. */

import { hasPart } from "./said-refusals.ts";
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

/** Holds beyond the task. */
const LASTING =
  /\b(?:always|never|every ?(?:one|time|where|thing)?|in general|usually|as a rule|from now on|any ?more|immer|nie(?:mals)?|grundsätzlich|generell|überall|jedes mal|siempre|nunca|jamás|en general|cada vez|toujours|jamais|en général|chaque fois)\b|总是|永远|一律|以后|今后|都|从不|每次|いつも|必ず|常に|毎回|항상|절대|매번/iu;
/** A task. */
const ORDER =
  /^(?:(?:please|pls|and|then|now|also|ok|so|but|first|just|can you|could you)[, ]+){0,3}(?:add|make|fix|change|rename|move|remove|delete|write|run|show|put|check|look|try|merge|push|commit|create|update|give|tell|let's|start|sort|convert|generate|explain|build|deploy|bump|take|send|open|list|find)\b|^(?:bitte |und |dann |jetzt |kannst du |erst )*(?:mach|schreib|füg|änder|lösch|benenn|schau|guck|zeig|nimm|pack|bau|such|prüf|stell|lass|gib|start|teste?|erklär|erstell)(?:e|st)?\b|^(?:y |ahora |por favor |primero )*(?:haz|pon|cambia|añade|quita|borra|mira|escribe|corre|muestra|usa|prueba|crea|sube|arregla|revisa|dame|busca|explica|genera|actualiza|saca)\b|^(?:请|帮我|把|先|再|加|改|删|写|看|做成|给我)/iu;
const HERE =
  /\b(?:here|this (?:one|file|page|function|case|branch|ticket)|that one|right now|hier|diese[rsmn]?|aquí|est[ea]|ici|ce(?:tte)?)\b|这里|这个|这次|ここ|この|여기|이번/iu;
const US = /\b(?:we|our|us|wir|uns(?:er\w*)?|nosotros|nuestr[oa]s?|nous|notre|nos)\b|我们|咱们|うち|우리/iu;
const ME = /^(?:\W*)(?:i|i'm|i've|my|ich|mein\w*|yo|soy|vengo|mi|je|j'|mon|ma|我|私|僕|나는|저는)(?![\p{L}])/iu;

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
  (_, text) => hasPart(text, "task"),
  (_, text) => hasPart(text, "maybe"),
  (_, text) => hasPart(text, "program", "derivable"),
  (_, text) => hasPart(text, "once"),
  (_, text) => LASTING.test(text),
  (_, text) => ORDER.test(text),
  (_, text) => HERE.test(text),
  (_, text) => US.test(text),
  (_, text) => ME.test(text),
  ({ sentences, at }) => ORDER.test(sentences[at + 1]?.plain ?? ""),
  ({ sentences, at }) => ORDER.test(sentences[at - 1]?.plain ?? ""),
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
