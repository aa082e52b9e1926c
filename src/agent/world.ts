/** Everything an agent may touch outside its arguments. Built in open-agent.ts, by tests from their own parts. */

import type { Env } from "../config.ts";
import type { Learnt, SessionLearner } from "../learn/session-learner.ts";
import type { Memdir } from "../memdir.ts";
import type { Ask, Usage } from "../model/ask.ts";
import type { Permit } from "../tools/permission.ts";

export interface AgentModel {
  /** Tries again by itself where that helps. */
  ask: Ask;
  /** As the provider calls it; "" for none. */
  name: string;
  provider: string;
  /** All that a request and its answer may hold. */
  windowTokens: number;
  /** The most that one answer may hold. */
  maxTokens: number;
  /** Until when its knowledge goes, in words; null if nobody said. */
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

export interface LearnerOptions {
  session: string;
  /** The folder of the project's transcripts. */
  sessionsDir: string;
  /** The one that is asked now; it may change. */
  model: () => AgentModel;
  tell: (learnt: Learnt) => void;
}

export interface AgentWorld {
  memdir: Memdir;
  model: AgentModel;
  permissions: { permit: Permit; newPrompt(): void };
  /** The environment that commands run in. */
  env: Env;
  now: () => Date;
  /** A new UUID. */
  newId: () => string;
  log: (message: string) => void;
  /** Ends early when the signal is aborted. */
  sleep: (ms: number, signal?: AbortSignal) => Promise<void>;
  platform: { name: string; version: string };
  /** Of memdir, for the transcript. */
  version: string;
  addedDirs: readonly string[];
  /** A scope's own memory, for sub-agents that have one. */
  openScope: (scope: string) => Promise<Memdir>;
  /** Learns beside a session; null: nothing is learnt by itself. */
  openLearner: ((options: LearnerOptions) => SessionLearner) | null;
  /** Whether the model also chooses what is recalled: better, and one more request for every prompt. */
  recallWithModel: boolean;
  /** Answers of the model in one turn; more is a loop that nobody watches. */
  maxSteps: number;
}

export interface SessionUsage extends Usage {
  requests: number;
}
