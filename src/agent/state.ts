/** One session of an agent: the conversation so far and everything that hangs on it. Changed in place by the walks of this room. */

import { dirname, join } from "node:path";
import type { Attachments } from "../context/attachments.ts";
import type { SystemPrompt } from "../context/system-prompt.ts";
import type { Instructions } from "../instructions/instructions.ts";
import type { SessionLearner } from "../learn/session-learner.ts";
import { addUsage, type Message, type Usage } from "../model/ask.ts";
import type { Tool } from "../model/tool.ts";
import type { RecallSession } from "../recall/budget.ts";
import type { FileHistory } from "../session/file-history.ts";
import type { FileState } from "../session/file-state.ts";
import type { Transcript } from "../session/transcript.ts";
import type { Tell } from "./event.ts";
import type { AgentWorld, SessionUsage } from "./world.ts";

export interface AgentState {
  world: AgentWorld;
  transcript: Transcript;
  history: FileHistory;
  files: FileState;
  instructions: Instructions;
  /** What touched files add is looked up beside the tools; this is done when all of it is. */
  touching: Promise<unknown>;
  attachments: Attachments;
  recalled: RecallSession;
  system: SystemPrompt;
  tools: readonly Tool[];
  /** Since the beginning or the last compaction: what the model is shown. */
  messages: readonly Message[];
  /** How many of them the last request held. */
  sent: number;
  /** What the user said, for going back. */
  prompts: Prompt[];
  usage: SessionUsage;
  /** How large the last request was with its answer, as the provider counted. */
  contextTokens: number;
  /** Compactions that failed in a row. */
  failures: number;
  memoryOn: boolean;
  learner: SessionLearner | null;
  /** Of the turn that runs: whether a tool wrote a memory. */
  memoryWritten: boolean;
  /** When the conversation began. */
  branch: string | null;
  /** Where events go while a turn runs. */
  tell: Tell;
}

export interface Prompt {
  /** Of its line in the transcript. */
  id: string;
  at: string;
  text: string;
  /** Of its message. */
  index: number;
  /** The line before it: where the conversation goes on after a rewind. */
  parent: string | null;
  /** What had been sent and shown before it. */
  before: Shown;
}

export interface Shown {
  sent: ReturnType<Attachments["sent"]>;
  recalled: string[];
  bytes: number;
}

export const NOTHING_SHOWN: Shown = { sent: [], recalled: [], bytes: 0 };

/** Where the session keeps files of its own, beside its transcript. */
export function sessionFolder(state: AgentState, ...names: string[]): string {
  return join(dirname(state.transcript.path), state.transcript.id, ...names);
}

export function addSpent(state: AgentState, usage: Usage, requests = 1): void {
  state.usage = { ...addUsage(state.usage, usage), requests: state.usage.requests + requests };
}

export function shownSoFar({ attachments, recalled }: AgentState): Shown {
  return { sent: attachments.sent(), recalled: [...recalled.surfaced], bytes: recalled.bytes };
}

export function restoreShown({ attachments, recalled }: AgentState, shown: Shown): void {
  attachments.clear();
  attachments.restore(shown.sent);
  recalled.clear();
  for (const path of shown.recalled) recalled.surfaced.add(path);
  recalled.bytes = shown.bytes;
}
