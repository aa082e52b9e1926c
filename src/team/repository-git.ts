/** Git asked about the user's own checkout, and told its few settings: no shell, nothing that the repository names is run. */

import type { Env } from "../config.ts";
import { safeGitArgs, safeGitEnv } from "../project/safe-git.ts";

export interface GitAnswer {
  code: number;
  output: string;
}

/** Null when there is no git, or it took too long. Must not throw. */
export type RunGit = (cwd: string, args: readonly string[]) => Promise<GitAnswer | null>;

/** A listing of a large history on a slow disk; who waits longer believes that it hangs. */
const TIMEOUT_MS = 10_000;
const MAX_BYTES = 64 << 20;

export function openGit(env: Env): RunGit {
  return async (cwd, args) => {
    // Loaded here: it is slow to load, and commands that need no git are bundled with this.
    const { execFile } = await import("node:child_process");
    return new Promise((done) => {
      const options = {
        cwd,
        env: safeGitEnv(env) as NodeJS.ProcessEnv,
        timeout: TIMEOUT_MS,
        maxBuffer: MAX_BYTES,
        windowsHide: true,
      };
      execFile("git", [...safeGitArgs("log.showSignature=false"), ...args], options, (error, output) => {
        const code = error === null ? 0 : error.code;
        done(typeof code === "number" ? { code, output } : null);
      });
    });
  };
}
