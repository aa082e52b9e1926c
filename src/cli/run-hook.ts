/** `memdir hook`: a host's hook through the binary, for hosts that are told a command's name rather than a file. */

import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { isObject, MemdirError } from "../errors.ts";
import { readInput } from "../hooks/input.ts";
import { findPlace } from "../project/scopes.ts";
import { findInstallation } from "../wiring/machine.ts";
import type { Env } from "../world.ts";
import type { Call, Run } from "./command.ts";

/** Far above the hook's own deadline: for a disk that hangs. */
const TIMEOUT_MS = 10_000;

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
  const input = nameEvent(read, call.args[0]);
  if (input === null) return 0;
  try {
    const program = join(findInstallation(fileURLToPath(import.meta.url)), "hook.cjs");
    const { stdout } = spawnSync(process.execPath, [program], {
      input,
      cwd: call.cwd,
      env: envOf(call),
      encoding: "utf8",
      stdio: ["pipe", "pipe", "inherit"],
      timeout: TIMEOUT_MS,
      windowsHide: true,
    });
    if (stdout) call.terminal.print(stdout.trimEnd());
  } catch (error) {
    if (error instanceof MemdirError) call.terminal.warn(`memdir: ${error.message}`);
    else if (call.env.MEMDIR_DEBUG) call.terminal.warn(`memdir: ${(error as Error).stack}`);
  }
  return 0;
}

/** Throws `usage` for a --memory-dir that may not be used: the project's own must not be used instead. */
function envOf(call: Call): Env {
  const memoryDir = call.value("memory-dir");
  if (memoryDir === undefined) return call.env;
  return { ...call.env, MEMDIR_MEMORY_DIR: findPlace({ cwd: call.cwd, memoryDir }, call.env).location.dir };
}

/** Null for nothing at all. The event may be named on the command line; what the host itself says counts first. */
function nameEvent(read: () => unknown, event: string | undefined): string | null {
  try {
    const input = read();
    if (input === undefined) return null;
    return JSON.stringify(isObject(input) ? { hook_event_name: event, ...input } : input);
  } catch {
    return "no JSON"; // which the hook notes
  }
}
