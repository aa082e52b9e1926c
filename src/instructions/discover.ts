/** The CLAUDE.md files a host loads at start, in its order: managed, user, then every directory from the outermost to here. */

import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Config } from "../config.ts";
import { stripForClient } from "../text/client-markdown.ts";

export interface InstructionFile {
  path: string;
  /** How the host introduces it. */
  label: string;
  source: "managed" | "user" | "project" | "local";
  content: string;
  size: number;
}

const LABELS: Record<InstructionFile["source"], string> = {
  managed: "organization-managed policy instructions",
  user: "user's private global instructions for all projects",
  project: "project instructions, checked into the codebase",
  local: "user's private project instructions, not checked in",
};

/** Imports, rules and nested files are not part of this yet. */
export function discoverInstructions(cwd: string, config: Config): InstructionFile[] {
  if (config.claudeMdsDisabled) return [];
  const candidates: [InstructionFile["source"], string][] = [
    ["managed", join(config.managedDir, "CLAUDE.md")],
    ["user", join(config.claudeDir, "CLAUDE.md")],
    ...ancestorsOf(cwd).flatMap((directory): [InstructionFile["source"], string][] => [
      ["project", join(directory, "CLAUDE.md")],
      ["project", join(directory, ".claude", "CLAUDE.md")],
      ["local", join(directory, "CLAUDE.local.md")],
    ]),
  ];
  const seen = new Set<string>();
  return candidates.flatMap(([source, path]) => {
    const content = seen.has(path) ? "" : readContent(path);
    seen.add(path);
    return content === "" ? [] : [{ path, label: LABELS[source], source, content, size: content.length }];
  });
}

/** Outermost first, the directory itself last. */
function ancestorsOf(directory: string): string[] {
  const parent = dirname(directory);
  return parent === directory ? [directory] : [...ancestorsOf(parent), directory];
}

function readContent(path: string): string {
  try {
    return stripForClient(readFileSync(path, "utf8")).trim();
  } catch {
    // Missing is the usual case; what cannot be read is not loaded by the host either.
    return "";
  }
}
