/** Compaction: the conversation becomes a summary, and instructions, index and files are read from disk again. */

import { remind } from "../context/attachments.ts";
import { isWithin, readRegularText } from "../disk/fence.ts";
import { messageOf } from "../errors.ts";
import { fork } from "../model/agent-loop.ts";
import { type Message, type TextBlock, textOf } from "../model/ask.ts";
import { approximateTokens } from "../model/cost.ts";
import {
  buildCompactionPrompt,
  buildFileReattachment,
  buildSummaryMessage,
  OPEN_WORDS_NOTE,
  readSummary,
} from "../prompts/conversation.ts";
import type { SeenFile } from "../session/file-state.ts";
import { decodeText, linesOf, numberLines, tryReadFileAt } from "../tools/file.ts";
import { noteTouch, recallAgain } from "./memory.ts";
import { MAX_NOTES_BYTES } from "./notes.ts";
import { buildOpening } from "./opening.ts";
import { type AgentModel, type AgentState, addSpent, sessionFolder } from "./state.ts";
import { announce } from "./sub-agent.ts";

/** Claude Code keeps the same amount free besides what an answer may take. */
const BUFFER_TOKENS = 13_000;
const MAX_ANSWER_TOKENS = 20_000;

/** After three failures in a row the next one will fail too, and each attempt costs money. */
export const MAX_FAILURES = 3;

/** A summary is a page or two; more would be the conversation again. */
const SUMMARY_TOKENS = 8_000;

/** How much is kept verbatim after session notes, which may be out of date; in a small window, half of what it may hold. */
const TAIL_TOKENS = 40_000;

/** How many tokens a conversation may hold before it is compacted automatically. */
export function autoLimit({ windowTokens, maxTokens }: Pick<AgentModel, "windowTokens" | "maxTokens">): number {
  const reserved = Math.min(maxTokens, MAX_ANSWER_TOKENS);
  // In a small window the buffers would leave nothing: then three quarters of it are used.
  return Math.max(windowTokens - reserved - BUFFER_TOKENS, Math.floor(windowTokens * 0.75));
}

export interface CompactOptions {
  trigger: "manual" | "auto";
  /** What the summary must keep above all. */
  instructions?: string | null;
  signal?: AbortSignal;
}

/** What became of a compaction: tokens before and after, the source of the summary and the files attached again, or why it failed. */
export type CompactResult =
  | { ok: true; from: "notes" | "model"; before: number; after: number; files: string[] }
  | { ok: false; problem: string };

/** Must not throw; when it fails, the conversation is unchanged. */
export async function compact(state: AgentState, options: CompactOptions): Promise<CompactResult> {
  if (state.messages.length === 0) return { ok: false, problem: "there is nothing to compact yet" };
  state.tell({ type: "compacting", trigger: options.trigger });
  const before = state.contextTokens || approximateTokens(JSON.stringify(state.messages));
  try {
    const found = findNotes(state) ?? (await summarise(state, options));
    if ("problem" in found) return fail(state, found.problem, options.signal);
    const files = await beginAnew(state, found, options.trigger, before);
    const after = approximateTokens(JSON.stringify(state.messages));
    // Not yet counted by the provider, and some servers never count.
    state.contextTokens = 0;
    state.tell({ type: "compacted", trigger: options.trigger, from: found.from, before, after });
    if (after > autoLimit(state.setup.model)) stillFull(state);
    else state.failures = 0;
    return { ok: true, from: found.from, before, after, files };
  } catch (error) {
    return fail(state, messageOf(error), options.signal);
  }
}

/** An aborted attempt says nothing about whether the next one would succeed. */
function fail(state: AgentState, why: string, signal: AbortSignal | undefined): CompactResult {
  if (!signal?.aborted) state.failures++;
  const last =
    state.failures >= MAX_FAILURES ? `; after ${state.failures} failures in a row, it only runs on /compact` : "";
  const problem = `the conversation could not be compacted: ${why}${last}`;
  state.tell({ type: "problem", message: problem });
  return { ok: false, problem };
}

/** The instructions alone, or what is kept with them, fill the window: compacting before every step would never end. */
function stillFull(state: AgentState): void {
  state.failures++;
  const message =
    "the conversation was compacted and still fills the window: shorten the instruction files, or set MEMDIR_CONTEXT_TOKENS if the model's window is larger";
  state.tell({ type: "problem", message });
}

interface Summary {
  from: "notes" | "model";
  text: string;
  /** Messages that stay as they are. */
  tail: Message[];
}

/** Session notes, if there are any: they cost nothing. */
function findNotes(state: AgentState): Summary | null {
  try {
    const file = sessionFolder(state, "session-memory", "summary.md");
    const text = readRegularText(file, MAX_NOTES_BYTES)?.trim() ?? "";
    const room = Math.min(TAIL_TOKENS, Math.floor(autoLimit(state.setup.model) / 2));
    return text === "" ? null : { from: "notes", text, tail: keepTail(state.messages, room) };
  } catch (error) {
    state.setup.log(`session notes: ${(error as Error).message}`);
    return null;
  }
}

