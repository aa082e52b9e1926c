/** The composition root of the agent: takes a Memdir, the model that the environment names and someone to ask, and returns a ready Agent. */

import { randomUUID } from "node:crypto";
import os from "node:os";
import { setTimeout as wait } from "node:timers/promises";
import { type Agent, makeAgent } from "./agent/agent.ts";
import { type AgentModel, NO_MODEL } from "./agent/state.ts";
import { type Env, processEnv } from "./config.ts";
import { MemdirError } from "./errors.ts";
import type { Memdir } from "./memdir.ts";
import type { Ask } from "./model/ask.ts";
import { chooseModel, type ModelChoice, type Provider, withRetries } from "./model/choose.ts";
import { openMemdir } from "./open.ts";
import { openLearner } from "./open-learn.ts";
import type { ResumedSession } from "./session/session-reader.ts";
import { openPermissions, type PermissionOptions } from "./tools/permission.ts";

declare const __MEMDIR_VERSION__: string;

/** What an agent works with; only `memdir` is required. */
export interface AgentOptions {
  /** The project and its memories. */
  memdir: Memdir;
  /** Default: the process's own. */
  env?: Env;
  /** Overrides the model that MEMDIR_MODEL names; null for none, which leaves everything that needs no model. */
  model?: AgentModel | null;
  /** Asks before something is changed or run; null, the default, denies whatever `allow` does not name. */
  askPermission?: PermissionOptions["ask"];
  /** "edit", "read", "bash", "bash git status", "all". */
  allow?: readonly string[];
  /** More directories that may be read without asking, and whose instruction files count. */
  addDirs?: readonly string[];
  /** A session to continue. */
  from?: ResumedSession | null;
  /** The clock; default: the system's. */
  now?: () => Date;
  /** Takes messages for a log; by default they are dropped. */
  log?: (message: string) => void;
  /** Whether the model chooses the memories; default: only if MEMDIR_RECALL is `model`. */
  recallWithModel?: boolean;
  /** Whether the agent learns in the background, as configured; default true. */
  learn?: boolean;
  /** The most answers of the model in one turn, 100 by default. */
  maxSteps?: number;
}

/** A turn of a hundred answers is an hour of work; the user can always say "continue". */
const MAX_STEPS = 100;

/** Rejects with a MemdirError when no model is configured, or the configuration is wrong. */
export async function openAgent(options: AgentOptions): Promise<Agent> {
  const { memdir } = options;
  const env = options.env ?? processEnv();
  const model = options.model === null ? NO_MODEL : (options.model ?? openModel(env));
  if ("problem" in model) throw new MemdirError("usage", model.problem);
  if (model.takesTools === false) throw new MemdirError("usage", whyNoAgent(model));
  const { permitted, permit: keep } = memdir;
  const learns = options.learn !== false && options.model !== null;
  return makeAgent(
    {
      memdir,
      model,
      permissions: openPermissions({
        ask: options.askPermission ?? null,
        allowed: [...(options.allow ?? []), ...permitted],
        remember: (kind) => keep(kind),
      }),
      env,
      now: options.now ?? (() => new Date()),
      newId: randomUUID,
      log: options.log ?? (() => {}),
      sleep,
      platform: { name: process.platform, version: `${os.type()} ${os.release()}` },
      version: typeof __MEMDIR_VERSION__ === "string" ? __MEMDIR_VERSION__ : "0.0.0",
      addedDirs: options.addDirs ?? [],
      openScope: (scope) => openMemdir({ cwd: memdir.location.project.cwd, env, scope, by: "agent" }),
      openLearner: learns ? openLearner(memdir) : null,
      recallWithModel: options.recallWithModel ?? env.MEMDIR_RECALL === "model",
      maxSteps: options.maxSteps ?? MAX_STEPS,
    },
    options.from ?? null,
  );
}

/** The model that the environment names, else the one of the settings; a problem says that `named` names it. What it needs is loaded with the first question. */
export function openModel(env: Env, setting: string | null = null, named?: string): AgentModel | { problem: string } {
  const choice = chooseModel(env, setting, named);
  if (!choice) return { problem: whyNoAgent(null) };
  if ("problem" in choice) return choice;
  const windowTokens = countOf(env.MEMDIR_CONTEXT_TOKENS) ?? WINDOW_TOKENS[choice.provider];
  return {
    ask: openWhenAsked(choice),
    name: choice.name,
    provider: choice.provider,
    windowTokens,
    maxTokens: Math.min(MAX_ANSWER_TOKENS, Math.floor(windowTokens / 4)),
    takesTools: choice.takesTools,
    cutoff: env.MEMDIR_MODEL_CUTOFF?.trim() || null,
  };
}

const NAME_ONE =
  "set MEMDIR_MODEL to anthropic/<model> with ANTHROPIC_API_KEY, openai/<model> with OPENAI_API_KEY, or ollama/<model>";

/** For an agent there is none, or one that only answers: why, and how to name one. */
export function whyNoAgent(model: AgentModel | null): string {
  if (model === null) return `no model is configured; ${NAME_ONE}`;
  return `${model.provider} can be the model of background learning, but not of an agent; ${NAME_ONE}`;
}

/** What the providers' common models hold; MEMDIR_CONTEXT_TOKENS overrides it. Local models are mostly run with small windows. */
const WINDOW_TOKENS: Record<Provider, number> = {
  anthropic: 200_000,
  openai: 128_000,
  ollama: 32_000,
  "claude-code": 200_000,
  codex: 200_000,
  "gemini-cli": 200_000,
  opencode: 128_000,
};

/** Enough to write a long file in one answer, and every recent model can give as much. */
const MAX_ANSWER_TOKENS = 16_000;

function openWhenAsked(choice: ModelChoice): Ask {
  let opened: Promise<Ask> | null = null;
  return async (request) => {
    opened ??= choice.open().then((ask) => withRetries(ask, { now: () => new Date(), random: Math.random, sleep }));
    try {
      return await (await opened)(request);
    } catch (error) {
      opened = null;
      const message = `the ${choice.provider} client could not be loaded (${(error as Error).message}); reinstall memdir`;
      return { ok: false, error: { kind: "bad-request", message, retriable: false } };
    }
  };
}

async function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  await wait(ms, undefined, signal ? { signal } : {}).catch(() => {});
}

function countOf(text: string | undefined): number | null {
  const count = Number(text);
  return Number.isSafeInteger(count) && count >= 1_000 ? count : null;
}
