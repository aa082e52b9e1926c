/** The model that a verb works with. */

import type { AgentModel } from "../agent/state.ts";
import { MemdirError } from "../errors.ts";
import type { LearningModel } from "../learn/model-extractor.ts";
import { openModel } from "../open-agent.ts";
import { findPlace } from "../project/scopes.ts";
import type { Context } from "../verb.ts";
import type { Env } from "../world.ts";

/** That of the conversation, else the one that learning is configured to ask; null without one. */
export function modelFor({ conversation, env, cwd }: Context): LearningModel | null {
  return conversation ? conversation.model : configuredModel(env, findPlace({ cwd }, env).config.learn.model);
}

/** By the environment, else by the setting. Null when none is configured; wrongly is an error, since whoever named a model wants it. */
export function configuredModel(env: Env, setting: string | null = null): AgentModel | null {
  if (/^(off)?$/i.test(env.MEMDIR_MODEL?.trim() || setting || "")) return null;
  const model = openModel(env, setting);
  if ("problem" in model) throw new MemdirError("usage", model.problem);
  return model;
}

/** A client only answers: with one, the agent is the one without a model. */
export function agentModel(env: Env): AgentModel | null {
  const model = configuredModel(env);
  return model?.takesTools === false ? null : model;
}
