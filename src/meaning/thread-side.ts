/** What the thread of the sentence model runs. */

import { parentPort } from "node:worker_threads";
import { openMeaning } from "./meaning.ts";
import type { ThreadAnswer } from "./thread.ts";

const { meaning, problem } = openMeaning();

parentPort?.on("message", (text: string | null) => parentPort?.postMessage(text === null ? { problem } : embed(text)));

function embed(text: string): ThreadAnswer {
  try {
    return meaning ? { vector: meaning.embed(text) } : { problem };
  } catch (error) {
    return { problem: (error as Error).message };
  }
}
