/** `memdir recall --prefetch -`: what a prompt hook starts beside a turn. It says nothing, and ends by itself in bounded time. */

import { finishPrefetch, PREFETCH_MS } from "../hooks/prefetch.ts";
import { readSurfaced } from "../recall/surface-log.ts";
import type { Call } from "./command.ts";

/** For a request that was told to stop. */
const GRACE_MS = 1_000;

/** Standard input: `{ session, id, prompt }`. The answer waits in the directory until the host's next event takes it. */
export async function prefetch(call: Call): Promise<number> {
  setTimeout(() => process.exit(0), PREFETCH_MS).unref();
  const asked = parse(await call.terminal.readInput());
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
    // Nobody reads what this process says, and nothing is lost.
  }
  return 0;
}

interface Asked {
  session: string;
  id: string;
  prompt: string;
}

function parse(text: string): Asked | null {
  try {
    const { session, id, prompt } = JSON.parse(text) as Record<string, unknown>;
    const isAsked = [session, id, prompt].every((part) => typeof part === "string" && part !== "");
    return isAsked ? ({ session, id, prompt } as Asked) : null;
  } catch {
    return null;
  }
}
