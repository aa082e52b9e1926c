/** Memory directories and the projects they belong to: those whose project was moved, renamed or removed, and those that two projects share. */

import fs from "node:fs";
import path from "node:path";
import type { Config } from "../config.ts";
import { readPart, realPath, statOrNull, withRegular } from "../disk/fence.ts";
import { attempt } from "../errors.ts";
import { readOwner, slugOf } from "./locate.ts";
import { agreement, type Identity } from "./owner.ts";
import { countMemories, listEntries } from "./scopes.ts";

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
  return projectFolders(claudeDir).flatMap((folder): Abandoned[] => {
    const dir = path.join(folder, "memory");
    const roots = dir === ownDir ? [] : (readOwner(dir)?.roots ?? []);
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
