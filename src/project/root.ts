/** Which project a directory belongs to: the nearest `.git`, and for a linked worktree the repository it was made from. */

import fs from "node:fs";
import path from "node:path";
import type { ProjectScope } from "../config.ts";
import { realPath } from "../disk/fence.ts";

export interface Project {
  /** The working directory, links resolved. */
  cwd: string;
  /** The directory that is keyed: what the memory directory's name is made of. */
  root: string;
  /** The main checkout of the repository, shared by all its worktrees; a bare repository's own directory. */
  gitRoot: string | null;
  /** The top of this checkout: where `.git` lies. */
  worktreeRoot: string | null;
  insideGit: boolean;
}

/** Reads a few small files and starts no process: this is on the way of every command. */
export function findProject(cwd: string, options: { projectScope?: ProjectScope } = {}): Project {
  const real = realPath(cwd);
  const worktreeRoot = findWorktreeRoot(real);
  const gitRoot = worktreeRoot && (findMainRoot(worktreeRoot) ?? worktreeRoot);
  const project = { cwd: real, root: real, gitRoot, worktreeRoot, insideGit: worktreeRoot !== null };
  return scopeProject(project, options.projectScope ?? "repository");
}

/** The same place, keyed by what the settings say, which are known only once the place is. */
export function scopeProject(project: Project, scope: ProjectScope): Project {
  const { cwd, gitRoot, worktreeRoot } = project;
  return { ...project, root: { repository: gitRoot, worktree: worktreeRoot, cwd }[scope] ?? cwd };
}

/** Any `.git` counts, as it does for Claude Code: a file, a directory, even an empty one. */
function findWorktreeRoot(cwd: string): string | null {
  for (let at = cwd; ; at = path.dirname(at)) {
    if (kindOf(path.join(at, ".git")) !== null) return at;
    if (path.dirname(at) === at) return null;
  }
}

/**
 * The main checkout that a linked worktree belongs to, or null if this is none. The link must hold from both sides:
 * a `.git` file is only text, and a downloaded folder could otherwise name somebody else's repository and get its memories.
 */
function findMainRoot(worktreeRoot: string): string | null {
  const gitFile = path.join(worktreeRoot, ".git");
  const gitDir = readGitFile(gitFile);
  if (gitDir === null) return null;
  const commonText = readLine(path.join(gitDir, "commondir"));
  if (commonText === null) return null;
  const common = realPath(path.resolve(gitDir, commonText));
  if (path.dirname(realPath(gitDir)) !== path.join(common, "worktrees")) return null;
  const backLink = readLine(path.join(gitDir, "gitdir"));
  if (backLink === null || realPath(path.resolve(gitDir, backLink)) !== realPath(gitFile)) return null;
  return checkoutOf(common);
}

/** `<root>/.git` -> `<root>`; a submodule's git directory -> its checkout; a bare repository stands for itself. */
function checkoutOf(common: string): string {
  if (path.basename(common) === ".git") return path.dirname(common);
  const worktree = /^\s*worktree\s*=\s*"?([^"\n]+?)"?\s*$/m.exec(readSmall(path.join(common, "config")) ?? "")?.[1];
  if (worktree === undefined) return common;
  const checkout = realPath(path.resolve(common, worktree));
  const back = readGitFile(path.join(checkout, ".git"));
  return back !== null && realPath(back) === common ? checkout : common;
}

function readGitFile(file: string): string | null {
  const target = kindOf(file) === "file" ? /^gitdir:\s*(.+)$/.exec(readLine(file) ?? "")?.[1] : undefined;
  return target === undefined ? null : path.resolve(path.dirname(file), target);
}

function readLine(file: string): string | null {
  const line = readSmall(file)?.split(/\r?\n/, 1)[0]?.trim();
  return line || null;
}

/** Git's own files of this kind are tiny; more than this is something else. */
const MAX_BYTES = 64 * 1024;

function readSmall(file: string): string | null {
  try {
    const stat = fs.statSync(file);
    return stat.isFile() && stat.size <= MAX_BYTES ? fs.readFileSync(file, "utf8") : null;
  } catch {
    return null;
  }
}

function kindOf(file: string): "file" | "directory" | null {
  try {
    const stat = fs.statSync(file);
    return stat.isFile() ? "file" : stat.isDirectory() ? "directory" : null;
  } catch {
    return null;
  }
}
