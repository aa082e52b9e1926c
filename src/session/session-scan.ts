/** One pass over a transcript, for lists of sessions and for searching what was said. */

import { dirname, join } from "node:path";
import { readRegularText } from "../disk/fence.ts";
import { attempt, isObject } from "../errors.ts";
import { textOf } from "../model/ask.ts";
import { cutLine, sanitise } from "../text/sanitise.ts";
import { redactSecrets } from "../text/secrets.ts";
import { withLines } from "./line-stream.ts";
import { sessionIdOf } from "./session-reader.ts";
import {
  answerOf,
  assistantBlocks,
  parseLine,
  promptOf,
  type Title,
  type TranscriptLine,
  textOrNull,
  titleAfter,
  userBlocks,
} from "./transcript-line.ts";

/** A session as a list shows it. */
export type SessionRow = NonNullable<Awaited<ReturnType<typeof scanSession>>>;

export type Role = "user" | "assistant" | "tool" | "attachment" | "notes";

interface ScanOptions {
  /** With `everything`, also tool results and reminders. */
  onSaid?: (role: Role, text: string) => void;
  everything?: boolean;
  signal?: AbortSignal;
}

const MAX_TITLE_CHARACTERS = 100;

/** Null when nothing was said in it, or it cannot be read. Must not throw. */
export function scanSession(path: string, mtimeMs: number, options: ScanOptions = {}) {
  const scanned = withLines(path, async (lines) => {
    const { onSaid = () => {}, everything = false, signal } = options;
    const tally = makeTally(onSaid);
    const visit = ({ bytes }: { bytes: Buffer | null }) => {
      const line = bytes && isWorthParsing(bytes, everything) ? parseLine(bytes.toString()) : null;
      if (!line || line.isSidechain === true) return;
      tally.add(line);
      if (everything) tellTheRest(line, onSaid);
    };
    await lines.each(visit, { signal });
    if (tally.messages === 0) return null;
    const notes = findNotes(path);
    if (notes && notes.text !== "") onSaid("notes", notes.text);
    const changed = new Date(mtimeMs).toISOString();
    return {
      /** The session's id. */
      id: sessionIdOf(path),
      /** Path of its transcript. */
      path,
      /** When something was last said, ISO. */
      at: tally.at ?? changed,
      /** When something was first said, ISO. */
      started: tally.started ?? tally.at ?? changed,
      /** Its title, else the first prompt, cut to 100 characters, secrets masked. */
      title: makeTitle(tally.title?.title ?? notes?.title ?? tally.prompt ?? tally.command ?? "") || "(no title)",
      /** Prompts and answers, without tool results and reminders. */
      messages: tally.messages,
      /** The working directory it was last in; null if unknown. */
      cwd: tally.cwd,
      /** Size of the transcript. */
      bytes: lines.size,
    };
  });
  // Unreadable, or gone while it was read.
  return scanned.catch(() => null);
}

/** More than any secret takes, of a pasted log that may be megabytes. */
const MAX_LOOKED_AT = 20_000;

/** Masked before it is cut: half a secret is not recognised. */
function makeTitle(text: string): string {
  return cutLine(redactSecrets(sanitise(text.slice(0, MAX_LOOKED_AT))), MAX_TITLE_CHARACTERS);
}

function makeTally(onSaid: NonNullable<ScanOptions["onSaid"]>) {
  let lastAnswer: string | null = null;
  const tally = {
    messages: 0,
    at: null as string | null,
    started: null as string | null,
    title: null as Title | null,
    /** The first prompt, and the first that is only a command for the client. */
    prompt: null as string | null,
    command: null as string | null,
    cwd: null as string | null,
    add(line: TranscriptLine) {
      tally.title = titleAfter(tally.title, line);
      const prompt = promptOf(line);
      const answer = prompt === null ? answerOf(line) : null;
      const text = prompt ?? (answer ? textOf(assistantBlocks(line)) : "");
      if (text.trim() === "") return;
      if (prompt !== null) {
        if (COMMAND.test(prompt)) tally.command ??= prompt.replace(/<[^>]*>/g, " ");
        else tally.prompt ??= prompt;
      }
      // The blocks of one answer are lines with the same id.
      if (!answer || answer.id === null || answer.id !== lastAnswer) tally.messages++;
      lastAnswer = answer?.id ?? null;
      const at = timeOf(line);
      tally.at = at ?? tally.at;
      tally.started ??= at;
      tally.cwd = textOrNull(line.cwd) ?? tally.cwd;
      onSaid(answer ? "assistant" : "user", text);
    },
  };
  return tally;
}

/** How Claude Code records its own commands and their output. */
const COMMAND = /^\s*<(?:command|local-command|bash)-[a-z-]+>/;

function timeOf(line: TranscriptLine): string | null {
  const ms = Date.parse(textOrNull(line.timestamp) ?? "");
  return Number.isNaN(ms) ? null : new Date(ms).toISOString();
}

function tellTheRest(line: TranscriptLine, onSaid: NonNullable<ScanOptions["onSaid"]>): void {
  if (line.type === "user") {
    for (const block of userBlocks(line)) if (block.type === "tool_result") onSaid("tool", block.content);
  }
  if (line.type === "attachment" && isObject(line.attachment)) {
    const { content } = line.attachment;
    onSaid("attachment", typeof content === "string" ? content : JSON.stringify(line.attachment));
  }
}

const WANTED = /^\{"type":"(?:user|assistant|summary|ai-title|custom-title)"/;
/** Longer than any of these. */
const START_CHARS = 32;
/** What precedes a message's text. */
const HEAD_BYTES = 400;

/**
 * Most bytes of a transcript are tool results. Inside a string every quote is escaped, so these bytes can only be what
 * they look like. A line written with other spacing matches nothing here and is parsed: slower, not wrong.
 */
function isWorthParsing(bytes: Buffer, everything: boolean): boolean {
  const head = bytes.subarray(0, HEAD_BYTES);
  if (head.includes('"isSidechain":true')) return false;
  if (everything) return true;
  const start = bytes.toString("latin1", 0, START_CHARS);
  if (start.startsWith('{"type":"') && !WANTED.test(start)) return false;
  if (head.includes('"type":"attachment"')) return false;
  if (bytes.includes('"role":"assistant"')) return bytes.includes('"type":"text"') || !bytes.includes('"content":[');
  return !bytes.includes('"type":"tool_result"');
}

/** Notes are a few pages; larger files are not ours. */
const MAX_BYTES = 256 * 1024;

/** Null when there are none, else the title section, if it is filled, and the notes without headings and hints. Must not throw. */
export function findNotes(transcript: string): { title: string | null; text: string } | null {
  const file = join(dirname(transcript), sessionIdOf(transcript), "session-memory", "summary.md");
  const text = attempt(() => readRegularText(file, MAX_BYTES), null);
  if (text === null) return null;
  // Headings and hints are the template's, and would match in every session.
  const lines = text.split(/\r?\n/);
  const noted = lines.filter((line) => line.trim() !== "" && !/^#|^_.*_$/.test(line.trim()));
  const start = lines.findIndex((line) => /^#\s*session title\s*$/i.test(line.trim()));
  const rest = start < 0 ? [] : lines.slice(start + 1);
  const end = rest.findIndex((line) => line.startsWith("#"));
  const title = (end < 0 ? rest : rest.slice(0, end)).find((line) => noted.includes(line));
  return { title: title?.trim() ?? null, text: noted.join("\n") };
}
