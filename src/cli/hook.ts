/** `memdir hook`: a host's hook through the binary, for hosts that are told a command's name rather than a file. */

import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { readInput } from "../hooks/event.ts";
import { findInstallation } from "../wiring/machine.ts";
import type { Call, Run } from "./command.ts";

/** Far above the hook's own deadline: for a disk that hangs. */
const TIMEOUT_MS = 10_000;

// Not the terminal's own way: a host may leave its end open.
export const hook: Run = (call) => runHook(call, () => readInput(0));

/** Always 0: a rule that denies says so in its answer, and whatever fails must not cost the host its prompt. */
export async function runHook(call: Call, read: () => unknown): Promise<number> {
  try {
    const program = join(findInstallation(fileURLToPath(import.meta.url)), "hook.cjs");
    const { stdout } = spawnSync(process.execPath, [program], {
      input: await nameEvent(read, call.args[0]),
      cwd: call.cwd,
      env: call.env,
      encoding: "utf8",
      stdio: ["pipe", "pipe", "inherit"],
      timeout: TIMEOUT_MS,
      windowsHide: true,
    });
    if (stdout) call.terminal.print(stdout.trimEnd());
  } catch (error) {
    if (call.env.MEMDIR_DEBUG) call.terminal.warn(`memdir: ${(error as Error).stack}`);
  }
  return 0;
}

/** The event may be named on the command line; what the host itself says counts first. */
async function nameEvent(read: () => unknown, event: string | undefined): Promise<string> {
  try {
    const input = await read();
    const isObject = typeof input === "object" && input !== null && !Array.isArray(input);
    return JSON.stringify(isObject ? { hook_event_name: event, ...input } : input);
  } catch {
    return ""; // the hook notes that it was no JSON
  }
}
