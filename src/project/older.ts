/** Directories in which other versions and products, or another keying of ours, kept memories of the same project. */

import fs from "node:fs";
import path from "node:path";
import type { Config } from "../config.ts";
import { realPath, statOrNull } from "../disk/fence.ts";
import { type Project, separatorSlug, sha256Key, slugOf } from "./locate.ts";
import { agreement, type Identity, readOwner } from "./owner.ts";

type OlderLayout = "slug" | "flat-000" | "sha256-16" | "mini-claude" | "cwd-slug" | "worktree-slug";

export interface OlderDirectory {
  dir: string;
  layout: OlderLayout;
  /** False where the directory also holds other things in subfolders, as the flat layout does. */
  recursive: boolean;
}

/** Only those that hold a memory, and never the directory in use. Nothing is changed: they are for reading and migrating. */
export function findOlderDirectories(options: { config: Config; project: Project; dir: string }): OlderDirectory[] {
  const seen = new Set([realPath(options.dir)]);
  const found: OlderDirectory[] = [];
  for (const older of candidatesOf(options.config, options.project)) {
    const real = realPath(older.dir);
    if (seen.has(real)) continue;
    seen.add(real);
    if (countMemories(older.dir, { recursive: older.recursive, limit: 1 }) > 0) found.push(older);
  }
  return found;
}

/** `memory/` at the top of the repository, where many projects keep what their agents share; null if it is in use or is none. */
export function findTopMemory({ worktreeRoot }: Project, used: readonly { path: string }[]): string | null {
  const dir = path.join(worktreeRoot ?? "", "memory");
  if (worktreeRoot === null || !statOrNull(path.join(dir, "MEMORY.md"))?.isFile()) return null;
  return used.some((each) => realPath(each.path) === realPath(dir)) ? null : dir;
}

function candidatesOf(config: Config, project: Project): OlderDirectory[] {
  const { cwd, root, worktreeRoot } = project;
  const projects = path.join(config.claudeDir, "projects");
  const mini = path.join(config.home, ".mini-claude", "projects");
  const nested = (layout: OlderLayout, base: string, name: string): OlderDirectory => ({
    dir: path.join(base, name, "memory"),
    layout,
    recursive: true,
  });
  // Claude Code keeps transcripts beside `memory`, so in a flat folder only its own files are memories.
  const flat = (name: string): OlderDirectory => ({
    dir: path.join(projects, name),
    layout: "flat-000",
    recursive: false,
  });

  return [
    nested("slug", projects, slugOf(root)),
    flat(separatorSlug(root)),
    flat(slugOf(root)),
    nested("worktree-slug", projects, slugOf(worktreeRoot ?? root)),
    nested("cwd-slug", projects, slugOf(cwd)),
    ...(hasHashes(projects) ? [root, cwd].map((at) => nested("sha256-16", projects, sha256Key(at))) : []),
    ...(hasHashes(mini) ? [root, cwd].map((at) => nested("mini-claude", mini, sha256Key(at))) : []),
  ];
}

/** Hashing needs a module that is slow to load: only where a folder has such a name. */
function hasHashes(projects: string): boolean {
  return listEntries(projects).some((entry) => /^[0-9a-f]{16}$/.test(entry.name));
}

// --- How many memories a directory holds, without opening one.

/** A store has a few folders one or two levels deep; looking deeper would delay every command. */
const MAX_DEPTH = 4;
const MAX_ENTRIES = 20_000;

/** The index and its overflow page are not memories. */
const NOT_MEMORIES: ReadonlySet<string> = new Set(["MEMORY.md", "MEMORY.more.md"]);

/** Skips links, hidden entries and what cannot be read. Stops counting at `limit`. */
export function countMemories(dir: string, options: { recursive: boolean; limit?: number }): number {
  const { recursive, limit = MAX_ENTRIES } = options;
  let left = MAX_ENTRIES;
  let count = 0;
  const visit = (folder: string, depth: number): void => {
    for (const entry of listEntries(folder)) {
      if (count >= limit || left-- <= 0) return;
      if (entry.name.startsWith(".")) continue;
      if (entry.isFile() && entry.name.endsWith(".md") && !NOT_MEMORIES.has(entry.name)) count++;
      else if (recursive && depth < MAX_DEPTH && entry.isDirectory() && !isLogs(folder, entry.name))
        visit(path.join(folder, entry.name), depth + 1);
    }
  };
  visit(dir, 1);
  return count;
}

