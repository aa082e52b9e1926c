/**
 * One session of an agent: its parts, the conversation so far, and the events it reports. Changed in place by this
 * folder.
 */

import { dirname, join } from "node:path";
import type { Attachments } from "../context/attachments.ts";
import type { SystemPrompt } from "../context/system-prompt.ts";
import type { Instructions } from "../instructions/instructions.ts";
import type { Memdir } from "../memdir.ts";
import type { LoopEvent } from "../model/agent-loop.ts";
import { type Ask, addUsage, type Message, type Usage } from "../model/ask.ts";
import type { Tool } from "../model/tool.ts";
import type { RecallSession } from "../recall/injection.ts";
import type { Recalled } from "../recall/recall.ts";
import type { Prompt as SaidPrompt } from "../session/conversation.ts";
import type { FileHistory } from "../session/file-history.ts";
import type { FileState } from "../session/file-state.ts";
import { openTranscript, type Transcript } from "../session/transcript.ts";
import type { Permit } from "../tools/permission.ts";
import type { World } from "../world.ts";
import type { Learnt, SessionLearner, LearnerOptions as SessionLearnerOptions } from "./learner.ts";
import type { NotesOptions } from "./notes.ts";

/** A model that can run an agent, with its limits. */
export interface AgentModel {
  /** Retries on its own where that helps. */
  ask: Ask;
  /** The provider's name for it; "" for none. */
  name: string;
  /** Whose model it is, such as `anthropic` or `ollama`. */
  provider: string;
  /** The most tokens that a request and its answer may have together. */
  windowTokens: number;
  /** The most tokens that one answer may have. */
  maxTokens: number;
  /** False for a model that only answers, which cannot be an agent's; default true. */
  takesTools?: boolean;
  /** How far its knowledge goes, in words; null if unknown. */
  cutoff: string | null;
}

/** For everything that an agent can do without a model: show, resume, rewind. */
export const NO_MODEL: AgentModel = {
  ask: async () => ({
    ok: false,
    error: { kind: "bad-request", message: "no model is configured; set MEMDIR_MODEL", retriable: false },
  }),
  name: "",
  provider: "",
  windowTokens: 200_000,
  maxTokens: 16_000,
  cutoff: null,
};

/** `model` is the current one; it may change. */
export type LearnerOptions = Pick<NotesOptions, "session" | "sessionsDir"> &
  Pick<SessionLearnerOptions, "tell"> & { model: () => AgentModel };

/** The parts of an agent, put together in open-agent.ts or by tests. `env` is the environment that commands run in. */
export interface AgentSetup extends Pick<World, "env" | "now" | "newId" | "log" | "sleep"> {
  memdir: Memdir;
  model: AgentModel;
  permissions: { permit: Permit; newPrompt(): void };
  platform: { name: string; version: string };
  /** Of memdir, for the transcript. */
  version: string;
  addedDirs: readonly string[];
  /** Opens a scope's own memory, for sub-agents that have one. */
  openScope: (scope: string) => Promise<Memdir>;
  /** Learns in the background of a session; null turns automatic learning off. */
  openLearner: ((options: LearnerOptions) => SessionLearner) | null;
  /** Whether the model also chooses what is recalled: better results, at one more request for every prompt. */
  recallWithModel: boolean;
  /** How many answers one turn may take; more is a runaway loop. */
  maxSteps: number;
}

export interface AgentState {
  setup: AgentSetup;
  transcript: Transcript;
  history: FileHistory;
  files: FileState;
  instructions: Instructions;
  /** What touched files add is looked up in the background; this settles when all of it is done. */
  touching: Promise<unknown>;
  attachments: Attachments;
  recalled: RecallSession;
  system: SystemPrompt;
  tools: readonly Tool[];
  /** Since the beginning or the last compaction: what the model is shown. */
  messages: readonly Message[];
  /** How many of them were in the last request. */
  sent: number;
  /** The user's prompts, for rewinding. */
  prompts: Prompt[];
  usage: Usage & { requests: number };
  /** The size of the last request and its answer, as the provider counted it. */
  contextTokens: number;
  /** Compactions that failed in a row. */
  failures: number;
  memoryOn: boolean;
  learner: SessionLearner | null;
  /** Whether a tool wrote a memory in the current turn. */
  memoryWritten: boolean;
  /** The git branch when the conversation began. */
  branch: string | null;
  /** Where events go while a turn runs. */
  tell: Tell;
}

/** `id` is that of its line in the transcript; `before` is what had been sent and shown before it. */
export type Prompt = Omit<SaidPrompt, "uuid"> & { id: string; before: Shown };

export interface Shown {
  sent: ReturnType<Attachments["sent"]>;
  recalled: string[];
  bytes: number;
}

export const NOTHING_SHOWN: Shown = { sent: [], recalled: [], bytes: 0 };

/** A path in the folder of the session's own files, next to its transcript. */
export function sessionFolder(state: AgentState, ...names: string[]): string {
  return join(dirname(state.transcript.path), state.transcript.id, ...names);
}

/** `gitBranch` is asked for every line: it is known only when the conversation opens. */
export function startTranscript(
  setup: AgentSetup,
  dir: string,
  gitBranch: () => string | null,
  from?: Parameters<typeof openTranscript>[2],
): Transcript {
  const { version, memdir } = setup;
  const { cwd } = memdir.location.project;
  return openTranscript({ dir, cwd, version, model: () => setup.model.name, gitBranch }, setup, from);
}

export function addSpent(state: AgentState, usage: Usage, requests = 1): void {
  state.usage = { ...addUsage(state.usage, usage), requests: state.usage.requests + requests };
}

/** Every message is written to the transcript before anything else happens. */
export function recordEvent(state: AgentState, transcript: Transcript, event: LoopEvent): void {
  if (event.type === "message") {
    const { message, usage, stop } = event;
    transcript.append(message, { ...(usage && { usage }), ...(stop && { stop }) });
  }
  if (event.type === "retry") addSpent(state, event.spent);
  if (event.type === "usage") addSpent(state, event.usage);
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

/** What an agent reports while it works. */
export type AgentEvent =
  | LoopEvent
  /** Memories that the model is shown now. */
  | { type: "recalled"; memories: readonly Recalled[] }
  /** Instruction files of a touched folder. */
  | { type: "instructions"; paths: readonly string[] }
  /** A tool wrote a memory. */
  | { type: "saved"; file: string; action: string; notices: readonly string[] }
  /** What was learnt from a turn that has ended, perhaps while the next one is being typed. */
  | ({ type: "learnt" } & Learnt)
  /** The conversation is about to be summarised. */
  | { type: "compacting"; trigger: "manual" | "auto" }
  /** It was: `before` and `after` are tokens. */
  | { type: "compacted"; trigger: "manual" | "auto"; from: "notes" | "model"; before: number; after: number }
  /** What an agent that this one started reports. */
  | { type: "sub-agent"; name: string; id: string; event: LoopEvent | { type: "end"; turns: number } }
  /** Nothing stops, but the user should know. */
  | { type: "problem"; message: string };

export type Tell = (event: AgentEvent) => void;
