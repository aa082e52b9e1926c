/** Session notes: a fork of the running conversation writes down, in one file beside the transcript, what is needed to go on. */

import { lstatSync, mkdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { moveInto, PRIVATE_MODE, writeTemporary } from "../disk/atomic.ts";
import { readRegular, realPath, resolveInside } from "../disk/fence.ts";
import { diskError, MemdirError } from "../errors.ts";
import { type Conversation, fork, type LoopResult } from "../model/agent-loop.ts";
import { type Ask, NO_USAGE, type Usage } from "../model/ask.ts";
import { buildNotesPrompt } from "../prompts/learning.ts";
import { redactSecrets } from "../text/secrets.ts";
import { decodeText, encodeText, openFolderAt } from "../tools/file.ts";
import { countAnswers } from "./counted-ask.ts";
import { type NotesDraft, openNotesEdit } from "./notes-edit.ts";
import { findDamage, MAX_NOTES_BYTES, measureNotes, readNotesForm } from "./notes-template.ts";

export interface NotesWorld {
  ask: Ask;
  /** The most that the model answers at once. */
  maxTokens: number;
  /** The folder of the project's transcripts. */
  sessionsDir: string;
  session: string;
  /** Where the user's own template and prompt lie: `session-memory/config` below the client's directory. */
  configDir: string;
  /** About how many tokens a text has. */
  countTokens: (text: string) => number;
  log: (message: string) => void;
}

export interface NotesResult {
  ok: boolean;
  usage: Usage;
  /** How many edits the notes got. */
  edits: number;
  /** Why the file is as it was, and what to do if something can be done. */
  problem?: string;
}

/** As for every fork beside the conversation: one for edits, one to be done, some for edits that were refused. */
const MAX_TURNS = 5;

/** All sections at their limits, written anew. */
const MAX_ANSWER_TOKENS = 16_000;

const FOLDER = "session-memory";
const FILE = "summary.md";
const PRIVATE_FOLDER = 0o700;

/** Where the notes of a session lie, whether or not there are any. */
export function notesPath({ sessionsDir, session }: Pick<NotesWorld, "sessionsDir" | "session">): string {
  return join(sessionsDir, session, FOLDER, FILE);
}

/** Must not throw. Unless it is `ok`, the file is as it was. One at a time for each session: see notes-gates.ts. */
export async function takeNotes(
  world: NotesWorld,
  { conversation, signal }: { conversation: Conversation; signal?: AbortSignal },
): Promise<NotesResult> {
  let usage = NO_USAGE;
  let problem: string | null;
  const draft: NotesDraft = { text: "", edits: 0 };
  try {
    const { template, prompt } = readNotesForm(world.configDir, world.log);
    const base = readBase(world);
    const before = base === null || base.text.trim() === "" ? template : base.text;
    draft.text = before;
    const path = notesPath(world);
    const result = await fork(countAnswers(world.ask), conversation, {
      prompt: buildNotesPrompt({
        notesPath: path,
        currentNotes: before,
        size: measureNotes(before, world.countTokens),
        custom: prompt,
      }),
      tools: [openNotesEdit(path, draft, world.countTokens)],
      maxTurns: MAX_TURNS,
      maxTokens: Math.min(MAX_ANSWER_TOKENS, world.maxTokens),
      ...(signal && { signal }),
    });
    usage = result.usage;
    problem = findFailure(result, draft);
    if (problem === null) writeNotes(world, base, withoutSecrets(before, draft.text));
  } catch (error) {
    problem = diskError(error, "take notes in", notesPath(world)).message;
  }
  if (problem === null) return { ok: true, usage, edits: draft.edits };
  problem = redactSecrets(problem);
  world.log(`session notes: ${problem}`);
  return { ok: false, usage, edits: 0, problem };
}

interface Base {
  bytes: Buffer;
  text: string;
  bom: boolean;
}

/** Null when there are no notes yet. */
function readBase(world: NotesWorld): Base | null {
  const path = placeOf(world);
  const bytes = readRegular(path, { maxBytes: MAX_NOTES_BYTES });
  if (bytes === null) {
    refuseOdd(path);
    return null;
  }
  const { text, bom, exact } = decodeText(bytes);
  if (!exact || text.includes("\0")) {
    throw new MemdirError("broken", `${path} is no UTF-8 text: mend it or remove it, then notes are taken again`);
  }
  return { bytes, text, bom };
}

/** Links on the way that lead elsewhere are refused, and so is a session whose id is no plain name. */
function placeOf({ sessionsDir, session }: NotesWorld): string {
  if (session.includes("/"))
    throw new MemdirError("outside", "the id of the session is no plain name: no notes are taken");
  return resolveInside(sessionsDir, `${session}/${FOLDER}/${FILE}`);
}

/** What is there and was not read: too large, or no file. Neither is ours to replace. */
function refuseOdd(path: string): void {
  const stat = lstatSync(path, { throwIfNoEntry: false });
  if (!stat) return;
  const what = stat.isFile() ? `larger than ${MAX_NOTES_BYTES} bytes: shorten it` : "no ordinary file: move it away";
  throw new MemdirError("broken", `${path} is ${what}, or remove it, then notes are taken again`);
}

/** At the limit of turns what was edited so far is whole and worth keeping; after any other bad end it is not trusted. */
function findFailure({ ended, error }: LoopResult, { edits }: NotesDraft): string | null {
  if (ended === "done" || ended === "turns")
    return edits > 0 ? null : "the model edited nothing; the notes are as they were";
  if (ended === "length") return "the model's answer was cut; the notes are as they were";
  return error?.message ?? (ended === "aborted" ? "stopped" : "the model refused; the notes are as they were");
}

/** Masked, not refused: the rest of the notes is worth keeping. */
function withoutSecrets(before: string, text: string): string {
  const clean = redactSecrets(text);
  const damage = findDamage(before, clean);
  if (damage) throw new MemdirError("secret", `the template holds what looks like a secret: ${damage} without it`);
  return clean;
}

function writeNotes(world: NotesWorld, base: Base | null, text: string): void {
  mkdirSync(dirname(placeOf(world)), { recursive: true, mode: PRIVATE_FOLDER });
  // Below the folder of the transcripts there must be no link at all, also none that came this moment.
  const folder = openFolderAt(join(realPath(world.sessionsDir), world.session, FOLDER));
  try {
    const target = join(folder.path, FILE);
    // The model took its time: another process, or the user, may have written meanwhile.
    const now = readRegular(target);
    const isSame = base === null ? !lstatSync(target, { throwIfNoEntry: false }) : now?.equals(base.bytes) === true;
    if (!isSame) throw new MemdirError("conflict", "the notes were changed by somebody else meanwhile; theirs stay");
    const bytes = encodeText(text, base?.bom ?? false);
    moveInto(writeTemporary(folder.path, bytes, PRIVATE_MODE, ".summary"), target);
  } finally {
    folder.close();
  }
}
