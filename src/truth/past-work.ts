/** Whether a line reads like a record of past work, in any language: a weighted sum over the meaning of the sentence and of what it is under. Trained by training/records. */

import { lazily } from "../errors.ts";
import type { Passage } from "./passages.ts";
import { WEIGHTS } from "./past-work-weights.ts";

/** A sentence in its place. */
export type Sentence = Pick<Passage, "text" | "over">;

type Embed = (text: string) => Float32Array;

/** From about -0.5, a record, to 0.5, a statement about today; null where it cannot be told. For one run: many sentences share their headings. */
export async function openPastWork(): Promise<(place: Sentence, file: string) => number | null> {
  const { findEmbed } = await import("../meaning/meaning.ts");
  const known = new Map<string, Float32Array>();
  return (place, file) => {
    // Without the sentence model, only the marks of records.ts count.
    const embed = findEmbed();
    if (embed === null || isBare(place)) return null;
    const embedOnce = (text: string) => {
      const vector = known.get(text) ?? embed(text);
      known.set(text, vector);
      return vector;
    };
    const row = weights();
    return featuresOf(place, file, embedOnce).reduce((sum, x, i) => sum + x * (row[i] as number), WEIGHTS.add);
  };
}

/** A command or a name on its own, under no heading, does not say how it is meant. */
function isBare({ text, over }: Sentence): boolean {
  return over.length === 0 && (unnamed(text).match(/\p{L}{2,}/gu)?.length ?? 0) < 2;
}

const weights = lazily(() => {
  const bytes = Buffer.from(WEIGHTS.bytes, "base64");
  return Float32Array.from({ length: bytes.length }, (_, i) => bytes.readInt8(i) * WEIGHTS.scale);
});

/** A sentence's beginning says what kind it is, and the nearest headings count most. */
const [MAX_SENTENCE, MAX_PATH, MAX_HEADING] = [300, 200, 120];

/** The vectors of the sentence and of its headings, each with the names of code and without: what is built must not decide, only how it is told. */
export function featuresOf({ text, over }: Sentence, file: string, embed: Embed): number[] {
  const name = file.replace(/\.md$/i, "").replace(/[_-]/g, " ").replaceAll("/", " / ");
  const headings = over.map((each) => each.slice(0, MAX_HEADING));
  const texts = [
    plain(unnamed(text)).slice(0, MAX_SENTENCE),
    plain(text).slice(0, MAX_SENTENCE),
    plain([name, ...headings].join(" / "))
      .replace(/^[\s/]+/, "")
      .slice(-MAX_PATH),
    plain(headings.map(unnamed).join(" / ")).slice(-MAX_PATH),
  ];
  return texts.flatMap((each) => [...embed(each === "" ? "-" : each)]);
}

function plain(text: string): string {
  return text
    .replace(/[*#|>`]+/g, " ")
    .replace(/\s+/g, " ")
    .trim();
}

/** Code, paths and names as one letter. */
function unnamed(text: string): string {
  return text.replace(/`[^`]*`|[\w.-]*[/\\][\w./\\-]+|\b\w+[._]\w[\w.]*\b|\b[a-z]+[A-Z]\w*\b/g, "X");
}
