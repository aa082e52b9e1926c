/** A record of a Gemini CLI session, and what it holds of the conversation. */

import type { ToolResult } from "../model/ask.ts";
import { isRecord, textOrNull } from "./transcript-line.ts";

/** `attached`: what the client or a hook put into the user's message. */
type GeminiItem =
  | { kind: "user"; at: string; said: string; attached: string[]; results: ToolResult[] }
  | { kind: "answer"; text: string; calls: GeminiCall[] };

export interface GeminiCall {
  id: string;
  name: string;
  input: Record<string, unknown>;
  /** Null when there is none yet. */
  result: ToolResult | null;
}

/** Null for what is no JSON object: half a line, another program's output. */
export function parseRecord(text: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(text.charCodeAt(0) === 0xfeff ? text.slice(1) : text);
    return isRecord(value) ? value : null;
  } catch {
    return null;
  }
}

/** Null for what nobody said and no tool did: notices and errors of the client. */
export function itemOf(record: Record<string, unknown>): GeminiItem | null {
  if (record.type === "user") return userItem(record);
  return record.type === "gemini" ? answerItem(record) : null;
}

function userItem({ content, displayContent, timestamp }: Record<string, unknown>): GeminiItem {
  const at = textOrNull(timestamp) ?? "";
  const texts = textsOf(content);
  const results = partsOf(content).flatMap((part) => resultIn(part) ?? []);
  // What comes with the results of tools is not typed but added.
  if (results.length > 0) return { kind: "user", at, said: "", attached: texts, results };
  const parts = split(texts);
  const shown = displayContent === undefined ? null : textsOf(displayContent).join("\n");
  const said = parts.flatMap(({ text, injected }) => (injected || !isShown(text, shown) ? [] : [text]));
  const attached = parts.flatMap(({ text, injected }) => (injected || !isShown(text, shown) ? [text] : []));
  return { kind: "user", at, said: said.join("\n").trim(), attached, results };
}

/** The client keeps what it showed as typed where it sent something else: a prompt of its own to go on, a command's text, files. */
function isShown(text: string, shown: string | null): boolean {
  return shown?.includes(text.trim()) ?? true;
}

interface Part {
  text: string;
  injected: boolean;
}

/** Files that were named in the prompt follow it. What stands in one of them may pose as their end, so nothing behind counts. */
const FILES = /(?:^|\n)--- Content from referenced files ---/;
/** What a hook said; to the last end, as a text in it may hold an end of its own. */
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

/** A text that stands in a tag as a whole is a program's, or a document that somebody pasted. */
const WRAPPED = /^<([a-z][\w-]*)(?:\s[^>]*)?>[\s\S]*<\/\1>$/i;
/** What the client says in the user's name; the first ones also when they were cut off. */
const KNOWN =
  /^(?:<(?:session_context|state_snapshot|loaded_context)\b|This is the Gemini CLI\. We are|Here is (?:the user's|a summary of changes in the user's) editor context|I ran the following shell command:|I'm currently working in the (?:following )?director|System: Potential loop|Please continue\.$|User has manually exited Plan Mode|User (?:steering update|hints?):)/i;

function isInjected(text: string): boolean {
  const trimmed = text.trim();
  return KNOWN.test(trimmed) || WRAPPED.test(trimmed);
}

/** A call stands in the record with its result, and in some versions among the parts, too. */
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

/** The parts that went back to the model; of several calls at once they may be everybody's. */
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
