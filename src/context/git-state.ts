/** The state of the repository at the start of a conversation, read by git without trusting the repository. */

import type { Env } from "../config.ts";
import { findProject } from "../project/root.ts";
import { safeGitArgs, safeGitEnv } from "../project/safe-git.ts";
import type { GitState } from "../prompts/environment.ts";
import { clipLine } from "../recall/cut.ts";

export type { GitState };

/** What git prints, or null when it fails. Must not throw. */
export type RunGit = (args: string[]) => Promise<string | null>;

/** A status says what is going on in its first lines; one of 10,000 build products says no more than this. */
const MAX_STATUS_CHARS = 2000;

/** A subject longer than this is a text without a subject. */
const MAX_SUBJECT_CHARS = 200;

const RECENT_COMMITS = 5;

/** What the branch that changes end up in is mostly called; better is what git noted when the repository was cloned. */
const DEFAULT_BRANCHES = ["origin/main", "origin/master", "main", "master"];
const DEFAULT_REFS = [
  "refs/remotes/origin/HEAD",
  "refs/remotes/origin/main",
  "refs/remotes/origin/master",
  "refs/heads/main",
  "refs/heads/master",
];

/**
 * Null outside a repository and without git; also when `isOff`, which the caller finds out: in a remote session, or when
 * settings say that nothing about git is to be shown.
 */
export async function readGitState(cwd: string, run: RunGit, isOff = false): Promise<GitState | null> {
  if (isOff || !findProject(cwd).insideGit) return null;
  const [branch, refs, userName, status, log] = await Promise.all([
    run(["branch", "--show-current"]),
    run(["for-each-ref", "--format=%(refname) %(symref)", ...DEFAULT_REFS]),
    run(["config", "--get", "user.name"]),
    run(["status", "--short", "--untracked-files=normal", "--ignore-submodules=dirty"]),
    // A repository may ask for signatures, and name the program that checks them.
    run(["log", `--max-count=${RECENT_COMMITS}`, "--no-show-signature", "--no-decorate", "--format=%h %s"]),
  ]);
  if (branch === null) return null;
  return {
    branch: branch.trim() || null,
    defaultBranch: findDefaultBranch(refs ?? ""),
    userName: userName?.trim() || null,
    ...cutStatus(status),
    commits: linesOf(log ?? "").map((line) => clipLine(line, MAX_SUBJECT_CHARS)),
  };
}

function findDefaultBranch(refs: string): string | null {
  const names = linesOf(refs).map((line) => line.split(" "));
  const head = names.find(([name]) => name === "refs/remotes/origin/HEAD")?.[1];
  if (head?.startsWith("refs/remotes/origin/")) return head.slice("refs/remotes/origin/".length);
  const known = names.map(([name = ""]) => name.replace(/^refs\/(?:heads|remotes)\//, ""));
  return DEFAULT_BRANCHES.find((name) => known.includes(name))?.replace("origin/", "") ?? null;
}

/** Its first characters are spaces for some files, and belong to it. */
function cutStatus(text: string | null): Pick<GitState, "status" | "statusCut"> {
  if (text === null) return { status: null, statusCut: false };
  const status = text.trimEnd();
  if (status.length <= MAX_STATUS_CHARS) return { status, statusCut: false };
  // One character more: a line may end exactly at the limit.
  const end = status.lastIndexOf("\n", MAX_STATUS_CHARS);
  return { status: end < 0 ? "" : status.slice(0, end), statusCut: true };
}

function linesOf(text: string): string[] {
  return text.split("\n").filter((line) => line.trim() !== "");
}

/** A conversation must not wait longer for what is only nice to know. */
const TIMEOUT_MS = 5000;

/** Much more than is shown of anything. */
const MAX_OUTPUT_BYTES = 1 << 20;

/**
 * A folder that was downloaded may bring a `.git` whose configuration names programs. None of them may run only because
 * somebody starts an agent there: not the monitor, not hooks, not filters, nothing that fetches.
 */
export function gitRunner(cwd: string, env: Env): RunGit {
  const own = safeGitEnv(env);
  const run = async (args: readonly string[]): Promise<string | null> => {
    // Loaded late: it is slow to load, and a session without git needs none of it.
    const { execFile } = await import("node:child_process");
    const options = { cwd, env: own, timeout: TIMEOUT_MS, maxBuffer: MAX_OUTPUT_BYTES, windowsHide: true };
    return new Promise((done) => {
      try {
        const child = execFile("git", [...SAFE_ARGS, ...args], options, (error, stdout) => {
          done(!error || isTooMuch(error) ? stdout : null);
        });
        child.stdin?.end();
      } catch {
        // A working directory with a NUL in its name.
        done(null);
      }
    });
  };
  // Of the five only status looks into files, and so runs filters.
  return async (args) => {
    if (args[0] !== "status") return run(args);
    const switches = await findFilterSwitches(run);
    return switches && run([...switches, ...args]);
  };
}

const SAFE_ARGS = safeGitArgs("status.branch=false", "status.relativePaths=true");

/** A repository with more than a few filters, or with odd ones, has them for no good. */
const MAX_FILTER_LISTING = 10_000;

/**
 * What switches off the filters that the repository itself configures; those of the user, such as LFS's, stay. Null when
 * that cannot be done: a name with `=` in it cannot be given on the command line.
 */
async function findFilterSwitches(run: (args: readonly string[]) => Promise<string | null>): Promise<string[] | null> {
  const listing = await run(["config", "--show-scope", "--null", "--name-only", "--get-regexp", "^filter\\."]);
  if (listing === null) return [];
  if (listing.length > MAX_FILTER_LISTING) return null;
  const parts = listing.split("\0");
  const names = new Set<string>();
  for (let i = 0; i + 1 < parts.length; i += 2) {
    const [scope, key] = [parts[i] as string, parts[i + 1] as string];
    if (scope === "local" || scope === "worktree") names.add(key.slice("filter.".length, key.lastIndexOf(".")));
  }
  if ([...names].some((name) => !/^[\w. -]+$/.test(name))) return null;
  return [...names].flatMap((name) =>
    ["clean=", "process=", "required=false"].flatMap((setting) => ["-c", `filter.${name}.${setting}`]),
  );
}

function isTooMuch(error: Error): boolean {
  return (error as NodeJS.ErrnoException).code === "ERR_CHILD_PROCESS_STDIO_MAXBUFFER";
}
