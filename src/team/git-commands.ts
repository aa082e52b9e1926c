/** Git as a program that is run in the transport's own bare repository: no shell, no prompts, no hooks, never longer than it may. */

import { type ChildProcess, spawn } from "node:child_process";
import type { Env } from "../config.ts";
import { MemdirError } from "../errors.ts";
import { safeGitArgs, safeGitEnv } from "../project/safe-git.ts";

export interface Git {
  /** The bare repository; null before there is one. */
  directory: string | null;
  /** Where the program runs. */
  cwd: string;
  env: Env;
  /** What GIT_ALLOW_PROTOCOL is set to: "none" for commands that talk to nobody. */
  protocols: string;
  signal?: AbortSignal | undefined;
}

export interface GitCall {
  input?: Uint8Array | string;
  timeoutMs?: number;
}

export interface GitAnswer {
  /** Null when it was ended by us. */
  code: number | null;
  output: Buffer;
  /** What it said on standard error, its last part. May hold credentials: only to be shown through `Remote.mask`. */
  said: string;
  cut: "timeout" | "stopped" | "too much" | null;
}

/** Local commands take milliseconds; a disk that sleeps takes seconds. */
const LOCAL_TIMEOUT_MS = 60_000;
/** Git removes its own lock files on SIGTERM; ssh may not listen at all. */
const GRACE_MS = 500;
/** A listing or a batch of texts; callers ask in batches far below it. */
const MAX_OUTPUT_BYTES = 256 << 20;
const MAX_SAID_CHARS = 16_000;

/** Runs git to its end. Rejects only when there is no git; everything else is in the answer. */
export async function runGit(git: Git, args: readonly string[], call: GitCall = {}): Promise<GitAnswer> {
  const where = git.directory === null ? [] : [`--git-dir=${git.directory}`];
  if (git.signal?.aborted) return { code: null, output: Buffer.alloc(0), said: "", cut: "stopped" };
  return new Promise((done, fail) => {
    const child = spawn("git", [...ARGS, ...where, ...args], {
      cwd: git.cwd,
      env: gitEnv(git),
      stdio: [call.input === undefined ? "ignore" : "pipe", "pipe", "pipe"],
      // A group of its own, so that ssh and helpers end with it, and no terminal that ssh could ask on.
      detached: process.platform !== "win32",
      windowsHide: true,
    });
    const chunks: Buffer[] = [];
    let bytes = 0;
    let said = "";
    let cut: GitAnswer["cut"] = null;
    let late: NodeJS.Timeout | undefined;
    const stop = (why: GitAnswer["cut"]) => {
      if (cut !== null) return;
      cut = why;
      endGroup(child, "SIGTERM");
      late = setTimeout(() => {
        endGroup(child, "SIGKILL");
        // A helper that left the group may still hold the pipes: nobody waits for it.
        child.stdout?.destroy();
        child.stderr?.destroy();
      }, GRACE_MS);
    };
    const timer = setTimeout(() => stop("timeout"), call.timeoutMs ?? LOCAL_TIMEOUT_MS);
    const abort = () => stop("stopped");
    git.signal?.addEventListener("abort", abort, { once: true });
    setRunning(child, true);
    const finish = () => {
      clearTimeout(timer);
      clearTimeout(late);
      git.signal?.removeEventListener("abort", abort);
      setRunning(child, false);
    };
    child.stdout?.on("data", (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes > MAX_OUTPUT_BYTES) stop("too much");
      else chunks.push(chunk);
    });
    child.stderr?.on("data", (chunk: Buffer) => {
      said = (said + chunk.toString("utf8")).slice(-MAX_SAID_CHARS);
    });
    child.stdin?.on("error", () => {});
    child.on("error", (cause) => {
      finish();
      fail(new MemdirError("disk", `git cannot be run (${cause.message}): install it, or set PATH`, { cause }));
    });
    child.on("close", (code) => {
      finish();
      if (cut !== null) endGroup(child, "SIGKILL");
      done({ code: cut === null ? code : null, output: Buffer.concat(chunks), said, cut });
    });
    if (call.input !== undefined) child.stdin?.end(call.input);
  });
}

const ARGS = [
  ...safeGitArgs(
    "commit.gpgSign=false",
    "push.gpgSign=false",
    "log.showSignature=false",
    "core.logAllRefUpdates=false",
    "fetch.writeCommitGraph=false",
    // Tidying up is asked for by us, while nobody else is at work.
    "gc.auto=0",
    "maintenance.auto=false",
    "init.defaultBranch=memdir",
    // The user's own settings may turn these on; none is for a transport.
    "transfer.credentialsInUrl=allow",
    "fetch.recurseSubmodules=false",
    "core.attributesFile=",
    "advice.pushUpdateRejected=true",
  ),
  "--literal-pathspecs",
];

/** What git sets while it runs a hook, and what would make it tell more than we may show. */
const FOREIGN =
  /^GIT_(ALTERNATE_OBJECT_DIRECTORIES|CONFIG|CONFIG_PARAMETERS|NAMESPACE|QUARANTINE_PATH|SHALLOW_FILE|GRAFT_FILE|REPLACE_REF_BASE|IMPLICIT_WORK_TREE|NO_REPLACE_OBJECTS|INTERNAL_SUPER_PREFIX|TRACE.*|CURL_VERBOSE|(GLOB|NOGLOB|ICASE)_PATHSPECS)$/;

function gitEnv({ env, protocols }: Git): NodeJS.ProcessEnv {
  const own = Object.fromEntries(Object.entries(env).filter(([name]) => !FOREIGN.test(name)));
  return {
    ...safeGitEnv(own),
    GIT_ALLOW_PROTOCOL: protocols,
    GIT_NO_REPLACE_OBJECTS: "1",
    GIT_DEFAULT_HASH: "sha1",
    // No window pops up beside a session either.
    SSH_ASKPASS_REQUIRE: "never",
    GCM_INTERACTIVE: "never",
  };
}

const running = new Set<ChildProcess>();

/** While it runs, it is ended when we end: nobody would hear its answer. */
function setRunning(child: ChildProcess, isRunning: boolean): void {
  if (isRunning && running.size === 0) process.on("exit", endAll);
  if (isRunning) running.add(child);
  else running.delete(child);
  if (running.size === 0) process.removeListener("exit", endAll);
}

function endAll(): void {
  for (const child of running) endGroup(child, "SIGTERM");
}

function endGroup(child: ChildProcess, signal: "SIGTERM" | "SIGKILL"): void {
  const { pid } = child;
  if (pid === undefined) return;
  if (process.platform === "win32") {
    if (child.exitCode !== null) return;
    spawn("taskkill", ["/pid", String(pid), "/T", "/F"], { stdio: "ignore" }).on("error", () => {});
    return;
  }
  try {
    process.kill(-pid, signal);
  } catch {
    // Nobody is left there.
  }
}
