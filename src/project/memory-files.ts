/** Which files of a directory are memories, and what was passed over and why. */

import { type Dirent, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { attempt, MemdirError } from "../errors.ts";

export const INDEX_FILE = "MEMORY.md";
export const OVERFLOW_FILE = "MEMORY.more.md";

export interface Walked {
  /** Paths below the directory, with `/`, sorted. */
  files: string[];
  /** Symbolic links named like memories: listed, never followed. */
  links: string[];
  skipped: { path: string; reason: string }[];
  /** Every folder that was looked into; "" is the directory itself. */
  folders: string[];
  /** The time of each folder just before it was looked into. */
  folderTimes: number[];
}

/** Folders below the directory: deep enough for every known layout; a loop of bind mounts ends here. Nothing is written deeper. */
export const MAX_DEPTH = 8;

/** Daily logs are raw material, not memories. */
const DAILY_LOGS = /^logs\/\d{4}$/;

/** Whether a path below the directory is that of a daily log, in either known shape. */
export function isDailyLog(file: string): boolean {
  return /^logs\/\d{4}\//.test(file);
}

/** Whether a file is a memory by its path: others may lie in the directory and change with it, but have no line in the index. */
export function isMemoryFile(file: string): boolean {
  const name = file.slice(file.lastIndexOf("/") + 1);
  return name.endsWith(".md") && name !== INDEX_FILE && file !== OVERFLOW_FILE && !isDailyLog(file);
}

/** Throws `usage` if there are more than `most` files and folders. */
export function walk(directory: string, recursive = true, most = Number.POSITIVE_INFINITY): Walked {
  const walked: Walked = { files: [], links: [], skipped: [], folders: [], folderTimes: [] };
  let left = most;
  visit(directory, "", 0, recursive, walked, (entries) => {
    left -= entries;
    if (left < 0)
      throw new MemdirError("usage", `${directory} has more than ${most} files and folders: name a folder within it`);
  });
  walked.files.sort();
  return walked;
}

function visit(
  root: string,
  folder: string,
  depth: number,
  recursive: boolean,
  walked: Walked,
  count: (entries: number) => void,
): void {
  let entries: Dirent[];
  let mtimeMs: number;
  const path = folder === "" ? root : join(root, folder);
  try {
    mtimeMs = statSync(path).mtimeMs;
    entries = readdirSync(path, { withFileTypes: true });
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? "unknown error";
    if (code !== "ENOENT") walked.skipped.push({ path: folder || ".", reason: `cannot be read (${code})` });
    return;
  }
  count(entries.length);
  // A folder with a state folder of its own is a directory of its own, as the mirror of a team's memory below a project's.
  if (folder !== "" && entries.some(({ name }) => name === ".memdir")) return;
  walked.folders.push(folder);
  walked.folderTimes.push(mtimeMs);
  for (const entry of entries) {
    const name = entry.name;
    if (name.startsWith(".")) continue;
    const path = folder === "" ? name : `${folder}/${name}`;
    if (entry.isFile()) {
      if (name.endsWith(".md") && name !== INDEX_FILE && path !== OVERFLOW_FILE) walked.files.push(path);
    } else if (entry.isDirectory()) {
      if (DAILY_LOGS.test(path)) continue;
      if (name.endsWith(".md")) walked.skipped.push({ path, reason: "a directory named like a memory" });
      if (!recursive) continue;
      if (depth < MAX_DEPTH) visit(root, path, depth + 1, recursive, walked, count);
      else walked.skipped.push({ path, reason: `more than ${MAX_DEPTH} folders deep` });
    } else if (entry.isSymbolicLink()) {
      if (name.endsWith(".md") && name !== INDEX_FILE) walked.links.push(path);
      else if (!name.endsWith(".md"))
        walked.skipped.push({ path, reason: "a symbolic link: memdir does not follow links" });
    } else if (name.endsWith(".md")) {
      walked.skipped.push({ path, reason: "not a regular file" });
    }
  }
}

/** Far more than a person has: a folder with more is not looked through to its end. */
const MAX_COUNTED = 20_000;

/** How many memories a directory holds, without opening one. */
export function countMemories(directory: string, recursive: boolean): number {
  return attempt(() => walk(directory, recursive, MAX_COUNTED).files.length, MAX_COUNTED);
}
