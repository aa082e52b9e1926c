/** The seeds' own function names over the same code, for programs written against them (`memdir/compat`). */

import { mkdirSync } from "node:fs";
import { dirname, isAbsolute, join, relative } from "node:path";
import { locate, type Options, openProject } from "./compat-recall.ts";
import { processEnv } from "./config.ts";
import { LABELS, MAX_CHARACTERS, renderInstructions } from "./instructions/file.ts";
import { openMemdir } from "./open.ts";
import { ageInDays, ageInWords, CLIENT_LIMITS, INDEX_FILE, type Row, type MemoryType as Type } from "./store/store.ts";
import { type FieldValue, formatDocument, type Metadata, parseDocument } from "./text/frontmatter.ts";

export {
  buildMemoryPromptSection,
  findRelevantMemories,
  formatMemoriesForInjection,
  formatMemoryManifest,
  getFunctionResultClearingSection,
  type KeywordMatch,
  loadMemoryPrompt,
  MAX_MEMORY_BYTES_PER_FILE,
  MAX_SESSION_MEMORY_BYTES,
  type MemoryPrefetch,
  type Message,
  type MessageBlock,
  matchMemoriesByKeyword,
  memoryFreshnessWarning,
  type Options,
  type PromptOptions,
  type RelevantMemory,
  type SideQueryFn,
  SUMMARIZE_TOOL_RESULTS_SECTION,
  scanForMemories,
  selectRelevantMemories,
  startMemoryPrefetch,
  substituteMemory,
  type ToolUseContext,
} from "./compat-recall.ts";
export { getTeamMemDir, getTeamMemPath } from "./project/scopes.ts";

/** Values are their names in lower case, comparable to plain strings. */
export const MemoryType = { USER: "user", FEEDBACK: "feedback", PROJECT: "project", REFERENCE: "reference" } as const;
export type MemoryType = Type;

export interface MemoryEntry {
  name: string;
  description: string;
  type: MemoryType;
  content: string;
  filename: string;
  filePath: string;
}

/** An entry without its body. */
export type MemoryHeader = Omit<MemoryEntry, "content"> & { mtimeMs: number };

export const MAX_INDEX_LINES = CLIENT_LIMITS.maxLines;
export const MAX_INDEX_BYTES = CLIENT_LIMITS.maxChars;

export function getMemoryDir(projectRoot?: string, options: Options = {}): string {
  return locate(projectRoot === undefined ? options : { ...options, cwd: projectRoot }).location.dir;
}

export function getIndexPath(projectRoot?: string, options: Options = {}): string {
  return join(getMemoryDir(projectRoot, options), INDEX_FILE);
}

/** After this the model can write at once, without checking that the directory exists. */
export function ensureMemoryDirExists(projectRoot?: string, options: Options = {}): string {
  const dir = getMemoryDir(projectRoot, options);
  mkdirSync(dir, { recursive: true, mode: 0o700 });
  return dir;
}

/** Saves the file and its index line; returns the file's name. */
export async function saveMemory(
  entry: Omit<MemoryEntry, "filename" | "filePath">,
  options: Options = {},
): Promise<string> {
  const { name, description, type, content } = entry;
  return (await (await openProject(options)).save({ name, description, type, body: content })).file;
}

export async function listMemories(options: Options = {}): Promise<MemoryEntry[]> {
  const memdir = await openProject(options);
  const rows = await memdir.list();
  return Promise.all(rows.map(async (row) => entryOf(row, row.unreadable ? "" : (await memdir.show(row.file)).body)));
}

/** All memories of a project with their content. */
export function scanMemoryFiles(projectRoot: string, options: Options = {}): Promise<MemoryEntry[]> {
  return listMemories({ ...options, cwd: projectRoot });
}

/** Seed 000's spelling. */
export { scanMemoryFiles as scan_memory_files };

/** Headers only: no body is read. */
export async function scanMemoryHeaders(options: Options = {}): Promise<MemoryHeader[]> {
  const rows = await (await openProject(options)).list();
  return rows.map((row) => {
    const { content: _, ...header } = entryOf(row, "");
    return { ...header, mtimeMs: Date.parse(row.modified) };
  });
}

