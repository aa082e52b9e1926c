/** Whether a sentence is worth keeping and as what: a network over its meaning and its form, and beside it a weight for each of its words. Trained by training/extraction. */

import { lazily } from "../errors.ts";
import type { MemoryType } from "../store/store.ts";
import type { Sentence } from "../text/speech.ts";
import { CLASSIFIER } from "./said-weights.ts";

export type Kind = (typeof KINDS)[number];

export type Judged = ReturnType<typeof judge>;

const KINDS = ["correction", "confirmation", "preference", "decision", "pointer", "person"] as const;

export const TYPE_OF: Readonly<Record<Kind, MemoryType>> = {
  correction: "feedback",
  confirmation: "feedback",
  preference: "feedback",
  decision: "project",
  pointer: "reference",
  person: "user",
};

/** From which score on it is kept, by the type of memory: what a program must do is easily taken for a fact about the project. */
export type Sure = Readonly<Record<MemoryType, number>>;

export const SURE: Sure = CLASSIFIER.sure;
/** From here on it is shown to the user in the inbox. */
export const UNSURE = CLASSIFIER.unsure;

const weights = lazily(() => ({
  hidden: unpack(CLASSIFIER.hidden),
  out: unpack(CLASSIFIER.out),
  words: unpack(CLASSIFIER.words),
}));

/** One byte a weight, each row with a scale of its own. */
function unpack({ scales, bytes }: { scales: readonly number[]; bytes: string }): Float32Array[] {
  const all = Buffer.from(bytes, "base64");
  const width = all.length / scales.length;
  return scales.map((scale, row) =>
    Float32Array.from({ length: width }, (_, i) => all.readInt8(row * width + i) * scale),
  );
}

export function judge(place: Place, embed: Embed) {
  const features = featuresOf(place, embed);
  const buckets = bucketsOf(place.sentences[place.at]!.plain);
  const { hidden, out, words } = weights();
  // The last weight of each row is added.
  const inner = hidden.map((row) => Math.tanh(features.reduce((sum, x, i) => sum + x * row[i]!, row[DENSE]!)));
  const scores = out.map(
    (row, i) =>
      inner.reduce((sum, x, j) => sum + x * row[j]!, row[inner.length]!) +
      buckets.reduce((sum, bucket) => sum + words[i]![bucket]!, 0) / Math.sqrt(buckets.length || 1) +
      words[i]![BUCKETS]!,
  );
  const most = Math.max(...scores);
  const [skip = 0, ...rest] = scores.map((score) => Math.exp(score - most));
  const withdrawn = rest.at(-1)!;
  const kinds = rest.slice(0, -1);
  const kept = kinds.reduce((sum, x) => sum + x, 0);
  const all = skip + kept + withdrawn;
  // Worth keeping or not, then as what type, then as what kind of it. Only an answer can be confirmed.
  const allowed = KINDS.map((kind, i) => ({ kind, x: kind === "confirmation" && place.answer === "" ? 0 : kinds[i]! }));
  const sumOf = (type: MemoryType | null) =>
    allowed.reduce((sum, { kind, x }) => sum + (type === null || TYPE_OF[kind] === type ? x : 0), 0);
  const total = sumOf(null);
  const ofType = allowed.map(({ kind }) => sumOf(TYPE_OF[kind]));
  const typeSum = Math.max(...ofType);
  const { kind, x } = allowed.filter((_, i) => ofType[i] === typeSum).reduce((a, b) => (b.x > a.x ? b : a));
  return {
    /** How likely it is worth keeping, and how likely it takes back what was said before, 0 to 1. */
    ...{ keep: kept / all, takesBack: withdrawn / all, kind },
    /** How likely it is of that kind, and of a kind with the same type, if it is worth keeping. */
    ...{ share: x / total, typeShare: typeSum / total },
  };
}

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

export const DENSE = WIDTH + FORMS.length + 1;

/** The vector, then the form, then how much the sentence is about the answer; what the answer says made it no better. */
export function featuresOf(place: Place, embed: Embed): Float32Array {
  const { sentences, at, answer } = place;
  const { text, plain } = sentences[at]!;
  const own = embed(text);
  const before = answer === "" ? null : embed(answer.slice(0, MAX_ANSWER));
  const dense = new Float32Array(DENSE);
  dense.set(own);
  FORMS.forEach((form, i) => {
    dense[WIDTH + i] = Number(form(place, plain));
  });
  dense[DENSE - 1] = before ? own.reduce((sum, x, i) => sum + x * before[i]!, 0) : 0;
  return dense;
}

/** So many weights for words and parts of words: each has the weight of its hash, which it shares with others. */
export const BUCKETS = 8192;

const UNSPACED = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]+/gu;

/** Where the weights of its words are: the vectors tell what a sentence is about, its words whether it is a wish, a report or a thought. */
export function bucketsOf(plain: string): number[] {
  const text = plain.toLowerCase();
  const words = text.replace(UNSPACED, " ").match(/\p{L}+|\p{N}+|[?!:,;]/gu) ?? [];
  // Of a script without spaces single characters and pairs.
  const pairs = (text.match(UNSPACED) ?? []).flatMap((run) => {
    const characters = ["^", ...run, "$"];
    return characters.flatMap((one, i) => [one, `${one}${characters[i + 1] ?? ""}`]);
  });
  const all = [...words.map((word) => (/\p{N}/u.test(word) ? "0" : word)), ...words.flatMap(partsOf), ...pairs];
  return [...new Set(all.map(hash))];
}

/** Three to five letters each: endings and compounds, and other forms of the word. */
function partsOf(word: string): string[] {
  if (word.length < 4 || /\p{N}/u.test(word)) return [];
  const whole = `<${word}>`;
  return [3, 4, 5].flatMap((size) =>
    Array.from({ length: Math.max(0, whole.length - size + 1) }, (_, i) => `#${whole.slice(i, i + size)}`),
  );
}

/** FNV-1a. */
function hash(word: string): number {
  let value = 2_166_136_261;
  for (let i = 0; i < word.length; i++) value = Math.imul(value ^ word.charCodeAt(i), 16_777_619);
  return (value >>> 0) % BUCKETS;
}
