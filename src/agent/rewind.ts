/** Going back: files, conversation or both, to the moment before a prompt. */

import { MemdirError } from "../errors.ts";
import { type RewindReport, rewindFiles } from "../session/rewind.ts";
import { type AgentState, restoreShown } from "./state.ts";

export type RewindWhat = "code" | "conversation" | "both";

export interface Rewound {
  /** Null when only the conversation went back. */
  files: RewindReport | null;
  /** The prompt that can be said again; null when the conversation stayed. */
  prompt: string | null;
}

export function rewind(state: AgentState, id: string, what: RewindWhat): Rewound {
  const prompt = state.prompts.find((one) => one.id === id) ?? null;
  if (what !== "code" && !prompt) {
    throw new MemdirError(
      "not-found",
      "the conversation cannot go back there: that prompt lies before a compaction or in another session; rewind the code alone",
    );
  }
  const files = what === "conversation" ? null : rewindFiles(state.history, id);
  if (what === "code" || !prompt) return { files, prompt: null };
  state.messages = state.messages.slice(0, prompt.index);
  state.prompts = state.prompts.slice(0, state.prompts.indexOf(prompt));
  state.sent = Math.min(state.sent, state.messages.length);
  state.contextTokens = 0;
  restoreShown(state, prompt.before);
  // What was read in the part that is gone, this conversation has not seen.
  state.files.clear();
  state.instructions.clear();
  state.transcript.rewindTo(prompt.parent);
  return { files, prompt: prompt.text };
}
