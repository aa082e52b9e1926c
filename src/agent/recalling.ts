/** Recall beside a turn: started with the prompt, shown when it is there, never waited for longer than a blink. */

import { formatInjection } from "../recall/injection.ts";
import type { Prefetch } from "../recall/prefetch.ts";
import type { Recalled } from "../recall/recall.ts";
import { logSurfaced } from "../recall/surface-log.ts";
import type { AgentState } from "./state.ts";

/** Ranking takes a few milliseconds; a cold start, with its cache to read, may take this long before the prompt goes without. */
const GRACE_MS = 150;

export async function startRecall(
  state: AgentState,
  words: string,
  signal: AbortSignal,
): Promise<Prefetch<Recalled> | null> {
  const { world, recalled } = state;
  if (!state.memoryOn || asksToIgnore(words)) return null;
  try {
    return await world.memdir.prefetch(words, { session: recalled, signal, model: world.recallWithModel });
  } catch (error) {
    world.log(`recall did not start: ${(error as Error).message}`);
    return null;
  }
}

export async function waitForFast(
  recall: Prefetch<Recalled> | null,
  sleep: (ms: number, signal?: AbortSignal) => Promise<void>,
): Promise<void> {
  if (!recall) return;
  const done = new AbortController();
  await Promise.race([recall.fastReady, sleep(GRACE_MS, done.signal)]);
  done.abort();
}

/** For a turn that was compacted in its middle: its memories went with the rest. Ranked offline, which is fast enough to wait for. */
export async function recallAgain(state: AgentState, words: string): Promise<void> {
  const { world, recalled } = state;
  if (!state.memoryOn || asksToIgnore(words)) return;
  try {
    const { memories } = await world.memdir.recall(words, { session: recalled, model: false });
    surface(state, memories, words);
  } catch (error) {
    world.log(`recall after a compaction: ${(error as Error).message}`);
  }
}

/** Shows memories with the next message, and notes that and why. `words` are the user's, by default the last ones. */
export function surface(
  state: AgentState,
  memories: readonly Recalled[] | null,
  words = state.prompts.at(-1)?.text ?? "",
): void {
  if (!memories || memories.length === 0) return;
  state.recalled.surface(memories);
  const { memdir, now } = state.world;
  const [main] = memdir.directories;
  const session = state.transcript.id;
  if (main) logSurfaced(main.path, { at: now(), session, door: "agent", prompt: words, memories });
  for (const memory of memories) {
    state.attachments.push({ kind: "memories", key: memory.path, text: formatInjection([memory]) });
  }
  state.tell({ type: "recalled", memories });
}

/** "Ignore your memory": then nothing is recalled for this prompt. */
function asksToIgnore(words: string): boolean {
  return /\b(ignore|disregard|without|don'?t use|do not use)\b[^.!?\n]{0,24}\b(memory|memories)\b/i.test(words);
}
