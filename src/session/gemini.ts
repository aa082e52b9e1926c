/** Reads a Gemini CLI session from its file, of any version, in the shape of our own sessions. */

import { basename, dirname, join } from "node:path";
import { readRegularText } from "../disk/fence.ts";
import { attempt, isObject } from "../errors.ts";
import type { ToolResult, ToolUse } from "../model/ask.ts";
import { converse, type Head, type Heard, isInjected, partsOf, plainId, textsOf } from "./conversation.ts";
import { eachRecord, MAX_LINE_BYTES, type OpenedLines, readHead, withLines } from "./line-stream.ts";
import type { HeardSession } from "./session-reader.ts";
import { parseRecord, textOrNull } from "./transcript-line.ts";

/** The first line is short; a sub-agent's names the folders it may work in. */
const MAX_HEAD_BYTES = 1 << 16;
/** Until 2026 a file was one object over many lines. */
const OLDER_HEAD = /^\s*\{\s*"sessionId"\s*:\s*"([^"\\]*)"\s*,\s*"projectHash"\s*:\s*"/;

/** Null when the file is not Gemini CLI's, or cannot be read. Must not throw. */
export function readGeminiHead(path: string): Head | null {
  const text = readHead(path, MAX_HEAD_BYTES);
  if (text === null) return null;
  const first = parseRecord(text.split("\n", 1)[0] ?? "");
  const cwd = readProjectRoot(path);
  if (first && isHead(first)) return { id: idOf(path, first.sessionId), cwd, isSubAgent: first.kind === "subagent" };
  const older = OLDER_HEAD.exec(text.replace(/^\uFEFF/, ""));
  return older ? { id: idOf(path, older[1]), cwd, isSubAgent: false } : null;
}

/** Throws if there is no such file. Turns that were rewound are left out; turns that were compressed are not. */
export function readGeminiSession(path: string): Promise<HeardSession> {
  return withLines(path, async (lines) => {
    const book = openBook();
    const older = readOlder(lines);
    if (older) book.add(older);
    const problems = older ? [] : await eachRecord(lines, parseRecord, book.add);
    const conversation = converse(book.records().flatMap(heardIn), "gemini");
    return { id: idOf(path, book.id()), path, ...conversation, cwd: readProjectRoot(path), problems };
  });
}

/** Longer than any path. */
const MAX_PATH_BYTES = 1 << 15;

/** The project whose folder of chats this is in; null when nothing says so. Must not throw. */
function readProjectRoot(path: string): string | null {
  const folder = dirname(path);
  if (basename(folder) !== "chats") return null;
  return attempt(() => readRegularText(join(folder, "..", ".project_root"), MAX_PATH_BYTES), null)?.trim() || null;
}

function idOf(path: string, given: unknown): string {
  return plainId(given, basename(path).replace(/\.jsonl?$/, ""));
}

function isHead({ sessionId, projectHash }: Record<string, unknown>): boolean {
  return typeof sessionId === "string" && typeof projectHash === "string";
}

/** A file of one object, or null. */
function readOlder({ size, at }: OpenedLines): Record<string, unknown> | null {
  const head = at(0, Math.min(size, MAX_HEAD_BYTES)).toString();
  const isOlder = size <= MAX_LINE_BYTES && OLDER_HEAD.test(head.replace(/^\uFEFF/, ""));
  return isOlder && !parseRecord(head.split("\n", 1)[0] ?? "") ? parseRecord(at(0, size).toString()) : null;
}

/**
 * A record replaces the earlier one with its id, in its position. When the client resumes or compresses, it writes all that its model
 * will be sent: what is new in that, such as a summary, was not said, and only counts as a point to rewind to.
 */
function openBook() {
  const records = new Map<string, Record<string, unknown> | null>();
  let session: unknown = null;
  const takeBack = (id: string) => {
    const ids = [...records.keys()];
    // As the client does: if the point is unknown, everything goes.
    for (const one of ids.slice(Math.max(0, ids.indexOf(id)))) records.delete(one);
  };
  return {
    id: () => session,
    add(record: Record<string, unknown>) {
      const { id, $rewindTo: back, $set: facts } = record;
      if (typeof back === "string") takeBack(back);
      else if (typeof id === "string") records.set(id, record);
      else if (isObject(facts)) {
        for (const sent of messagesOf(facts)) if (!records.has(sent.id)) records.set(sent.id, null);
      } else if (isHead(record)) {
        session ??= record.sessionId;
        for (const message of messagesOf(record)) records.set(message.id, message);
      }
    },
    /** In the order of the conversation. */
    records: () => [...records.values()].filter((record) => record !== null),
  };
}

