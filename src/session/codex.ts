/** Reads a Codex session from its rollout file, of any version, in the shape of our own sessions. */

import { basename } from "node:path";
import { attempt, isObject } from "../errors.ts";
import { converse, type Head, type Heard, isInjected, plainId, textsOf } from "./conversation.ts";
import { eachRecord, readHead, withLines } from "./line-stream.ts";
import type { HeardSession } from "./session-reader.ts";
import { parseRecord, textOrNull } from "./transcript-line.ts";

/** The first line holds Codex's instructions and the next ones the project's: some ten thousand characters each. */
const MAX_HEAD_BYTES = 1 << 20;
/** If the working directory is not in the first line, it is in one of the next. */
const MAX_HEAD_LINES = 40;

/** Null when the file is not a rollout, or cannot be read. Must not throw. */
export function readCodexHead(path: string): Head | null {
  let head: Head | null = null;
  for (const one of (readHead(path, MAX_HEAD_BYTES) ?? "").split("\n", MAX_HEAD_LINES)) {
    const line = parseCodexLine(one.trimEnd());
    if (!line) continue;
    if (!head && !LINE_TYPE.test(line.type)) return null;
    head ??= { id: idOf(path, line), cwd: null, isSubAgent: isSubAgent(line) };
    head.cwd = cwdOf(line);
    if (head.cwd !== null) break;
  }
  return head;
}

/** Throws if there is no such file. Turns that were rolled back are left out; turns that were compacted are not. */
export function readCodexSession(path: string): Promise<HeardSession> {
  return withLines(path, async (lines) => {
    const entries: Entry[] = [];
    /** Empty for files from before there were such events. */
    const typed = new Set<string>();
    // A fork repeats its origin after its own first line: the first one counts.
    let first: CodexLine | null = null;
    let started = "";
    let cwd: string | null = null;
    const problems = await eachRecord(lines, parseCodexLine, (line, { number }) => {
      first ??= line;
      started ||= line.at;
      cwd ??= cwdOf(line);
      const item = itemOf(line);
      if (item) entries.push(item.kind === "user" ? { ...item, line: number, at: line.at || started } : item);
      const text = typedOf(line);
      if (text) typed.add(text);
      takeBack(entries, rolledBackIn(line));
    });
    const heard = entries.map((entry) => (entry.kind === "user" ? heardFrom(entry, typed) : entry));
    return { id: idOf(path, first), path, ...converse(heard, "codex"), cwd, problems };
  });
}

/** Types that only a rollout has. */
const LINE_TYPE = /^(?:session_meta|response_item|event_msg|turn_context|compacted|world_state)?$/;

/** The file name ends with it, too. */
function idOf(path: string, first: CodexLine | null): string {
  const name = basename(path).replace(/\.jsonl$/, "");
  const named = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.exec(name)?.[0] ?? name;
  return plainId(first?.type === "session_meta" ? first.payload.id : null, named);
}

function isSubAgent({ payload: { source, thread_source } }: CodexLine): boolean {
  const made = isObject(source) && (source.subagent !== undefined || source.internal !== undefined);
  return made || thread_source === "subagent";
}

function cwdOf(line: CodexLine): string | null {
  const item = itemOf(line);
  if (item) return item.kind === "user" ? cwdIn(item.parts) : null;
  return line.type === "session_meta" || line.type === "turn_context" ? textOrNull(line.payload.cwd) || null : null;
}

/** `line` identifies a prompt: the file only grows, so its number never changes. */
type Entry = Exclude<CodexItem, { kind: "user" }> | { kind: "user"; parts: CodexPart[]; line: number; at: string };

function takeBack(entries: Entry[], turns: number): void {
  for (let left = turns; left > 0; left--) {
    const start = entries.findLastIndex((entry) => entry.kind === "user" && entry.parts.some((part) => !part.injected));
    if (start < 0) return;
    entries.length = start;
  }
}

/** What was typed is the message; the rest are attachments. */
function heardFrom({ parts, line, at }: Extract<Entry, { kind: "user" }>, typed: ReadonlySet<string>): Heard {
  const open = parts.filter(({ injected }) => !injected);
  const whole = open.map(({ text }) => text).join("");
  const isTyped = typed.size === 0 || typed.has(whole.trim());
  const said = isTyped ? open : open.filter(({ text }) => typed.has(text.trim()));
  const attached = parts.filter((part) => !said.includes(part)).map(({ text }) => text);
  return { kind: "user", uuid: `line-${line}`, at, said: said.map(({ text }) => text).join("\n"), attached };
}

