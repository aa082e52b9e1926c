/** What the thread of the sentence model runs. */

import { parentPort } from "node:worker_threads";
import { openMeaning } from "./meaning.ts";
import type { ThreadAnswer, ThreadQuestion } from "./thread.ts";

const { meaning, problem } = openMeaning();

parentPort?.on("message", (question: ThreadQuestion) =>
  parentPort?.postMessage(question === null ? { problem } : embed(question)),
);

function embed({ text, isPrompt }: NonNullable<ThreadQuestion>): ThreadAnswer {
  try {
    return meaning ? { vector: meaning.embed(text, isPrompt) } : { problem };
  } catch (error) {
    return { problem: (error as Error).message };
  }
}
