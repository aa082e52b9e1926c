/** Git, asked without trusting the repository: nothing that its configuration names is run, nothing is locked, nothing fetched. */

import type { ChildProcess } from "node:child_process";
import type { Env } from "../config.ts";
import { safeGitArgs, safeGitEnv } from "../project/safe-git.ts";

export interface Git {
  root: string;
  env: Env;
  signal?: AbortSignal | undefined;
}

export interface GitLimits {
  timeoutMs: number;
  maxBytes: number;
}

/** `failed`: no repository, no git, or a call that it refuses. */
export type GitEnd = "done" | "cut" | "failed";

/** What a listing of names may take; a million names are less. */
const LISTING: GitLimits = { timeoutMs: 20_000, maxBytes: 128 << 20 };

/** What it prints, or null. Must not throw. */
export async function readGit(git: Git, args: readonly string[], input?: string): Promise<Buffer | null> {
  const chunks: Buffer[] = [];
  const end = await streamGit(git, args, (chunk) => void chunks.push(chunk), LISTING, input);
  return end === "done" ? Buffer.concat(chunks) : null;
}

/** Hands on what it prints, piece by piece, until a limit is reached. Must not throw. */
export async function streamGit(
  git: Git,
  args: readonly string[],
  take: (chunk: Buffer) => void,
  { timeoutMs, maxBytes }: GitLimits,
  input?: string,
): Promise<GitEnd> {
  if (git.signal?.aborted) return "cut";
  const { spawn } = await import("node:child_process");
  return new Promise((done) => {
    let bytes = 0;
    let end: GitEnd | null = null;
    let child: ChildProcess;
    try {
      child = spawn("git", [...SAFE_ARGS, ...args], {
        cwd: git.root,
        env: safeGitEnv(git.env),
        stdio: [input === undefined ? "ignore" : "pipe", "pipe", "ignore"],
        windowsHide: true,
      });
    } catch {
      // A working directory with a NUL in its name.
      done("failed");
      return;
    }
    const stop = (why: GitEnd) => {
      end ??= why;
      child.kill("SIGKILL");
    };
    const timer = setTimeout(() => stop("cut"), timeoutMs);
    const abort = () => stop("cut");
    git.signal?.addEventListener("abort", abort, { once: true });
    child.stdout?.on("data", (chunk: Buffer) => {
      if (end !== null) return;
      bytes += chunk.length;
      if (bytes > maxBytes) stop("cut");
      else take(chunk);
    });
    const finish = (code: GitEnd) => {
      clearTimeout(timer);
      git.signal?.removeEventListener("abort", abort);
      done(end ?? code);
    };
    child.on("error", () => finish("failed"));
    child.on("close", (code) => finish(code === 0 ? "done" : "failed"));
    child.stdin?.on("error", () => {});
    if (input !== undefined) child.stdin?.end(input);
  });
}

const SAFE_ARGS = safeGitArgs("log.showSignature=false", "diff.renameLimit=1000");
