/** The table of importers: what each source is called, where it usually is, and what reads it. */

import { basename, join } from "node:path";
import { statOrNull } from "../disk/fence.ts";
import { MemdirError } from "../errors.ts";
import type { Memdir } from "../memdir.ts";
import { countMemories } from "../project/locate.ts";
import { listEntries } from "../project/scopes.ts";
import { readClaudeMem } from "./claude-mem.ts";
import type { Harvest } from "./imported.ts";
import { readMem0, readMemdirJson, readServerMemory } from "./json-sources.ts";
import {
  readBasicMemory,
  readClaudeCode,
  readCodex,
  readCursor,
  readGemini,
  readMarkdown,
} from "./markdown-sources.ts";

/** The project that is imported into. */
type Target = Pick<Memdir, "config" | "location">;

interface Importer {
  name: string;
  what: string;
  /** Absent, or null, where a source has no usual place. */
  usual?(target: Target): string | null;
  /** `all`: also what belongs to other projects, where a source keeps all of them together. */
  read(path: string, target: Target, all: boolean): Harvest;
}

export const IMPORTERS: readonly Importer[] = [
  {
    name: "claude-code",
    what: "the auto memory of another project or machine",
    read: (path, { config }) => readClaudeCode(path, config.claudeDir),
  },
  {
    name: "codex",
    what: "Codex's memories",
    usual: ({ config: { home, env } }) => join(env.CODEX_HOME || join(home, ".codex"), "memories"),
    read: readCodex,
  },
  {
    name: "gemini",
    what: "what Gemini CLI was asked to remember",
    usual: ({ config: { home } }) => join(home, ".gemini", "GEMINI.md"),
    read: readGemini,
  },
  {
    name: "cursor",
    what: "Cursor's rules of a project",
    usual: ({ location }) => location.project.root,
    read: readCursor,
  },
  {
    name: "claude-mem",
    what: "claude-mem's database",
    usual: ({ config: { home, env } }) => join(env.CLAUDE_MEM_DATA_DIR || join(home, ".claude-mem"), "claude-mem.db"),
    read: (path, { location }, all) => readClaudeMem(path, { project: all ? null : basename(location.project.root) }),
  },
  {
    name: "server-memory",
    what: "the knowledge graph of MCP's server-memory (JSON lines)",
    usual: ({ config: { env } }) => env.MEMORY_FILE_PATH || null,
    read: readServerMemory,
  },
  { name: "mem0", what: "an export of mem0 (JSON)", read: readMem0 },
  {
    name: "basic-memory",
    what: "the notes of basic-memory",
    usual: ({ config: { home, env } }) => env.BASIC_MEMORY_HOME || join(home, "basic-memory"),
    read: readBasicMemory,
  },
  { name: "markdown", what: "a folder of Markdown files", read: readMarkdown },
  { name: "json", what: "an export of memdir itself", read: readMemdirJson },
];

export function findImporter(name: string): Importer {
  const importer = IMPORTERS.find((each) => each.name === name);
  if (importer) return importer;
  const names = IMPORTERS.map((each) => each.name).join(", ");
  throw new MemdirError("usage", `there is no source "${name}": it is one of ${names}`);
}

/** Reads a source, from its usual place unless a path is given. Throws where there is nothing to import. */
export function harvest(importer: Importer, given: string | null, target: Target, all = false) {
  const path = given ?? importer.usual?.(target) ?? null;
  if (path === null) throw new MemdirError("usage", `${importer.name} has no usual place${hintFor(importer, target)}`);
  if (!statOrNull(path)) {
    const way = given === null ? `give its place: memdir import ${importer.name} PATH` : "check the path";
    throw new MemdirError("not-found", `${path} is not there: ${way}`);
  }
  const { found, problems } = importer.read(path, target, all);
  if (found.length === 0) {
    const why = problems.length > 0 ? problems.join("; ") : `it does not contain ${importer.what}`;
    throw new MemdirError("not-found", `nothing was imported from ${path}: ${why}`);
  }
  return { path, found, problems };
}

function hintFor(importer: Importer, target: Target): string {
  const call = `memdir import ${importer.name} PATH`;
  const others = importer.name === "claude-code" ? otherProjects(target) : [];
  const some = others.slice(0, 3).map(({ path }) => path);
  return `: give a path, \`${call}\`${some.length > 0 ? `, such as ${some.join(" or ")}` : ""}`;
}

/** Folders of other projects of Claude Code that hold memories, the one in use left out. */
function otherProjects({ config, location }: Target): { path: string; memories: number }[] {
  const projects = join(config.claudeDir, "projects");
  return listEntries(projects)
    .filter((entry) => entry.isDirectory())
    .map((entry) => join(projects, entry.name, "memory"))
    .filter((path) => path !== location.dir)
    .map((path) => ({ path, memories: countMemories(path, true) }))
    .filter(({ memories }) => memories > 0);
}

/** `problem`: why it cannot be counted. */
type Sighting = { source: string; path: string; memories: number; problem: string | null };

/** What can be imported on this machine, without changing anything. */
export function findSources(target: Target, all: boolean): Sighting[] {
  const usual = IMPORTERS.flatMap((importer): Sighting[] => {
    const path = importer.usual?.(target) ?? null;
    if (path === null || !statOrNull(path)) return [];
    const source = importer.name;
    try {
      const memories = importer.read(path, target, all).found.length;
      return memories === 0 ? [] : [{ source, path, memories, problem: null }];
    } catch (error) {
      return [{ source, path, memories: 0, problem: (error as Error).message }];
    }
  });
  return [...otherProjects(target).map((each) => ({ source: "claude-code", ...each, problem: null })), ...usual];
}
