/** Reads a Codex session from its rollout file, of any version, in the shape of our own sessions. */

import { basename } from "node:path";
import type { TextBlock, ToolResult, ToolUse } from "../model/ask.ts";
import { buildConversation, type ConversationBuilder } from "./conversation.ts";
import { eachRecord, type OpenedLines, readHead, withLines } from "./line-stream.ts";
import type { ResumedSession } from "./session-reader.ts";
import { isRecord, parseRecord, type TranscriptLine, textOrNull } from "./transcript-line.ts";

/** The part of a session that learning needs. */
export type HeardSession = Pick<ResumedSession, "id" | "path" | "messages" | "prompts" | "cwd" | "problems">;

/** What the beginning of a rollout says. */
interface CodexHead {
  id: string;
  cwd: string | null;
  /** Its prompts come from an agent, not a person. */
  isSubAgent: boolean;
}

/** The first line holds Codex's instructions and the next ones the project's: some ten thousand characters each. */
const MAX_HEAD_BYTES = 1 << 20;
/** If the working directory is not in the first line, it is in one of the next. */
const MAX_HEAD_LINES = 40;

/** Null when the file is not a rollout, or cannot be read. Must not throw. */
export function readCodexHead(path: string): CodexHead | null {
  const text = readHead(path, MAX_HEAD_BYTES);
  return text === null ? null : headOf(path, text);
}

/** Throws if there is no such file. Turns that were rolled back are left out; turns that were compacted are not. */
export function readCodexSession(path: string): Promise<HeardSession> {
  return withLines(path, (lines) => readAll(path, lines));
}

function headOf(path: string, text: string): CodexHead | null {
  let head: CodexHead | null = null;
  for (const one of text.split("\n", MAX_HEAD_LINES)) {
    const line = parseCodexLine(one.trimEnd());
    if (!line) continue;
    if (!head && !LINE_TYPES.has(line.type)) return null;
    head ??= { id: idOf(path, line), cwd: null, isSubAgent: isSubAgent(line) };
    head.cwd = cwdOf(line);
    if (head.cwd !== null) break;
  }
  return head;
}

/** Types that only a rollout has. */
const LINE_TYPES: ReadonlySet<string> = new Set([
  "session_meta",
  "response_item",
  "event_msg",
  "turn_context",
  "compacted",
  "world_state",
  "",
]);

