/** Conversations made shorter without breaking them: every call keeps its result, and they begin with the user. */

import { approximateTokens } from "../context/window.ts";
import type { Message } from "../model/ask.ts";

/** How many messages from the end keep their results: what the work is about right now. */
const KEEP_RECENT = 6;
const CLEARED = "[left out for lack of room]";

export function clearOldResults(messages: readonly Message[]): Message[] {
  return messages.map((message, i) => {
    if (message.role !== "user" || i >= messages.length - KEEP_RECENT) return message;
    const content = message.content.map((block) =>
      block.type === "tool_result" ? { ...block, content: CLEARED } : block,
    );
    return { role: "user", content };
  });
}

/** The last messages that fit, from a prompt of the user on; none if even the last prompt's turn is too large. */
export function keepTail(messages: readonly Message[], maxTokens: number): Message[] {
  let tokens = 0;
  let start = messages.length;
  // The first message holds the opening, which is built anew.
  for (let i = messages.length - 1; i > 0; i--) {
    tokens += approximateTokens(JSON.stringify(messages[i]));
    if (tokens > maxTokens) break;
    if (isPrompt(messages[i])) start = i;
  }
  return messages.slice(start);
}

function isPrompt(message: Message | undefined): boolean {
  return message?.role === "user" && message.content.every(({ type }) => type !== "tool_result");
}
