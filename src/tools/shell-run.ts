/** Runs a command in a shell, in its own process group that does not outlive it. */

import { type ChildProcess, spawn } from "node:child_process";
import { endGroup, endOnExit } from "../child-group.ts";

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
  /** Standard output and errors in the order they came; the middle is left out when there is too much. */
  output: string;
  /** The exit code, or why there is none. */
  ended: number | string;
}

/** Time to clean up lock files and the like between SIGTERM and SIGKILL. */
const GRACE_MS = 500;

/** A process that left the group keeps the output open; it is not waited for any longer. */
const DRAIN_MS = 200;

/** Must not throw. */
export function runCommand(command: string, { shell, cwd, env, timeoutMs, signal }: RunOptions): Promise<CommandEnd> {
  return new Promise((resolve) => {
    const output = openOutput();
    let stopped: string | null = null;
    let child: ChildProcess;
    try {
      child = start(command, shell, cwd, env);
    } catch (error) {
      resolve({ output: "", ended: notStarted(error as Error) });
      return;
    }
    const timers: NodeJS.Timeout[] = [];
    const forget = endOnExit(child, "SIGKILL");
    const killNow = () => endGroup(child, "SIGKILL");
    const stop = (why: string) => {
      stopped ??= why;
      endGroup(child, "SIGTERM");
      timers.push(setTimeout(killNow, GRACE_MS));
    };
    const abort = () => stop("stopped by the user");
    const finish = (ended: CommandEnd["ended"]) => {
      for (const timer of timers) clearTimeout(timer);
      forget();
      signal.removeEventListener("abort", abort);
      child.stdout?.destroy();
      child.stderr?.destroy();
      resolve({ output: output.text(), ended });
    };
    const late = `stopped after ${timeoutMs / 1000} seconds; raise timeout, or do less`;
    timers.push(setTimeout(() => stop(late), timeoutMs));
    signal.addEventListener("abort", abort, { once: true });
    if (signal.aborted) abort();

    child.stdout?.on("data", output.add);
    child.stderr?.on("data", output.add);
    child.on("error", (error) => finish(notStarted(error)));
    child.on("exit", (code, by) => {
      // What it left in the background is killed with it; then the streams close.
      killNow();
      const ended = stopped ?? code ?? `ended by ${by ?? "a signal"}`;
      timers.push(setTimeout(() => finish(ended), DRAIN_MS));
      child.on("close", () => finish(ended));
    });
  });
}

function notStarted({ message }: Error): string {
  return `the command could not be started: ${message}`;
}

function start(command: string, shell: Shell, cwd: string, env: Readonly<Record<string, string>>): ChildProcess {
  const stdio: ["ignore", "pipe", "pipe"] = ["ignore", "pipe", "pipe"];
  if (shell.kind === "cmd") {
    const args = ["/d", "/s", "/c", `"${command}"`];
    return spawn(shell.program, args, { cwd, env, stdio, windowsHide: true, windowsVerbatimArguments: true });
  }
  // Both streams through one pipe, so that lines keep the order in which they were printed.
  const args = ["-c", 'exec 2>&1; exec "$0" -c "$1"', shell.program, command];
  return spawn(shell.program, args, { cwd, env, stdio, detached: true });
}

/** 1 MB in all; a conversation is shown less, but the file with the full result may hold it. */
const MAX_HALF_BYTES = 512 * 1024;

export function openOutput(maxHalf = MAX_HALF_BYTES) {
  const head: Buffer[] = [];
  let headBytes = 0;
  let tail: Buffer[] = [];
  let tailBytes = 0;
  let total = 0;
  return {
    add(chunk: Buffer) {
      total += chunk.length;
      const taken = chunk.subarray(0, Math.max(0, maxHalf - headBytes));
      head.push(taken);
      headBytes += taken.length;
      const rest = chunk.subarray(taken.length);
      if (rest.length === 0) return;
      tail.push(rest);
      tailBytes += rest.length;
      // Joined only when there is twice as much as needed, so that each byte is copied only a few times.
      if (tailBytes < 2 * maxHalf) return;
      tail = [Buffer.from(Buffer.concat(tail).subarray(-maxHalf))];
      tailBytes = maxHalf;
    },
    text() {
      const end = Buffer.concat(tail).subarray(-maxHalf);
      const left = total - headBytes - end.length;
      const start = Buffer.concat(head);
      if (left === 0) return Buffer.concat([start, end]).toString();
      const note = `\n[… ${left.toLocaleString("en-US")} bytes left out …]\n`;
      return withoutHalves(start.toString()) + note + withoutHalves(end.toString());
    },
  };
}

/** A character may have been cut in half. */
function withoutHalves(text: string): string {
  return text.replace(/^\ufffd{1,3}|\ufffd{1,3}$/g, "");
}
