/** A session of Gemini CLI read from its file: what the two said and the tools did, in the shape of our own sessions. */

import { basename, dirname, join } from "node:path";
import { readRegular } from "../disk/fence.ts";
import type { HeardSession } from "./codex-reader.ts";
import { buildConversation, type ConversationBuilder } from "./conversation.ts";
import { type GeminiCall, itemOf, parseRecord } from "./gemini-record.ts";
import { MAX_LINE_BYTES, type OpenedLines, openLines, withLines } from "./line-stream.ts";
import { isRecord, type TranscriptLine, textOrNull } from "./transcript-line.ts";

/** What the beginning of a session's file tells. */
interface GeminiHead {
  id: string;
  /** Its prompts are an agent's, not a person's. */
  isSubAgent: boolean;
}

/** The first line is short; a sub-agent's names the folders it may work in. */
const MAX_HEAD_BYTES = 1 << 16;
/** Until 2026 a file was one object over many lines. */
const OLDER_HEAD = /^\s*\{\s*"sessionId"\s*:\s*"([^"\\]*)"\s*,\s*"projectHash"\s*:\s*"/;

/** Null when the file is none of Gemini CLI's, or cannot be read. Must not throw. */
export function readGeminiHead(path: string): GeminiHead | null {
  let lines: OpenedLines | null = null;
  try {
    lines = openLines(path);
    if (!lines) return null;
    const text = lines.at(0, Math.min(lines.size, MAX_HEAD_BYTES)).toString();
    const first = parseRecord(text.split("\n", 1)[0] ?? "");
    if (first && isHead(first)) return { id: idOf(path, first.sessionId), isSubAgent: first.kind === "subagent" };
    const older = OLDER_HEAD.exec(text.replace(/^\uFEFF/, ""));
    return older ? { id: idOf(path, older[1]), isSubAgent: false } : null;
  } catch {
    return null; // unreadable, or gone while it was read
  } finally {
    lines?.close();
  }
}

/** Throws if there is no such file. What was taken back is left out; what compression took away is not. */
export function readGeminiSession(path: string): Promise<HeardSession> {
  return withLines(path, (lines) => readAll(path, lines));
}

/** Longer than any path. */
const MAX_PATH_BYTES = 1 << 15;

/** The project whose sessions lie in this folder of Gemini CLI's; null when it does not say. Must not throw. */
export function readProjectRoot(folder: string): string | null {
  try {
    return readRegular(join(folder, ".project_root"), { maxBytes: MAX_PATH_BYTES })?.toString().trim() || null;
  } catch {
    return null; // not for us
  }
}

/** It will be printed and written: anything that is no plain name is not taken. */
function idOf(path: string, told: unknown): string {
  const id = textOrNull(told) ?? "";
  return PLAIN_ID.test(id) ? id : basename(path).replace(/\.jsonl?$/, "");
}

const PLAIN_ID = /^[\w.-]{1,128}$/;

function isHead({ sessionId, projectHash }: Record<string, unknown>): boolean {
  return typeof sessionId === "string" && typeof projectHash === "string";
}

async function readAll(path: string, lines: OpenedLines): Promise<HeardSession> {
  const book = openBook();
  const problems: string[] = [];
  let unreadable = 0;
  const older = readOlder(lines);
  if (older) book.add(older);
  else {
    await lines.each(({ bytes, ended }) => {
      const text = bytes?.toString().trimEnd();
      if (text === "") return;
      const record = text === undefined ? null : parseRecord(text);
      if (record) book.add(record);
      else if (ended) unreadable++;
      else problems.push("the last line is only half written; it is left out");
    });
  }
  if (unreadable > 0) problems.push(`${unreadable} ${unreadable === 1 ? "line" : "lines"} cannot be read; left out`);
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
  /** In the order in which they were said. */
  heard(): Record<string, unknown>[];
}

/**
 * A record replaces the earlier one of its id, in its place. When the client resumes or compresses, it writes down all that its model
 * will be sent: what is new in that, such as a summary, nobody said, and it only counts as a place to go back to.
 */
function openBook(): Book {
  const records = new Map<string, Record<string, unknown> | null>();
  const takeBack = (id: string) => {
    const ids = [...records.keys()];
    // As the client does: without the place, all of it.
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

/** What was typed is the message; the rest are attachments, which nobody said. */
function userLines(said: string, attached: readonly string[]): TranscriptLine[] {
  const attachments = attached.map((content, index): TranscriptLine => {
    const attachment = { type: "gemini", content };
    return { type: "attachment", attachment, index, ...(said === "" && index === 0 && { starts: true }) };
  });
  return said === "" ? attachments : [{ type: "user", message: { role: "user", content: said } }, ...attachments];
}
