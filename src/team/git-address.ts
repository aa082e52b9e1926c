/** The git remote that memories travel through: which ones are taken, how it is named without its credentials, and a project's folder there. */

import { basename, isAbsolute, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import type { Env } from "../config.ts";
import { isWithin, realPath } from "../disk/fence.ts";
import { attempt, MemdirError } from "../errors.ts";
import { type GitAnswer, runGit } from "../project/git.ts";
import { type Project, slugOf } from "../project/locate.ts";
import { cleanRemote, normaliseRemote } from "../project/owner.ts";
import { sha256 } from "../text/hash.ts";
import { isLoopback } from "./membership.ts";

export type GitAddress = ReturnType<typeof parseGitAddress>;

/**
 * `url` is as git gets it and may hold credentials, `name` is for people and for ids, `protocols` are those that git may use
 * (GIT_ALLOW_PROTOCOL), and `mask` makes a text of git's one that may be shown: one line, short, without credentials.
 * `cwd`: what a relative path starts from. Throws `usage` for what could run a program, be taken for an option or be read on the way.
 */
export function parseGitAddress(text: string, cwd?: string) {
  const refuse = (why: string) => new MemdirError("usage", `the git remote ${JSON.stringify(mask(text, text))} ${why}`);
  if (text.trim() === "") throw new MemdirError("usage", "the git remote is empty: name a URL, host:path or a folder");
  if (text.startsWith("-")) throw refuse("begins with a dash: name a URL, host:path or a folder");
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
  if (/[\x00-\x1f\x7f]/.test(text)) throw refuse("holds control characters");
  if (/^[a-z0-9+.-]*::/i.test(text)) throw refuse("names a remote helper: only https, ssh and folders are used");
  const protocols = protocolsOf(text);
  if (protocols === "unknown") throw refuse("is of a kind that is not supported: use https, ssh or a folder");
  if (protocols === "open")
    throw refuse("would send memories unencrypted: use https or ssh (http only to this machine)");
  if (protocols === "ssh" && /^(ssh:\/\/)?([^/]*@)?-/i.test(text)) throw refuse("has a host that begins with a dash");
  const url = protocols === "file" ? folderOf(text, cwd, refuse) : text;
  return { url, name: cleanRemote(url), protocols, mask: (said: string) => mask(said, text) };
}

/** Why git would not take it as a branch, or null. Stricter than git: what is odd here is a mistake. */
export function findBranchProblem(branch: string): string | null {
  if (!/^[A-Za-z0-9][A-Za-z0-9._/-]*$/.test(branch)) return "it may hold letters, digits, `.`, `_`, `-` and `/`";
  if (/\.\.|\/\/|\/\.|[./]$|\.lock(\/|$)/.test(branch)) return "git does not accept such branch names";
  if (branch.length > 100) return "it is too long";
  return null;
}

function protocolsOf(text: string): "https" | "ssh" | "file" | "http" | "git" | "open" | "unknown" {
  const scheme = /^([a-z][a-z0-9+.-]*):\/\//i.exec(text)?.[1]?.toLowerCase();
  if (scheme === "https" || scheme === "ssh" || scheme === "file") return scheme;
  if (scheme === "git+ssh" || scheme === "ssh+git") return "ssh";
  if (scheme === "http" || scheme === "git") return isLocal(text) ? scheme : "open";
  if (scheme !== undefined) return "unknown";
  if (/^[A-Za-z]:[\\/]/.test(text)) return "file";
  // As git distinguishes them: a colon before the first slash is a host's.
  return /^[^/\\]*:/.test(text) ? "ssh" : "file";
}

function isLocal(url: string): boolean {
  const host = /^[a-z]+:\/\/(?:[^/?#]*@)?(\[[^\]]*\]|[^/:?#]*)/i.exec(url)?.[1]?.toLowerCase() ?? "";
  return isLoopback(host);
}

function folderOf(text: string, cwd: string | undefined, refuse: (why: string) => MemdirError): string {
  if (/^file:\/\//i.test(text)) {
    try {
      return fileURLToPath(text);
    } catch {
      throw refuse("is not a folder on this machine");
    }
  }
  if (isAbsolute(text)) return text;
  if (cwd === undefined) throw refuse("is a relative path: give the absolute one");
  return resolve(cwd, text);
}

/** More does not help: git's reason is in its first words. */
const MAX_SHOWN_CHARS = 300;

function mask(said: string, remote: string): string {
  let shown = said;
  for (const secret of credentialsOf(remote)) shown = shown.replaceAll(secret, "***");
  return (
    shown
      .replace(/([a-z][a-z0-9+.-]*:\/\/)[^\s/'"]*@/gi, "$1")
      .replace(/([?&](?:[\w-]*token|access|auth|key|password|secret)[\w-]*=)[^\s&'"]+/gi, "$1***")
      // biome-ignore lint/suspicious/noControlCharactersInRegex: a remote must not steer the terminal
      .replace(/[\x00-\x1f\x7f-\x9f]+/g, " ")
      .trim()
      .slice(0, MAX_SHOWN_CHARS)
  );
}

/** User and password as they are in the URL, together and apart, also decoded; the longest first. */
function credentialsOf(remote: string): string[] {
  const info = /^[a-z][a-z0-9+.-]*:\/\/([^/?#]*)@/i.exec(remote)?.[1];
  const query = /^[a-z][a-z0-9+.-]*:\/\/[^?#]*\?([^#]*)/i.exec(remote)?.[1];
  const password = info?.includes(":") ? info.slice(info.indexOf(":") + 1) : undefined;
  // A user without a password may be a token; a short one is a name, and words hold it.
  const user = info?.split(":")[0] ?? "";
  const isShort = password === undefined && user.length < 12;
  const parts = isShort ? [query] : [info, password, user.length >= 12 ? user : undefined, query];
  const known = parts.filter((part) => part !== undefined && part.length > 0) as string[];
  return [...new Set(known.flatMap((part) => [part, attempt(() => decodeURIComponent(part), part)]))].sort(
    (a, b) => b.length - a.length,
  );
}

// --- Which folder of it a project's own memories are in: the same on every machine that has the project.

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

export function noGit({ said }: GitAnswer): MemdirError {
  return new MemdirError("disk", `git cannot be run (${said}): install it, or set PATH`);
}
