/** Why a memory was recalled, in words: what `memdir recall` shows under each result. */

import { ageInWords } from "../store/store.ts";
import { isLow, type Method } from "./confidence.ts";
import { clipLine } from "./cut.ts";
import { neutraliseLine } from "./neutral.ts";
import type { Ranked } from "./rank.ts";

/** No more words than these are named. */
export const MAX_WORDS = 8;
const MAX_CUE_CHARACTERS = 80;

export function explain(ranked: Ranked, cues: readonly string[], ageDays: number, method: Method): string[] {
  const why: string[] = [];
  const { words, nearest, isLinked, supersededBy } = ranked.evidence();
  if (words.length > 0) why.push(`words: ${words.slice(0, MAX_WORDS).join(", ")}`);
  if (nearest) {
    const { isCue, number, similarity } = nearest;
    const cue = isCue ? cues[number] : undefined;
    const what = cue === undefined ? "its text" : `cue "${clipLine(neutraliseLine(cue), MAX_CUE_CHARACTERS)}"`;
    why.push(`meaning: ${what} (${similarity.toFixed(2)})`);
  }
  if (isLinked) why.push("links: a memory that it belongs with has the words");
  if (supersededBy) why.push(`superseded by ${supersededBy}`);
  why.push(`age: ${ageInWords(ageDays)}`);
  if (method === "model") why.push("chosen by the model");
  else if (isLow(ranked.confidence, method)) why.push("low confidence");
  return why;
}
