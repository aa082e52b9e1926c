/** The model that a verb works with. */

import type { AgentModel } from "../agent/state.ts";
import { MemdirError } from "../errors.ts";
import type { LearningModel } from "../learn/model-extractor.ts";
import { openModel } from "../open-agent.ts";
import type { Context } from "../verb.ts";
import type { Env } from "../world.ts";

/** That of the conversation, else the one that is configured; null without one. */
export function modelFor({ conversation, env }: Pick<Context, "conversation" | "env">): LearningModel | null {
  return conversation ? conversation.model : configuredModel(env);
}

/** Null when none is configured. Configured wrongly is an error, since whoever named a model wants it. */
export function configuredModel(env: Env): AgentModel | null {
  if (!env.MEMDIR_MODEL?.trim()) return null;
  const model = openModel(env);
  if ("problem" in model) throw new MemdirError("usage", model.problem);
  return model;
}
