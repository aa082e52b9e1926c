/** Memory around a turn: recall before it, learning after it; and the tools' workbench, with the memory directories as they see them. */

import { existsSync, statSync } from "node:fs";
import { basename, join } from "node:path";
import { isWithin, makeFolders, moveInto, PRIVATE_MODE, realPath, writeTemporary } from "../disk/fence.ts";
import { messageOf } from "../errors.ts";
import { proposeToTeam } from "../learn/apply.ts";
import { wishOfText } from "../learn/proposal.ts";
import type { Memdir } from "../memdir.ts";
import { findByPath } from "../memory/memories.ts";
import type { Conversation } from "../model/agent-loop.ts";
import type { Message, ToolUse } from "../model/ask.ts";
import { buildNestedInstructions } from "../prompts/conversation.ts";
import { formatInjection, formatReminder } from "../recall/injection.ts";
import { freshnessWarning } from "../recall/neutral.ts";
import type { Prefetch } from "../recall/prefetch.ts";
import type { Recalled } from "../recall/recall.ts";
import { logSurfaced } from "../recall/surface-log.ts";
import type { FileState } from "../session/file-state.ts";
import { hearSession } from "../session/heard.ts";
import { ageInDays, formatSource, INDEX_FILE, isMemoryFile } from "../store/store.ts";
import { editFields } from "../text/frontmatter.ts";
import type { Workbench } from "../tools/workbench.ts";
import type { World } from "../world.ts";
import { type AgentState, sessionFolder } from "./state.ts";

/** Ranking takes a few milliseconds; a cold start, which reads the cache, may take this long before the prompt is sent without memories. */
const GRACE_MS = 150;

/** What was started for a prompt; null for nothing. */
export type Recall = Prefetch<Recalled> | null;

export async function startRecall(state: AgentState, words: string, signal: AbortSignal): Promise<Recall> {
  const { setup, recalled } = state;
  if (!state.memoryOn || asksToIgnore(words)) return null;
  try {
    return await setup.memdir.prefetch(words, { session: recalled, signal, model: setup.recallWithModel });
  } catch (error) {
    setup.log(`recall could not start: ${(error as Error).message}`);
    return null;
  }
}

export async function waitForFast(recall: Recall, sleep: World["sleep"]): Promise<void> {
  if (!recall) return;
  const done = new AbortController();
  await Promise.race([recall.fastReady, sleep(GRACE_MS, done.signal)]);
  done.abort();
}

/** After a compaction in the middle of a turn, which dropped its memories. Ranked offline, which is fast enough to wait for. */
export async function recallAgain(state: AgentState, words: string): Promise<void> {
  const { setup, recalled } = state;
  if (!state.memoryOn || asksToIgnore(words)) return;
  try {
    const { memories } = await setup.memdir.recall(words, { session: recalled, model: false });
    surface(state, memories, words);
  } catch (error) {
    setup.log(`recall after a compaction: ${(error as Error).message}`);
  }
}

/** Shows memories with the next message, and logs that and why. `words` is the prompt, by default the last one. */
export function surface(
  state: AgentState,
  memories: readonly Recalled[] | null,
  words = state.prompts.at(-1)?.text ?? "",
): void {
  if (!memories || memories.length === 0) return;
  state.recalled.surface(memories);
  const { memdir, now } = state.setup;
  const [main] = memdir.directories;
  const session = state.transcript.id;
  if (main) logSurfaced(main.path, { at: now(), session, door: "agent", prompt: words, memories });
  for (const memory of memories) {
    state.attachments.push({ kind: "memories", key: memory.path, text: formatInjection([memory]) });
  }
  state.tell({ type: "recalled", memories });
}

