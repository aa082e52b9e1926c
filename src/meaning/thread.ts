/** The sentence model in a thread of its own, one for the process: a text takes some twenty milliseconds, in which a host's event loop would stand still. */

import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { Worker } from "node:worker_threads";
import { openMeaning } from "./meaning.ts";

/** What the thread is asked: first null, then texts. */
export type ThreadQuestion = { text: string; isPrompt: boolean } | null;

/** What the thread says: first why there is no model, or null; then a vector, or why there is none, for each text in turn. */
export type ThreadAnswer = { problem: string | null } | { vector: Float32Array | null };

interface ThreadState {
  embed: ((text: string, isPrompt?: boolean) => Float32Array | null | Promise<Float32Array | null>) | null;
  problem: string | null;
}

let state: Promise<ThreadState> | null = null;

/** Never throws. Where its file is not beside this one, as in a program that was bundled, the model works in the caller's thread. */
export function openThread(): Promise<ThreadState> {
  state ??= start().catch((): ThreadState => {
    const { meaning, problem } = openMeaning();
    return { embed: meaning?.embed ?? null, problem };
  });
  return state;
}

async function start(): Promise<ThreadState> {
  const file = fileURLToPath(new URL("./meaning-thread.js", import.meta.url));
  if (!existsSync(file)) throw new Error(`${file} is not there`);
  const { Worker } = await import("node:worker_threads");
  const ask = openQueue(new Worker(file, { execArgv: [], workerData: { memdir: true } }));
  const embed = async (text: string, isPrompt = false) => {
    const answer = await ask({ text, isPrompt });
    if ("vector" in answer) return answer.vector;
    throw new Error(answer.problem ?? "there is no vector");
  };
  const first = await ask(null);
  const problem = "problem" in first ? first.problem : null;
  return { embed: problem === null ? embed : null, problem };
}

/** Answers come in the order of the questions. The process waits for the thread only while there are some. */
function openQueue(worker: Worker): (question: ThreadQuestion) => Promise<ThreadAnswer> {
  const waiting: { done: (answer: ThreadAnswer) => void; fail: (error: Error) => void }[] = [];
  let dead: Error | null = null;
  const end = (error: Error) => {
    dead ??= error;
    // The next one who asks starts another.
    state = null;
    for (const { fail } of waiting.splice(0)) fail(dead);
  };
  worker.on("message", (answer: ThreadAnswer) => {
    waiting.shift()?.done(answer);
    if (waiting.length === 0) worker.unref();
  });
  worker.on("error", end);
  worker.on("exit", () => end(new Error("the thread that makes vectors has ended")));
  return (question) =>
    new Promise((done, fail) => {
      if (dead) return fail(dead);
      worker.ref();
      waiting.push({ done, fail });
      worker.postMessage(question);
    });
}
