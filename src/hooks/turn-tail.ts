/** The end of a transcript, read backwards and only as far as needed: the last turn, and what the user said since the cursor. */

import { isAbsolute, relative, resolve, sep } from "node:path";
import { readPart, realPath, withRegular } from "../disk/fence.ts";
import type { Cursor } from "../learn/extraction-gates.ts";
import { buildConversation } from "../session/conversation.ts";
import { hearMessages } from "../session/heard.ts";
import { makeChain } from "../session/session-reader.ts";
import { answerOf, assistantBlocks, parseLine, promptOf, type TranscriptLine } from "../session/transcript-line.ts";
import { hashOf } from "../text/hash.ts";
import { commandOf, type ToolCall, usualName, WRITERS } from "./event.ts";

export interface TurnTail {
  /** The last turn, starting with its prompt; only its end if it is very long. */
  lines: string[];
  /** What the user said since the cursor, newest first, up to the requested number. */
  prompts: string[];
  /** Whether the turn's first line is included. */
  isWhole: boolean;
}

/** For most turns, for long ones, for those with an image. Beyond that the background process finds out, which reads the whole file anyway. */
const LENGTHS = [64 << 10, 1 << 20, 6 << 20];

/** The names of Codex's and Gemini CLI's files. */
const FOREIGN = /[\\/](?:rollout-[^\\/]*\.jsonl|chats[\\/]session-[^\\/]*\.jsonl?)$/;

/** Whether a transcript is not Claude Code's, and so in a format that cannot be read backwards. */
export function isForeign(path: string): boolean {
  return FOREIGN.test(path);
}

/** Null if there is no such regular file. Nothing is known of another program's. Other errors throw. */
export function readTurnTail(path: string, cursor: Cursor | null, maxPrompts: number): TurnTail | null {
  return withRegular(path, (fd, size) => {
    if (isForeign(path)) return { lines: [], prompts: [], isWhole: false };
    for (const length of LENGTHS) {
      const { tail, isDone } = scan(readEnd(fd, size, length), cursor, maxPrompts);
      if (length >= size) return { ...tail, isWhole: true };
      if (isDone || length === LENGTHS.at(-1)) return tail;
    }
    return null;
  });
}

/** Complete lines only: the first is left out if it may have started earlier. */
function readEnd(fd: number, size: number, length: number): string[] {
  const start = Math.max(0, size - length);
  const lines = readPart(fd, start, size - start)
    .toString("utf8")
    .split("\n");
  return start > 0 ? lines.slice(1) : lines;
}

/** From the last line to the first; done when no earlier line could change the answer. */
function scan(lines: string[], cursor: Cursor | null, maxPrompts: number): { tail: TurnTail; isDone: boolean } {
  const prompts: string[] = [];
  let first = -1;
  let isDone = false;
  for (let at = lines.length - 1; at >= 0 && !isDone; at--) {
    const prompt = findPrompt(lines[at] as string);
    if (!prompt) continue;
    if (first < 0) first = at;
    const isHandled = cursor !== null && prompt.uuid !== null && isOf(cursor.message, prompt.uuid);
    if (!isHandled) prompts.push(prompt.text);
    isDone = isHandled || prompts.length >= maxPrompts;
  }
  return { tail: { lines: lines.slice(Math.max(0, first)), prompts, isWhole: first >= 0 }, isDone };
}

/** Few lines are worth parsing: a tool's result can be a megabyte long. */
const OF_USER = /"(?:type|role)"\s*:\s*"user"/;

function findPrompt(text: string): { uuid: string | null; text: string } | null {
  if (text.includes('"tool_result"') || !OF_USER.test(text)) return null;
  const line = parseLine(text);
  const said = line && line.isSidechain !== true ? promptOf(line) : null;
  if (!line || said === null) return null;
  return { uuid: typeof line.uuid === "string" ? line.uuid : null, text: said };
}

