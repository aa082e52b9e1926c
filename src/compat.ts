/** The seeds' own function names over the same code, for programs written against them (`memdir/compat`). */

import { dirname, isAbsolute, join, relative } from "node:path";
import { processEnv } from "./config.ts";
import type { MemoryPromptOptions } from "./context/start.ts";
import { makeFolders } from "./disk/fence.ts";
import { isObject } from "./errors.ts";
import { LABELS, MAX_CHARACTERS, renderInstructions } from "./instructions/file.ts";
import type { Memdir } from "./memdir.ts";
import { type OpenOptions, openMemdir } from "./open.ts";
import { findDirectories, findPlace } from "./project/scopes.ts";
import { buildResultClearingSection } from "./prompts/agent.ts";
import { openRecallSession, type RecallSession } from "./recall/injection.ts";
import { freshnessWarning } from "./recall/neutral.ts";
import { type Prefetch, startPrefetch } from "./recall/prefetch.ts";
import type { RecallOptions } from "./recall/rank.ts";
import type { Recalled } from "./recall/recall.ts";
import type { Signals } from "./recall/score.ts";
import type { SearchHit } from "./recall/search.ts";
import type { SideQuery } from "./recall/select.ts";
import {
  ageInDays,
  ageInWords,
  CLIENT_LIMITS,
  INDEX_FILE,
  type Row,
  type MemoryType as Type,
  walk,
} from "./store/store.ts";
import { formatDocument, parseDocument } from "./text/frontmatter.ts";
import type { World } from "./world.ts";

export { getTeamMemDir, getTeamMemPath } from "./project/scopes.ts";
export { SUMMARIZE_TOOL_RESULTS_SECTION } from "./prompts/agent.ts";
export { substituteMemory } from "./prompts/memory.ts";
export { formatInjection as formatMemoriesForInjection, MAX_SESSION_MEMORY_BYTES } from "./recall/injection.ts";
export { MAX_MEMORY_BYTES_PER_FILE } from "./recall/neutral.ts";
export { formatMemoryManifest, type SideQuery as SideQueryFn } from "./recall/select.ts";
export { formatDocument as formatFrontmatter };

/** Every function takes these last; without them the working directory, environment and clock of the process count. Recall logs its failures instead of throwing. */
export interface Options extends Partial<Pick<World, "env" | "now" | "log">> {
  /** The project's folder, or one inside it; default: the process's working directory. */
  cwd?: string;
}

/** Values are their names in lower case, comparable to plain strings. */
export const MemoryType = { USER: "user", FEEDBACK: "feedback", PROJECT: "project", REFERENCE: "reference" } as const;
export type MemoryType = Type;

/** A memory with its content. */
export interface MemoryEntry {
  /** Its title. */
  name: string;
  /** One line on what it is about. */
  description: string;
  /** What it is about: the user, feedback, the project or a reference. */
  type: MemoryType;
  /** The Markdown below the frontmatter. */
  content: string;
  /** Path below the memory directory. */
  filename: string;
  /** Absolute path. */
  filePath: string;
}

/** An entry without its body. */
export type MemoryHeader = Omit<MemoryEntry, "content"> & { mtimeMs: number };

/** Clients load this many lines of MEMORY.md. */
export const MAX_INDEX_LINES = CLIENT_LIMITS.maxLines;
/** Clients load this many characters of MEMORY.md. */
export const MAX_INDEX_BYTES = CLIENT_LIMITS.maxChars;

/** Absolute path of the project's memory directory; it need not exist. */
export function getMemoryDir(projectRoot?: string, options: Options = {}): string {
  return locate(projectRoot === undefined ? options : { ...options, cwd: projectRoot }).location.dir;
}

/** Absolute path of the project's MEMORY.md; it need not exist. */
export function getIndexPath(projectRoot?: string, options: Options = {}): string {
  return join(getMemoryDir(projectRoot, options), INDEX_FILE);
}

