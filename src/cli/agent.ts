/** The agent that a command line asks for: its model or none, the session to go on with; and sessions in words. */

import { resolve } from "node:path";
import { MemdirError } from "../errors.ts";
import type { Memdir } from "../memdir.ts";
import { textOf } from "../model/ask.ts";
import { openAgent } from "../open-agent.ts";
import { type ResumedSession, readSession } from "../session/session-reader.ts";
import { cutLine } from "../text/sanitise.ts";
import { redactSecrets } from "../text/secrets.ts";
import type { PermissionOptions } from "../tools/permission.ts";
import { dim, type Said, warn } from "../verb.ts";
import { agentModel } from "../verbs/model.ts";
import { findOne } from "../verbs/sessions.ts";
import type { Call } from "./command.ts";

export async function openAgentFor(call: Call, memdir: Memdir, askPermission: PermissionOptions["ask"]) {
  const { env, log } = call;
  const model = agentModel(env);
  const from = await findFrom(call, memdir);
  const allow = call.values("allow").flatMap((kinds) => kinds.split(",").map((kind) => kind.trim()));
  const addDirs = call.values("add-dir").map((directory) => resolve(call.cwd, directory));
  const agent = await openAgent({ memdir, env, model, askPermission, allow, addDirs, from, log });
  return { agent, offline: model === null, from };
}

async function findFrom(call: Call, memdir: Memdir): Promise<ResumedSession | null> {
  const id = call.value("resume");
  const latest = call.flag("continue");
  if (id !== undefined && latest) throw new MemdirError("usage", "--resume and --continue exclude one another");
  if (id === undefined && !latest) return null;
  return readSession((await findOne(memdir, id ?? "latest")).path);
}

/** What a person sees of a session that is resumed: how long it was, and how it ended. */
export function saySession({ id, title, messages, prompts, problems }: ResumedSession): Said {
  const last = prompts.at(-1)?.text ?? "";
  const answer = messages.findLast(({ role }) => role === "assistant");
  return [
    [`resumed ${id.slice(0, 8)}${title ? `: ${redactSecrets(title)}` : ""} `, dim(`(${messages.length} messages)`)],
    ...(last === "" ? [] : [dim(`> ${cutLine(redactSecrets(last), MAX_CHARS)}`)]),
    ...(answer ? [dim(cutLine(redactSecrets(textOf(answer.content)), MAX_CHARS))] : []),
    ...problems.map((problem) => warn(`note: ${problem}`)),
  ];
}

/** The last exchange, enough to find the thread again. */
const MAX_CHARS = 400;
