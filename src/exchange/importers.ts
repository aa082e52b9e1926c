/** The table of importers: what each source is called, where it usually lies, and who reads it. */

import { basename, join } from "node:path";
import type { Env } from "../config.ts";
import { statOrNull } from "../disk/fence.ts";
import { MemdirError } from "../errors.ts";
import { findClaudeProjects, readClaudeCode } from "./claude-code.ts";
import { readClaudeMem } from "./claude-mem.ts";
import { readCodex } from "./codex.ts";
import { readCursor } from "./cursor.ts";
import { readGemini } from "./gemini.ts";
import type { Harvest } from "./harvest.ts";
import { readBasicMemory, readMarkdown } from "./markdown.ts";
import { readMem0 } from "./mem0.ts";
import { readMemdirJson } from "./memdir-json.ts";
import { readServerMemory } from "./server-memory.ts";

/** The machine and the project that is imported into. */
export interface ImportPlace {
  home: string;
  claudeDir: string;
  /** Root of the project. */
  root: string;
  /** The directory that is written to: it is no source of its own. */
  own: string;
  env: Env;
  /** Also what belongs to other projects, where a source keeps all of them together. */
  all: boolean;
}

interface Importer {
  name: string;
  what: string;
  /** Null where a source has no place that is known in advance. */
  usual(place: ImportPlace): string | null;
  read(path: string, place: ImportPlace): Harvest;
}

export const IMPORTERS: readonly Importer[] = [
  {
    name: "claude-code",
    what: "the auto memory of another project or machine",
    usual: () => null,
    read: (path, { claudeDir }) => readClaudeCode(path, claudeDir),
  },
  {
    name: "codex",
    what: "Codex's memories",
    usual: ({ home, env }) => join(env.CODEX_HOME || join(home, ".codex"), "memories"),
    read: readCodex,
  },
  {
    name: "gemini",
    what: "what Gemini CLI was asked to remember",
    usual: ({ home }) => join(home, ".gemini", "GEMINI.md"),
    read: readGemini,
  },
  { name: "cursor", what: "Cursor's rules of a project", usual: ({ root }) => root, read: readCursor },
  {
    name: "claude-mem",
    what: "claude-mem's database",
    usual: ({ home, env }) => join(env.CLAUDE_MEM_DATA_DIR || join(home, ".claude-mem"), "claude-mem.db"),
    read: (path, { root, all }) => readClaudeMem(path, { project: all ? null : basename(root) }),
  },
  {
    name: "server-memory",
    what: "the knowledge graph of MCP's server-memory (JSON lines)",
    usual: ({ env }) => env.MEMORY_FILE_PATH || null,
    read: readServerMemory,
  },
  { name: "mem0", what: "an export of mem0 (JSON)", usual: () => null, read: readMem0 },
  {
    name: "basic-memory",
    what: "the notes of basic-memory",
    usual: ({ home, env }) => env.BASIC_MEMORY_HOME || join(home, "basic-memory"),
    read: readBasicMemory,
  },
  { name: "markdown", what: "a folder of Markdown files", usual: () => null, read: readMarkdown },
  { name: "json", what: "an export of memdir itself", usual: () => null, read: readMemdirJson },
];

export function findImporter(name: string): Importer {
  const importer = IMPORTERS.find((each) => each.name === name);
  if (importer) return importer;
  const names = IMPORTERS.map((each) => each.name).join(", ");
  throw new MemdirError("usage", `there is no source "${name}": it is one of ${names}`);
}

/** Reads a source, from its usual place unless a path is given. */
export function harvest(importer: Importer, given: string | null, place: ImportPlace): Harvest & { path: string } {
  const path = given ?? importer.usual(place);
  if (path === null) throw new MemdirError("usage", `${importer.name} has no usual place${hintFor(importer, place)}`);
  if (!statOrNull(path)) {
    const way = given === null ? `give its place: memdir import ${importer.name} PATH` : "check the path";
    throw new MemdirError("not-found", `${path} is not there: ${way}`);
  }
  return { path, ...importer.read(path, place) };
}

function hintFor(importer: Importer, { claudeDir, own }: ImportPlace): string {
  const call = `memdir import ${importer.name} PATH`;
  const others = importer.name === "claude-code" ? findClaudeProjects(claudeDir, own) : [];
  const some = others.slice(0, 3).map(({ path }) => path);
  return `: give a path, \`${call}\`${some.length > 0 ? `, such as ${some.join(" or ")}` : ""}`;
}

interface Sighting {
  source: string;
  path: string;
  memories: number;
  /** Why it cannot be counted. */
  problem: string | null;
}

/** What can be imported on this machine, without changing anything. */
export function findSources(place: ImportPlace): Sighting[] {
  const usual = IMPORTERS.flatMap((importer): Sighting[] => {
    const path = importer.usual(place);
    if (path === null || !statOrNull(path)) return [];
    try {
      const { found } = importer.read(path, place);
      return found.length === 0 ? [] : [{ source: importer.name, path, memories: found.length, problem: null }];
    } catch (error) {
      return [{ source: importer.name, path, memories: 0, problem: (error as Error).message }];
    }
  });
  const projects = findClaudeProjects(place.claudeDir, place.own);
  return [...projects.map((each) => ({ source: "claude-code", ...each, problem: null })), ...usual];
}
