/** A child process that leads a group of its own (`detached`): it is ended with everything it started, at the latest when we exit. */

import type { ChildProcess } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";

type Signal = "SIGTERM" | "SIGKILL";

const running = new Map<ChildProcess, Signal>();

/** Until the returned function is called, the group is ended when our process exits: nothing else would do it. */
export function endOnExit(child: ChildProcess, signal: Signal): () => void {
  if (running.size === 0) process.on("exit", endAll);
  running.set(child, signal);
  return () => {
    running.delete(child);
    if (running.size === 0) process.removeListener("exit", endAll);
  };
}

function endAll(): void {
  for (const [child, signal] of running) endGroup(child, signal);
}

/** Must not throw. */
export function endGroup(child: ChildProcess, signal: Signal): void {
  const { pid } = child;
  if (pid === undefined) return;
  if (process.platform === "win32") {
    if (child.exitCode !== null) return;
    const { spawn } = process.getBuiltinModule("node:child_process");
    spawn("taskkill", ["/pid", String(pid), "/T", "/F"], { stdio: "ignore" }).on("error", () => {});
    return;
  }
  kill(-pid, signal);
  // Shells with job control put what they start into other groups.
  if (process.platform === "linux" && signal === "SIGKILL") for (const each of membersOf(pid)) kill(each, signal);
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

/** The sixth field; the second is a name in brackets that may contain anything. */
function sessionOf(pid: number): number | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    return Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[3]);
  } catch {
    return null;
  }
}

function kill(pid: number, signal: Signal): void {
  try {
    process.kill(pid, signal);
  } catch {
    // The process has ended already.
  }
}
