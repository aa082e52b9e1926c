/** `memdir hook`: a host's hook through the binary, for hosts that are told a command's name rather than a file. */

import { fileURLToPath } from "node:url";
import { isObject, MemdirError } from "../errors.ts";
import { noteFault } from "../hooks/faults.ts";
import { openHooks } from "../hooks/hooks.ts";
import { readInput } from "../hooks/input.ts";
import { findPlace } from "../project/scopes.ts";
import { findInstallation } from "../wiring/machine.ts";
import type { Env } from "../world.ts";
import type { Call, Run } from "./command.ts";

export const start: Run = (call) => {
  if (process.stdin.isTTY) {
    call.terminal.warn(
      "memdir: hook is for agents, which send an event as JSON on standard input; memdir init sets it up",
    );
    return Promise.resolve(0);
  }
  // Not the terminal's own way: a host may leave its end open.
  return runHook(call, () => readInput(0));
};

/** Always 0: a rule that denies says so in its answer, and whatever fails must not cost the host its prompt. */
export async function runHook(call: Call, read: () => unknown): Promise<number> {
  const event = readEvent(read, call);
  if (event === undefined) return 0;
  try {
    const env = envOf(call);
    const dist = findInstallation(fileURLToPath(import.meta.url));
    const answer = openHooks({ env, dist, startedIn: () => env.CLAUDE_PROJECT_DIR || call.cwd });
    const { out, after } = await answer(event);
    if (out !== "") call.terminal.print(out.trimEnd());
    await after();
  } catch (error) {
    return failOpen(error, call);
  }
  return 0;
}

/** Also for a call that cannot be read: with any other exit code Claude Code blocks the prompt. */
export function failOpen(
  error: unknown,
  { args: [event = ""], env, terminal }: Pick<Call, "args" | "env" | "terminal">,
) {
  noteFault(env, { at: new Date(), event, error });
  if (error instanceof MemdirError) terminal.warn(`memdir: ${error.message}`);
  else if (env.MEMDIR_DEBUG) terminal.warn(`memdir: ${(error as Error).stack}`);
  return 0;
}

/** Throws `usage` for a --memory-dir that may not be used: the project's own must not be used instead. */
function envOf(call: Call): Env {
  const memoryDir = call.value("memory-dir");
  if (memoryDir === undefined) return call.env;
  return { ...call.env, MEMDIR_MEMORY_DIR: findPlace({ cwd: call.cwd, memoryDir }, call.env).location.dir };
}

/** Undefined for nothing at all; the error when it is not JSON. What the host says counts before the command line. */
function readEvent(read: () => unknown, { args, cwd }: Call): unknown {
  try {
    const input = read();
    return isObject(input) ? { hook_event_name: args[0], cwd, ...input } : input;
  } catch (error) {
    return error;
  }
}
