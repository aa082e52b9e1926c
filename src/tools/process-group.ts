/** The processes that a command started: ended together, and also when our own process ends first. */

import { type ChildProcess, spawn } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";

const running = new Set<ChildProcess>();

/** While it runs, it is ended when we end: nobody else would do it. */
export function setRunning(child: ChildProcess, isRunning: boolean): void {
  if (isRunning && running.size === 0) process.on("exit", killAll);
  if (isRunning) running.add(child);
  else running.delete(child);
  if (running.size === 0) process.removeListener("exit", killAll);
}

/** The child must lead a group and session of its own (`detached`), except on Windows. Must not throw. */
export function killGroup(child: ChildProcess, signal: "SIGTERM" | "SIGKILL"): void {
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
    // Nobody is left there.
  }
}
