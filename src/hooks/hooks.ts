/**
 * Every event of a client, answered: by a command that is started for it, by the MCP server, by a plugin in the client's own process.
 * It is the one place that catches: clients never see our errors, but they are recorded.
 */

import { join } from "node:path";
import type { Env } from "../config.ts";
import { isObject, lazily } from "../errors.ts";
import { CHILD_VARIABLE } from "../world.ts";
import {
  type Answer,
  type Event,
  type EventInput,
  type HookEvent,
  type Host,
  NOTHING,
  openDeadline,
  readEvent,
  tell,
} from "./event.ts";

type Answerer = (event: Event, host: Host) => Answer | Promise<Answer>;

/** Loaded when it is needed: a command answers one event. */
const ANSWERERS: Readonly<Record<HookEvent, () => Promise<Answerer>>> = {
  SessionStart: async () => (await import("./session.ts")).answerSession,
  UserPromptSubmit: async () => (await import("./prompt.ts")).answerPrompt,
  PreToolUse: async () => (await import("./tool.ts")).answerTool,
  PostToolUse: async () => (await import("./tool.ts")).answerTool,
  Stop: async () => (await import("./stop.ts")).answerStop,
  PreCompact: async () => (await import("./stop.ts")).answerStop,
  SessionEnd: async () => (await import("./stop.ts")).answerStop,
  Connect: async () => (await import("./prompt.ts")).prepare,
};

export interface HooksOptions {
  env: Env;
  /** The folder of memdir's installed files. */
  dist: string;
  /** The program that runs them. */
  node?: string;
  /** The session's folder; by default, the one that Claude Code names for its hooks, else this process's own. */
  startedIn?: () => string;
}

/** Takes an event, or the error with which it could not be read. Must not throw. `after` is for when the answer is written; it does not throw either. */
export type Hooks = (input: unknown) => Promise<Required<Answer>>;

/** Projects, their stores and sessions together; more are seldom open in one client. */
const MAX_KEPT = 16;

export function openHooks(options: HooksOptions): Hooks {
  const { env, dist, node = process.execPath, startedIn = () => env.CLAUDE_PROJECT_DIR || process.cwd() } = options;
  if (env[CHILD_VARIABLE]) return async () => ({ out: "", after: () => {} });
  const kept = new Map<string, unknown>();
  const keep = <T>(key: string, make: () => T): T => {
    const value = kept.has(key) ? (kept.get(key) as T) : make();
    // The last one that was asked for is the last one to go.
    kept.delete(key);
    kept.set(key, value);
    for (const oldest of kept.keys()) if (kept.size > MAX_KEPT) kept.delete(oldest);
    return value;
  };
  /** Detached and without our streams, as it outlives us. */
  const start: Host["start"] = (args, cwd, input = "ignore") => {
    const { spawn } = process.getBuiltinModule("node:child_process");
    const stdio = [input, "ignore" as const, "ignore" as const];
    const child = spawn(node, [join(dist, "cli.js"), ...args], { cwd, detached: true, stdio, windowsHide: true });
    child.on("error", () => {});
    child.unref();
  };

  /** What is still to be done for the last event. */
  let rest = async () => {};

  return async (input) => {
    // A client may send the next event at once: it sees what the last one left behind.
    await rest();
    const at = new Date();
    const faults: unknown[] = [];
    const onFault = (error: unknown) => {
      faults.push(error);
      if (env.MEMDIR_DEBUG) tell((error as Error).stack ?? String(error));
    };
    const host = { env, now: () => at, deadline: openDeadline(), onFault, startedIn, start, keep };
    const { out, after } = await answer(input, host).catch((error) => {
      onFault(error);
      return NOTHING;
    });
    rest = lazily(async () => {
      await (async () => after?.())().catch(onFault);
      const event = String((input as EventInput | null)?.hook_event_name ?? "");
      if (faults.length > 0) await note(env, { at, event, faults });
    });
    return { out, after: rest };
  };
}

async function answer(input: unknown, host: Host): Promise<Answer> {
  if (input instanceof Error) throw input;
  if (!isObject(input)) throw new TypeError("the event is not a JSON object");
  const event = readEvent(input as EventInput);
  return event.kind === null ? NOTHING : (await ANSWERERS[event.kind]())(event, host);
}

/** If even this part is missing, nothing can be recorded. */
async function note(env: Env, { at, event, faults }: { at: Date; event: string; faults: unknown[] }): Promise<void> {
  try {
    const { noteFault } = await import("./faults.ts");
    for (const error of faults) noteFault(env, { at, event, error });
  } catch {
    // See above.
  }
}
