/** What is wrong with instruction files that load all the same, or that surprise people by not loading. */

import { basename, dirname } from "node:path";
import { processEnv } from "../config.ts";
import { runGit } from "../project/git.ts";
import { findSecrets } from "../text/secrets.ts";
import type { InstructionFile } from "./file.ts";

/** Longer files cost every prompt and are followed worse. */
export const MAX_CHARACTERS = 40_000;

export interface InstructionProblem {
  path: string;
  rule: "large" | "secret" | "tracked-local";
  message: string;
}

export async function examineInstructions(files: readonly InstructionFile[]): Promise<InstructionProblem[]> {
  const problems = findLarge(files).map(({ path, size }) => ({
    path,
    rule: "large" as const,
    message: largeMessage(path, size),
  }));
  const others: InstructionProblem[] = [];
  for (const file of files) {
    for (const { rule, line } of findSecrets(file.content)) {
      const message = `${file.path} holds what looks like a secret (${rule}, line ${line} of what is loaded): it is sent with every prompt, take it out`;
      others.push({ path: file.path, rule: "secret", message });
    }
    if (file.source === "local" && basename(file.path) === "CLAUDE.local.md" && !(await isIgnored(file.path))) {
      const message = `${file.path} is private but not ignored by git: add CLAUDE.local.md to .gitignore`;
      others.push({ path: file.path, rule: "tracked-local", message });
    }
  }
  return [...problems, ...others];
}

/** Strictly more characters than the limit. */
export function findLarge(files: readonly InstructionFile[], limit = MAX_CHARACTERS): InstructionFile[] {
  return files.filter(({ size }) => size > limit);
}

function largeMessage(file: string, size: number, limit = MAX_CHARACTERS): string {
  return `${file} has ${size} characters, more than ${limit}: split it into rules under .claude/rules`;
}

/** True outside git, too: there is nothing to leak into. */
async function isIgnored(file: string): Promise<boolean> {
  const git = { root: dirname(file), env: processEnv() };
  // Code 1: not ignored. 128: no repository.
  return (await runGit(git, ["check-ignore", "-q", basename(file)], { timeoutMs: 2000 })).code !== 1;
}
