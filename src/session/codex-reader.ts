/** A session of Codex read from its rollout file: what the two said and the tools did, in the shape of our own sessions. */

import { basename } from "node:path";
import {
  type CodexItem,
  type CodexLine,
  type CodexPart,
  cwdIn,
  itemOf,
  parseCodexLine,
  rolledBackIn,
  typedOf,
} from "./codex-line.ts";
import { buildConversation, type ConversationBuilder } from "./conversation.ts";
import { type OpenedLines, openLines, withLines } from "./line-stream.ts";
import type { ResumedSession } from "./session-reader.ts";
import { isRecord, type TranscriptLine, textOrNull } from "./transcript-line.ts";

/** As much of a session as it takes to learn from it. */
export type HeardSession = Pick<ResumedSession, "id" | "path" | "messages" | "prompts" | "cwd" | "problems">;

/** What the beginning of a rollout tells. */
interface CodexHead {
  id: string;
  cwd: string | null;
  /** Its prompts are an agent's, not a person's. */
  isSubAgent: boolean;
}

/** The first line holds Codex's instructions and the next ones the project's: some ten thousand characters each. */
const MAX_HEAD_BYTES = 1 << 20;
/** Where the working directory is not in the first line, it is in one of the next. */
const MAX_HEAD_LINES = 40;

/** Null when the file is no rollout, or cannot be read. Must not throw. */
export function readCodexHead(path: string): CodexHead | null {
  let lines: OpenedLines | null = null;
  try {
    lines = openLines(path);
    if (!lines) return null;
    const text = lines.at(0, Math.min(lines.size, MAX_HEAD_BYTES)).toString();
    return headOf(path, text);
  } catch {
    return null; // unreadable, or gone while it was read
  } finally {
    lines?.close();
  }
}

/** Throws if there is no such file. What was taken back is left out; what compaction took away is not. */
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

/** Types that tell a rollout from other transcripts. */
const LINE_TYPES: ReadonlySet<string> = new Set([
  "session_meta",
  "response_item",
  "event_msg",
  "turn_context",
  "compacted",
  "world_state",
  "",
]);

/** The name of the file ends with it, too. It will be printed and written: anything that is no plain name is not taken. */
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

/** `line` names what was said: the file only grows, so that it stays the same. */
type Entry = CodexItem & { line: number; at: string };

async function readAll(path: string, lines: OpenedLines): Promise<HeardSession> {
  const entries: Entry[] = [];
  const typed = new Set<string>();
  const problems: string[] = [];
  // A fork repeats its origin behind its own first line: the first one counts.
  const facts = { id: null as string | null, started: "", cwd: null as string | null };
  let number = 0;
  let unreadable = 0;
  await lines.each(({ bytes, ended }) => {
    number++;
    const text = bytes?.toString().trimEnd();
    if (text === "") return;
    const line = text === undefined ? null : parseCodexLine(text);
    if (!line) {
      if (ended) unreadable++;
      else problems.push("the last line is only half written; it is left out");
      return;
    }
    facts.id ??= idOf(path, line);
    facts.started ||= line.at;
    facts.cwd ??= cwdOf(line);
    const item = itemOf(line);
    if (item) entries.push({ ...item, line: number, at: line.at || facts.started });
    typed.add(typedOf(line) ?? "");
    takeBack(entries, rolledBackIn(line));
  });
  if (unreadable > 0) problems.push(`${unreadable} ${unreadable === 1 ? "line" : "lines"} cannot be read; left out`);
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

/** `typed` is empty for files of the time before there were such events. */
function converse(entries: readonly Entry[], typed: ReadonlySet<string>): ReturnType<ConversationBuilder["finish"]> {
  const conversation = buildConversation();
  /** Calls without a result so far: what is said while there are some belongs to the same answer. */
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

/** What was typed is the message; the rest are attachments, which nobody said. */
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
