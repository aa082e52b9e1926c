/** An instruction file as a host loads it, how it is shown to a model, and what can be wrong with it. */

import { basename, dirname } from "node:path";
import { processEnv } from "../config.ts";
import { checkGivenType } from "../errors.ts";
import { runGit } from "../project/git.ts";
import { findSecrets } from "../text/secrets.ts";

/** Where an instruction file belongs. */
export type InstructionSource = "managed" | "user" | "project" | "local";

/** An instruction file that applies in this session. */
export interface InstructionFile {
  /** Absolute path. */
  path: string;
  /** How the host introduces it. */
  label: string;
  /** Whose file it is: the administrator's, the user's, the project's, or the user's own for this project. */
  source: InstructionSource;
  /** Without frontmatter and block comments; at start also without surrounding blank space. */
  content: string;
  /** The number of characters in the content. */
  size: number;
  /** The file that imported it, or null. */
  importedBy: string | null;
}

/** An instruction file that was found but not loaded, with the reason. */
export interface SkippedFile {
  /** Absolute path. */
  path: string;
  /** Why it was not loaded, in words. */
  reason: string;
}

export const LABELS: Readonly<Record<InstructionSource, string>> = {
  managed: "organization-managed policy instructions",
  user: "user's private global instructions for all projects",
  project: "project instructions, checked into the codebase",
  local: "user's private project instructions, not checked in",
};

/** Our own wording of what every host says: these are instructions, and they take precedence. */
export const PREAMBLE =
  "What follows was written by the user, the team or the organisation for work in this codebase. Follow it exactly; where it differs from your usual way of working, it wins.";

/** Instruction files as they are shown to a model. */
export type RenderedInstructions =
  | { role: "user"; text: string }
  | { role: "system"; text: string; cache_control: { type: "ephemeral" } };

/** Renders instruction files, without a clock or random order: an unchanged disk gives the same bytes, so prompt caches keep working. Returns "" if there are no files. */
export function renderInstructions(files: readonly InstructionFile[]): string {
  const isGiven = Array.isArray(files) && files.every((file) => typeof file?.content === "string");
  checkGivenType(isGiven, "renderInstructions", "`files` must be a list of files, such as `load()` gives");
  if (files.length === 0) return "";
  return [PREAMBLE, ...files.map((file) => `${headerOf(file)}\n\n${file.content}`)].join("\n\n");
}

/** As a user message in a reminder (what hosts do today), or as a system block that may be cached. */
export function renderFor(files: readonly InstructionFile[], place: "user" | "system"): RenderedInstructions | null {
  const text = renderInstructions(files);
  if (text === "") return null;
  if (place === "system") return { role: "system", text, cache_control: { type: "ephemeral" } };
  return { role: "user", text: `<system-reminder>\n${text}\n</system-reminder>` };
}

function headerOf({ path, label, source }: InstructionFile): string {
  return source === "project" ? `Contents of ${path}:` : `Contents of ${path} (${label}):`;
}

/** Longer files cost every prompt and are followed less well. */
export const MAX_CHARACTERS = 40_000;

export interface InstructionProblem {
  path: string;
  rule: "large" | "secret" | "tracked-local";
  message: string;
}

export async function examineInstructions(files: readonly InstructionFile[]): Promise<InstructionProblem[]> {
  const large = files.filter(({ size }) => size > MAX_CHARACTERS);
  const problems = large.map(({ path, size }): InstructionProblem => {
    const message = `${path} has ${size} characters, more than ${MAX_CHARACTERS}: split it into rules under .claude/rules`;
    return { path, rule: "large", message };
  });
  for (const { path, content, source } of files) {
    for (const { rule, line } of findSecrets(content)) {
      const message = `${path} contains what looks like a secret (${rule}, line ${line} of what is loaded): it is sent with every prompt, remove it`;
      problems.push({ path, rule: "secret", message });
    }
    if (source === "local" && basename(path) === "CLAUDE.local.md" && !(await isIgnored(path))) {
      const message = `${path} is private but not ignored by git: add CLAUDE.local.md to .gitignore`;
      problems.push({ path, rule: "tracked-local", message });
    }
  }
  return problems;
}

/** True outside git, too: there is nothing to leak into. */
async function isIgnored(file: string): Promise<boolean> {
  const git = { root: dirname(file), env: processEnv() };
  // Code 1: not ignored. 128: no repository.
  return (await runGit(git, ["check-ignore", "-q", basename(file)], { timeoutMs: 2000 })).code !== 1;
}
