/** The part of `memdir/compat` about recall and prompts: the seeds' names over `Memdir.recall`, `prompt` and `search`. */

import { processEnv } from "./config.ts";
import type { MemoryPromptOptions } from "./context/start.ts";
import type { Memdir } from "./memdir.ts";
import { type OpenOptions, openMemdir } from "./open.ts";
import { findDirectories, findPlace } from "./project/scopes.ts";
import { buildResultClearingSection } from "./prompts/agent.ts";
import { openRecallSession, type RecallSession } from "./recall/budget.ts";
import { freshnessWarning } from "./recall/neutral.ts";
import { type Prefetch, startPrefetch } from "./recall/prefetch.ts";
import type { Recalled, RecallOptions } from "./recall/recall.ts";
import type { Signals } from "./recall/score.ts";
import type { SideQuery } from "./recall/select.ts";
import { ageInDays, type Row, walk } from "./store/store.ts";
import type { World } from "./world.ts";

export { SUMMARIZE_TOOL_RESULTS_SECTION } from "./prompts/agent.ts";
export { substituteMemory } from "./prompts/memory.ts";
export { MAX_SESSION_MEMORY_BYTES } from "./recall/budget.ts";
export { MAX_MEMORY_BYTES_PER_FILE } from "./recall/cut.ts";
export { formatInjection as formatMemoriesForInjection } from "./recall/injection.ts";
export { formatMemoryManifest } from "./recall/select.ts";

/** Every function takes these last; without them the working directory, environment and clock of the process count. Recall logs its failures instead of throwing. */
export interface Options extends Partial<Pick<World, "env" | "now" | "log">> {
  cwd?: string;
}

/** System text and question in, the model's answer out. */
export type SideQueryFn = SideQuery;

export interface RelevantMemory {
  path: string;
  /** Neutralised, and cut to `MAX_MEMORY_BYTES_PER_FILE`. */
  content: string;
  mtimeMs: number;
  /** What is shown above the content: age, path, provenance. */
  header: string;
}

export type MemoryPrefetch = Prefetch<RelevantMemory>;

/** What the model chooses. [] when it fails, is late or names nothing that exists; it is not asked when nothing is left to show. */
export async function selectRelevantMemories(
  query: string,
  sideQuery: SideQueryFn,
  alreadySurfaced: Set<string> = new Set(),
  signal?: AbortSignal,
  options: Options = {},
): Promise<RelevantMemory[]> {
  return select(query, sideQuery, sessionOf(alreadySurfaced, 0), signal, options);
}

/** Null, and nothing called, without a `sideQuery` or when a gate is closed: one word, a full session, no memories. */
export function startMemoryPrefetch(
  query: string,
  sideQuery: SideQueryFn | null | undefined,
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
    ...(signal ? { signal } : {}),
    ...(options.log ? { log: options.log } : {}),
  });
}

/** A message of the API, or one that a host has wrapped. */
export interface Message {
  role?: string;
  content?: string | readonly MessageBlock[];
  message?: Pick<Message, "role" | "content">;
}

export interface MessageBlock {
  type: string;
  text?: string;
  /** Of a `tool_use`. */
  name?: string;
  input?: unknown;
}

export interface ToolUseContext {
  recentTools?: readonly string[];
  /** Paths as keys. */
  readFileState?: { keys(): Iterable<string> };
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
  const memoryDir = where as string | undefined;
  const session = sessionOf(alreadySurfaced, 0);
  const more = { tools: recentTools, session, ...(signal ? { signal } : {}) };
  return findOffline(asked, more, options, memoryDir);
}

/** Seed 003's entry: what the user said last is the topic, the rest are signals. */
export async function scanForMemories(
  context: { messages: readonly Message[]; toolUseContext?: ToolUseContext },
  options: Options = {},
): Promise<RelevantMemory[]> {
  const { topic, ...signals } = signalsOf(context.messages, context.toolUseContext);
  const signal = context.toolUseContext?.abortController?.signal;
  return findOffline(topic, { ...signals, ...(signal ? { signal } : {}) }, options);
}

export type KeywordMatch = Row & { score: number; line: string };

/** Without model and meaning: those with the most of the words first. [] for no words. */
export async function matchMemoriesByKeyword(query: string, options: Options = {}): Promise<KeywordMatch[]> {
  return query.trim() === "" ? [] : (await openProject(options)).search(query);
}

/** "" up to yesterday's. */
export function memoryFreshnessWarning(mtimeMs: number, now: Date = new Date()): string {
  return freshnessWarning(ageInDays(mtimeMs, now.getTime()));
}

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
export function openProject(options: Options, memoryDir?: string): Promise<Memdir> {
  return openMemdir({ ...openOptions(options), scope: "project", memoryDir });
}

/** Where the project's memories are; nothing is made. */
export function locate(options: Options) {
  return findPlace(openOptions(options), options.env ?? processEnv());
}

function openOptions({ cwd = process.cwd(), env, now, log }: Options): OpenOptions {
  return { cwd, by: "library", ...(env ? { env } : {}), ...(now ? { now } : {}), ...(log ? { log } : {}) };
}

/** Looked at before anything is opened, since a host must not wait for the answer. */
function hasMemories(options: Options): boolean {
  const { config, location } = locate(options);
  const { directories } = findDirectories({ ...openOptions(options), scope: "project" }, config, location);
  return directories.some(({ path, recursive }) => walk(path, recursive).files.length > 0);
}

async function select(
  query: string,
  ask: SideQueryFn,
  session: RecallSession,
  signal: AbortSignal | undefined,
  options: Options,
): Promise<RelevantMemory[]> {
  return guarded(options, async () => {
    const memdir = await openMemdir({ ...openOptions(options), scope: "project", ask });
    const { method, memories } = await memdir.recall(query, { session, ...(signal ? { signal } : {}) });
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
  if (typeof input !== "object" || input === null) return [];
  return Object.entries(input).flatMap(([key, value]) =>
    /(?:^|_)path$/.test(key) && typeof value === "string" ? [value] : [],
  );
}