/** A year of daily logs, which are not memories. */
function isLogs(folder: string, name: string): boolean {
  return path.basename(folder) === "logs" && /^\d{4}$/.test(name);
}

/** The entries of a folder in a fixed order; none if it cannot be read. */
export function listEntries(folder: string): fs.Dirent[] {
  try {
    if (!fs.statSync(folder, { throwIfNoEntry: false })) return [];
    return fs.readdirSync(folder, { withFileTypes: true }).sort((a, b) => (a.name < b.name ? -1 : 1));
  } catch {
    return [];
  }
}

// --- Memory directories and the projects they belong to: those whose project was moved, renamed or removed, and those that two projects share.

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
  const projects = path.join(options.config.claudeDir, "projects");
  const ours = realPath(options.dir);
  const orphans: Orphan[] = [];
  for (const entry of listEntries(projects).slice(0, MAX_FOLDERS)) {
    if (!entry.isDirectory()) continue;
    const folder = path.join(projects, entry.name);
    for (const [dir, recursive] of [[path.join(folder, "memory"), true] as const, [folder, false] as const]) {
      if (realPath(dir) === ours) continue;
      const orphan = examine(dir, folder, recursive, options.identity);
      if (orphan) orphans.push(orphan);
    }
  }
  return orphans.sort((a, b) => Number(b.sure) - Number(a.sure) || b.memories - a.memories);
}

function examine(dir: string, folder: string, recursive: boolean, identity: Identity): Orphan | null {
  if (countMemories(dir, { recursive, limit: 1 }) === 0) return null;
  const owner = readOwner(dir);
  const transcriptRoot = owner && owner.roots.length > 0 ? null : (findSessionRoots(folder, 1)[0] ?? null);
  const roots = transcriptRoot === null ? (owner?.roots ?? []) : [transcriptRoot];
  if (roots.some((root) => fs.existsSync(root))) return null;
  const recordedRoot = roots[0] ?? null;
  const agreed = owner ? agreement(owner, identity) : null;
  const named = recordedRoot !== null && lastPart(recordedRoot) === lastPart(identity.root);
  const reason = agreed ?? (named ? "name" : null);
  if (reason === null) return null;
  return { dir, memories: countMemories(dir, { recursive }), recordedRoot, reason, sure: reason !== "name" };
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
  const real = new Map(same.map((root) => [fs.realpathSync(root), root]));
  return real.size > 1 ? [...real.values()].sort() : [];
}

interface Abandoned {
  dir: string;
  root: string;
  memories: number;
}

/** Memory directories of Claude Code whose recorded project is no longer there. Reads one small file for each. */
export function findAbandoned(claudeDir: string, ownDir: string): Abandoned[] {
  const projects = path.join(claudeDir, "projects");
  return listEntries(projects)
    .slice(0, MAX_FOLDERS)
    .flatMap((entry): Abandoned[] => {
      const dir = path.join(projects, entry.name, "memory");
      if (!entry.isDirectory() || dir === ownDir) return [];
      const roots = readOwner(dir)?.roots ?? [];
      const [root] = roots;
      if (root === undefined || roots.some((each) => fs.existsSync(each))) return [];
      const memories = countMemories(dir, { recursive: true });
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
  return transcripts.slice(0, limit).flatMap(({ file }) => findCwd(readHead(file)) ?? []);
}

/** Sessions name their working directory in the first lines. */
const HEAD_BYTES = 64 * 1024;

/** Lines are not parsed: a head may end within one. */
function findCwd(head: string): string | null {
  const quoted = /"cwd":("(?:[^"\\]|\\.){1,4096}")/.exec(head)?.[1];
  try {
    return quoted === undefined ? null : (JSON.parse(quoted) as string);
  } catch {
    return null;
  }
}

function readHead(file: string): string {
  let handle: number | null = null;
  try {
    handle = fs.openSync(file, fs.constants.O_RDONLY | (fs.constants.O_NONBLOCK ?? 0));
    const buffer = Buffer.alloc(HEAD_BYTES);
    return buffer.toString("utf8", 0, fs.readSync(handle, buffer, 0, HEAD_BYTES, 0));
  } catch {
    return "";
  } finally {
    if (handle !== null) fs.closeSync(handle);
  }
}
