/** The transcripts of a project, whichever agent wrote them: which changed recently, and what was said in them. */

import { dirname, join } from "node:path";
import { lstatOrNull } from "../disk/fence.ts";
import { readCodexHead, readCodexSession } from "./codex.ts";
import type { Head } from "./conversation.ts";
import { readGeminiHead, readGeminiSession } from "./gemini.ts";
import { readHead } from "./line-stream.ts";
import { type HeardSession, readSession, sessionIdOf } from "./session-reader.ts";
import { findFiles, namesIn, type SessionPlaces } from "./sessions.ts";
import { parseLine, textOrNull } from "./transcript-line.ts";

export const TRANSCRIPT_AGENTS = ["claude", "codex", "gemini"] as const;
export type TranscriptAgent = (typeof TRANSCRIPT_AGENTS)[number];

export type FoundTranscript = NonNullable<ReturnType<typeof findAt>>;

export interface TranscriptPlaces {
  /** Claude Code's folders and ours; null to leave them out. */
  claude: SessionPlaces | null;
  /** The one of those folders that belongs to this project: transcripts in it need not say so. */
  own: string;
  /** Codex's folder of sessions, by year, month and day; null to leave it out. */
  codex: string | null;
  /** Gemini CLI's folder of projects, each with its sessions; null to leave it out. */
  gemini: string | null;
  /** Whether a session in this working directory belongs to this project. */
  isHere: (cwd: string) => boolean;
}

/** Those that changed since; oldest first, so that what was said later wins. Must not throw. */
export async function findTranscripts(places: TranscriptPlaces, sinceMs: number): Promise<FoundTranscript[]> {
  const { claude, codex, gemini } = places;
  const found = [
    ...(claude ? findFiles(claude).map(({ path }) => findAt("claude", path, places, sinceMs)) : []),
    ...listRollouts(codex).map((path) => findAt("codex", path, places, sinceMs)),
    ...listChats(gemini).map((path) => findAt("gemini", path, places, sinceMs)),
  ].filter((one) => one !== null);
  const newest = new Map<string, FoundTranscript>();
  for (const one of found.sort((a, b) => a.changedMs - b.changedMs || (a.path < b.path ? -1 : 1))) {
    // The same session in two folders, as after moving a project: the one that continued.
    newest.delete(`${one.agent} ${one.id}`);
    newest.set(`${one.agent} ${one.id}`, one);
  }
  return [...newest.values()];
}

/** A transcript and the agent that wrote it. */
type Transcript = HeardSession & { agent: TranscriptAgent } & Pick<Head, "isSubAgent">;

/** Recognises the agent by the first lines. Throws if there is no such file. */
export async function readTranscript(path: string): Promise<Transcript> {
  for (const agent of ["gemini", "codex"] as const) {
    const { head, read } = READERS[agent];
    const found = head(path);
    if (found) return { agent, isSubAgent: found.isSubAgent, ...(await read(path)) };
  }
  return { agent: "claude", isSubAgent: false, ...(await readSession(path)) };
}

const READERS = {
  claude: { head: readClaudeHead },
  codex: { head: readCodexHead, read: readCodexSession },
  gemini: { head: readGeminiHead, read: readGeminiSession },
};

/** Null when it did not change since, or belongs to another project; one without a working directory could belong to any. */
function findAt(agent: TranscriptAgent, path: string, { own, isHere }: TranscriptPlaces, sinceMs: number) {
  const changedMs = lstatOrNull(path)?.mtimeMs ?? Number.NEGATIVE_INFINITY;
  if (changedMs < sinceMs) return null;
  if (agent === "claude" && dirname(path) === own) return { agent, id: sessionIdOf(path), path, changedMs };
  const head = READERS[agent].head(path);
  if (!head || head.isSubAgent || head.cwd === null || !isHere(head.cwd)) return null;
  return { agent, id: head.id, path, changedMs };
}

/** Lines before the first message are short, but a pasted text is not. */
const MAX_HEAD_BYTES = 1 << 18;
const MAX_HEAD_LINES = 40;

/** With the first working directory that a transcript of Claude Code names. */
export function readClaudeHead(path: string): Head {
  const lines = (readHead(path, MAX_HEAD_BYTES) ?? "").split("\n", MAX_HEAD_LINES);
  const named = lines.map((line) => textOrNull(parseLine(line)?.cwd)).find((cwd) => cwd);
  return { id: sessionIdOf(path), cwd: named ?? null, isSubAgent: false };
}

/** A session stays in the folder of the day it began: all folders are listed, few files are opened. */
function listRollouts(folder: string | null): string[] {
  return [/^\d{4}$/, /^\d{2}$/, /^\d{2}$/, /^rollout-.*\.jsonl$/].reduce(
    (folders, name) => folders.flatMap((one) => namesIn(one, name).map((each) => join(one, each))),
    folder === null ? [] : [folder],
  );
}

function listChats(folder: string | null): string[] {
  const chats = folder === null ? [] : namesIn(folder).map((name) => join(folder, name, "chats"));
  return chats.flatMap((one) => namesIn(one, /^session-.*\.jsonl?$/).map((name) => join(one, name)));
}
