/** `memdir recall`: the memories for a prompt; with --prefetch as a prompt hook starts it beside a turn. */

import { finishPrefetch, PREFETCH_MS } from "../hooks/prefetch.ts";
import type { RecallOptions } from "../recall/recall.ts";
import { readSurfaced } from "../recall/surface-log.ts";
import { answer, type Call, defined, numberOf, type Run, withProgress } from "./command.ts";

export const recall: Run = async (call) => {
  if (call.flag("prefetch")) return prefetch(call);
  const options = optionsOf(call);
  const memdir = await call.open();
  // Memories whose meaning is not known yet are read first: long work the first time.
  await withProgress(call, "reading memories", (onProgress) => memdir.warm({ onProgress }));
  const { memories, considered, method, tookMs, leftOut } = await memdir.recall(call.args.join(" "), options);
  const { bold, dim } = call.terminal.color;
  return answer(call, { memories, considered, method, tookMs, leftOut }, () => [
    ...memories.flatMap(({ type, name, file, score, description, why }) => [
      `[${type}] ${bold(name)} ${dim(file)}  ${score.toFixed(2)}`,
      ...(description === "" ? [] : [`    ${description}`]),
      ...why.map((reason) => dim(`    ${reason}`)),
    ]),
    ...(leftOut.length > 0 ? [dim(`Did not fit: ${leftOut.join(", ")}`)] : []),
    dim(
      `${memories.length === 0 ? "Nothing that clearly helps" : `${memories.length} recalled`}, of ${considered} memories (${method}, ${Math.round(tookMs)} ms)`,
    ),
  ]);
};

function optionsOf(call: Call): RecallOptions {
  return {
    exclude: call.values("exclude"),
    ...defined({ limit: numberOf(call, "limit"), maxBytes: numberOf(call, "max-bytes") }),
    ...(call.flag("no-model") ? { model: false } : {}),
    ...(call.flag("all") ? { everything: true } : {}),
  };
}

/** For a request that was told to stop. */
const GRACE_MS = 1_000;

/**
 * Says nothing, and ends by itself in bounded time. Standard input: `{ session, id, prompt }`. The answer waits in the
 * directory until the host's next event takes it.
 */
async function prefetch(call: Call): Promise<number> {
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
    // Nobody reads what this process says, and nothing is lost.
  }
  return 0;
}

function parseAsked(text: string): { session: string; id: string; prompt: string } | null {
  try {
    const { session, id, prompt } = JSON.parse(text) as Record<string, string>;
    const isText = (part: unknown): part is string => typeof part === "string" && part !== "";
    return isText(session) && isText(id) && isText(prompt) ? { session, id, prompt } : null;
  } catch {
    return null;
  }
}