/** After this the model can write at once, without checking that the directory exists. */
export function ensureMemoryDirExists(projectRoot?: string, options: Options = {}): string {
  const dir = getMemoryDir(projectRoot, options);
  makeFolders(dir, 0o700);
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

/** All memories of the project with their content; "" for a file that cannot be read. */
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
    if (typeof value === "string") meta[key] = value;
    else if (Array.isArray(value)) meta[key] = value.filter((item) => typeof item === "string").join(", ");
  }
  return { meta, body: document.body };
}

/** The frontmatter's fields as texts; lists are joined with commas. */
export function parseMemoryFrontmatter(content: string): Record<string, string> {
  return parseFrontmatter(content).meta;
}

/** today, yesterday, N days ago. */
export function memoryAge(mtimeMs: number, now: Date = new Date()): string {
  return ageInWords(memoryAgeDays(mtimeMs, now));
}

/** Whole days since the file was changed. */
export function memoryAgeDays(mtimeMs: number, now: Date = new Date()): number {
  return ageInDays(mtimeMs, now.getTime());
}

function entryOf(row: Row, content: string): MemoryEntry {
  const { name, description, type, file, path } = row;
  return { name, description, type, content, filename: file, filePath: path };
}

/** Seed 000's limit for one instruction file. */
export const MAX_MEMORY_CHARACTER_COUNT = MAX_CHARACTERS;

