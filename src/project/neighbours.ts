/** Other projects beside this one's memory: those whose path leads to the same folder, and those that are gone. */

import fs from "node:fs";
import path from "node:path";
import { countMemories, listEntries } from "./memory-count.ts";
import { readOwner } from "./owner.ts";
import { slugOf } from "./slug.ts";

/** Sessions name their working directory in the first lines. */
const HEAD_BYTES = 16 * 1024;
/** The newest ones tell enough. */
const MAX_TRANSCRIPTS = 30;
/** A home with more project folders than this is not one person's. */
const MAX_FOLDERS = 2000;

/**
 * Roots that are all there and whose path becomes the name of this very folder: `/a/b-c` and `/a/b/c`. From the record of the
 * directory's owner and from the sessions beside it; [] when the directory lies elsewhere, or is shared by the user's wish.
 */
export function findCollisions(memoryDir: string): string[] {
  const folder = path.dirname(memoryDir);
  const slug = path.basename(folder);
  const owner = readOwner(memoryDir);
  if (owner?.shared) return [];
  const roots = new Set([...(owner?.roots ?? []), ...findSessionRoots(folder)]);
  const same = [...roots].filter((root) => slugOf(root) === slug && isFolder(root));
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

function findSessionRoots(folder: string): string[] {
  const transcripts = listEntries(folder)
    .filter((entry) => entry.isFile() && entry.name.endsWith(".jsonl"))
    .map((entry) => path.join(folder, entry.name))
    .map((file) => ({ file, mtimeMs: fs.statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0 }))
    .sort((a, b) => b.mtimeMs - a.mtimeMs);
  return transcripts.slice(0, MAX_TRANSCRIPTS).flatMap(({ file }) => findCwd(readHead(file)) ?? []);
}

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

function isFolder(root: string): boolean {
  try {
    return fs.statSync(root, { throwIfNoEntry: false })?.isDirectory() === true;
  } catch {
    return false;
  }
}
