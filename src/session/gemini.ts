/** Reads a Gemini CLI session from its file, of any version, in the shape of our own sessions. */

import { basename, dirname, join } from "node:path";
import { readRegular } from "../disk/fence.ts";
import type { ToolResult } from "../model/ask.ts";
import type { HeardSession } from "./codex.ts";
import { buildConversation, type ConversationBuilder } from "./conversation.ts";
import { eachRecord, MAX_LINE_BYTES, type OpenedLines, readHead, withLines } from "./line-stream.ts";
import { isRecord, parseRecord, type TranscriptLine, textOrNull } from "./transcript-line.ts";

/** What the beginning of a session's file says. */
interface GeminiHead {
  id: string;
  /** Its prompts come from an agent, not a person. */
  isSubAgent: boolean;
}

/** The first line is short; a sub-agent's names the folders it may work in. */
const MAX_HEAD_BYTES = 1 << 16;
/** Until 2026 a file was one object over many lines. */
const OLDER_HEAD = /^\s*\{\s*"sessionId"\s*:\s*"([^"\\]*)"\s*,\s*"projectHash"\s*:\s*"/;

/** Null when the file is not Gemini CLI's, or cannot be read. Must not throw. */
export function readGeminiHead(path: string): GeminiHead | null {
  const text = readHead(path, MAX_HEAD_BYTES);
  if (text === null) return null;
  const first = parseRecord(text.split("\n", 1)[0] ?? "");
  if (first && isHead(first)) return { id: idOf(path, first.sessionId), isSubAgent: first.kind === "subagent" };
  const older = OLDER_HEAD.exec(text.replace(/^\uFEFF/, ""));
  return older ? { id: idOf(path, older[1]), isSubAgent: false } : null;
}

/** Throws if there is no such file. Turns that were rewound are left out; turns that were compressed are not. */
export function readGeminiSession(path: string): Promise<HeardSession> {
  return withLines(path, (lines) => readAll(path, lines));
}

/** Longer than any path. */
const MAX_PATH_BYTES = 1 << 15;

/** The project whose sessions are in this folder of Gemini CLI's; null when it does not say. Must not throw. */
export function readProjectRoot(folder: string): string | null {
  try {
    return readRegular(join(folder, ".project_root"), { maxBytes: MAX_PATH_BYTES })?.toString().trim() || null;
  } catch {
    return null; // no permission
  }
}

/** It will be printed and written: anything but a plain name is rejected. */
function idOf(path: string, given: unknown): string {
  const id = textOrNull(given) ?? "";
  return PLAIN_ID.test(id) ? id : basename(path).replace(/\.jsonl?$/, "");
}

const PLAIN_ID = /^[\w.-]{1,128}$/;

function isHead({ sessionId, projectHash }: Record<string, unknown>): boolean {
  return typeof sessionId === "string" && typeof projectHash === "string";
}

async function readAll(path: string, lines: OpenedLines): Promise<HeardSession> {
  const book = openBook();
  const older = readOlder(lines);
  if (older) book.add(older);
  const problems = older ? [] : await eachRecord(lines, parseRecord, book.add);
  const { messages, prompts } = converse(book.heard());
  const folder = dirname(path);
  const cwd = basename(folder) === "chats" ? readProjectRoot(dirname(folder)) : null;
  return { id: idOf(path, book.id), path, messages, prompts, cwd, problems };
}

/** A file of one object, or null. */
function readOlder({ size, at }: OpenedLines): Record<string, unknown> | null {
  const head = at(0, Math.min(size, MAX_HEAD_BYTES)).toString();
  const isOlder = size <= MAX_LINE_BYTES && OLDER_HEAD.test(head.replace(/^\uFEFF/, ""));
  return isOlder && !parseRecord(head.split("\n", 1)[0] ?? "") ? parseRecord(at(0, size).toString()) : null;
}

interface Book {
  id: unknown;
  add(record: Record<string, unknown>): void;
  /** In the order of the conversation. */
  heard(): Record<string, unknown>[];
}

/**
 * A record replaces the earlier one with its id, in its position. When the client resumes or compresses, it writes all that its model
 * will be sent: what is new in that, such as a summary, was not said, and only counts as a point to rewind to.
 */
