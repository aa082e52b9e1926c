/** A line of a Codex rollout, in any of its eras, and what it holds of the conversation. */

import type { TextBlock, ToolResult, ToolUse } from "../model/ask.ts";
import { isRecord, textOrNull } from "./transcript-line.ts";

export interface CodexLine {
  /** `session_meta`, `response_item`, `event_msg`, `turn_context`, `compacted` and others. */
  type: string;
  /** ISO; "" in the era whose lines had no time. */
  at: string;
  payload: Record<string, unknown>;
}

/** What a line adds to the conversation. */
export type CodexItem =
  | { kind: "user"; parts: CodexPart[] }
  | { kind: "answer"; block: TextBlock | ToolUse }
  | { kind: "result"; block: ToolResult };

/** A text in the user's message; `injected` if Codex or an editor put it there. */
export interface CodexPart {
  text: string;
  injected: boolean;
}

/** Null for what is no line of a rollout. Markers without content are lines of type "". */
export function parseCodexLine(text: string): CodexLine | null {
  let value: unknown;
  try {
    value = JSON.parse(text.charCodeAt(0) === 0xfeff ? text.slice(1) : text);
  } catch {
    return null;
  }
  if (!isRecord(value)) return null;
  const at = textOrNull(value.timestamp) ?? "";
  const { type, payload } = value;
  if (typeof type === "string" && isRecord(payload)) return { type, at, payload };
  // Until September 2025 a line was the item itself, and the first one told of the session.
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

/** Null for what nobody said and no tool did: thinking, settings, snapshots, and what the developer's role says. */
export function itemOf({ type, payload }: CodexLine): CodexItem | null {
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

/** What an event says that the user typed, else null. In files since September 2025 every prompt has one, and only prompts. */
export function typedOf({ type, payload }: CodexLine): string | null {
  if (type !== "event_msg") return null;
  const { item, kind } = payload;
  // At first there were events for what Codex itself put in, marked by their kind.
  const isPlain = kind === undefined || kind === "plain";
  if (payload.type === "user_message") return isPlain ? typedIn(textOrNull(payload.message)) : null;
  if (payload.type !== "item_completed" || !isRecord(item) || !/^user_?message$/i.test(String(item.type))) return null;
  return typedIn(textsOf(item.content).join(""));
}

function typedIn(text: string | null): string | null {
  return text === null ? null : (splitText(text).at(-1)?.text.trim() ?? null);
}

/** How many of the user's turns were taken back here. */
export function rolledBackIn({ type, payload }: CodexLine): number {
  const turns = type === "event_msg" && payload.type === "thread_rolled_back" ? payload.num_turns : 0;
  return Number.isSafeInteger(turns) && (turns as number) > 0 ? (turns as number) : 0;
}

/** The working directory as the oldest files tell it: in the text about the environment. */
export function cwdIn(parts: readonly CodexPart[]): string | null {
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
  // The developer's role is Codex's own.
  return role === "assistant" ? { kind: "answer", block: { type: "text", text: texts.join("\n") } } : null;
}

/** Stands before and behind a picture. */
const IMAGE_TAG = /^\s*<\/?image\b[^>]*>\s*$/;

/** An editor writes its open files before what was typed, under headings of its own. */
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

/** Whatever Codex says in the user's name stands in a tag as a whole; a document that somebody pasted may, too. */
const WRAPPED = /^<([a-z][\w-]*)(?:\s[^>]*)?>[\s\S]*<\/\1>$/i;
/** Those that are known also count when they were cut off; so do the few that have no tag. */
const KNOWN =
  /^(?:<(?:environment_context|user_instructions|turn_aborted|user_action|user_shell_command|subagent_notification|skill|hook_prompt|codex_internal_context|goal_context|collaboration_mode|permissions|external_\w+)\b|# AGENTS\.md instructions|Warning: (?:apply_patch was requested via|The maximum number of unified exec|Your account was flagged) )/i;

function isInjected(text: string): boolean {
  const trimmed = text.trim();
  return KNOWN.test(trimmed) || WRAPPED.test(trimmed);
}

function call(id: string, name: string, input: Record<string, unknown>): CodexItem {
  return { kind: "answer", block: { type: "tool_use", id, name, input } };
}

/** Some versions write the two lines behind the server's name, some do not. */
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

/** A text, a list of texts and pictures, or in some versions an object around either. */
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
