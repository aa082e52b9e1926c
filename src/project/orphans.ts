/** Memory directories whose project is gone, and that may be this project's from before it was moved or renamed. */

import fs from "node:fs";
import path from "node:path";
import type { Config } from "../config.ts";
import { realPath } from "../disk/real-path.ts";
import { countMemories, listEntries } from "./memory-count.ts";
import { agreement, type Identity, readOwner } from "./owner.ts";

export interface Orphan {
  dir: string;
  memories: number;
  recordedRoot: string | null;
  reason: "root-commit" | "remote" | "name";
  /** False for a mere likeness of names: a person must say yes. */
  sure: boolean;
}

/** A home with more project folders than this is not one person's. */
const MAX_FOLDERS = 2000;

/** The surest first, then the largest. Skips what cannot be read. */
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
  const transcriptRoot = owner && owner.roots.length > 0 ? null : findTranscriptRoot(folder);
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

/** Sessions name their working directory in the first lines. */
const HEAD_BYTES = 64 * 1024;

function findTranscriptRoot(folder: string): string | null {
  const transcripts = listEntries(folder)
    .filter((entry) => entry.isFile() && entry.name.endsWith(".jsonl"))
    .map((entry) => path.join(folder, entry.name))
    .map((file) => ({ file, mtimeMs: mtimeOf(file) }))
    .sort((a, b) => b.mtimeMs - a.mtimeMs);
  const newest = transcripts[0];
  return newest ? findCwd(readHead(newest.file)) : null;
}

function mtimeOf(file: string): number {
  try {
    return fs.statSync(file).mtimeMs;
  } catch {
    return 0;
  }
}

function findCwd(text: string): string | null {
  for (const line of text.split("\n")) {
    try {
      const { cwd } = JSON.parse(line);
      if (typeof cwd === "string" && cwd !== "") return cwd;
    } catch {
      // A foreign line, or the last one cut by the limit.
    }
  }
  return null;
}

function readHead(file: string): string {
  let handle: number | null = null;
  try {
    handle = fs.openSync(file, "r");
    const buffer = Buffer.alloc(HEAD_BYTES);
    return buffer.toString("utf8", 0, fs.readSync(handle, buffer, 0, HEAD_BYTES, 0));
  } catch {
    return "";
  } finally {
    if (handle !== null) fs.closeSync(handle);
  }
}