function openBook(): Book {
  const records = new Map<string, Record<string, unknown> | null>();
  const takeBack = (id: string) => {
    const ids = [...records.keys()];
    // As the client does: if the point is unknown, everything goes.
    for (const one of ids.slice(Math.max(0, ids.indexOf(id)))) records.delete(one);
  };
  const book: Book = {
    id: null,
    add(record) {
      const { id, $rewindTo: back, $set: facts } = record;
      if (typeof back === "string") takeBack(back);
      else if (typeof id === "string") records.set(id, record);
      else if (isRecord(facts)) {
        for (const sent of messagesOf(facts)) if (!records.has(sent.id)) records.set(sent.id, null);
      } else if (isHead(record)) {
        book.id ??= record.sessionId;
        for (const message of messagesOf(record)) records.set(message.id, message);
      }
    },
    heard: () => [...records.values()].filter((record) => record !== null),
  };
  return book;
}

function messagesOf({ messages }: Record<string, unknown>): (Record<string, unknown> & { id: string })[] {
  const all: unknown[] = Array.isArray(messages) ? messages : [];
  return all.filter(
    (one): one is Record<string, unknown> & { id: string } => isRecord(one) && typeof one.id === "string",
  );
}

function converse(records: readonly Record<string, unknown>[]): ReturnType<ConversationBuilder["finish"]> {
  const conversation = buildConversation();
  let answer = 0;
  for (const record of records) {
    const item = itemOf(record);
    const add = (line: TranscriptLine) => conversation.add({ line, uuid: String(record.id), parent: null });
    if (item?.kind === "user") {
      answer++;
      if (item.results.length > 0) add(resultLine(item.results));
      for (const line of userLines(item.said, item.attached)) add({ ...line, timestamp: item.at });
    } else if (item) {
      const calls = item.calls.map(({ id, name, input }) => ({ type: "tool_use", id, name, input }));
      const content = [...(item.text.trim() === "" ? [] : [{ type: "text", text: item.text }]), ...calls];
      if (content.length === 0) continue;
      add({ type: "assistant", message: { id: `answer-${answer}`, role: "assistant", content } });
      const results = item.calls.flatMap(({ result }: GeminiCall) => result ?? []);
      if (results.length > 0) add(resultLine(results));
      if (calls.length > 0) answer++;
    }
  }
  return conversation.finish();
}

function resultLine(results: readonly { id: string; content: string; isError?: boolean }[]): TranscriptLine {
  const content = results.map(({ id, content, isError }) => ({
    type: "tool_result",
    tool_use_id: id,
    content,
    ...(isError && { is_error: true }),
  }));
  return { type: "user", message: { role: "user", content } };
}

/** What was typed is the message; the rest are attachments. */
function userLines(said: string, attached: readonly string[]): TranscriptLine[] {
  const attachments = attached.map((content, index): TranscriptLine => {
    const attachment = { type: "gemini", content };
    return { type: "attachment", attachment, index, ...(said === "" && index === 0 && { starts: true }) };
  });
  return said === "" ? attachments : [{ type: "user", message: { role: "user", content: said } }, ...attachments];
}

/** `attached` is what the client or a hook put into the user's message. */
type GeminiItem =
  | { kind: "user"; at: string; said: string; attached: string[]; results: ToolResult[] }
  | { kind: "answer"; text: string; calls: GeminiCall[] };

interface GeminiCall {
  id: string;
  name: string;
  input: Record<string, unknown>;
  /** Null when there is none yet. */
  result: ToolResult | null;
}

/** Null for what is neither said nor done by a tool: the client's notices and errors. */
function itemOf(record: Record<string, unknown>): GeminiItem | null {
  if (record.type === "user") return userItem(record);
  return record.type === "gemini" ? answerItem(record) : null;
}

function userItem({ content, displayContent, timestamp }: Record<string, unknown>): GeminiItem {
  const at = textOrNull(timestamp) ?? "";
  const texts = textsOf(content);
  const results = partsOf(content).flatMap((part) => resultIn(part) ?? []);
  // What comes with tool results was added, not typed.
  if (results.length > 0) return { kind: "user", at, said: "", attached: texts, results };
  const parts = split(texts);
  const shown = displayContent === undefined ? null : textsOf(displayContent).join("\n");
  const said = parts.flatMap(({ text, injected }) => (injected || !isShown(text, shown) ? [] : [text]));
  const attached = parts.flatMap(({ text, injected }) => (injected || !isShown(text, shown) ? [text] : []));
  return { kind: "user", at, said: said.join("\n").trim(), attached, results };
}

/** The client keeps what it showed as typed where it sent something else: its own prompt to continue, a command's text, files. */
function isShown(text: string, shown: string | null): boolean {
  return shown?.includes(text.trim()) ?? true;
}

interface Part {
  text: string;
  injected: boolean;
}

