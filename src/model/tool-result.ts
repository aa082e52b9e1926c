/** A tool's result cut to what a conversation can carry: what is too large goes to a file, and the model is told where. */

import type { ToolUse } from "./ask.ts";

export interface ResultLimit {
  maxChars: number;
  /** Writes a result that is too large and returns where it is. Without it, or when it throws, the rest is lost. */
  write?: (call: ToolUse, content: string) => Promise<string>;
}

/** About 12,000 tokens: a large source file fits, a build's log does not. */
export const MAX_RESULT_CHARS = 50_000;

/** Enough to see what it is. */
const PREVIEW_CHARS = 2000;

/** Must not throw. */
export async function fitResult(
  call: ToolUse,
  content: unknown,
  { maxChars, write }: ResultLimit,
): Promise<{ content: string; file: string | null }> {
  const text = typeof content === "string" ? content : String(content ?? "");
  if (text.length <= maxChars) return { content: text, file: null };
  const preview = startOf(text, Math.min(PREVIEW_CHARS, maxChars));
  const size = `The result has ${text.length} characters, too many to show; these are the first ${preview.length}.`;
  try {
    const file = (await write?.(call, text)) ?? null;
    const rest =
      file === null ? "The rest is lost; ask for less." : `All of it is in ${file}; read the parts you need.`;
    return { content: `${size} ${rest}\n\n${preview}`, file };
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    return { content: `${size} The rest could not be kept (${why}); ask for less.\n\n${preview}`, file: null };
  }
}

/** Up to a line's end where one is near, and never half a character. */
function startOf(text: string, maxChars: number): string {
  const start = text.slice(0, maxChars);
  const line = start.lastIndexOf("\n");
  if (line > maxChars / 2) return start.slice(0, line);
  return /[\ud800-\udbff]$/.test(start) ? start.slice(0, -1) : start;
}
