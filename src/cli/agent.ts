/** The agent that a command line asks for: its model or none, the session to go on with; and sessions in words. */

import { resolve } from "node:path";
import type { Agent } from "../agent/agent.ts";
import type { AgentModel } from "../agent/state.ts";
import { MemdirError } from "../errors.ts";
import type { Memdir } from "../memdir.ts";
import { textOf } from "../model/ask.ts";
import { openAgent, openModel } from "../open-agent.ts";
import { type ResumedSession, readSession } from "../session/session-reader.ts";
import { findSession, type SessionRow } from "../session/sessions.ts";
import { cutLine, plainLine, sanitise } from "../text/sanitise.ts";
import type { PermissionOptions } from "../tools/permission.ts";
import type { Env } from "../world.ts";
import type { Call } from "./command.ts";
import { placesOf } from "./sessions.ts";
import type { Paint } from "./terminal.ts";

interface OpenedAgent {
  agent: Agent;
  offline: boolean;
  from: ResumedSession | null;
}

export async function openAgentFor(
  call: Call,
  memdir: Memdir,
  askPermission: PermissionOptions["ask"],
): Promise<OpenedAgent> {
  const { env, log } = call;
  const model = configuredModel(env);
  const from = await findFrom(call, memdir);
  const agent = await openAgent({
    memdir,
    env,
    model,
    askPermission,
    allow: call.values("allow").flatMap((kinds) => kinds.split(",").map((kind) => kind.trim())),
    addDirs: call.values("add-dir").map((directory) => resolve(call.cwd, directory)),
    from,
    log,
  });
  return { agent, offline: model === null, from };
}

/** Null when none is configured. Configured wrongly is an error, since whoever named a model wants it. */
export function configuredModel(env: Env): AgentModel | null {
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

/** The one session that an id, or the beginning of one, means. `list`: the call that lists them. */
export async function findOne(memdir: Memdir, id: string, list = "memdir sessions"): Promise<SessionRow> {
  const found = await findSession(placesOf(memdir, false), id);
  if (!found) {
    const what = id === "latest" ? "there is no session to continue here" : `there is no session ${JSON.stringify(id)}`;
    throw new MemdirError("not-found", `${what}; ${list} lists them`);
  }
  if ("ambiguous" in found)
    throw new MemdirError("ambiguous", `several sessions begin with ${JSON.stringify(id)}; ${list} lists them`);
  return found;
}

/** What a person sees of a session that is resumed: how long it was, and how it ended. */
export function describeSession({ id, title, messages, prompts, problems }: ResumedSession, color: Paint): string {
  const last = prompts.at(-1)?.text ?? "";
  const answer = messages.findLast(({ role }) => role === "assistant");
  const lines = [
    `resumed ${id.slice(0, 8)}${title ? `: ${plainLine(title)}` : ""} ${color.dim(`(${messages.length} messages)`)}`,
    ...(last === "" ? [] : [color.dim(`> ${cutLine(last, MAX_CHARS)}`)]),
    ...(answer ? [color.dim(cutLine(textOf(answer.content), MAX_CHARS))] : []),
    ...problems.map((problem) => color.yellow(`note: ${plainLine(problem)}`)),
  ];
  return lines.join("\n");
}

/** The last exchange, enough to find the thread again. */
const MAX_CHARS = 400;

const DONE: Record<string, string> = { restore: "restored", remove: "removed", refused: "not changed" };

export function describeRewind(
  report: { steps: { path: string; action: string; outside: boolean; reason?: string }[]; undo: string | null } | null,
): string[] {
  if (!report) return [];
  const changed = report.steps.filter(({ action }) => action !== "none");
  if (changed.length === 0) return ["no file had to be changed"];
  return changed.map(({ path, action, outside, reason }) => {
    const note = reason ? `: ${reason}` : outside ? " (another program had changed it since; that is kept too)" : "";
    return `${DONE[action] ?? action} ${sanitise(path)}${note}`;
  });
}
