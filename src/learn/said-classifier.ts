/** Whether a sentence is worth keeping and as what: a network over its meaning, that of its message and of the answer before it, and its form. Trained by training/extraction. */

import type { MemoryType } from "../store/store.ts";
import { lazily } from "../text/lazy.ts";
import { hasPart } from "./said-refusals.ts";
import type { Sentence } from "./said-speech.ts";
import { CLASSIFIER } from "./said-weights.ts";

export type Kind = (typeof KINDS)[number];

export interface Judged {
  /** How likely it is worth keeping, 0 to 1. */
  keep: number;
  kind: Kind;
  /** How likely it is of that kind if it is worth keeping. */
  share: number;
}

const KINDS = ["correction", "confirmation", "preference", "decision", "pointer", "person"] as const;

export const TYPE_OF: Readonly<Record<Kind, MemoryType>> = {
  correction: "feedback",
  confirmation: "feedback",
  preference: "feedback",
  decision: "project",
  pointer: "reference",
  person: "user",
};

/** From `UNSURE` on it is shown to the user in the inbox, from `SURE` on it is kept. */
export const { unsure: UNSURE, sure: SURE } = CLASSIFIER;

const weights = lazily(() => ({ hidden: unpack(CLASSIFIER.hidden), out: unpack(CLASSIFIER.out) }));

/** One byte a weight, each row with a scale of its own. */
function unpack({ scales, bytes }: { scales: readonly number[]; bytes: string }): Float32Array[] {
  const all = Buffer.from(bytes, "base64");
  const width = all.length / scales.length;
  return scales.map((scale, row) =>
    Float32Array.from({ length: width }, (_, i) => all.readInt8(row * width + i) * scale),
  );
}

export function judge(place: Place, embed: Embed): Judged {
  const features = featuresOf(place, embed);
  const { hidden, out } = weights();
  // The last weight of each row is added.
  const inner = hidden.map((row) => Math.tanh(features.reduce((sum, x, i) => sum + x * row[i]!, row[DENSE]!)));
  const scores = out.map((row) => inner.reduce((sum, x, i) => sum + x * row[i]!, row[inner.length]!));
  const most = Math.max(...scores);
  const [skip = 0, ...kinds] = scores.map((score) => Math.exp(score - most));
  const kept = kinds.reduce((sum, x) => sum + x, 0);
  // Worth keeping or not, then as what: of the kinds that its form allows.
  const allowed = kinds.map((x, i) => (mayBe(KINDS[i]!, place) ? x : 0));
  const best = Math.max(...allowed);
  const share = best / allowed.reduce((sum, x) => sum + x, 0);
  return { keep: kept / (skip + kept), kind: KINDS[allowed.indexOf(best)]!, share };
}

/** A pointer names a place or who to ask, a person speaks of themselves, and only an answer is confirmed, by somebody who does not object to it. */
function mayBe(kind: Kind, { sentences, at, answer }: Place): boolean {
  const { text } = sentences[at]!;
  if (kind === "pointer") return PLACE.test(text);
  if (kind === "person") return SELF.test(text);
  return kind !== "confirmation" || (answer !== "" && !OBJECTS.test(text));
}

/** With the agent's words in it, an objection would say the opposite. */
const OBJECTS =
  /\b(?:next time|don['’]?t|do not|instead|stop|nicht|kein\w*|statt|lieber|nächstes mal|nada de|en vez de|la próxima)\b|不要|别|下次/iu;

const PLACE =
  /https?:|[\w.-]\/[\w.-]|\\\\|(?:^|\s)#[a-z]|\S@\S|["“„«「]|\b(?:wiki|drive|folder|dashboard|board|sheet|channel|share|repo|bucket|confluence|notion|sharepoint|jira|linear|grafana|sentry|slack|figma|intranet|portal|space|project|tab|page|server|ask|lives?|kept|stored|found|tracked|documented|contact|talk to|handled by|ordner|laufwerk|kanal|ablage|liegt|liegen|steht|stehen|frag\w*|kümmert|findest|seite|carpeta|unidad|tablero|canal|está|están|pregunta\w*|encarga|encuentra|hoja|dossier|lecteur|trouve|demande\w*)\b|网盘|文件夹|频道|群|表格|看板|文档|系统|在|找|问|归|フォルダ|にあ|聞い|폴더|드라이브|에 있/iu;
const SELF =
  /(?<!\p{L})(?:i|i'm|i’m|i've|my|me|we|we're|our|ich|mein\w*|mir|mich|wir|yo|soy|mi|me|vengo|trabajo|leo|doy|somos|nosotros|je|j'|mon|ma|moi|nous)(?!\p{L})|我|本人|私|僕|俺|나|저|제|내|우리/iu;

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
