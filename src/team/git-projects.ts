/** Which folder of a remote a project's own memories are in: the same on every machine that has the project. */

import { basename, relative } from "node:path";
import type { Env } from "../config.ts";
import { isWithin, realPath } from "../disk/fence.ts";
import { MemdirError } from "../errors.ts";
import { runGit } from "../project/git.ts";
import { type Project, slugOf } from "../project/locate.ts";
import { normaliseRemote } from "../project/owner.ts";
import { sha256 } from "../text/hash.ts";
import { noGit } from "./git-repository.ts";

/**
 * One part of a path, like `app-3f9c2a1b7d4e`. Made of the remote `origin`, else of the first commit, else of the path below
 * the home. Throws when git does not answer: another key would be another folder.
 */
export async function projectKey(project: Project, env: Env): Promise<string> {
  const part = partOf(project);
  const named = (kind: string, mark: string, name: string) => {
    const hash = sha256(`${kind}\n${mark}\n${part}`).slice(0, HASH_CHARS);
    return `${readable(part === "" ? name : `${name}-${basename(part)}`)}-${hash}`;
  };
  const origin = project.worktreeRoot && (await askGit(project.worktreeRoot, env, ["remote", "get-url", "origin"]));
  const place = origin ? normaliseRemote(origin) : null;
  if (place !== null) return named("remote", place, basename(place));
  const first = project.worktreeRoot && (await findFirstCommit(project.worktreeRoot, env));
  // The folder's name may be another one on the next machine.
  if (first) return named("commit", first, "project");
  return named("path", pathBelowHome(project.root, env), basename(project.root));
}

/** 48 bits: no one has so many projects that two collide. */
const HASH_CHARS = 12;
/** The whole path has 180 bytes, and most of them are for the memory's own name. */
const READABLE_CHARS = 24;

/** For people who look into the folder; the hash behind it distinguishes projects. */
function readable(name: string): string {
  const cleaned = name
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .slice(0, READABLE_CHARS)
    .replace(/^-+|-+$/g, "");
  return cleaned || "project";
}

/** What distinguishes directories of one repository that have memories of their own: a folder of it, a worktree. */
function partOf({ root, gitRoot, worktreeRoot }: Project): string {
  if (worktreeRoot === null || root === gitRoot) return "";
  const worktree = worktreeRoot === gitRoot ? "" : basename(worktreeRoot);
  const below = relative(worktreeRoot, root).replaceAll("\\", "/");
  return [worktree, below].filter((name) => name !== "").join("/");
}

/** Null for a repository without commits, and for a shallow clone: it ends at some commit that is not the first. */
async function findFirstCommit(top: string, env: Env): Promise<string | null> {
  if ((await askGit(top, env, ["rev-parse", "--is-shallow-repository"])) !== "false") return null;
  const commits = await askGit(top, env, ["rev-list", "--max-parents=0", "HEAD", "--"]);
  return commits?.split("\n").at(-1) ?? null;
}

function pathBelowHome(root: string, env: Env): string {
  const home = env.HOME || env.USERPROFILE;
  const real = home ? realPath(home) : undefined;
  return real !== undefined && isWithin(real, root) ? slugOf(`~/${relative(real, root)}`) : slugOf(root);
}

/** A repository of a million commits is walked in a few seconds. */
const TIMEOUT_MS = 20_000;

async function askGit(root: string, env: Env, args: readonly string[]): Promise<string | null> {
  // An empty `.git` must not lead to the repository around it.
  const inside = { ...env, GIT_CEILING_DIRECTORIES: realPath(`${root}/..`) };
  const answer = await runGit({ root, env: inside }, args, { timeoutMs: TIMEOUT_MS });
  if (answer.cut === "no git") throw noGit(answer);
  if (answer.cut !== null)
    throw new MemdirError("disk", `git did not answer in ${root} within ${TIMEOUT_MS / 1000} s: try again`);
  return answer.code === 0 ? answer.output.toString("utf8").trim() || null : null;
}