function messagesOf({ messages }: Record<string, unknown>): (Record<string, unknown> & { id: string })[] {
  return partsOf(messages).filter((one): one is Record<string, unknown> & { id: string } => typeof one.id === "string");
}

/** Nothing for what is neither said nor done by a tool: the client's notices and errors. */
function heardIn(record: Record<string, unknown>): Heard[] {
  if (record.type === "user") return heardFromUser(record);
  return record.type === "gemini" ? heardFromModel(record) : [];
}

function heardFromUser({ id, content, displayContent, timestamp }: Record<string, unknown>): Heard[] {
  const heard = { kind: "user" as const, uuid: String(id), at: textOrNull(timestamp) ?? "" };
  const texts = textsOf(content);
  const blocks = partsOf(content).flatMap((part) => resultIn(part) ?? []);
  // What comes with tool results was added, not typed.
  if (blocks.length > 0)
    return [
      { kind: "results", blocks },
      { ...heard, said: "", attached: texts },
    ];
  const shown = displayContent === undefined ? null : textsOf(displayContent).join("\n");
  const parts = split(texts).map(({ text, injected }) => ({ text, typed: !injected && isShown(text, shown) }));
  const said = parts.filter(({ typed }) => typed).map(({ text }) => text);
  const attached = parts.filter(({ typed }) => !typed).map(({ text }) => text);
  return [{ ...heard, said: said.join("\n").trim(), attached }];
}

/** The client keeps what it showed as typed where it sent something else: its own prompt to continue, a command's text, files. */
function isShown(text: string, shown: string | null): boolean {
  return shown?.includes(text.trim()) ?? true;
}

/** Files named in the prompt follow it. Text in one of them may pose as their end, so nothing after it counts. */
const FILES = /(?:^|\n)--- Content from referenced files ---/;
/** What a hook said, up to the last closing tag, as a text in it may have one of its own. */
const HOOKED = /<hook_context>(?:[\s\S]*<\/hook_context>|[\s\S]*)/;

function split(texts: readonly string[]): { text: string; injected: boolean }[] {
  const parts: { text: string; injected: boolean }[] = [];
  const add = (text: string, injected: boolean) => {
    if (text.trim() !== "") parts.push({ text, injected: injected || isInjected(text, KNOWN) });
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

/** What the client says in the user's name; the first ones also when they were cut off. */
const KNOWN =
  /^(?:<(?:session_context|state_snapshot|loaded_context)\b|This is the Gemini CLI\. We are|Here is (?:the user's|a summary of changes in the user's) editor context|I ran the following shell command:|I'm currently working in the (?:following )?director|System: Potential loop|Please continue\.$|User has manually exited Plan Mode|User (?:steering update|hints?):)/i;

/** A call is in the record with its result, and in some versions among the parts, too. */
function heardFromModel({ content, toolCalls }: Record<string, unknown>): Heard[] {
  const calls = new Map<string, ToolUse>();
  const results: ToolResult[] = [];
  const add = (id: string, { name, args }: Record<string, unknown>) =>
    calls.set(id, { type: "tool_use", id, name: textOrNull(name) || "tool", input: isObject(args) ? args : {} });
  for (const call of partsOf(toolCalls)) {
    const { id, result, status } = call;
    if (typeof id !== "string") continue;
    add(id, call);
    const isError = status === "error" || status === "cancelled";
    const printed = textOfResult(result, id);
    if (printed === null && !isError) continue;
    results.push({ type: "tool_result", id, content: printed ?? "", ...(isError && { isError }) });
  }
  for (const { functionCall: call } of partsOf(content)) {
    if (isObject(call) && typeof call.id === "string" && !calls.has(call.id)) add(call.id, call);
  }
  const text = textsOf(content).join("\n");
  const said = text.trim() === "" ? [] : [{ type: "text" as const, text }];
  const answer: Heard = { kind: "answer", blocks: [...said, ...calls.values()] };
  if (calls.size === 0) return said.length === 0 ? [] : [answer];
  return [answer, { kind: "results", blocks: results, all: true }];
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
  if (!isObject(functionResponse)) return null;
  const { id, response } = functionResponse;
  const { output, error } = isObject(response) ? response : {};
  const content = [output, error].find((one) => typeof one === "string") ?? JSON.stringify(response ?? "");
  return { type: "tool_result", id: textOrNull(id) ?? "", content: content as string };
}
