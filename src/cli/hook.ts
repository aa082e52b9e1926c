/** `memdir hook`: a host's hook through the binary, for hosts that are told a command's name rather than a file. */

import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type Env, processEnv } from "../config.ts";
import { findInstallation } from "../wiring/installation.ts";
import type { Call, Run } from "./command.ts";

/** Far above the hook's own deadline: for a disk that hangs. */
const TIMEOUT_MS = 10_000;

export const run: Run = (call) => runHook(call, processEnv());

/** Always 0: a rule that denies says so in its answer, and whatever fails must not cost the host its prompt. */
export async function runHook(call: Call, env: Env): Promise<number> {
  try {
    const hook = join(findInstallation(fileURLToPath(import.meta.url)), "hook.cjs");
    const { stdout } = spawnSync(process.execPath, [hook], {
      input: nameEvent(await call.terminal.readInput(), call.args[0]),
      cwd: call.cwd,
      env,
      encoding: "utf8",
      stdio: ["pipe", "pipe", "inherit"],
      timeout: TIMEOUT_MS,
      windowsHide: true,
    });
    if (stdout) call.terminal.print(stdout.trimEnd());
  } catch (error) {
    if (env.MEMDIR_DEBUG) call.terminal.warn(`memdir: ${(error as Error).stack}`);
  }
  return 0;
}

/** The event may be named on the command line; what the host itself says counts first. */
function nameEvent(text: string, event: string | undefined): string {
  if (event === undefined) return text;
  try {
    const input: unknown = JSON.parse(text);
    const isObject = typeof input === "object" && input !== null && !Array.isArray(input);
    return isObject ? JSON.stringify({ hook_event_name: event, ...input }) : text;
  } catch {
    return text; // the hook notes what is wrong with it
  }
}