/** "Ignore your memory": then nothing is recalled for this prompt. */
function asksToIgnore(words: string): boolean {
  return /\b(ignore|disregard|without|don'?t use|do not use)\b[^.!?\n]{0,24}\b(memory|memories)\b/i.test(words);
}

/** The turn for this prompt ended with an answer. Must not throw. */
export async function learnFromTurn(state: AgentState, words: string): Promise<void> {
  noteAnswer(state);
  await offerTurn(state, words).catch((error) => logFault(state, error));
}

/** When the user asks for them. */
export async function takeNotesNow(state: AgentState, signal?: AbortSignal) {
  if (!state.learner)
    return { problem: "session notes are part of learning, which is off; change learn.mode or MEMDIR_LEARN" };
  if (state.messages.length === 0) return { problem: "nothing has been said yet" };
  return state.learner.takeNotes(await capture(state, state.messages, state.sent), signal);
}

/** Called when the conversation can be sent, with no call missing its result. Must not throw. */
export function noteAnswer(state: AgentState): void {
  const { learner, contextTokens, messages, sent } = state;
  if (!learner || !state.memoryOn) return;
  const last = messages.findLast(({ role }) => role === "assistant");
  const toolCalls = last?.content.filter(({ type }) => type === "tool_use").length ?? 0;
  try {
    learner.answered({ contextTokens, toolCalls }, () => capture(state, messages, sent));
  } catch (error) {
    logFault(state, error);
  }
}

async function offerTurn(state: AgentState, words: string): Promise<void> {
  const { learner, messages, prompts, sent, memoryWritten, setup, transcript } = state;
  if (!learner || !state.memoryOn) return;
  // A turn that was compacted midway has lost its prompt and everything before it.
  const prompt = prompts.at(-1) ?? { id: transcript.leaf ?? "", at: setup.now().toISOString(), index: 0 };
  learner.ended({
    messages: hearSession({ messages, prompts: prompts.map(({ id, index, at }) => ({ uuid: id, index, at })) }),
    conversation: await capture(state, messages, sent),
    prompt: { id: prompt.id, text: words, at: prompt.at },
    memoryWritten,
    isWanted: () => state.memoryOn,
  });
}

async function capture(state: AgentState, messages: readonly Message[], sent: number): Promise<Conversation> {
  return { system: await state.system.blocks(), tools: state.tools, messages, sent };
}

/** No turn fails because learning from it failed. */
function logFault({ setup }: AgentState, error: unknown): void {
  setup.log(`learning: ${messageOf(error)}`);
}

/** New memories name the session of `state` as their source. */
export function openMemoryStore(memdir: Memdir, state: AgentState): NonNullable<Workbench["store"]> {
  const owned = memdir.directories.filter(({ readOnly }) => !readOnly).map(({ path }) => path);
  const owns = (path: string) => owned.some((dir) => isWithin(realPath(dir), realPath(path)));
  return {
    owns,
    async write(path, text, base) {
      if (!state.memoryOn) throw new Error("memory is off in this session, so nothing was saved; tell the user");
      await deferTeams(memdir, path, text, base === null);
      const { file, action, notices } = await memdir.put(
        path,
        base === null ? withSource(path, text, state.transcript.id) : text,
        base,
        { trust: "inferred" },
      );
      if (action !== "unchanged") state.tell({ type: "saved", file, action, notices });
      return { notices };
    },
    remark(path) {
      const stat = owns(path) && basename(path).endsWith(".md") ? statSync(path, { throwIfNoEntry: false }) : undefined;
      const warning = stat ? freshnessWarning(ageInDays(stat.mtimeMs, state.setup.now().getTime())) : "";
      return warning === "" ? null : formatReminder(warning);
    },
  };
}

/** What others read too is not written but proposed. Throws then, as the file is not what the model wants it to be. */
async function deferTeams(memdir: Memdir, path: string, text: string, isNew: boolean): Promise<void> {
  const { directory, file } = findByPath(memdir.directories, path);
  if (directory.scope !== "team") return;
  const own = memdir.directories.find(({ scope }) => scope !== "team");
  if (!own || !isMemoryFile(file))
    throw new Error("nothing was written: what the team shares is changed by people; tell the user");
  const { says } = await proposeToTeam(own, directory, wishOfText(file, text, isNew, "memdir's agent"));
  throw new Error(`${file} was not written: ${says}`);
}

/**
 * A document may have talked the model into writing a memory, so a new memory is the model's conclusion, not the user's word: it is shown
 * as such, it never replaces anything more trusted, and no rule in it is enforced. Whatever source the model names is ignored.
 */
function withSource(path: string, text: string, session: string): string {
  const file = basename(path);
  if (!file.endsWith(".md") || file === INDEX_FILE) return text;
  return editFields(text, { source: formatSource({ by: "inferred", session, message: null }) });
}

// --- The agent's tools, connected to the session's files and history, the memory directories, and what touching a file adds.

/** `files` is the session's own state, or a clone of it for a sub-agent. */
export function openWorkbench(state: AgentState, files: FileState): Workbench {
  const { memdir, permissions, env, addedDirs } = state.setup;
  const { cwd } = memdir.location.project;
  return {
    cwd,
    fence: null,
    readable: [cwd, ...addedDirs, ...memdir.directories.map(({ path }) => path), sessionFolder(state)],
    files,
    history: state.history,
    permit: permissions.permit,
    env,
    onTouch: (touch) => noteTouch(state, touch),
    store: openMemoryStore(memdir, state),
  };
}

/** Instructions of a touched file's folders are attached to the next results. */
export function noteTouch(state: AgentState, touch: { path: string } | { command: string }): void {
  const { instructions, setup } = state;
  if (setup.memdir.config.claudeMdsDisabled) return;
  const looking = "path" in touch ? instructions.touch(touch.path) : instructions.touchCommand(touch.command);
  const noted = looking.then(
    (files) => {
      for (const { path, content } of files) {
        state.attachments.push({
          kind: "nested-instructions",
          key: path,
          text: buildNestedInstructions(path, content),
        });
      }
      if (files.length > 0) state.tell({ type: "instructions", paths: files.map(({ path }) => path) });
    },
    (error: Error) => setup.log(`instructions of touched files: ${error.message}`),
  );
  state.touching = Promise.all([state.touching, noted]);
}

/** Writes a result that is too large to show to a file next to the transcript. */
export async function keepResult(state: AgentState, call: ToolUse, content: string): Promise<string> {
  const folder = sessionFolder(state, "tool-results");
  makeFolders(folder, 0o700);
  const name = call.id.replace(/[^\w-]/g, "_").slice(0, 100) || "result";
  // Some servers number their calls from 1 in every answer, and the model was told about the earlier file.
  let path = join(folder, `${name}.txt`);
  for (let number = 2; existsSync(path); number++) path = join(folder, `${name}-${number}.txt`);
  moveInto(writeTemporary(folder, content, PRIVATE_MODE, "result", false), path, false);
  return path;
}
