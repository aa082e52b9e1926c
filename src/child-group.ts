/**
 * A child process: its program is found by PATH alone, and never in the project. One that leads a group of its own (`detached`) is
 * ended with everything it started, at the latest when we exit.
 */

import type { ChildProcess } from "node:child_process";
import { accessSync, constants, readdirSync, readFileSync, statSync } from "node:fs";
import { homedir } from "node:os";
import { basename, delimiter, dirname, extname, isAbsolute, join, parse } from "node:path";
import { findWorktreeRoot, isWithin, realPath } from "./disk/fence.ts";
import { attempt } from "./errors.ts";
import type { Env } from "./world.ts";

export interface ChildCall<Why extends string> {
  cwd: string;
  env: Env;
  /** Without one it has no standard input. */
  input?: string | Uint8Array | undefined;
  timeoutMs: number;
  signal?: AbortSignal | undefined;
  /** Time to clean up between being asked to end and being killed; 0 kills it at once. */
  graceMs: number;
  /** What it leaves running is killed with it, and holds its output open for so long at most. Without, that is waited for. */
  drainMs?: number;
  windowsVerbatimArguments?: boolean;
  /** The program is a line for the system's shell. */
  shell?: boolean;
  onOut(chunk: Buffer, stop: (why: Why) => void): void;
  onErr(chunk: Buffer, stop: (why: Why) => void): void;
}

export interface ChildEnd<Why extends string> {
  code: number | null;
  by: NodeJS.Signals | null;
  /** Why it did not run to its end. */
  cut: "timeout" | "stopped" | "not started" | Why | null;
  /** Why it could not be started. */
  problem: string;
}

type Signal = "SIGTERM" | "SIGKILL";

const running = new Map<ChildProcess, () => void>();

/**
 * Looked up here, because Windows, and a PATH with `.` in it, would find a program of that name in the repository first, and npm,
 * direnv and others add folders of the project to PATH. The project is that of `cwd`, and that of our own working directory, which
 * PATH was made for. Null when there is none that starts without a shell. A path, as in a user's EDITOR, stays as it is. `env` is for its
 * child: what that starts by PATH, such as the interpreter in its first line, is not in the project either.
 */
export function findProgram(
  env: Env,
  name: string,
  { cwd = ".", endings = ENDINGS }: { cwd?: string; endings?: readonly string[] } = {},
): { file: string; env: Env } | null {
  if (basename(name) !== name) return { file: name, env };
  // A user without a home has nothing in it.
  const home = attempt(() => realFolder(homeOf(env)), parse(process.execPath).root);
  const projects = [...new Set([cwd, "."])].map((each) => attempt(() => findProjectTop(realPath(each), home), null));
  const isOutside = (real: string) => !projects.some((top) => top !== null && isWithin(top, real));
  const key = Object.keys(env).find((each) => each.toUpperCase() === "PATH") ?? "PATH";
  const all = (env[key] ?? "/usr/bin:/bin").split(delimiter).filter((folder) => isAbsolute(folder));
  const folders = all.filter((folder) => !OF_A_PACKAGE.test(folder) && isOutside(realFolder(folder)));
  const hasEnding = endings.includes(extname(name).toLowerCase());
  const names = hasEnding ? [name] : endings.map((end) => `${name}${end}`);
  const files = folders.flatMap((folder) => names.map((each) => join(folder, each)));
  const file = files.find((each) => isProgram(each) && isOutside(realPath(each)));
  return file === undefined ? null : { file, env: { ...env, [key]: folders.join(delimiter) } };
}

const ENDINGS = [process.platform === "win32" ? ".exe" : ""];

/** npm adds these for the working directory and all that it is in, with git or without. */
const OF_A_PACKAGE = /[\\/]node_modules[\\/]\.bin[\\/]?$/;

export function homeOf(env: Env): string {
  return env.HOME || env.USERPROFILE || homedir();
}

/**
 * The outermost checkout, for submodules; outside of git the folder itself. Null where programs are the user's or the machine's own:
 * for the home, for what holds the Node that runs us, and for what these are in.
 */
function findProjectTop(folder: string, home: string): string | null {
  let top: string | null = null;
  for (let at = findWorktreeRoot(folder); at && at !== top && !isWithin(at, home); at = findWorktreeRoot(dirname(at)))
    top = at;
  return top ?? ([home, process.execPath].some((own) => isWithin(folder, own)) ? null : folder);
}

/** Resolved once: git is started often, and PATH can be long. */
const realFolders = new Map<string, string>();

function realFolder(folder: string): string {
  const real = realFolders.get(folder) ?? realPath(folder);
  realFolders.set(folder, real);
  return real;
}

function isProgram(file: string): boolean {
  return attempt(() => accessSync(file, constants.X_OK) === undefined && statSync(file).isFile(), false);
}

/** Starts a program that nobody waits for, and that may live longer than we do. Its name, null where it cannot be started. */
export function launchProgram(env: Env, name: string, args: readonly string[]): string | null {
  const program = findProgram(env, name);
  if (program === null) return null;
  const { spawn } = process.getBuiltinModule("node:child_process");
  return attempt(() => {
    const child = spawn(program.file, args, { env: program.env, stdio: "ignore", detached: true, windowsHide: true });
    child.on("error", () => {});
    child.unref();
    return basename(program.file);
  }, null);
}

