/** Directories in which other versions and products, or another keying of ours, kept memories of the same project. */

import path from "node:path";
import type { Config } from "../config.ts";
import { realPath } from "../disk/real-path.ts";
import { separatorSlug, sha256Key, slugOf } from "./locate.ts";
import { countMemories, listEntries } from "./memory-count.ts";
import type { Project } from "./root.ts";

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

function candidatesOf(config: Config, project: Project): OlderDirectory[] {
  const { cwd, root, worktreeRoot } = project;
  const projects = path.join(config.claudeDir, "projects");
  const mini = path.join(config.home, ".mini-claude", "projects");
  const nested = (layout: OlderLayout, base: string, name: string): OlderDirectory => ({
    dir: path.join(base, name, "memory"),
    layout,
    recursive: true,
  });
  // Claude Code keeps transcripts beside `memory`, so of a flat folder only its own files are memories.
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