/** An instruction file as seed 000 describes it. */
export interface MemoryFileInfo {
  /** Absolute path. */
  path: string;
  /** The text without frontmatter and block comments; "" if it cannot be read. */
  content: string;
  /** Whose file it is; `project` for one that cannot be read. */
  source: "managed" | "user" | "project" | "local";
  /** Whether it is directly in the project's working directory. */
  isRoot: boolean;
  /** Path from the project's root; null for a file outside it. */
  relativePath: string | null;
  /** The number of characters in the content. */
  size: number;
  /** Why it could not be read; empty when it was. */
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
  const { includeManaged, includeUser, additionalDirs: addDirs } = options;
  const instructions = await memdir.instructions({ includeManaged, includeUser, addDirs });
  const { root, cwd } = memdir.location.project;
  const describe = (path: string) => {
    const relativePath = relative(root, path);
    const outside = relativePath.startsWith("..") || isAbsolute(relativePath);
    return { path, isRoot: dirname(path) === cwd, relativePath: outside ? null : relativePath };
  };
  const failed = (await instructions.skipped()).filter(({ reason }) => reason.startsWith("cannot be read"));
  return [
    ...(await instructions.load()).map(({ path, content, source, size }) => {
      return { ...describe(path), content, source, size, errors: [] };
    }),
    ...failed.map(({ path, reason }) => {
      return { ...describe(path), content: "", source: "project" as const, size: 0, errors: [reason] };
    }),
  ];
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

// --- Recall and prompts

/** A memory that helps with a query, as it is shown. */
export interface RelevantMemory {
  /** Absolute path. */
  path: string;
  /** Neutralised, and cut to `MAX_MEMORY_BYTES_PER_FILE`. */
  content: string;
  /** When it was last changed, in milliseconds since 1970. */
  mtimeMs: number;
  /** What is shown above the content: age, path, provenance. */
  header: string;
}

/** A recall that runs while the model is already answering. */
export type MemoryPrefetch = Prefetch<RelevantMemory>;

/** What the model chooses. [] when it fails, is late or names nothing that exists; it is not asked when nothing is left to show. */
export async function selectRelevantMemories(
  query: string,
  sideQuery: SideQuery,
  alreadySurfaced: Set<string> = new Set(),
  signal?: AbortSignal,
  options: Options = {},
): Promise<RelevantMemory[]> {
  return select(query, sideQuery, sessionOf(alreadySurfaced, 0), signal, options);
}

/** Null, and nothing called, without a `sideQuery` or when a gate is closed: one word, a full session, no memories. */
export function startMemoryPrefetch(
  query: string,
  sideQuery: SideQuery | null | undefined,
  alreadySurfaced: Set<string> = new Set(),
  sessionMemoryBytes = 0,
  signal?: AbortSignal,
  options: Options = {},
): MemoryPrefetch | null {
  if (!sideQuery) return null;
  const session = sessionOf(alreadySurfaced, sessionMemoryBytes);
  return startPrefetch<RelevantMemory>({
    query,
    session,
    hasMemories: () => hasMemories(options),
    run: (ended) => select(query, sideQuery, session, ended, options),
    signal,
    log: options.log,
  });
}

/** A message of the API, or one that a host has wrapped. */
export interface Message {
  /** `user`, `assistant` or what the host uses. */
  role?: string;
  /** A text, or the blocks of the message. */
  content?: string | readonly MessageBlock[];
  /** The message itself, where a host has wrapped it. */
  message?: Pick<Message, "role" | "content">;
}

/** A part of a message: a text, a tool call or a result. */
export interface MessageBlock {
  /** Such as `text` or `tool_use`. */
  type: string;
  /** The text of a `text` block. */
  text?: string;
  /** Of a `tool_use`. */
  name?: string;
  /** What a `tool_use` passes to the tool. */
  input?: unknown;
}

/** What a host knows about the tools of a session. */
export interface ToolUseContext {
  /** Names of the tools used last. */
  recentTools?: readonly string[];
  /** Paths as keys. */
  readFileState?: { keys(): Iterable<string> };
  /** Its signal ends the recall. */
  abortController?: AbortController;
}

/** Offline, from what was said, which files were touched and which tools used. Or for one query, in this memory directory. */
export function findRelevantMemories(messages: readonly Message[], options?: Options): Promise<RelevantMemory[]>;
export function findRelevantMemories(
  query: string,
  memoryDir?: string,
  signal?: AbortSignal,
  recentTools?: readonly string[],
  alreadySurfaced?: Set<string>,
  options?: Options,
): Promise<RelevantMemory[]>;
export function findRelevantMemories(
  asked: string | readonly Message[],
  where?: string | Options,
  signal?: AbortSignal,
  recentTools: readonly string[] = [],
  alreadySurfaced: Set<string> = new Set(),
  options: Options = {},
): Promise<RelevantMemory[]> {
  if (typeof asked !== "string") return scanForMemories({ messages: asked }, where as Options | undefined);
  const more = { tools: recentTools, session: sessionOf(alreadySurfaced, 0), signal };
  return findOffline(asked, more, options, where as string | undefined);
}

/** Seed 003's entry: what the user said last is the topic, the rest are signals. */
export async function scanForMemories(
  context: { messages: readonly Message[]; toolUseContext?: ToolUseContext },
  options: Options = {},
): Promise<RelevantMemory[]> {
  const { topic, ...signals } = signalsOf(context.messages, context.toolUseContext);
  return findOffline(topic, { ...signals, signal: context.toolUseContext?.abortController?.signal }, options);
}

/** A memory found by its words, with its score and best line. */
export type KeywordMatch = SearchHit;

/** Without model and meaning: those with the most of the words first. [] for no words. */
export async function matchMemoriesByKeyword(query: string, options: Options = {}): Promise<KeywordMatch[]> {
  return query.trim() === "" ? [] : (await openProject(options)).search(query);
}

/** "" up to yesterday's. */
export function memoryFreshnessWarning(mtimeMs: number, now: Date = new Date()): string {
  return freshnessWarning(ageInDays(mtimeMs, now.getTime()));
}

/** Options for the text about memory. */
export interface PromptOptions extends Options, Omit<MemoryPromptOptions, "memories" | "teamDir"> {
  /** What the user asks: the memories that help with it are added. */
  query?: string;
}

/** Everything that the model is told about memory, with the memories for a query or, with `files`, those that the index names. */
export async function loadMemoryPrompt(options: PromptOptions = {}): Promise<string> {
  const { cwd: _, env: __, now: ___, log: ____, query, ...asked } = options;
  const memdir = await openMemdir(openOptions(options));
  const memories = query === undefined ? "" : (await memdir.recall(query)).text;
  return memdir.prompt({ ...asked, memories });
}

/** The same without any memory but the index. */
export function buildMemoryPromptSection(options: Omit<PromptOptions, "query" | "files"> = {}): Promise<string> {
  return loadMemoryPrompt(options);
}

/** What hosts that clear old tool results keep unless told otherwise. */
const KEPT_TOOL_RESULTS = 3;

/** The same for every model. */
export function getFunctionResultClearingSection(_model?: string, keepRecent = KEPT_TOOL_RESULTS): string {
  return buildResultClearingSection(keepRecent);
}

/** The project's own memories, without those of the user and the team. */
function openProject(options: Options, memoryDir?: string): Promise<Memdir> {
  return openMemdir({ ...openOptions(options), scope: "project", memoryDir });
}

/** Where the project's memories are; nothing is made. */
function locate(options: Options) {
  return findPlace(openOptions(options), options.env ?? processEnv());
}

function openOptions({ cwd = process.cwd(), env, now, log }: Options): OpenOptions {
  return { cwd, by: "library", env, now, log };
}

/** Looked at before anything is opened, since a host must not wait for the answer. */
function hasMemories(options: Options): boolean {
  const { config, location } = locate(options);
  const { directories } = findDirectories({ ...openOptions(options), scope: "project" }, config, location);
  return directories.some(({ path, recursive }) => walk(path, recursive).files.length > 0);
}

async function select(
  query: string,
  ask: SideQuery,
  session: RecallSession,
  signal: AbortSignal | undefined,
  options: Options,
): Promise<RelevantMemory[]> {
  return guarded(options, async () => {
    const memdir = await openMemdir({ ...openOptions(options), scope: "project", ask });
    const { method, memories } = await memdir.recall(query, { session, signal });
    // Where the model has no good answer `recall` has the offline one; callers of this want the model's or none.
    return method === "model" && !signal?.aborted ? memories : [];
  });
}

function findOffline(query: string, asked: RecallOptions, options: Options, memoryDir?: string) {
  return guarded(options, async () => {
    const memdir = await openProject(options, memoryDir);
    return (await memdir.recall(query, { ...asked, model: false })).memories;
  });
}

/** Recall never throws into the host, not even when the directory cannot be opened. */
async function guarded(options: Options, find: () => Promise<readonly Recalled[]>): Promise<RelevantMemory[]> {
  try {
    return (await find()).map(({ path, content, modified, header }) => {
      return { path, content, mtimeMs: Date.parse(modified), header };
    });
  } catch (error) {
    options.log?.(`recall failed: ${(error as Error).message}`);
    return [];
  }
}

/** The host's own set and count: both grow while it works. */
function sessionOf(surfaced: Set<string>, bytes: number): RecallSession {
  return Object.assign(openRecallSession(), { surfaced, bytes });
}

function signalsOf(messages: readonly Message[], context: ToolUseContext = {}): Required<Signals> & { topic: string } {
  const said: { role: string; text: string }[] = [];
  const tools = [...(context.recentTools ?? [])];
  const files = [...(context.readFileState?.keys() ?? [])];
  for (const { role = "", content = "" } of messages.map((wrapped) => wrapped.message ?? wrapped)) {
    const blocks = typeof content === "string" ? [{ type: "text", text: content }] : content;
    const text = blocks.flatMap((block) => (block.type === "text" && block.text ? [block.text] : [])).join("\n");
    if (text.trim() !== "") said.push({ role, text });
    for (const { type, name, input } of blocks as readonly MessageBlock[]) {
      if (type !== "tool_use") continue;
      if (name) tools.push(name);
      files.push(...pathsIn(input));
    }
  }
  const last = said.findLastIndex(({ role }) => role === "user");
  const others = said.filter((_, at) => at !== last).map(({ text }) => text);
  return { topic: said[last]?.text ?? "", messages: others, tools: [...new Set(tools)], files: [...new Set(files)] };
}

/** What tools call the file they work on: `file_path`, `path`, `notebook_path`. */
function pathsIn(input: unknown): string[] {
  if (!isObject(input)) return [];
  return Object.entries(input).flatMap(([key, value]) =>
    /(?:^|_)path$/.test(key) && typeof value === "string" ? [value] : [],
  );
}