/** Messages after a prompt are named by its id and their number (hearMessages). */
function isOf(message: string, prompt: string): boolean {
  return message === prompt || message.startsWith(`${prompt}.`);
}

/** Whether a memory was written in the turn, by a call that was not refused. */
export function hasMemoryWrite(lines: readonly string[], place: { dir: string; cwd: string }): boolean {
  const written = new Set<string>();
  for (const text of lines) {
    if (text.includes('"tool_use"') && (text.includes(".md") || text.includes("memdir"))) {
      const line = parseLine(text);
      for (const block of line && answerOf(line) ? assistantBlocks(line) : []) {
        if (block.type === "tool_use" && writesMemory(block, place)) written.add(block.id);
      }
    } else if (written.size > 0 && /"is_error"\s*:\s*true/.test(text)) {
      for (const id of [...written]) if (isRefused(text, id)) written.delete(id);
    }
  }
  return written.size > 0;
}

function isRefused(text: string, id: string): boolean {
  const { message } = (parseLine(text) ?? {}) as { message?: { content?: unknown } };
  const blocks = Array.isArray(message?.content) ? message.content : [];
  return blocks.some((block) => block?.tool_use_id === id && block.is_error === true);
}

/** The id of the turn's last message, as in an extraction; null if the turn's first line is missing. */
export function lastMessageId({ lines, isWhole }: Pick<TurnTail, "lines" | "isWhole">): string | null {
  if (!isWhole) return null;
  const chain = makeChain();
  const parsed = lines.map(parseLine);
  for (const [at, line] of parsed.entries()) if (line) chain.add(line, at, 1);
  const conversation = buildConversation();
  for (const { offset, uuid, parent } of chain.follow().links) {
    conversation.add({ line: parsed[offset] as TranscriptLine, uuid, parent });
  }
  const { messages, prompts } = conversation.finish();
  return hearMessages(messages, prompts).at(-1)?.id ?? null;
}

/** A short mark of a text for comparing: line ends and how its parts are joined do not matter. */
export function markOf(text: string): string {
  return hashOf(text.replace(/\s+/g, "")).toString(36);
}

/** Marks of the model's last message in these lines: of its last text block, and of all its text. */
export function lastMarks(lines: readonly string[]): string[] {
  let whole = "";
  let last = "";
  let id: string | null = null;
  for (const text of lines) {
    const line = text.includes('"assistant"') ? parseLine(text) : null;
    const answer = line && line.isSidechain !== true ? answerOf(line) : null;
    if (!line || !answer) continue;
    if (answer.id === null || answer.id !== id) whole = "";
    id = answer.id;
    for (const block of assistantBlocks(line)) {
      if (block.type !== "text") continue;
      last = block.text;
      whole += block.text;
    }
  }
  return [markOf(last), markOf(whole)];
}

/** The tools of memdir's MCP server, under any name that contains memdir. Gemini CLI uses a single underscore. */
const OWN_TOOL = /^mcp__?\w*memdir\w*?__?(?:save|forget)$/;
const OWN_COMMAND = /(?:^|[\s;&|(/"'])memdir(?:\.cmd)?["']?\s+(?:save|edit|forget|rename)\b/;

/** Memories only: other files in the folder, such as logs, do not count. */
export function writesMemory({ name, input }: ToolCall, place: { dir: string; cwd: string }): boolean {
  if (OWN_TOOL.test(name)) return true;
  const usual = usualName(name);
  if (usual === "Bash") return OWN_COMMAND.test(commandOf(input));
  const file = input.file_path ?? input.path;
  if (!WRITERS.has(usual) || typeof file !== "string" || !/\.md$/i.test(file)) return false;
  const path = resolve(place.cwd, file);
  return isBelow(path, place.dir) || isBelow(path, realPath(place.dir));
}

function isBelow(path: string, folder: string): boolean {
  const way = relative(folder, path);
  return way !== "" && !isAbsolute(way) && !way.startsWith(".") && !way.startsWith(`logs${sep}`);
}
