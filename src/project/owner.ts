/** Which project a memory directory belongs to: `.memdir/project.json`, so that a collision or a move is noticed. */

import fs from "node:fs";
import path from "node:path";
import type { Env } from "../config.ts";
import { readGit } from "./git.ts";
import type { Project } from "./root.ts";

export interface Owner {
  /** Every root the directory served, the latest first. */
  roots: string[];
  rootCommit: string | null;
  remote: string | null;
  /** The user said that several projects may use it. */
  shared: boolean;
  /** When this was written, ISO. */
  at: string;
}

/** What stays the same when a project is moved or cloned anew. */
export interface Identity {
  root: string;
  rootCommit: string | null;
  remote: string | null;
}

/**
 * same: ours, or another clone of it. moved: the recorded root is gone and this is the same repository.
 * abandoned: the recorded root is gone and nothing says whose it was. collision: another project is alive and uses it.
 */
export type Ownership = "same" | "moved" | "collision" | "abandoned" | "unknown";

export function ownerFile(dir: string): string {
  return path.join(dir, ".memdir", "project.json");
}

/** Null when there is no record or it cannot be read: then nothing is known, which is no error. */
export function readOwner(dir: string): Owner | null {
  try {
    const { roots, rootCommit, remote, shared, at } = JSON.parse(fs.readFileSync(ownerFile(dir), "utf8"));
    if (!Array.isArray(roots)) return null;
    return {
      roots: roots.filter((root) => typeof root === "string"),
      rootCommit: textOrNull(rootCommit),
      remote: textOrNull(remote),
      shared: shared === true,
      at: textOrNull(at) ?? "",
    };
  } catch {
    return null;
  }
}

export function compareOwner(owner: Owner | null, identity: Identity, exists: (path: string) => boolean): Ownership {
  if (owner === null || owner.roots.length === 0) return "unknown";
  if (owner.shared || owner.roots.includes(identity.root)) return "same";
  const agrees = agreement(owner, identity) !== null;
  if (owner.roots.some(exists)) return agrees ? "same" : "collision";
  return agrees ? "moved" : "abandoned";
}

/** Which lasting mark two records share. The first commit outlives a change of host; the remote outlives rewritten history. */
export function agreement(
  a: Pick<Identity, "rootCommit" | "remote">,
  b: Pick<Identity, "rootCommit" | "remote">,
): "root-commit" | "remote" | null {
  if (a.rootCommit !== null && a.rootCommit === b.rootCommit) return "root-commit";
  if (a.remote !== null && b.remote !== null && remoteKey(a.remote) === remoteKey(b.remote)) return "remote";
  return null;
}

/** More roots than this help nobody; the latest are kept. */
const MAX_ROOTS = 20;

/** The record after `identity` used the directory. With `exists`, roots that are gone are dropped. */
export function mergeOwner(
  owner: Owner | null,
  identity: Identity,
  options: { at: string; shared?: boolean; exists?: (path: string) => boolean },
): Owner {
  const others = (owner?.roots ?? []).filter((root) => root !== identity.root && (options.exists?.(root) ?? true));
  return {
    roots: [identity.root, ...others].slice(0, MAX_ROOTS),
    rootCommit: identity.rootCommit ?? owner?.rootCommit ?? null,
    remote: identity.remote ?? owner?.remote ?? null,
    shared: options.shared ?? owner?.shared ?? false,
    at: options.at,
  };
}

export function formatOwner(owner: Owner): string {
  return `${JSON.stringify(owner, null, 2)}\n`;
}

/** Asks git, for at most 1.5 s; what it does not answer is null. */
export async function identifyProject(project: Project, env: Env): Promise<Identity> {
  const top = project.worktreeRoot;
  if (top === null) return { root: project.root, rootCommit: null, remote: null };
  const [shallow, commits, remotes] = await Promise.all([
    askGit(top, env, ["rev-parse", "--is-shallow-repository"]),
    askGit(top, env, ["rev-list", "--max-parents=0", "HEAD"]),
    askGit(top, env, ["config", "--get-regexp", "^remote\\..*\\.url$"]),
  ]);
  // A shallow clone ends at some commit that is not the first.
  const rootCommit = shallow === "false" ? (commits?.split("\n").at(-1) ?? null) : null;
  return { root: project.root, rootCommit, remote: pickRemote(remotes ?? "") };
}

/** Without what is secret (user, password, query), so that it can be stored. */
export function cleanRemote(url: string): string {
  const withScheme = /^([a-z][a-z0-9+.-]*:\/\/)(?:[^/?#]*@)?([^?#]*)/i.exec(url);
  if (withScheme) return `${withScheme[1]}${withScheme[2]}`;
  return /^[^/\\]*@/.test(url) ? url.replace(/^[^/\\]*@/, "") : url;
}

/** `host/owner/name`, the same for ssh and https; null for a folder, which is another one on every machine. */
export function normaliseRemote(url: string): string | null {
  const cleaned = cleanRemote(url.trim());
  if (/^file:/i.test(cleaned) || /^[A-Za-z]:[\\/]/.test(cleaned)) return null;
  const parts =
    /^[a-z][a-z0-9+.-]*:\/\/(\[[^\]]+\]|[^/:]+)(?::\d*)?\/(.*)$/i.exec(cleaned) ??
    /^([^/\\:]+):(?!\/\/)(.*)$/.exec(cleaned);
  const path = parts?.[2]
    ?.replace(/\/{2,}/g, "/")
    .replace(/^\/|\/$/g, "")
    .replace(/\.git$/i, "")
    .replace(/\/$/, "");
  return parts?.[1] && path ? `${parts[1].toLowerCase()}/${path}` : null;
}

function remoteKey(url: string): string {
  return (
    normaliseRemote(url) ??
    cleanRemote(url)
      .replace(/\/+$/, "")
      .replace(/\.git$/, "")
  );
}

function pickRemote(lines: string): string | null {
  const remotes = lines.split("\n").map((line) => /^remote\.(.*)\.url (.+)$/.exec(line));
  const chosen = remotes.find((match) => match?.[1] === "origin") ?? remotes.find((match) => match !== null);
  return chosen?.[2] ? cleanRemote(chosen[2]) : null;
}

const GIT_TIMEOUT_MS = 1500;

async function askGit(root: string, env: Env, args: string[]): Promise<string | null> {
  // An empty `.git` must not lead to the repository around it.
  const git = { root, env: { ...env, GIT_CEILING_DIRECTORIES: path.dirname(root) } };
  return (await readGit(git, args, { timeoutMs: GIT_TIMEOUT_MS }))?.toString("utf8").trim() || null;
}

function textOrNull(value: unknown): string | null {
  return typeof value === "string" && value !== "" ? value : null;
}
