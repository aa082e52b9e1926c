/**
 * A child process: its program is found by PATH alone. One that leads a group of its own (`detached`) is ended with everything it
 * started, at the latest when we exit.
 */

import type { ChildProcess } from "node:child_process";
import { accessSync, constants, readdirSync, readFileSync, statSync } from "node:fs";
import { delimiter, isAbsolute, join } from "node:path";
import type { Env } from "./world.ts";

type Signal = "SIGTERM" | "SIGKILL";

const running = new Map<ChildProcess, Signal>();

/**
 * Looked up here, because Windows, and a PATH with `.` in it, would find a program of that name in the repository first. Null when
 * there is none that starts without a shell.
 */
export function findProgram(
  env: Env,
  name: string,
  endings = [process.platform === "win32" ? ".exe" : ""],
): string | null {
  const path = Object.entries(env).find(([key]) => key.toUpperCase() === "PATH")?.[1] ?? "/usr/bin:/bin";
  const folders = path.split(delimiter).filter((folder) => isAbsolute(folder));
  return folders.flatMap((folder) => endings.map((end) => join(folder, `${name}${end}`))).find(isProgram) ?? null;
}

function isProgram(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return statSync(file).isFile();
  } catch {
    return false;
  }
}

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
