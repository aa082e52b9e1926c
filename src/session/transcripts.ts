/** The transcripts of a project, whichever agent wrote them: which changed recently, and what was said in them. */

import { readdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { lstatOrNull } from "../disk/fence.ts";
import { type HeardSession, readCodexHead, readCodexSession } from "./codex.ts";
import { readGeminiHead, readGeminiSession, readProjectRoot } from "./gemini.ts";
import { readHead } from "./line-stream.ts";
import { readSession } from "./session-reader.ts";
import { eachSession, type SessionFile, type SessionPlaces } from "./sessions.ts";
import { parseLine, textOrNull } from "./transcript-line.ts";

export type { HeardSession } from "./codex.ts";

export const TRANSCRIPT_AGENTS = ["claude", "codex", "gemini"] as const;
export type TranscriptAgent = (typeof TRANSCRIPT_AGENTS)[number];

export interface FoundTranscript {
  agent: TranscriptAgent;
  id: string;
  path: string;
  changedMs: number;
}

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
  const claude = places.claude ? await findClaude(places.claude, places, sinceMs) : [];
  const codex = places.codex === null ? [] : findCodex(places.codex, places.isHere, sinceMs);
  const gemini = places.gemini === null ? [] : findGemini(places.gemini, places.isHere, sinceMs);
  const newest = new Map<string, FoundTranscript>();
  for (const one of [...claude, ...codex, ...gemini].sort(byChange)) {
    // The same session in two folders, as after moving a project: the one that continued.
    newest.delete(`${one.agent} ${one.id}`);
    newest.set(`${one.agent} ${one.id}`, one);
  }
  return [...newest.values()];
}

/** A transcript and the agent that wrote it. */
interface Transcript extends HeardSession {
  agent: TranscriptAgent;
  /** Its prompts come from an agent, not a person; Claude Code does not say. */
  isSubAgent: boolean;
}

/** Recognises the agent by the first lines. Throws if there is no such file. */
export async function readTranscript(path: string): Promise<Transcript> {
  const { agent, read, isSubAgent } = tellReader(path);
  const { id, messages, prompts, cwd, problems } = await read(path);
  return { agent, isSubAgent, id, path, messages, prompts, cwd, problems };
}

interface Reader extends Pick<Transcript, "agent" | "isSubAgent"> {
  read(path: string): Promise<HeardSession>;
}

function tellReader(path: string): Reader {
  const gemini = readGeminiHead(path);
  if (gemini) return { agent: "gemini", read: readGeminiSession, isSubAgent: gemini.isSubAgent };
  const codex = readCodexHead(path);
  if (codex) return { agent: "codex", read: readCodexSession, isSubAgent: codex.isSubAgent };
  return { agent: "claude", read: readSession, isSubAgent: false };
}

function byChange(a: FoundTranscript, b: FoundTranscript): number {
  return a.changedMs - b.changedMs || (a.path < b.path ? -1 : 1);
}

async function findClaude(
  claude: SessionPlaces,
  { own, isHere }: TranscriptPlaces,
  sinceMs: number,
): Promise<FoundTranscript[]> {
  const found: FoundTranscript[] = [];
  // Another folder may hold sessions of a subfolder or a worktree. One without a working directory could belong to any project.
  const isOurs = (path: string) => {
    const cwd = dirname(path) === own ? null : readCwd(path);
    return dirname(path) === own || (cwd !== null && isHere(cwd));
  };
  const visit = async ({ id, path, mtimeMs }: SessionFile) =>
    mtimeMs >= sinceMs && isOurs(path) ? { agent: "claude" as const, id, path, changedMs: mtimeMs } : null;
  await eachSession(claude, {}, visit, (one) => found.push(one));
  return found;
}

/** Lines before the first message are short, but a pasted text is not. */
const MAX_HEAD_BYTES = 1 << 18;
const MAX_HEAD_LINES = 40;

/** The first working directory that a transcript of Claude Code names. */
function readCwd(path: string): string | null {
  for (const line of (readHead(path, MAX_HEAD_BYTES) ?? "").split("\n", MAX_HEAD_LINES)) {
    const cwd = textOrNull(parseLine(line)?.cwd);
    if (cwd) return cwd;
  }
  return null;
}

const ROLLOUT = /^rollout-.*\.jsonl$/;

/** A session stays in the folder of the day it began: all folders are listed, few files are opened. */
function findCodex(folder: string, isHere: (cwd: string) => boolean, sinceMs: number): FoundTranscript[] {
  const days = [/^\d{4}$/, /^\d{2}$/, /^\d{2}$/].reduce(
    (folders, name) => folders.flatMap((one) => namesIn(one, name, "folder").map((each) => join(one, each))),
    [folder],
  );
  return days.flatMap((day) =>
    namesIn(day, ROLLOUT, "file").flatMap((name): FoundTranscript[] => {
      const path = join(day, name);
      const changedMs = lstatOrNull(path)?.mtimeMs ?? null;
      if (changedMs === null || changedMs < sinceMs) return [];
      const head = readCodexHead(path);
      // One without a working directory belongs to no project.
      if (!head || head.isSubAgent || head.cwd === null || !isHere(head.cwd)) return [];
      return [{ agent: "codex", id: head.id, path, changedMs }];
    }),
  );
}

const CHAT = /^session-.*\.jsonl?$/;

/** A project's folder names the project; older ones, which do not, belong to none. */
function findGemini(folder: string, isHere: (cwd: string) => boolean, sinceMs: number): FoundTranscript[] {
  return namesIn(folder, /./, "folder").flatMap((name) => {
    const chats = join(folder, name, "chats");
    const root = readProjectRoot(join(folder, name));
    if (root === null || !isHere(root)) return [];
    return namesIn(chats, CHAT, "file").flatMap((file): FoundTranscript[] => {
      const path = join(chats, file);
      const changedMs = lstatOrNull(path)?.mtimeMs ?? null;
      if (changedMs === null || changedMs < sinceMs) return [];
      const head = readGeminiHead(path);
      return head && !head.isSubAgent ? [{ agent: "gemini", id: head.id, path, changedMs }] : [];
    });
  });
}

function namesIn(dir: string, name: RegExp, kind: "folder" | "file"): string[] {
  try {
    return readdirSync(dir, { withFileTypes: true })
      .filter((entry) => name.test(entry.name) && (kind === "folder" ? entry.isDirectory() : entry.isFile()))
      .map((entry) => entry.name);
  } catch {
    return []; // none, or no permission
  }
}
