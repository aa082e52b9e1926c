/** `memdir prefetch`: recall beside a turn, as a prompt hook starts it. */

import { attempt } from "../errors.ts";
import { finishPrefetch, PREFETCH_MS } from "../hooks/prefetch.ts";
import { readSurfaced } from "../recall/surface-log.ts";
import type { Run } from "./command.ts";

/** For a request that was told to stop. */
const GRACE_MS = 1_000;

/**
 * Says nothing, and ends by itself in bounded time. Standard input: `{ session, id, prompt }`. The answer waits in the
 * directory until the host's next event takes it.
 */
export const start: Run = async (call) => {
  setTimeout(() => process.exit(0), PREFETCH_MS).unref();
  const asked = parseAsked(await call.terminal.readInput());
  if (!asked) return 0;
  try {
    const memdir = await call.open();
    const directory = memdir.directories[0]?.path;
    if (directory === undefined || memdir.config.disabled !== null) return 0;
    const session = readSurfaced(directory, asked.session);
    const signal = AbortSignal.timeout(PREFETCH_MS - GRACE_MS);
    const { memories, method } = await memdir.recall(asked.prompt, { session, signal, timeoutMs: PREFETCH_MS });
    // The offline answer is in the conversation already.
    const paths = method === "model" ? memories.map(({ path }) => path) : [];
    finishPrefetch(directory, asked.session, asked.id, paths);
  } catch {
    // What this process prints is not read, and nothing is lost.
  }
  return 0;
};

function parseAsked(text: string): { session: string; id: string; prompt: string } | null {
  const { session, id, prompt } = attempt(() => JSON.parse(text) as Record<string, string>, null) ?? {};
  const isText = (part: unknown): part is string => typeof part === "string" && part !== "";
  return isText(session) && isText(id) && isText(prompt) ? { session, id, prompt } : null;
}
