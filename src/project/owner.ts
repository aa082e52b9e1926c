/** Which project a memory directory belongs to, so that a collision or a move is noticed, and what the user decides about it. */

import { existsSync, realpathSync } from "node:fs";
import path, { basename, join } from "node:path";
import { type Config, type Env, openJson } from "../config.ts";
import {
  lstatOrNull,
  makeFolders,
  moveInto,
  PRIVATE_MODE,
  pinFolder,
  readPart,
  realPath,
  statOrNull,
  withRegular,
  writeCacheFile,
  writeTemporary,
} from "../disk/fence.ts";
import { attempt, isObject, MemdirError, onDisk } from "../errors.ts";
import { readGit } from "./git.ts";
import {
  countMemories,
  type Location,
  locate,
  type Owner,
  ownerFile,
  type Project,
  readOwner,
  sha256Key,
  slugOf,
  trustKey,
} from "./locate.ts";
import { listEntries } from "./scopes.ts";

/** What stays the same when a project is moved or cloned again. */
export interface Identity {
  root: string;
  rootCommit: string | null;
  remote: string | null;
}

/**
 * same: ours, or another clone of it. moved: the recorded root is gone and this is the same repository.
 * abandoned: the recorded root is gone and its repository is unknown. collision: another existing project uses it.
 */
export type Ownership = "same" | "moved" | "collision" | "abandoned" | "unknown";

export function compareOwner(owner: Owner | null, identity: Identity, exists: (path: string) => boolean): Ownership {
  if (owner === null || owner.roots.length === 0) return "unknown";
  if (owner.shared || owner.roots.includes(identity.root)) return "same";
  const agrees = agreement(owner, identity) !== null;
  if (owner.roots.some(exists)) return agrees ? "same" : "collision";
  return agrees ? "moved" : "abandoned";
}

/** Which identity two records share. The first commit survives a change of host; the remote survives rewritten history. */
export function agreement(a: Omit<Identity, "root">, b: Omit<Identity, "root">): "root-commit" | "remote" | null {
  if (a.rootCommit !== null && a.rootCommit === b.rootCommit) return "root-commit";
  if (a.remote !== null && b.remote !== null && remoteKey(a.remote) === remoteKey(b.remote)) return "remote";
  return null;
}

/** More would be of no use; the latest are kept. */
const MAX_ROOTS = 20;

/** The record after `identity` used the directory. */
export function mergeOwner(
  owner: Owner | null,
  identity: Identity,
  options: { at: string; shared?: boolean | undefined },
): Owner {
  const others = (owner?.roots ?? []).filter((root) => root !== identity.root);
  return {
    roots: [identity.root, ...others].slice(0, MAX_ROOTS),
    rootCommit: identity.rootCommit ?? owner?.rootCommit ?? null,
    remote: identity.remote ?? owner?.remote ?? null,
    shared: options.shared ?? owner?.shared ?? false,
    at: options.at,
  };
}

