/** What stays of a session: after each answer notes may be taken, after each turn memories extracted, both beside it. */

import type { NotesResult } from "../learn/session-notes.ts";
import { hearSession } from "../learn/window.ts";
import type { Conversation } from "../model/agent-loop.ts";
import { type Message, textOf } from "../model/ask.ts";
import type { AgentState } from "./state.ts";

/** At a moment when the conversation can be sent: no call is without its result. Must not throw. */
export function noteAnswer(state: AgentState): void {
  try {
    offerNotes(state);
  } catch (error) {
    logFault(state, error);
  }
}

/** The turn for these words ended with an answer of the model. Must not throw. */
export async function learnFromTurn(state: AgentState, words: string): Promise<void> {
  try {
    noteAnswer(state);
    await offerTurn(state, words);
  } catch (error) {
    logFault(state, error);
  }
}

/** Because the user asked for them. */
export async function takeNotesNow(
  state: AgentState,
  signal?: AbortSignal,
): Promise<NotesResult | { problem: string }> {
  if (!state.learner) return { problem: "learning is off (learn.mode, MEMDIR_LEARN), and notes are part of it" };
  if (state.messages.length === 0) return { problem: "nothing has been said yet" };
  return state.learner.takeNotes(await capture(state, state.messages, state.sent), signal);
}

function offerNotes(state: AgentState): void {
  const { learner, contextTokens, messages, sent } = state;
  if (!learner || !state.memoryOn) return;
  const last = messages.findLast(({ role }) => role === "assistant");
  const toolCalls = last?.content.filter(({ type }) => type === "tool_use").length ?? 0;
  learner.answered({ contextTokens, toolCalls }, () => capture(state, messages, sent));
}

async function offerTurn(state: AgentState, words: string): Promise<void> {
  const { learner, messages, prompts, sent, memoryWritten, world, transcript } = state;
  if (!learner || !state.memoryOn) return;
  // A turn that was compacted in its middle has lost its prompt, and what was before it.
  const prompt = prompts.at(-1) ?? { id: transcript.leaf ?? "", at: world.now().toISOString(), index: 0 };
  const before = messages.slice(0, prompt.index).findLast(({ role }) => role === "assistant");
  learner.ended({
    messages: hearSession({ messages, prompts: prompts.map(({ id, index, at }) => ({ uuid: id, index, at })) }),
    conversation: await capture(state, messages, sent),
    prompt: { id: prompt.id, text: words, at: prompt.at },
    answerBefore: before ? textOf(before.content) : "",
    memoryWritten,
    isWanted: () => state.memoryOn,
  });
}

async function capture(state: AgentState, messages: readonly Message[], sent: number): Promise<Conversation> {
  return { system: await state.system.blocks(), tools: state.tools, messages, sent };
}

/** Nobody's turn fails because nothing could be learnt from it. */
function logFault({ world }: AgentState, error: unknown): void {
  world.log(`learning: ${error instanceof Error ? error.message : String(error)}`);
}