/** MEMORY.md as the model sees it, with the warning if it was cut; "" when there is none. */
export async function loadMemoryIndex(options: Options = {}): Promise<string> {
  const { index, warning } = await (await openProject(options)).index();
  return warning ? `${index}\n\n> ${warning.message}` : index;
}

/** Gives every memory its line. */
export async function updateMemoryIndex(options: Options = {}): Promise<void> {
  await (await openProject(options)).rebuildIndex();
}

/** Flat texts: a list is joined with commas, a map is left out. */
export function parseFrontmatter(content: string): { meta: Record<string, string>; body: string } {
  const document = parseDocument(content);
  const meta: Record<string, string> = {};
  for (const { key, value } of document.fields) {
    const text = flatten(value);
    if (text !== null) meta[key] = text;
  }
  return { meta, body: document.body };
}

export function parseMemoryFrontmatter(content: string): Record<string, string> {
  return parseFrontmatter(content).meta;
}

export function formatFrontmatter(meta: Metadata, body: string): string {
  return formatDocument(meta, body);
}

/** today, yesterday, N days ago. */
export function memoryAge(mtimeMs: number, now: Date = new Date()): string {
  return ageInWords(memoryAgeDays(mtimeMs, now));
}

export function memoryAgeDays(mtimeMs: number, now: Date = new Date()): number {
  return ageInDays(mtimeMs, now.getTime());
}

function flatten(value: FieldValue): string | null {
  if (typeof value === "string") return value;
  return Array.isArray(value) ? value.filter((item) => typeof item === "string").join(", ") : null;
}

function entryOf(row: Row, content: string): MemoryEntry {
  const { name, description, type, file, path } = row;
  return { name, description, type, content, filename: file, filePath: path };
}

/** Seed 000's limit for one instruction file. */
export const MAX_MEMORY_CHARACTER_COUNT = MAX_CHARACTERS;

/** An instruction file as seed 000 describes it. */
export interface MemoryFileInfo {
  path: string;
  content: string;
  source: "managed" | "user" | "project" | "local";
  isRoot: boolean;
  relativePath: string | null;
  size: number;
  errors: string[];
}

/** The instruction files of a project; one that cannot be read is an entry with an error. */
export async function getMemoryFiles(
  projectRoot: string,
  options: { includeManaged?: boolean; includeUser?: boolean; additionalDirs?: readonly string[] } & Options = {},
): Promise<MemoryFileInfo[]> {
  const env = {
    ...(options.env ?? processEnv()),
    ...(options.additionalDirs ? { CLAUDE_CODE_ADDITIONAL_DIRECTORIES_CLAUDE_MD: "1" } : {}),
  };
  const memdir = await openMemdir({ cwd: projectRoot, scope: "project", by: "library", env });
  const instructions = await memdir.instructions({
    ...(options.includeManaged === undefined ? {} : { includeManaged: options.includeManaged }),
    ...(options.includeUser === undefined ? {} : { includeUser: options.includeUser }),
    ...(options.additionalDirs ? { addDirs: options.additionalDirs } : {}),
  });
  const { root, cwd } = memdir.location.project;
  const describe = (path: string) => {
    const relativePath = relative(root, path);
    const outside = relativePath.startsWith("..") || isAbsolute(relativePath);
    return { path, isRoot: dirname(path) === cwd, relativePath: outside ? null : relativePath };
  };
  const files = (await instructions.load()).map(({ path, content, source, size }) => ({
    ...describe(path),
    content,
    source,
    size,
    errors: [],
  }));
  const failed = (await instructions.skipped())
    .filter(({ reason }) => reason.startsWith("cannot be read"))
    .map(({ path, reason }) => ({
      ...describe(path),
      content: "",
      source: "project" as const,
      size: 0,
      errors: [reason],
    }));
  return [...files, ...failed];
}

/** One text with a preamble and a header per file; "" for no files. */
export function buildClaudeMdContext(files: readonly MemoryFileInfo[]): string {
  const readable = files.filter(({ errors }) => errors.length === 0);
  return renderInstructions(readable.map((file) => ({ ...file, label: LABELS[file.source], importedBy: null })));
}

/** Strictly more than the limit. */
export function getLargeMemoryFiles(files: readonly MemoryFileInfo[]): MemoryFileInfo[] {
  return files.filter(({ size }) => size > MAX_MEMORY_CHARACTER_COUNT);
}
