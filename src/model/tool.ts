/** A tool that a model may call, and what its calls in one turn become: always one result each, cut to what a conversation can hold. */

import { setMaxListeners } from "node:events";
import { messageOf } from "../errors.ts";
import type { ToolResult, ToolSpec, ToolUse } from "./ask.ts";

/** A tool that a model may call. */
export interface Tool extends ToolSpec {
  /** May throw: the message becomes an error result. It should respect the signal; if it does not, it is not waited for. */
  run: (
    input: Record<string, unknown>,
    call: { id: string; signal: AbortSignal },
  ) => Promise<ToolOutcome> | ToolOutcome;
}

export type ToolOutcome = string | { content: string; isError?: boolean };

export type ToolEvent =
  | { type: "tool-start"; call: ToolUse }
  | { type: "tool-end"; call: ToolUse; result: ToolResult; file: string | null };

/** Must not throw. All calls run at once; results are in the order of the calls. */
export function runTools(
  calls: readonly ToolUse[],
  tools: readonly Tool[],
  signal: AbortSignal,
  limit: ResultLimit,
  tell: (event: ToolEvent) => void,
): Promise<ToolResult[]> {
  return Promise.all(
    calls.map(async (call) => {
      tell({ type: "tool-start", call });
      const outcome = await outcomeOf(call, tools, signal);
      const { content, file } = await fitResult(call, outcome.content, limit);
      const isError = outcome.isError ? { isError: true } : {};
      const result: ToolResult = { type: "tool_result", id: call.id, content, ...isError };
      tell({ type: "tool-end", call, result, file });
      return result;
    }),
  );
}

type Outcome = Exclude<ToolOutcome, string>;

async function outcomeOf(call: ToolUse, tools: readonly Tool[], signal: AbortSignal): Promise<Outcome> {
  const tool = tools.find(({ name }) => name === call.name);
  if (!tool) {
    const names = tools.map(({ name }) => name).join(", ");
    return wrong(`there is no tool "${call.name}" here; ${names ? `use one of: ${names}` : "answer without tools"}`);
  }
  if (call.problem) return wrong(`${call.problem}; send the call again`);
  if (signal.aborted) return STOPPED;
  try {
    // An async function turns what `run` throws into a rejection; the race handles it however late it comes.
    const running = (async () => tool.run(call.input, { id: call.id, signal }))();
    const outcome = await unlessAborted(running, signal, STOPPED);
    return typeof outcome === "string" ? { content: outcome } : { content: outcome.content, isError: outcome.isError };
  } catch (error) {
    return wrong(messageOf(error));
  }
}

/** The promise's value, or `stopped` as soon as the signal aborts. */
export async function unlessAborted<T, S>(promise: Promise<T>, signal: AbortSignal, stopped: S): Promise<T | S> {
  let stop = () => {};
  const aborted = new Promise<S>((resolve) => {
    stop = () => resolve(stopped);
    signal.addEventListener("abort", stop, { once: true });
    if (signal.aborted) stop();
  });
  try {
    return await Promise.race([promise, aborted]);
  } finally {
    signal.removeEventListener("abort", stop);
  }
}

const STOPPED: Outcome = { content: "stopped by the user before it was done", isError: true };

function wrong(content: string): Outcome {
  return { content, isError: true };
}

export interface ResultLimit {
  maxChars: number;
  /** Writes a result that is too large and returns its path. Without it, or when it throws, the rest is lost. */
  write?: (call: ToolUse, content: string) => Promise<string>;
}

/** About 12,000 tokens: a large source file fits, a build's log does not. */
export const MAX_RESULT_CHARS = 50_000;

/** Enough to see what it is. */
const PREVIEW_CHARS = 2000;

/** Must not throw. */
async function fitResult(call: ToolUse, content: unknown, { maxChars, write }: ResultLimit) {
  const text = typeof content === "string" ? content : String(content ?? "");
  if (text.length <= maxChars) return { content: text, file: null };
  const preview = startOf(text, Math.min(PREVIEW_CHARS, maxChars));
  const size = `The result has ${text.length} characters, too many to show; these are the first ${preview.length}.`;
  let file: string | null = null;
  let rest = "The rest is lost; ask for less.";
  try {
    file = (await write?.(call, text)) ?? null;
    if (file !== null) rest = `All of it is in ${file}; read the parts you need.`;
  } catch (error) {
    rest = `The rest could not be kept (${messageOf(error)}); ask for less.`;
  }
  return { content: `${size} ${rest}\n\n${preview}`, file };
}

/** Ends at a line end if one is near, and never cuts a character in half. */
function startOf(text: string, maxChars: number): string {
  const start = text.slice(0, maxChars);
  const line = start.lastIndexOf("\n");
  if (line > maxChars / 2) return start.slice(0, line);
  return /[\ud800-\udbff]$/.test(start) ? start.slice(0, -1) : start;
}

/** A signal for many listeners, aborted with the given one. Node warns on standard error from the eleventh listener on, and a dozen tools at once is not unusual. */
export function shareSignal(signal: AbortSignal | undefined): AbortSignal {
  const shared = AbortSignal.any(signal ? [signal] : []);
  setMaxListeners(0, shared);
  return shared;
}

/** Runs one task after the other: two changes in one turn must not both start from the same text. */
export type InTurn = <T>(work: () => Promise<T>) => Promise<T>;

export function openTurns(): InTurn {
  let last: Promise<unknown> = Promise.resolve();
  return (work) => {
    const mine = last.then(work, work);
    last = mine.catch(() => {});
    return mine;
  };
}