/** The file name ends with it, too. It will be printed and written: anything but a plain name is rejected. */
function idOf(path: string, { type, payload }: CodexLine): string {
  const name = basename(path).replace(/\.jsonl$/, "");
  const own = type === "session_meta" ? (textOrNull(payload.id) ?? "") : "";
  return PLAIN_ID.test(own) ? own : (/[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.exec(name)?.[0] ?? name);
}

const PLAIN_ID = /^[\w.-]{1,128}$/;

function isSubAgent({ payload: { source, thread_source } }: CodexLine): boolean {
  const made = isRecord(source) && (source.subagent !== undefined || source.internal !== undefined);
  return made || thread_source === "subagent";
}

function cwdOf(line: CodexLine): string | null {
  const item = itemOf(line);
  if (item) return item.kind === "user" ? cwdIn(item.parts) : null;
  return line.type === "session_meta" || line.type === "turn_context" ? textOrNull(line.payload.cwd) || null : null;
}

/** `line` identifies a prompt: the file only grows, so its number never changes. */
type Entry = CodexItem & { line: number; at: string };

async function readAll(path: string, lines: OpenedLines): Promise<HeardSession> {
  const entries: Entry[] = [];
  const typed = new Set<string>();
  // A fork repeats its origin after its own first line: the first one counts.
  const facts = { id: null as string | null, started: "", cwd: null as string | null };
  const problems = await eachRecord(lines, parseCodexLine, (line, number) => {
    facts.id ??= idOf(path, line);
    facts.started ||= line.at;
    facts.cwd ??= cwdOf(line);
    const item = itemOf(line);
    if (item) entries.push({ ...item, line: number, at: line.at || facts.started });
    typed.add(typedOf(line) ?? "");
    takeBack(entries, rolledBackIn(line));
  });
  typed.delete("");
  const { messages, prompts } = converse(entries, typed);
  const id = facts.id ?? idOf(path, { type: "", at: "", payload: {} });
  return { id, path, messages, prompts, cwd: facts.cwd, problems };
}

function takeBack(entries: Entry[], turns: number): void {
  for (let left = turns; left > 0; left--) {
    const start = entries.findLastIndex((entry) => entry.kind === "user" && entry.parts.some((part) => !part.injected));
    if (start < 0) return;
    entries.length = start;
  }
}

/** `typed` is empty for files from before there were such events. */
function converse(entries: readonly Entry[], typed: ReadonlySet<string>): ReturnType<ConversationBuilder["finish"]> {
  const conversation = buildConversation();
  /** Calls without a result so far: text that comes meanwhile belongs to the same answer. */
  const open = new Set<string>();
  let answer = 0;
  let last: Entry["kind"] | null = null;
  for (const entry of entries) {
    const uuid = `line-${entry.line}`;
    const add = (line: TranscriptLine) => conversation.add({ line, uuid, parent: null });
    if (entry.kind === "user") {
      open.clear();
      for (const line of userLines(entry.parts, typed)) add({ ...line, timestamp: entry.at });
    } else if (entry.kind === "result") {
      const { id, content } = entry.block;
      open.delete(id);
      add({ type: "user", message: { role: "user", content: [{ type: "tool_result", tool_use_id: id, content }] } });
    } else {
      if (last !== "answer" && open.size === 0) answer++;
      if (entry.block.type === "tool_use") open.add(entry.block.id);
      add({ type: "assistant", message: { id: `answer-${answer}`, role: "assistant", content: [entry.block] } });
    }
    last = entry.kind;
  }
  return conversation.finish();
}

/** What was typed is the message; the rest are attachments. */
function userLines(parts: readonly CodexPart[], typed: ReadonlySet<string>): TranscriptLine[] {
  const open = parts.filter(({ injected }) => !injected);
  const whole = open.map(({ text }) => text).join("");
  const isTyped = typed.size === 0 || typed.has(whole.trim());
  const said = isTyped ? open : open.filter(({ text }) => typed.has(text.trim()));
  const attachments = parts
    .filter((part) => !said.includes(part))
    .map(({ text }, index): TranscriptLine => {
      const attachment = { type: "codex", content: text };
      return { type: "attachment", attachment, index, ...(said.length === 0 && index === 0 && { starts: true }) };
    });
  if (said.length === 0) return attachments;
  const content = said.map(({ text }) => text).join("\n");
  return [{ type: "user", message: { role: "user", content } }, ...attachments];
}

interface CodexLine {
  /** `session_meta`, `response_item`, `event_msg`, `turn_context`, `compacted` and others. */
  type: string;
  /** ISO; "" in old files, whose lines had no time. */
  at: string;
  payload: Record<string, unknown>;
}

/** What a line adds to the conversation. */
type CodexItem =
  | { kind: "user"; parts: CodexPart[] }
  | { kind: "answer"; block: TextBlock | ToolUse }
  | { kind: "result"; block: ToolResult };

/** A text in the user's message; `injected` if Codex or an editor put it there. */
interface CodexPart {
  text: string;
  injected: boolean;
}

/** Null for anything but a line of a rollout. Markers without content are lines of type "". */
function parseCodexLine(text: string): CodexLine | null {
  const value = parseRecord(text);
  if (!value) return null;
  const at = textOrNull(value.timestamp) ?? "";
  const { type, payload } = value;
  if (typeof type === "string" && isRecord(payload)) return { type, at, payload };
  // Until September 2025 a line was the item itself, and the first one described the session.
  if (typeof type === "string" && BARE_ITEMS.has(type)) return { type: "response_item", at, payload: value };
  if (type !== undefined) return null;
  if (typeof value.id === "string" && "instructions" in value) return { type: "session_meta", at, payload: value };
  return typeof value.record_type === "string" ? { type: "", at, payload: value } : null;
}

const BARE_ITEMS: ReadonlySet<string> = new Set([
  "message",
  "reasoning",
  "function_call",
  "function_call_output",
  "local_shell_call",
  "custom_tool_call",
  "custom_tool_call_output",
  "web_search_call",
]);

/** Null for what is neither said nor done by a tool: thinking, settings, snapshots, and the developer role. */
function itemOf({ type, payload }: CodexLine): CodexItem | null {
  if (type !== "response_item") return null;
  const id = textOrNull(payload.call_id) ?? textOrNull(payload.id);
  if (payload.type === "message") return messageOf(payload);
  if (id === null) return null;
  switch (payload.type) {
    case "function_call":
      return call(id, `${spaceOf(payload)}${nameOf(payload)}`, inputOf(payload.arguments));
    case "custom_tool_call":
      return call(id, nameOf(payload), { input: payload.input });
    case "local_shell_call":
      return call(id, "shell", isRecord(payload.action) ? { command: payload.action.command } : {});
    case "function_call_output":
    case "custom_tool_call_output":
      return { kind: "result", block: { type: "tool_result", id, content: outputOf(payload.output) } };
    default:
      return null;
  }
}

/** What the user typed according to an event, else null. In files since September 2025 every prompt has such an event, and only prompts do. */
function typedOf({ type, payload }: CodexLine): string | null {
  if (type !== "event_msg") return null;
  const { item, kind } = payload;
  // At first there were also events for Codex's own text, marked by their kind.
  const isPlain = kind === undefined || kind === "plain";
  if (payload.type === "user_message") return isPlain ? typedIn(textOrNull(payload.message)) : null;
  if (payload.type !== "item_completed" || !isRecord(item) || !/^user_?message$/i.test(String(item.type))) return null;
  return typedIn(textsOf(item.content).join(""));
}

function typedIn(text: string | null): string | null {
  return text === null ? null : (splitText(text).at(-1)?.text.trim() ?? null);
}

/** How many of the user's turns were rolled back here. */
function rolledBackIn({ type, payload }: CodexLine): number {
  const turns = type === "event_msg" && payload.type === "thread_rolled_back" ? payload.num_turns : 0;
  return Number.isSafeInteger(turns) && (turns as number) > 0 ? (turns as number) : 0;
}

/** The working directory in the oldest files: it is in the text about the environment. */
function cwdIn(parts: readonly CodexPart[]): string | null {
  for (const { text } of parts) {
    if (!text.trimStart().startsWith("<environment_context>")) continue;
    const found = /<cwd>([^<\n]+)<\/cwd>|^Current working directory: (.+)$/m.exec(text);
    if (found) return (found[1] ?? found[2] ?? "").trim();
  }
  return null;
}

function messageOf({ role, content }: Record<string, unknown>): CodexItem | null {
  const texts = textsOf(content).filter((text) => text.trim() !== "");
  if (texts.length === 0) return null;
  if (role === "user") return { kind: "user", parts: texts.filter((text) => !IMAGE_TAG.test(text)).flatMap(splitText) };
  // The developer role is Codex's own.
  return role === "assistant" ? { kind: "answer", block: { type: "text", text: texts.join("\n") } } : null;
}

/** Before and after an image. */
const IMAGE_TAG = /^\s*<\/?image\b[^>]*>\s*$/;

/** An editor puts its open files before what was typed, under its own headings. */
const EDITOR_CONTEXT = "# Context from my IDE setup:";
const EDITOR_REQUEST = /^## My request for Codex:[ \t]*$/m;

function splitText(text: string): CodexPart[] {
  if (!text.trimStart().startsWith(EDITOR_CONTEXT)) return [{ text, injected: isInjected(text) }];
  const heading = EDITOR_REQUEST.exec(text);
  if (!heading) return [{ text, injected: true }];
  const typed = text.slice(heading.index + heading[0].length).trim();
  const context = { text: text.slice(0, heading.index), injected: true };
  return typed === "" ? [context] : [context, { text: typed, injected: isInjected(typed) }];
}

/** Whatever Codex says in the user's name is wrapped in a tag; a pasted document may be, too. */
const WRAPPED = /^<([a-z][\w-]*)(?:\s[^>]*)?>[\s\S]*<\/\1>$/i;
/** Known tags also count when they were cut off; so do the few texts without a tag. */
const KNOWN =
  /^(?:<(?:environment_context|user_instructions|turn_aborted|user_action|user_shell_command|subagent_notification|skill|hook_prompt|codex_internal_context|goal_context|collaboration_mode|permissions|external_\w+)\b|# AGENTS\.md instructions|Warning: (?:apply_patch was requested via|The maximum number of unified exec|Your account was flagged) )/i;

function isInjected(text: string): boolean {
  const trimmed = text.trim();
  return KNOWN.test(trimmed) || WRAPPED.test(trimmed);
}

function call(id: string, name: string, input: Record<string, unknown>): CodexItem {
  return { kind: "answer", block: { type: "tool_use", id, name, input } };
}

/** Some versions write the two underscores after the server's name, some do not. */
function spaceOf({ namespace }: Record<string, unknown>): string {
  return textOrNull(namespace)?.replace(/_*$/, "__") ?? "";
}

function nameOf({ name }: Record<string, unknown>): string {
  return textOrNull(name) || "tool";
}

/** Arguments are JSON in a string, written by a model. */
function inputOf(text: unknown): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(String(text));
    return isRecord(value) ? value : { input: value };
  } catch {
    return { input: text };
  }
}

/** A text, a list of texts and images, or in some versions an object around either. */
function outputOf(output: unknown): string {
  if (typeof output === "string") return output;
  if (Array.isArray(output)) return textsOf(output).join("\n");
  return isRecord(output) && output.content !== undefined ? outputOf(output.content) : "";
}

function textsOf(content: unknown): string[] {
  if (typeof content === "string") return [content];
  if (!Array.isArray(content)) return [];
  return content.flatMap((block) => (isRecord(block) && typeof block.text === "string" ? [block.text] : []));
}