/** Asks git, for at most 1.5 s; what it does not answer is null. */
export async function identifyProject(project: Project, env: Env): Promise<Identity> {
  const top = project.worktreeRoot;
  if (top === null) return { root: project.root, rootCommit: null, remote: null };
  const shallow = await askGit(top, env, ["rev-parse", "--is-shallow-repository"]);
  // Not a repository, or git is too slow here: it would not answer the rest either.
  if (shallow === null) return { root: project.root, rootCommit: null, remote: null };
  // One after the other: a host's event loop stands still while a program is started.
  const remotes = await askGit(top, env, ["config", "--get-regexp", "^remote\\..*\\.url$"]);
  // A shallow clone ends at some commit that is not the first.
  const commits = shallow === "false" ? await askGit(top, env, ["rev-list", "--max-parents=0", "HEAD"]) : null;
  const rootCommit = commits?.split("\n").at(-1) ?? null;
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

/** Null when all is well. */
export async function findOwnerWarning(location: Location, env: Env): Promise<string | null> {
  const owner = readOwner(location.dir);
  // Git is asked only when the record does not name this root already.
  if (owner === null || owner.shared || owner.roots.includes(location.project.root)) return null;
  const other = owner.roots[0];
  const ownership = compareOwner(owner, await identifyProject(location.project, env), existsSync);
  if (ownership === "collision") {
    return `this memory directory is also used by ${other}, because both paths make the same name: \`memdir adopt --separate\` gives this project its own, \`memdir adopt --share\` keeps one for both`;
  }
  if (ownership === "abandoned") {
    return `this memory directory belonged to ${other}, which is gone: \`memdir adopt --keep\` takes it over, \`memdir adopt --separate\` starts a new one`;
  }
  return null;
}

type Entry = string | number | readonly string[];

/** Sets or removes (`null`) one entry of a map in the user's file, or makes it of what is there; everything else in it stays. */
export function setUserEntry(
  config: Config,
  map:
    | "trusted"
    | "directories"
    | "teams"
    | "approvedImports"
    | "acceptedRules"
    | "refusedRules"
    | "permitted"
    | "learn",
  key: string,
  value: Entry | null | ((former: Entry | undefined) => Entry | null),
): void {
  const file = config.userFile;
  const content = readObject(file);
  const former = content[map] ?? {};
  if (!isObject(former))
    throw new MemdirError("broken", `nothing was changed, because of ${file}: "${map}" must be an object; fix it`);
  const entries = { ...(former as Record<string, Entry>) };
  const next = typeof value === "function" ? value(entries[key]) : value;
  if (next === null) delete entries[key];
  else entries[key] = next;
  onDisk("write", file, () => {
    // Dotfiles are often links into a repository, which must stay links.
    const target = realPath(file);
    if (lstatOrNull(file) && !lstatOrNull(target))
      throw new MemdirError("broken", `${file} is a link to ${target}, which is not there; fix the link`);
    makeFolders(path.dirname(target), 0o700);
    const text = `${JSON.stringify({ ...content, [map]: entries }, null, 2)}\n`;
    moveInto(writeTemporary(path.dirname(target), text, PRIVATE_MODE, ".memdir"), target);
  });
}

function readObject(file: string): Record<string, unknown> {
  const problems: string[] = [];
  const { values } = openJson(file, problems);
  if (problems[0] !== undefined) throw new MemdirError("broken", `nothing was changed, because of ${problems[0]}`);
  return values;
}

/** What the user decides about a project, kept in their own settings file or in the directory's record. */
export function openDecisions(location: Location, config: Config, env: Env, now: () => Date, permitted: string[]) {
  const { root } = location.project;
  const key = trustKey(location.project);
  return {
    /** Adds to `permitted`. */
    permit: (kind: string): void => {
      if (!permitted.includes(kind)) permitted.push(kind);
      setUserEntry(config, "permitted", key, permitted);
    },
    /** Allows instruction files of this project to import from outside the working directory. */
    approveImports: () => {
      setUserEntry(config, "approvedImports", key, now().toISOString());
      return {
        root: key,
        message: `instruction files of ${key} may now import files from outside the working directory`,
      };
    },
    /** Settles to whom a directory belongs that two projects' paths lead to. */
    settle: async (way: "separate" | "share" | "keep"): Promise<{ dir: string; message: string }> => {
      if (way === "separate") return separate(root, config);
      const { dir } = location;
      if (!existsSync(dir)) throw new MemdirError("usage", `${dir} does not exist yet, so no other project uses it`);
      makeFolders(join(dir, ".memdir", "tmp"), 0o700);
      await claimDirectory(location, env, { now, force: true, shared: way === "share" });
      const what = way === "share" ? "is shared by all projects that lead to it" : `belongs to ${root}`;
      return { dir, message: `${dir} ${what}` };
    },
    /** Allows, or no longer allows, the repository's settings to use the directory outside it that they ask for. */
    trust: ({ revoke }: { revoke: boolean }): { dir: string | null; message: string } => {
      const dir = revoke ? null : location.untrusted?.dir;
      if (dir === undefined)
        throw new MemdirError(
          "usage",
          "there is nothing to allow: this repository's settings name no memory directory outside it",
        );
      setUserEntry(config, "trusted", key, dir);
      if (dir === null) return { dir, message: `${key} may not choose a memory directory outside itself` };
      return { dir, message: `${dir} is now the memory directory of ${key}` };
    },
  };
}

export type Decisions = ReturnType<typeof openDecisions>;

function separate(root: string, config: Config): { dir: string; message: string } {
  const name = `${slugOf(root).slice(0, 180)}-${sha256Key(root).slice(0, 8)}`;
  setUserEntry(config, "directories", root, name);
  const { dir } = locate({ cwd: root, config: { ...config, directories: { ...config.directories, [root]: name } } });
  const advice = `for Claude Code to use it too, set "autoMemoryDirectory" to it in .claude/settings.local.json`;
  return { dir, message: `${root} now has its own directory, ${dir}; ${advice}` };
}

/** Through folders that are held open, so that a link in their place cannot redirect the record. */
function writeOwner(dir: string, text: string): void {
  const base = pinFolder(join(dir, ".memdir"));
  try {
    const tmp = pinFolder(join(base.path, "tmp"));
    try {
      writeCacheFile(tmp.path, join(base.path, basename(ownerFile(dir))), text);
    } finally {
      tmp.close();
    }
  } finally {
    base.close();
  }
}

/** Records this project, unless the directory is another project's: the user has to decide that. */
export async function claimDirectory(
  location: Location,
  env: Env,
  options: { now: () => Date; force?: boolean; shared?: boolean },
): Promise<void> {
  if (location.source !== "computed") return;
  const owner = readOwner(location.dir);
  if (!options.force && owner?.roots.includes(location.project.root)) return;
  const identity = await identifyProject(location.project, env);
  const ownership = compareOwner(owner, identity, existsSync);
  if (!options.force && (ownership === "collision" || ownership === "abandoned")) return;
  const next = mergeOwner(owner, identity, { at: options.now().toISOString(), shared: options.shared });
  writeOwner(location.dir, `${JSON.stringify(next, null, 2)}\n`);
}

// --- Memory directories whose project was moved, renamed or removed, and those that two projects share.

export interface Orphan {
  dir: string;
  memories: number;
  recordedRoot: string | null;
  reason: "root-commit" | "remote" | "name";
  /** False if only the names are similar: then the user has to confirm it. */
  sure: boolean;
}

/** A home with more project folders than this is not one person's. */
const MAX_FOLDERS = 2000;

/** The most certain first, then the largest. Skips what cannot be read. */
export function findOrphans(options: { config: Config; identity: Identity; dir: string }): Orphan[] {
  const ours = realPath(options.dir);
  const orphans: Orphan[] = [];
  for (const folder of projectFolders(options.config.claudeDir)) {
    for (const [dir, recursive] of [[path.join(folder, "memory"), true] as const, [folder, false] as const]) {
      if (realPath(dir) === ours) continue;
      const orphan = examine(dir, folder, recursive, options.identity);
      if (orphan) orphans.push(orphan);
    }
  }
  return orphans.sort((a, b) => Number(b.sure) - Number(a.sure) || b.memories - a.memories);
}

function projectFolders(claudeDir: string): string[] {
  const projects = path.join(claudeDir, "projects");
  const entries = listEntries(projects).slice(0, MAX_FOLDERS);
  return entries.filter((entry) => entry.isDirectory()).map(({ name }) => path.join(projects, name));
}

function examine(dir: string, folder: string, recursive: boolean, identity: Identity): Orphan | null {
  const memories = countMemories(dir, recursive);
  if (memories === 0) return null;
  const owner = readOwner(dir);
  const transcriptRoot = owner && owner.roots.length > 0 ? null : (findSessionRoots(folder, 1)[0] ?? null);
  const roots = transcriptRoot === null ? (owner?.roots ?? []) : [transcriptRoot];
  if (roots.some((root) => existsSync(root))) return null;
  const recordedRoot = roots[0] ?? null;
  const agreed = owner ? agreement(owner, identity) : null;
  const named = recordedRoot !== null && lastPart(recordedRoot) === lastPart(identity.root);
  const reason = agreed ?? (named ? "name" : null);
  if (reason === null) return null;
  return { dir, memories, recordedRoot, reason, sure: reason !== "name" };
}

function lastPart(root: string): string {
  return root.split(/[/\\]/).filter(Boolean).at(-1) ?? "";
}

/**
 * Existing roots whose paths lead to the name of this folder, such as `/a/b-c` and `/a/b/c`. From the record of the directory's
 * owner and from the sessions next to it; [] when the directory is elsewhere, or the user wants it shared.
 */
export function findCollisions(memoryDir: string): string[] {
  const folder = path.dirname(memoryDir);
  const slug = path.basename(folder);
  const owner = readOwner(memoryDir);
  if (owner?.shared) return [];
  const roots = new Set([...(owner?.roots ?? []), ...findSessionRoots(folder)]);
  const same = [...roots].filter((root) => slugOf(root) === slug && statOrNull(root)?.isDirectory());
  // Two names of one folder are one project.
  const real = new Map(same.map((root) => [realpathSync(root), root]));
  return real.size > 1 ? [...real.values()].sort() : [];
}

/** Memory directories of Claude Code whose recorded project is no longer there. Reads one small file for each. */
export function findAbandoned(claudeDir: string, ownDir: string) {
  return projectFolders(claudeDir).flatMap((folder) => {
    const dir = path.join(folder, "memory");
    const roots = dir === ownDir ? [] : (readOwner(dir)?.roots ?? []);
    const [root] = roots;
    if (root === undefined || roots.some((each) => existsSync(each))) return [];
    const memories = countMemories(dir, true);
    return memories > 0 ? [{ dir, root, memories }] : [];
  });
}

/** The newest sessions are enough. */
const MAX_TRANSCRIPTS = 30;

/** Where the newest sessions next to a memory directory were run. */
function findSessionRoots(folder: string, limit = MAX_TRANSCRIPTS): string[] {
  const transcripts = listEntries(folder)
    .filter((entry) => entry.isFile() && entry.name.endsWith(".jsonl"))
    .map((entry) => path.join(folder, entry.name))
    .map((file) => ({ file, mtimeMs: statOrNull(file)?.mtimeMs ?? 0 }))
    .sort((a, b) => b.mtimeMs - a.mtimeMs);
  return transcripts.slice(0, limit).flatMap(({ file }) => findCwd(file) ?? []);
}

/** Sessions name their working directory in the first lines. */
const HEAD_BYTES = 64 * 1024;

/** Lines are not parsed: a head may end within one. */
function findCwd(file: string): string | null {
  const head = attempt(() => withRegular(file, (fd) => readPart(fd, 0, HEAD_BYTES), { follow: true }), null);
  const quoted = /"cwd":("(?:[^"\\]|\\.){1,4096}")/.exec(head?.toString("utf8") ?? "")?.[1];
  return attempt(() => (quoted === undefined ? null : (JSON.parse(quoted) as string)), null);
}
