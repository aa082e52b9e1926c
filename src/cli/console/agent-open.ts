/** The agent that a command line asks for: its model or none, the session to go on with, what is allowed. */

import { resolve } from "node:path";
import type { Agent } from "../../agent/agent.ts";
import type { AgentModel } from "../../agent/state.ts";
import type { Env } from "../../config.ts";
import { MemdirError } from "../../errors.ts";
import type { Memdir } from "../../memdir.ts";
import { openAgent, openModel } from "../../open-agent.ts";
import { type ResumedSession, readSession } from "../../session/session-reader.ts";
import { findSession } from "../../session/sessions.ts";
import type { PermissionOptions } from "../../tools/permission.ts";
import type { Call } from "../command.ts";
import { placesOf } from "../sessions.ts";

export interface OpenedAgent {
  agent: Agent;
  offline: boolean;
  from: ResumedSession | null;
}

export async function openAgentFor(
  call: Call,
  memdir: Memdir,
  env: Env,
  askPermission: PermissionOptions["ask"],
): Promise<OpenedAgent> {
  const model = modelOf(env);
  const from = await findFrom(call, memdir);
  const agent = await openAgent({
    memdir,
    env,
    model,
    askPermission,
    allow: call.values("allow").flatMap((kinds) => kinds.split(",").map((kind) => kind.trim())),
    addDirs: call.values("add-dir").map((directory) => resolve(call.cwd, directory)),
    from,
    log: (message) => {
      if (env.MEMDIR_DEBUG) call.terminal.warn(`memdir: debug: ${message}`);
    },
  });
  return { agent, offline: model === null, from };
}

/** None is configured: null. Configured wrongly is an error, since whoever named a model wants it. */
function modelOf(env: Env): AgentModel | null {
  if (!env.MEMDIR_MODEL?.trim()) return null;
  const model = openModel(env);
  if ("problem" in model) throw new MemdirError("usage", model.problem);
  return model;
}

async function findFrom(call: Call, memdir: Memdir): Promise<ResumedSession | null> {
  const id = call.value("resume");
  const latest = call.flag("continue");
  if (id !== undefined && latest) throw new MemdirError("usage", "--resume and --continue exclude one another");
  if (id === undefined && !latest) return null;
  return readSession((await findOne(memdir, id ?? "latest")).path);
}

/** The one session that an id, or the beginning of one, means. */
export async function findOne(memdir: Memdir, id: string) {
  const found = await findSession(placesOf(memdir, false), id);
  const known = "memdir sessions lists them";
  if (!found) {
    const what = id === "latest" ? "there is no session to continue here" : `there is no session ${JSON.stringify(id)}`;
    throw new MemdirError("not-found", `${what}; ${known}`);
  }
  if ("ambiguous" in found)
    throw new MemdirError("ambiguous", `several sessions begin with ${JSON.stringify(id)}; ${known}`);
  return found;
}