interface CodexLine {
  /** `session_meta`, `response_item`, `event_msg`, `turn_context`, `compacted` and others. */
  type: string;
  /** ISO; "" in old files, whose lines had no time. */
  at: string;
  payload: Record<string, unknown>;
}

/** What a line adds to the conversation. */
type CodexItem = Exclude<Heard, { kind: "user" }> | { kind: "user"; parts: CodexPart[] };

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
  if (typeof type === "string" && isObject(payload)) return { type, at, payload };
  // Until September 2025 a line was the item itself, and the first one described the session.
  if (typeof type === "string" && BARE_ITEM.test(type)) return { type: "response_item", at, payload: value };
  if (type !== undefined) return null;
  if (typeof value.id === "string" && "instructions" in value) return { type: "session_meta", at, payload: value };
  return typeof value.record_type === "string" ? { type: "", at, payload: value } : null;
}

const BARE_ITEM =
  /^(?:message|reasoning|function_call|local_shell_call|custom_tool_call|web_search_call|(?:function|custom_tool)_call_output)$/;

/** Null for what is neither said nor done by a tool: thinking, settings, snapshots, and the developer role. */
function itemOf({ type, payload }: CodexLine): CodexItem | null {
  if (type !== "response_item") return null;
  const id = textOrNull(payload.call_id) ?? textOrNull(payload.id);
  if (payload.type === "message") return messageOf(payload);
  if (id === null) return null;
  const name = textOrNull(payload.name) || "tool";
  // Some versions write the two underscores after the server's name, some do not.
  const space = textOrNull(payload.namespace)?.replace(/_*$/, "__") ?? "";
  switch (payload.type) {
    case "function_call":
      return call(id, `${space}${name}`, inputOf(payload.arguments));
    case "custom_tool_call":
      return call(id, name, { input: payload.input });
    case "local_shell_call":
      return call(id, "shell", isObject(payload.action) ? { command: payload.action.command } : {});
    case "function_call_output":
    case "custom_tool_call_output":
      return { kind: "results", blocks: [{ type: "tool_result", id, content: outputOf(payload.output) }] };
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
  if (payload.type !== "item_completed" || !isObject(item) || !/^user_?message$/i.test(String(item.type))) return null;
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
  return role === "assistant" ? { kind: "answer", blocks: [{ type: "text", text: texts.join("\n") }] } : null;
}

/** Before and after an image. */
const IMAGE_TAG = /^\s*<\/?image\b[^>]*>\s*$/;

/** An editor puts its open files before what was typed, under its own headings. */
const EDITOR_CONTEXT = "# Context from my IDE setup:";
const EDITOR_REQUEST = /^## My request for Codex:[ \t]*$/m;

function splitText(text: string): CodexPart[] {
  if (!text.trimStart().startsWith(EDITOR_CONTEXT)) return [{ text, injected: isInjected(text, KNOWN) }];
  const heading = EDITOR_REQUEST.exec(text);
  if (!heading) return [{ text, injected: true }];
  const typed = text.slice(heading.index + heading[0].length).trim();
  const context = { text: text.slice(0, heading.index), injected: true };
  return typed === "" ? [context] : [context, { text: typed, injected: isInjected(typed, KNOWN) }];
}

/** Known tags also count when they were cut off; so do the few texts without a tag. */
const KNOWN =
  /^(?:<(?:environment_context|user_instructions|turn_aborted|user_action|user_shell_command|subagent_notification|skill|hook_prompt|codex_internal_context|goal_context|collaboration_mode|permissions|external_\w+)\b|# AGENTS\.md instructions|Warning: (?:apply_patch was requested via|The maximum number of unified exec|Your account was flagged) )/i;

function call(id: string, name: string, input: Record<string, unknown>): CodexItem {
  return { kind: "answer", blocks: [{ type: "tool_use", id, name, input }] };
}

/** Arguments are JSON in a string, written by a model. */
function inputOf(text: unknown): Record<string, unknown> {
  const value = attempt<unknown, unknown>(() => JSON.parse(String(text)), text);
  return isObject(value) ? value : { input: value };
}

/** A text, a list of texts and images, or in some versions an object around either. */
function outputOf(output: unknown): string {
  if (typeof output === "string") return output;
  if (Array.isArray(output)) return textsOf(output).join("\n");
  return isObject(output) && output.content !== undefined ? outputOf(output.content) : "";
}
