/** A tool that a model may call, and what its calls of one turn become: always a result for each, whatever happens. */

import type { ToolResult, ToolSpec, ToolUse } from "./ask.ts";
import { fitResult, type ResultLimit } from "./tool-result.ts";

export interface Tool extends ToolSpec {
  /** May throw: the message becomes an error result. It should heed the signal; when it does not, it is not waited for. */
  run: (
    input: Record<string, unknown>,
    call: { id: string; signal: AbortSignal },
  ) => Promise<ToolOutcome> | ToolOutcome;
}

export type ToolOutcome = string | { content: string; isError?: boolean };

interface ToolEvents {
  onStart: (call: ToolUse) => void;
  onEnd: (call: ToolUse, result: ToolResult, file: string | null) => void;
}

/** Must not throw. All calls run at once; results come in the calls' order. */
export function runTools(
  calls: readonly ToolUse[],
  tools: readonly Tool[],
  signal: AbortSignal,
  limit: ResultLimit,
  { onStart, onEnd }: ToolEvents,
): Promise<ToolResult[]> {
  return Promise.all(
    calls.map(async (call) => {
      onStart(call);
      const outcome = await outcomeOf(call, tools, signal);
      const { content, file } = await fitResult(call, outcome.content, limit);
      const result: ToolResult = {
        type: "tool_result",
        id: call.id,
        content,
        ...(outcome.isError && { isError: true }),
      };
      onEnd(call, result, file);
      return result;
    }),
  );
}

interface Outcome {
  content: string;
  isError?: boolean;
}

async function outcomeOf(call: ToolUse, tools: readonly Tool[], signal: AbortSignal): Promise<Outcome> {
  const tool = tools.find(({ name }) => name === call.name);
  if (!tool) {
    const names = tools.map(({ name }) => name).join(", ");
    return wrong(`there is no tool "${call.name}" here; ${names ? `use one of: ${names}` : "answer without tools"}`);
  }
  if (call.problem) return wrong(`${call.problem}; send the call again`);
  if (signal.aborted) return STOPPED;
  let stop = () => {};
  const stopped = new Promise<Outcome>((resolve) => {
    stop = () => resolve(STOPPED);
    signal.addEventListener("abort", stop, { once: true });
  });
  try {
    // An async function turns what `run` throws into a rejection; the race has a handler on it however late it comes.
    const running = (async () => tool.run(call.input, { id: call.id, signal }))();
    const outcome = await Promise.race([running, stopped]);
    return typeof outcome === "string" ? { content: outcome } : { content: outcome.content, isError: outcome.isError };
  } catch (error) {
    return wrong(error instanceof Error ? error.message : String(error));
  } finally {
    signal.removeEventListener("abort", stop);
  }
}

const STOPPED: Outcome = { content: "stopped by the user before it was done", isError: true };

function wrong(content: string): Outcome {
  return { content, isError: true };
}