/** Files named in the prompt follow it. Text in one of them may pose as their end, so nothing after it counts. */
const FILES = /(?:^|\n)--- Content from referenced files ---/;
/** What a hook said, up to the last closing tag, as a text in it may have one of its own. */
const HOOKED = /<hook_context>(?:[\s\S]*<\/hook_context>|[\s\S]*)/;

function split(texts: readonly string[]): Part[] {
  const parts: Part[] = [];
  const add = (text: string, injected: boolean) => {
    if (text.trim() !== "") parts.push({ text, injected: injected || isInjected(text) });
  };
  let isBehind = false;
  for (const text of texts) {
    const files: number = isBehind ? 0 : (FILES.exec(text)?.index ?? text.length);
    const typed = text.slice(0, files);
    const hooked = HOOKED.exec(typed);
    const end = hooked ? hooked.index + hooked[0].length : 0;
    if (hooked) add(typed.slice(0, hooked.index), false);
    if (hooked) add(hooked[0], true);
    add(typed.slice(end), false);
    add(text.slice(files), true);
    isBehind ||= files < text.length;
  }
  return parts;
}

/** A text wrapped in a tag comes from a program, or is a pasted document. */
const WRAPPED = /^<([a-z][\w-]*)(?:\s[^>]*)?>[\s\S]*<\/\1>$/i;
/** What the client says in the user's name; the first ones also when they were cut off. */
const KNOWN =
  /^(?:<(?:session_context|state_snapshot|loaded_context)\b|This is the Gemini CLI\. We are|Here is (?:the user's|a summary of changes in the user's) editor context|I ran the following shell command:|I'm currently working in the (?:following )?director|System: Potential loop|Please continue\.$|User has manually exited Plan Mode|User (?:steering update|hints?):)/i;

function isInjected(text: string): boolean {
  const trimmed = text.trim();
  return KNOWN.test(trimmed) || WRAPPED.test(trimmed);
}

/** A call is in the record with its result, and in some versions among the parts, too. */
function answerItem({ content, toolCalls }: Record<string, unknown>): GeminiItem {
  const calls = new Map<string, GeminiCall>();
  for (const call of Array.isArray(toolCalls) ? toolCalls.filter(isRecord) : []) {
    const { id, result, status } = call;
    if (typeof id !== "string") continue;
    const isError = status === "error" || status === "cancelled";
    const content = textOfResult(result, id);
    const block: ToolResult = { type: "tool_result", id, content: content ?? "", ...(isError && { isError }) };
    calls.set(id, { ...callOf(id, call), result: content === null && !isError ? null : block });
  }
  for (const { functionCall } of partsOf(content)) {
    if (!isRecord(functionCall) || typeof functionCall.id !== "string" || calls.has(functionCall.id)) continue;
    calls.set(functionCall.id, { ...callOf(functionCall.id, functionCall), result: null });
  }
  return { kind: "answer", text: textsOf(content).join("\n"), calls: [...calls.values()] };
}

function callOf(id: string, { name, args }: Record<string, unknown>): Omit<GeminiCall, "result"> {
  return { id, name: textOrNull(name) || "tool", input: isRecord(args) ? args : {} };
}

/** The parts that went back to the model; with several calls at once they may belong to any of them. */
function textOfResult(result: unknown, id: string): string | null {
  if (typeof result === "string") return result;
  const parts = partsOf(result);
  if (parts.length === 0) return null;
  const results = parts.flatMap((part) => resultIn(part) ?? []);
  const own = results.filter((one) => one.id === id);
  const texts = (own.length > 0 ? own : results).map(({ content }) => content);
  return [...texts, ...(results.length > 1 ? [] : textsOf(result))].join("\n");
}

function resultIn({ functionResponse }: Record<string, unknown>): ToolResult | null {
  if (!isRecord(functionResponse)) return null;
  const { id, response } = functionResponse;
  const { output, error } = isRecord(response) ? response : {};
  const content = [output, error].find((one) => typeof one === "string") ?? JSON.stringify(response ?? "");
  return { type: "tool_result", id: textOrNull(id) ?? "", content: content as string };
}

/** Thinking is left out. */
function textsOf(content: unknown): string[] {
  if (typeof content === "string") return content === "" ? [] : [content];
  return partsOf(content).flatMap(({ text, thought }) => (typeof text === "string" && !thought ? [text] : []));
}

/** A text, a part or a list of either. */
function partsOf(content: unknown): Record<string, unknown>[] {
  const list = Array.isArray(content) ? content : [content];
  return list.flatMap((part) => (typeof part === "string" ? [{ text: part }] : isRecord(part) ? [part] : []));
}
