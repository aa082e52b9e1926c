/** Where the agent works: the folder, the machine and the repository, and the reminders about it that open a conversation. */

import type { Env } from "../config.ts";
import type { TextBlock } from "../model/ask.ts";
import { runGit } from "../project/git.ts";
import { findProject } from "../project/locate.ts";
import type { GitState } from "../prompts/agent.ts";
import { clipLine } from "../recall/neutral.ts";
import { remind } from "./attachments.ts";

/** What git prints, or null when it fails. Must not throw. */
export type RunGit = (args: string[]) => Promise<string | null>;

/** The first lines of a status say what is going on; 10,000 build products say no more than this. */
const MAX_STATUS_CHARS = 2000;

/** A longer first line is not a subject. */
const MAX_SUBJECT_CHARS = 200;

const RECENT_COMMITS = 5;

/** Usual names of the default branch; what git recorded when the repository was cloned is better. */
const DEFAULT_REFS = ["remotes/origin/main", "remotes/origin/master", "heads/main", "heads/master"];
const CLONED_REF = "refs/remotes/origin/HEAD";

/**
 * Null outside a repository and without git; also with `isOff`, which the caller sets in a remote session, or when the settings
 * leave git out.
 */
export async function readGitState(cwd: string, run: RunGit, isOff = false): Promise<GitState | null> {
  if (isOff || !findProject(cwd).insideGit) return null;
  const [branch, refs, userName, status, log] = await Promise.all([
    run(["branch", "--show-current"]),
    run(["for-each-ref", "--format=%(refname) %(symref)", CLONED_REF, ...DEFAULT_REFS.map((ref) => `refs/${ref}`)]),
    run(["config", "--get", "user.name"]),
    run(["status", "--short", "--untracked-files=normal"]),
    run(["log", `--max-count=${RECENT_COMMITS}`, "--no-decorate", "--format=%h %s"]),
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
  const known = new Map(linesOf(refs).map((line) => line.split(" ") as [string, string]));
  const head = known.get(CLONED_REF) ?? "";
  if (head.startsWith("refs/remotes/origin/")) return head.slice("refs/remotes/origin/".length);
  return DEFAULT_REFS.find((ref) => known.has(`refs/${ref}`))?.replace(/^.*\//, "") ?? null;
}

/** Leading spaces belong to the first line. */
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

/** A conversation must not wait longer for something that is only nice to have. */
const TIMEOUT_MS = 5000;

/** Much more than is shown of any output. */
const MAX_OUTPUT_BYTES = 1 << 20;

export function gitRunner(root: string, env: Env): RunGit {
  return async (args) => {
    const limits = { timeoutMs: TIMEOUT_MS, maxBytes: MAX_OUTPUT_BYTES };
    const { code, output, cut } = await runGit({ root, env }, args, limits);
    return code === 0 || cut === "too much" ? output.toString("utf8") : null;
  };
}

interface UserContext {
  /** As rendered, with or without a fence; may be "". */
  instructions: string;
  /** The part about MEMORY.md; may be "". */
  index: string;
  /** The `<env>` block. */
  environment: string;
  git: string | null;
  /** The date, if the host wants it shown; after everything else, since it changes every day. */
  today?: string | null;
}

const FENCED = /^<system-reminder>\n([\s\S]*)\n<\/system-reminder>$/;

/** As reminders, the most stable first, so that a provider's cache holds as far as possible. Empty ones are left out. */
export function buildUserContext(parts: UserContext): TextBlock[] {
  const today = parts.today?.trim() ? `Today is ${parts.today.trim()}.` : "";
  const place = [parts.environment, parts.git ?? "", today].filter((text) => text.trim() !== "").join("\n\n");
  // Instructions rendered for a user message are fenced already, which `remind` would take for a closing fence inside the text.
  const instructions = FENCED.exec(parts.instructions)?.[1] ?? parts.instructions;
  const reminders = { instructions, "memory-index": parts.index, environment: place };
  return Object.entries(reminders).flatMap(([kind, text]) => (text.trim() === "" ? [] : [remind(kind, text)]));
}
