/** What a hook says to its host. */

import { writeSync } from "node:fs";

export { MAX_HOOK_CHARS as MAX_CHARS } from "../hook-config.ts";

/** Not through process.stdout: to open it, Node loads its streams, and that takes longer than most hooks. */
export function writeAll(fd: number, text: string): void {
  const bytes = Buffer.from(text);
  for (let done = 0; done < bytes.length; ) done += writeSync(fd, bytes, done);
}

/** For a person who set MEMDIR_DEBUG. */
export function tell(text: string): void {
  try {
    writeSync(2, `memdir: ${text}\n`);
  } catch {
    // Nobody listens.
  }
}

/** Text that is added to the conversation; the event is called what the host calls it. */
export function formatContext(hookEventName: string, additionalContext: string): string {
  return `${JSON.stringify({ hookSpecificOutput: { hookEventName, additionalContext } })}\n`;
}

/** A call that must not be made. Gemini CLI has a form of its own. */
export function formatDenial(hookEventName: string, reason: string): string {
  if (hookEventName === "BeforeTool") return `${JSON.stringify({ decision: "deny", reason })}\n`;
  const decision = { permissionDecision: "deny", permissionDecisionReason: reason };
  return `${JSON.stringify({ hookSpecificOutput: { hookEventName, ...decision } })}\n`;
}

/** The turn goes on once more, with this as the next thing said. All hosts know the word. */
export function formatContinuation(reason: string): string {
  return `${JSON.stringify({ decision: "block", reason })}\n`;
}
