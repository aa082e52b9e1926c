/** Runs a command in a shell, in its own process group that does not outlive it. */

import { type ChildProcess, spawn } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";

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
  ended:
    | { kind: "exit"; code: number }
    | { kind: "signal"; signal: string }
    | { kind: "timeout" | "aborted" }
    | { kind: "failed"; reason: string };
}

/** Time to clean up lock files and the like between SIGTERM and SIGKILL. */
const GRACE_MS = 500;

/** A process that left the group keeps the output open; it is not waited for any longer. */
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
      // What it left in the background is killed with it; then the streams close.
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
  // Both streams through one pipe, so that lines keep the order in which they were printed.
  const args = ["-c", 'exec 2>&1; exec "$0" -c "$1"', shell.program, command];
  return spawn(shell.program, args, { cwd, env, stdio, detached: true });
}

/** 1 MB in all; a conversation is shown less, but the file with the full result may hold it. */
const MAX_HALF_BYTES = 512 * 1024;

interface Output {
  add: (chunk: Buffer) => void;
  text(): string;
}

export function openOutput(maxHalf = MAX_HALF_BYTES): Output {
  const head: Buffer[] = [];
  let headBytes = 0;
  let tail: Buffer[] = [];
  let tailBytes = 0;
  let total = 0;
  return {
    add(chunk) {
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

const running = new Set<ChildProcess>();

/** A running child is killed when our process exits: nothing else would do it. */
function setRunning(child: ChildProcess, isRunning: boolean): void {
  if (isRunning && running.size === 0) process.on("exit", killAll);
  if (isRunning) running.add(child);
  else running.delete(child);
  if (running.size === 0) process.removeListener("exit", killAll);
}

/** The child must lead its own group and session (`detached`), except on Windows. Must not throw. */
function killGroup(child: ChildProcess, signal: "SIGTERM" | "SIGKILL"): void {
  const { pid } = child;
  if (pid === undefined) return;
  if (process.platform === "win32") {
    if (child.exitCode !== null) return;
    spawn("taskkill", ["/pid", String(pid), "/T", "/F"], { stdio: "ignore" }).on("error", () => {});
    return;
  }
  kill(-pid, signal);
  // Shells with job control put what they start into other groups.
  if (process.platform === "linux" && signal === "SIGKILL") for (const each of membersOf(pid)) kill(each, signal);
}

function killAll(): void {
  for (const child of running) killGroup(child, "SIGKILL");
}

/** The processes of a session. */
function membersOf(session: number): number[] {
  try {
    return readdirSync("/proc")
      .filter((name) => /^\d+$/.test(name))
      .map(Number)
      .filter((pid) => sessionOf(pid) === session);
  } catch {
    return [];
  }
}

/** The sixth field; the second is a name in brackets that may hold anything. */
function sessionOf(pid: number): number | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    return Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[3]);
  } catch {
    return null;
  }
}

function kill(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // There is no such process any more.
  }
}
