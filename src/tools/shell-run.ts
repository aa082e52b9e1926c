/** A command run in a shell, in a process group of its own that does not outlive it. */

import { type ChildProcess, spawn } from "node:child_process";
import { killGroup, setRunning } from "./process-group.ts";
import { openOutput } from "./shell-output.ts";

export interface Shell {
  program: string;
  kind: "posix" | "cmd";
}

interface RunOptions {
  shell: Shell;
  cwd: string;
  env: Readonly<Record<string, string>>;
  timeoutMs: number;
  signal: AbortSignal;
}

export interface CommandEnd {
  /** Standard output and errors as they came, the middle left out when there is too much. */
  output: string;
  ended:
    | { kind: "exit"; code: number }
    | { kind: "signal"; signal: string }
    | { kind: "timeout" | "aborted" }
    | { kind: "failed"; reason: string };
}

/** Time to remove lock files and the like between the request to end and the end. */
const GRACE_MS = 500;

/** What left the group keeps the output open; it is not waited for longer. */
const DRAIN_MS = 200;

/** Must not throw. */
export function runCommand(command: string, { shell, cwd, env, timeoutMs, signal }: RunOptions): Promise<CommandEnd> {
  return new Promise((resolve) => {
    const output = openOutput();
    let stopped: "timeout" | "aborted" | null = null;
    let child: ChildProcess;
    try {
      child = start(command, shell, cwd, env);
    } catch (error) {
      resolve({ output: "", ended: { kind: "failed", reason: (error as Error).message } });
      return;
    }
    const timers: NodeJS.Timeout[] = [];
    const killNow = () => killGroup(child, "SIGKILL");
    const stop = (why: "timeout" | "aborted") => {
      stopped ??= why;
      killGroup(child, "SIGTERM");
      timers.push(setTimeout(killNow, GRACE_MS));
    };
    const abort = () => stop("aborted");
    const finish = (ended: CommandEnd["ended"]) => {
      for (const timer of timers) clearTimeout(timer);
      setRunning(child, false);
      signal.removeEventListener("abort", abort);
      child.stdout?.destroy();
      child.stderr?.destroy();
      resolve({ output: output.text(), ended: stopped && ended.kind !== "failed" ? { kind: stopped } : ended });
    };
    timers.push(setTimeout(() => stop("timeout"), timeoutMs));
    setRunning(child, true);
    signal.addEventListener("abort", abort, { once: true });
    if (signal.aborted) abort();

    child.stdout?.on("data", output.add);
    child.stderr?.on("data", output.add);
    child.on("error", (error) => finish({ kind: "failed", reason: error.message }));
    child.on("exit", (code, by) => {
      // What it left in the background ends with it; then the streams close.
      killNow();
      const ended =
        code === null ? ({ kind: "signal", signal: by ?? "a signal" } as const) : ({ kind: "exit", code } as const);
      timers.push(setTimeout(() => finish(ended), DRAIN_MS));
      child.on("close", () => finish(ended));
    });
  });
}

function start(command: string, shell: Shell, cwd: string, env: Readonly<Record<string, string>>): ChildProcess {
  const stdio: ["ignore", "pipe", "pipe"] = ["ignore", "pipe", "pipe"];
  if (shell.kind === "cmd") {
    const args = ["/d", "/s", "/c", `"${command}"`];
    return spawn(shell.program, args, { cwd, env, stdio, windowsHide: true, windowsVerbatimArguments: true });
  }
  // Both streams through one pipe, so that lines stay in the order in which they were printed.
  const args = ["-c", 'exec 2>&1; exec "$0" -c "$1"', shell.program, command];
  return spawn(shell.program, args, { cwd, env, stdio, detached: true });
}
