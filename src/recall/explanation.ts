/** Why a memory was recalled, in words: what `memdir recall` shows under each result. */

import { ageInWords, type Memory } from "../store/store.ts";
import { isLow, type Method } from "./confidence.ts";
import { clipLine } from "./cut.ts";
import { neutraliseLine } from "./neutral.ts";
import type { Ranked } from "./rank.ts";

/** No more words than these are named. */
export const MAX_WORDS = 8;
const MAX_CUE_CHARACTERS = 80;

export function explain(ranked: Ranked, memory: Memory, ageDays: number, method: Method): string[] {
  const why: string[] = [];
  if (ranked.words.length > 0) why.push(`words: ${ranked.words.slice(0, MAX_WORDS).join(", ")}`);
  if (ranked.nearest) {
    const { isCue, number, similarity } = ranked.nearest;
    const cue = isCue ? memory.when[number] : undefined;
    const what = cue === undefined ? "its text" : `cue "${clipLine(neutraliseLine(cue), MAX_CUE_CHARACTERS)}"`;
    why.push(`meaning: ${what} (${similarity.toFixed(2)})`);
  }
  if (ranked.isLinked) why.push("links: a memory that it belongs with has the words");
  if (ranked.supersededBy) why.push(`superseded by ${ranked.supersededBy}`);
  why.push(`age: ${ageInWords(ageDays)}`);
  if (method === "model") why.push("chosen by the model");
  else if (isLow(ranked.confidence, method)) why.push("low confidence");
  return why;
}
