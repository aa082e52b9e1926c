/** Compaction: the conversation becomes a summary, and everything that rules it is read from disk again. */

import { remind } from "../context/attachments.ts";
import { approximateTokens } from "../context/window.ts";
import { readRegular } from "../disk/fence.ts";
import { fork } from "../model/agent-loop.ts";
import { type Message, type TextBlock, textOf } from "../model/ask.ts";
import { buildCompactionPrompt, buildSummaryMessage, OPEN_WORDS_NOTE, readSummary } from "../prompts/compaction.ts";
import { announce } from "./announcements.ts";
import { buildOpening } from "./opening.ts";
import { reattachFiles } from "./reattach.ts";
import { recallAgain } from "./recalling.ts";
import { clearOldResults, keepTail } from "./shorten.ts";
import { type AgentState, addSpent, sessionFolder } from "./state.ts";
import type { AgentModel } from "./world.ts";

/** As the client that we share files with does it: so much stays free beside what an answer may take. */
const BUFFER_TOKENS = 13_000;
const MAX_ANSWER_TOKENS = 20_000;

/** What fails three times in a row will fail again, and each try costs money. */
export const MAX_FAILURES = 3;

/** A summary is a page or two; more is the conversation again. */
const SUMMARY_TOKENS = 8_000;

/** What stays word for word beside session notes, which may lag behind; in a small window half of what it may hold. */
const TAIL_TOKENS = 40_000;

/** How much a conversation may hold before it is compacted by itself. */
export function autoLimit({ windowTokens, maxTokens }: Pick<AgentModel, "windowTokens" | "maxTokens">): number {
  const reserved = Math.min(maxTokens, MAX_ANSWER_TOKENS);
  // In a small window the buffers would leave nothing: then three quarters of it are used.
  return Math.max(windowTokens - reserved - BUFFER_TOKENS, Math.floor(windowTokens * 0.75));
}

export interface CompactOptions {
  trigger: "manual" | "auto";
  /** What the user wants kept above all. */
  instructions?: string | null;
  signal?: AbortSignal;
}

export type CompactResult =
  | { ok: true; from: "notes" | "model"; before: number; after: number; files: string[] }
  | { ok: false; problem: string };

/** Must not throw; when it fails, the conversation is as it was. */
export async function compact(state: AgentState, options: CompactOptions): Promise<CompactResult> {
  if (state.messages.length === 0) return { ok: false, problem: "there is nothing to compact yet" };
  state.tell({ type: "compacting", trigger: options.trigger });
  const before = state.contextTokens || approximateTokens(JSON.stringify(state.messages));
  try {
    const found = findNotes(state) ?? (await summarise(state, options));
    if ("problem" in found) return fail(state, found.problem, options.signal);
    const files = await beginAnew(state, found, { trigger: options.trigger, preTokens: before });
    const after = approximateTokens(JSON.stringify(state.messages));
    // Not yet counted by the provider, and some servers never count.
    state.contextTokens = 0;
    state.tell({ type: "compacted", trigger: options.trigger, from: found.from, before, after });
    if (after > autoLimit(state.world.model)) stillFull(state);
    else state.failures = 0;
    return { ok: true, from: found.from, before, after, files };
  } catch (error) {
    return fail(state, error instanceof Error ? error.message : String(error), options.signal);
  }
}

/** A stop says nothing about whether the next one would succeed. */
function fail(state: AgentState, why: string, signal: AbortSignal | undefined): CompactResult {
  if (!signal?.aborted) state.failures++;
  const last = state.failures >= MAX_FAILURES ? `; after ${state.failures} failures it is only done on /compact` : "";
  const problem = `the conversation could not be compacted: ${why}${last}`;
  state.tell({ type: "problem", message: problem });
  return { ok: false, problem };
}

/** The instructions alone, or what stays beside them, fill the window: doing it before every step would never end. */
function stillFull(state: AgentState): void {
  state.failures++;
  const message =
    "the conversation is compacted and still fills the window: shorten the instruction files, or set MEMDIR_CONTEXT_TOKENS if the model holds more";
  state.tell({ type: "problem", message });
}

interface Summary {
  from: "notes" | "model";
  text: string;
  /** Messages that stay as they are. */
  tail: Message[];
}

/** Notes are a few pages; what is more than that would fill the window that is to be emptied. */
const MAX_NOTES_BYTES = 64 * 1024;

/** Session notes, if something keeps them: they cost nothing. */
function findNotes(state: AgentState): Summary | null {
  try {
    const text =
      readRegular(sessionFolder(state, "session-memory", "summary.md"), { maxBytes: MAX_NOTES_BYTES })
        ?.toString("utf8")
        .trim() ?? "";
    const room = Math.min(TAIL_TOKENS, Math.floor(autoLimit(state.world.model) / 2));
    return text === "" ? null : { from: "notes", text, tail: keepTail(state.messages, room) };
  } catch (error) {
    state.world.log(`session notes: ${(error as Error).message}`);
    return null;
  }
}

/** A fork on the same prefix. If even that is too long for the model, older tool results are left out, and it is tried once more. */
async function summarise(state: AgentState, options: CompactOptions): Promise<Summary | { problem: string }> {
  const { world, messages } = state;
  let problem = "the model gave no summary";
  for (const shown of [messages, clearOldResults(messages)]) {
    const conversation = { system: await state.system.blocks(), tools: state.tools, messages: shown, sent: state.sent };
    const { text, ended, error, usage, turns } = await fork(world.model.ask, conversation, {
      prompt: buildCompactionPrompt(options.instructions ?? null),
      tools: [],
      // One that calls a tool is told that there is none, and answers then.
      maxTurns: 2,
      maxTokens: Math.min(SUMMARY_TOKENS, world.model.maxTokens),
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

/** Nothing that was cached survives: the model must be shown what is on disk now. */
async function beginAnew(
  state: AgentState,
  summary: Summary,
  metadata: { trigger: "manual" | "auto"; preTokens: number },
): Promise<string[]> {
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
    text: buildSummaryMessage(summary.text, { transcriptPath: transcript.path }),
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
  transcript.boundary(metadata);
  transcript.append(message, { isSummary: true });
  for (const kept of summary.tail) transcript.append(kept);
  state.messages = [message, ...summary.tail];
  // What lies before the boundary cannot be gone back to in the conversation; its files can.
  state.prompts = [];
  state.sent = 0;
  return files.paths;
}

/** In the middle of a turn: what the user wants right now, word for word, as no summary and no notes may be trusted with that. */
function findOpenWords(messages: readonly Message[]): TextBlock[] {
  if (messages.at(-1)?.role !== "user") return [];
  const isSaid = (block: Message["content"][number]): block is TextBlock =>
    block.type === "text" && block.attachment === undefined;
  const last = messages.findLast(({ role, content }) => role === "user" && content.some(isSaid));
  return last?.content.filter(isSaid) ?? [];
}