/** What opens a file or an address for a person. Null without a screen: it would start a browser for terminals, behind our back. */
export function findOpener(env: Env, platform: string = process.platform): "open" | "xdg-open" | null {
  if (platform === "darwin") return "open";
  return env.DISPLAY || env.WAYLAND_DISPLAY || env.WSL_DISTRO_NAME ? "xdg-open" : null;
}

/** Runs a program to its end, in a group of its own. Never rejects. */
export function runChild<Why extends string = never>(
  program: string,
  args: readonly string[],
  { cwd, env, input, timeoutMs, signal, graceMs, drainMs, onOut, onErr, ...more }: ChildCall<Why>,
): Promise<ChildEnd<Why>> {
  // Loaded late: it is slow to load, and most commands start nothing.
  const { spawn } = process.getBuiltinModule("node:child_process");
  return new Promise((resolve) => {
    const unstarted = { code: null, by: null, problem: "" };
    if (signal?.aborted) return resolve({ ...unstarted, cut: "stopped" });
    let child: ChildProcess;
    try {
      const stdio = [input === undefined ? "ignore" : "pipe", "pipe", "pipe"] as const;
      const how = { detached: process.platform !== "win32", windowsHide: true, ...more };
      child = spawn(program, args, { cwd, env, stdio: [...stdio], ...how });
    } catch (error) {
      // A working directory with a NUL in its name.
      return resolve({ ...unstarted, cut: "not started", problem: (error as Error).message });
    }
    let cut: ChildEnd<Why>["cut"] = null;
    const kill = () => endGroup(child, "SIGKILL", env);
    const stop = (why: "timeout" | "stopped" | Why) => {
      if (cut !== null) return;
      cut = why;
      if (graceMs === 0) return kill();
      endGroup(child, "SIGTERM", env);
      timers.push(setTimeout(leave, graceMs));
    };
    /** What left the group may still hold the pipes: it is not waited for. */
    const leave = () => {
      kill();
      child.stdout?.destroy();
      child.stderr?.destroy();
    };
    const abort = () => stop("stopped");
    const timers = [setTimeout(() => stop("timeout"), timeoutMs)];
    signal?.addEventListener("abort", abort, { once: true });
    const forget = endOnExit(child, () => endGroup(child, drainMs === undefined ? "SIGTERM" : "SIGKILL", env));
    const finish = (end: Omit<ChildEnd<Why>, "cut">, otherwise: ChildEnd<Why>["cut"] = null) => {
      for (const timer of timers) clearTimeout(timer);
      signal?.removeEventListener("abort", abort);
      forget();
      resolve({ ...end, cut: cut ?? otherwise });
    };
    child.stdout?.on("data", (chunk: Buffer) => onOut(chunk, stop));
    child.stderr?.on("data", (chunk: Buffer) => onErr(chunk, stop));
    // It may end without reading.
    child.stdin?.on("error", () => {});
    if (input !== undefined) child.stdin?.end(input);
    child.on("error", ({ message }) => child.pid ?? finish({ ...unstarted, problem: message }, "not started"));
    child.on("exit", () => {
      if (drainMs === undefined) return;
      kill();
      timers.push(setTimeout(leave, drainMs));
    });
    child.on("close", (code, by) => {
      if (cut !== null) kill();
      finish({ code, by, problem: "" });
    });
  });
}

/** Until the returned function is called, the group is ended when our process exits: nothing else would do it. */
function endOnExit(child: ChildProcess, end: () => void): () => void {
  if (running.size === 0) process.on("exit", endAll);
  running.set(child, end);
  return () => {
    running.delete(child);
    if (running.size === 0) process.removeListener("exit", endAll);
  };
}

function endAll(): void {
  for (const end of running.values()) end();
}

/** Must not throw. */
function endGroup(child: ChildProcess, signal: Signal, env: Env): void {
  const { pid } = child;
  if (pid === undefined) return;
  if (process.platform === "win32") {
    if (child.exitCode !== null) return;
    const { spawn } = process.getBuiltinModule("node:child_process");
    const taskkill = join(env.SystemRoot ?? "C:\\Windows", "System32", "taskkill.exe");
    spawn(taskkill, ["/pid", String(pid), "/T", "/F"], { stdio: "ignore" }).on("error", () => {});
    return;
  }
  kill(-pid, signal);
  // Shells with job control put what they start into other groups.
  if (process.platform === "linux" && signal === "SIGKILL") for (const each of membersOf(pid)) kill(each, signal);
}

/** The processes of a session. */
function membersOf(session: number): number[] {
  const names = attempt(() => readdirSync("/proc"), []).filter((name) => /^\d+$/.test(name));
  return names.map(Number).filter((pid) => sessionOf(pid) === session);
}

/** The sixth field; the second is a name in brackets that may contain anything. */
function sessionOf(pid: number): number {
  const stat = attempt(() => readFileSync(`/proc/${pid}/stat`, "utf8"), "");
  return Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[3]);
}

/** It may have ended already. */
function kill(pid: number, signal: Signal): void {
  attempt(() => process.kill(pid, signal), false);
}
