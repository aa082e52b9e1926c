/** A session read back from its transcript: the conversation as it was sent, ready to go on. */

import { basename, dirname } from "node:path";
import { addUsage, type Message, NO_USAGE, type Usage } from "../model/ask.ts";
import { makeChain } from "./chain.ts";
import { buildConversation, type Prompt } from "./conversation.ts";
import { type OpenedLines, withLines } from "./line-stream.ts";
import { answerOf, parseLine, type TranscriptLine, textOrNull, titleOf } from "./transcript-line.ts";

export interface ResumedSession {
  id: string;
  path: string;
  /** The line that the next message hangs on. */
  leaf: string | null;
  /** Can be sent as they are: calls have results, the first is the user's. */
  messages: Message[];
  prompts: Prompt[];
  /** Snapshots of the file history and what was shown (`SHOWN_LINE`), oldest first. */
  notes: TranscriptLine[];
  title: string | null;
  model: string | null;
  /** All that the session has cost, also what was rewound or compacted since. */
  usage: Usage;
  cwd: string | null;
  /** What could not be read, in words. */
  problems: string[];
}

/** The line that says which reminders and memories a session was shown up to a prompt. */
export const SHOWN_LINE = "memdir-shown";

const NOTE_TYPES: ReadonlySet<string> = new Set(["file-history-snapshot", SHOWN_LINE]);
/** A hundred checkpoints, each with two lines for every file that was changed since. */
const MAX_NOTES = 20_000;

/** Reads twice: first how the lines hang together, then only those that count. Throws if there is no such file. */
export function readSession(path: string): Promise<ResumedSession> {
  return withLines(path, (lines) => readAll(path, lines));
}

/** The name of its file, or for seed 001's layout that of its folder. */
export function sessionIdOf(path: string): string {
  const name = basename(path);
  return name === "transcript.jsonl" ? basename(dirname(path)) : name.replace(/\.jsonl$/, "");
}

async function readAll(path: string, lines: OpenedLines): Promise<ResumedSession> {
  const { chain, notes, facts, problems } = await survey(lines);
  const { links, leaf, gaps } = chain.follow();
  const conversation = buildConversation();
  for (const link of links) {
    const line = parseLine(lines.at(link.offset, link.length).toString());
    if (line) conversation.add({ line, uuid: link.uuid, parent: link.parent });
  }
  if (gaps > 0) problems.push(`${count(gaps, "line")} missing in the chain; the order of the file is taken there`);
  const { messages, prompts, model } = conversation.finish();
  return {
    id: sessionIdOf(path),
    path,
    leaf,
    messages,
    prompts,
    notes: notes.flatMap(({ offset, length }) => parseLine(lines.at(offset, length).toString()) ?? []),
    title: facts.title,
    model,
    usage: facts.usage(),
    cwd: facts.cwd,
    problems,
  };
}

async function survey(lines: OpenedLines) {
  const chain = makeChain();
  const facts = gatherFacts();
  const notes: { offset: number; length: number }[] = [];
  const problems: string[] = [];
  let unreadable = 0;
  await lines.each(({ bytes, offset, ended }) => {
    const text = bytes?.toString() ?? null;
    const line = text === null ? null : parseLine(text);
    if (!bytes || !line) {
      if (!ended) problems.push("the last line is only half written; it is left out");
      else if (text?.trim() !== "") unreadable++;
      return;
    }
    chain.add(line, offset, bytes.length);
    facts.add(line);
    if (line.type === "rewind") chain.rewind(textOrNull(line.leafUuid));
    if (NOTE_TYPES.has(line.type)) notes.push({ offset, length: bytes.length });
  });
  if (unreadable > 0) problems.push(`${count(unreadable, "line")} cannot be read; left out`);
  return { chain, notes: notes.slice(-MAX_NOTES), facts, problems };
}

interface Facts {
  add(line: TranscriptLine): void;
  title: string | null;
  cwd: string | null;
  usage(): Usage;
}

function gatherFacts(): Facts {
  let rank = -1;
  let earlier = NO_USAGE;
  /** A message's lines all tell its usage, the last one best. */
  let current: { id: string | null; usage: Usage } = { id: null, usage: NO_USAGE };
  const facts: Facts = {
    title: null,
    cwd: null,
    usage: () => addUsage(earlier, current.usage),
    add(line) {
      facts.cwd = textOrNull(line.cwd) ?? facts.cwd;
      const named = titleOf(line);
      if (named && named.rank >= rank) {
        rank = named.rank;
        facts.title = named.title;
      }
      const answer = answerOf(line);
      if (!answer) return;
      if (answer.id === null || answer.id !== current.id) earlier = addUsage(earlier, current.usage);
      current = { id: answer.id, usage: answer.usage };
    },
  };
  return facts;
}

function count(number: number, what: string): string {
  return `${number} ${what}${number === 1 ? "" : "s"}`;
}