/** Forks the conversation on the same prefix. If even that is too long for the model, older tool results are dropped and it is tried once more. */
async function summarise(state: AgentState, options: CompactOptions): Promise<Summary | { problem: string }> {
  const { setup, messages } = state;
  let problem = "the model returned no summary";
  for (const shown of [messages, clearOldResults(messages)]) {
    const conversation = { system: await state.system.blocks(), tools: state.tools, messages: shown, sent: state.sent };
    const { text, ended, error, usage, turns } = await fork(setup.model.ask, conversation, {
      prompt: buildCompactionPrompt(options.instructions ?? null),
      tools: [],
      // A model that calls a tool is told that there are none, and then answers.
      maxTurns: 2,
      maxTokens: Math.min(SUMMARY_TOKENS, setup.model.maxTokens),
      ...(options.signal && { signal: options.signal }),
    });
    addSpent(state, usage, turns);
    const summary = ended === "done" || ended === "length" ? readSummary(text) : null;
    if (summary !== null && summary.trim() !== "") return { from: "model", text: summary, tail: [] };
    problem = error?.message ?? problem;
    if (error?.kind !== "bad-request") break;
  }
  return { problem };
}

/** Nothing cached survives: the model must be shown what is on disk now. */
async function beginAnew(state: AgentState, summary: Summary, trigger: "manual" | "auto", preTokens: number) {
  const { transcript } = state;
  const seen = state.files.capture();
  state.files.clear();
  state.instructions.clear();
  state.attachments.clear();
  state.recalled.clear();
  state.system.clear();
  const opening = await buildOpening(state);
  const said: TextBlock = {
    type: "text",
    text: buildSummaryMessage(summary.text, transcript.path),
    attachment: "summary",
  };
  const files = reattachFiles(state, seen);
  await state.touching;
  const words = summary.tail.length === 0 ? findOpenWords(state.messages) : [];
  if (words.length > 0) {
    const text = textOf(words);
    announce(state, text);
    await recallAgain(state, text);
  }
  const note = words.length > 0 ? [remind("notice", OPEN_WORDS_NOTE)] : [];
  const content = [...opening, said, ...note, ...words, ...files.blocks, ...state.attachments.take()];
  const message: Message = { role: "user", content };
  transcript.boundary({ trigger, preTokens });
  transcript.append(message, { isSummary: true });
  for (const kept of summary.tail) transcript.append(kept);
  state.messages = [message, ...summary.tail];
  // The conversation cannot be rewound past the boundary; files can.
  state.prompts = [];
  state.sent = 0;
  return files.paths;
}

/** In the middle of a turn: the user's latest request verbatim, which no summary can be trusted with. */
function findOpenWords(messages: readonly Message[]): TextBlock[] {
  if (messages.at(-1)?.role !== "user") return [];
  const isSaid = (block: Message["content"][number]): block is TextBlock =>
    block.type === "text" && block.attachment === undefined;
  const last = messages.findLast(({ role, content }) => role === "user" && content.some(isSaid));
  return last?.content.filter(isSaid) ?? [];
}

/** The same limits as Claude Code's. */
const MAX_FILES = 5;
const MAX_FILE_TOKENS = 5_000;
const MAX_TOTAL_TOKENS = 50_000;

/** Newest first. Skips files that are gone or too large, and memories, which are recalled when they help. */
function reattachFiles(state: AgentState, seen: readonly SeenFile[]): { blocks: TextBlock[]; paths: string[] } {
  const memories = state.setup.memdir.directories.map(({ path }) => path);
  const blocks: TextBlock[] = [];
  const paths: string[] = [];
  let left = MAX_TOTAL_TOKENS;
  for (const { path } of seen) {
    if (blocks.length >= MAX_FILES || left <= 0) break;
    if (memories.some((dir) => isWithin(dir, path))) continue;
    const bytes = tryReadFileAt(path, MAX_BYTES);
    if (!bytes || bytes.includes(0)) continue;
    const all = linesOf(decodeText(bytes).text);
    const lines = fitLines(all, Math.min(left, MAX_FILE_TOKENS));
    if (lines.length === 0) continue;
    const whole = lines.length === all.length;
    const shown = numberLines(lines, 1);
    blocks.push(remind("file", buildFileReattachment(path, shown, !whole)));
    state.files.note(path, { bytes, lines: whole ? null : { from: 1, to: lines.length } });
    noteTouch(state, { path });
    left -= approximateTokens(shown);
    paths.push(path);
  }
  return { blocks, paths };
}

const MAX_BYTES = 4 * 1024 * 1024;

/** As many lines as fit, each with its number. */
function fitLines(all: readonly string[], maxTokens: number): string[] {
  let tokens = 0;
  const end = all.findIndex((line) => {
    tokens += approximateTokens(line) + NUMBER_TOKENS;
    return tokens > maxTokens;
  });
  return all.slice(0, end < 0 ? all.length : end);
}

/** The cost of a line's number and line break. */
const NUMBER_TOKENS = 3;

/** How many of the last messages keep their results: they are what the work is about right now. */
const KEEP_RECENT = 6;
const CLEARED = "[omitted to save space]";

function clearOldResults(messages: readonly Message[]): Message[] {
  return messages.map((message, i) => {
    if (message.role !== "user" || i >= messages.length - KEEP_RECENT) return message;
    const content = message.content.map((block) =>
      block.type === "tool_result" ? { ...block, content: CLEARED } : block,
    );
    return { role: "user", content };
  });
}

/** The last messages that fit, starting at a prompt; none if even the last turn is too large. */
function keepTail(messages: readonly Message[], maxTokens: number): Message[] {
  let tokens = 0;
  let start = messages.length;
  // The first message holds the opening, which is built again.
  for (let i = messages.length - 1; i > 0; i--) {
    const { role, content } = messages[i]!;
    tokens += approximateTokens(JSON.stringify({ role, content }));
    if (tokens > maxTokens) break;
    if (role === "user" && content.every(({ type }) => type !== "tool_result")) start = i;
  }
  return messages.slice(start);
}
