/**
 * Session notes: a fork of the running conversation writes what is needed to continue to a file next to the transcript.
 */

import { lstatSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import {
  makeFolders,
  PRIVATE_MODE,
  readRegular,
  realPath,
  replaceSame,
  resolveInside,
  writeTemporary,
} from "../disk/fence.ts";
import { diskError, MemdirError } from "../errors.ts";
import { buildSchema, readInput } from "../input.ts";
import type { LearningModel } from "../learn/model-extractor.ts";
import { type Conversation, fork, type LoopResult } from "../model/agent-loop.ts";
import { NO_USAGE } from "../model/ask.ts";
import { approximateTokens, countAnswers } from "../model/cost.ts";
import type { Tool } from "../model/tool.ts";
import {
  buildNotesPrompt,
  buildSizeReminders,
  MAX_SECTION_TOKENS,
  NOTES_TEMPLATE,
  type NotesSize,
} from "../prompts/learning.ts";
import { TOOL_WORDS } from "../prompts/tool-descriptions.ts";
import { redactSecrets } from "../text/secrets.ts";
import { applyMatches, EDIT_FIELDS, findClear, type Wanted } from "../tools/edit.ts";
import { decodeText, encodeText, isStill, openFolderAt } from "../tools/file.ts";
import type { World } from "../world.ts";

export interface NotesOptions {
  /** The one to ask now; the user may change it. */
  model: () => LearningModel;
  /** The folder of the project's transcripts. */
  sessionsDir: string;
  session: string;
  /** Where the user's own template and prompt are: `session-memory/config` below the client's directory. */
  configDir: string;
}

/** As for every fork: one for edits, one to finish, some for edits that were refused. */
const MAX_TURNS = 5;

/** All sections at their limits, rewritten. */
const MAX_ANSWER_TOKENS = 16_000;

const FOLDER = "session-memory";
const FILE = "summary.md";
const PRIVATE_FOLDER = 0o700;

/** Where the notes of a session are, whether or not there are any. */
export function notesPath({ sessionsDir, session }: Pick<NotesOptions, "sessionsDir" | "session">): string {
  return join(sessionsDir, session, FOLDER, FILE);
}

/**
 * Must not throw. Unless the result is `ok`, the file is unchanged, and `problem` says why and what to do about it. One at a time per session: see `shouldTakeNotes`.
 */
export async function takeNotes(
  { log }: Pick<World, "log">,
  options: NotesOptions,
  { conversation, signal }: { conversation: Conversation; signal?: AbortSignal },
) {
  let usage = NO_USAGE;
  let problem: string | null;
  const draft: NotesDraft = { text: "", edits: 0 };
  try {
    const { template, prompt } = readNotesForm(options.configDir, log);
    const base = readBase(options);
    const before = base === null || base.text.trim() === "" ? template : base.text;
    draft.text = before;
    const path = notesPath(options);
    const size = measureNotes(before);
    const { ask, maxTokens } = options.model();
    const result = await fork(countAnswers(ask), conversation, {
      prompt: buildNotesPrompt({ notesPath: path, currentNotes: before, size, custom: prompt }),
      tools: [openNotesEdit(path, draft)],
      maxTurns: MAX_TURNS,
      maxTokens: Math.min(MAX_ANSWER_TOKENS, maxTokens),
      ...(signal && { signal }),
    });
    usage = result.usage;
    problem = findFailure(result, draft);
    if (problem === null) writeNotes(options, base, withoutSecrets(before, draft.text));
  } catch (error) {
    problem = diskError(error, "take notes in", notesPath(options)).message;
  }
  if (problem === null) return { ok: true as const, usage, edits: draft.edits };
  problem = redactSecrets(problem);
  log(`session notes: ${problem}`);
  return { ok: false as const, usage, edits: 0, problem };
}

/** Null when there are no notes yet. */
function readBase(options: NotesOptions) {
  const path = placeOf(options);
  const bytes = readWhole(path);
  if (bytes === null) return null;
  const { text, bom, exact } = decodeText(bytes);
  if (exact && !text.includes("\0")) return { bytes, text, bom };
  throw new MemdirError("broken", `${path} is not UTF-8 text: fix or remove it to take notes again`);
}

/** Null when nothing is there. Throws for what is too large, or not a file: neither may be replaced. */
function readWhole(path: string, options: { follow?: boolean } = {}): Buffer | null {
  const bytes = readRegular(path, { ...options, maxBytes: MAX_NOTES_BYTES });
  const stat = bytes ? null : lstatSync(path, { throwIfNoEntry: false });
  if (!stat) return bytes;
  const what = stat.isFile() ? `larger than ${MAX_NOTES_BYTES} bytes: shorten it` : "not a regular file: move it away";
  throw new MemdirError("broken", `${path} is ${what}, or remove it, to take notes again`);
}

/** Refuses links that lead elsewhere, and a session whose id is not a plain name. */
function placeOf({ sessionsDir, session }: NotesOptions): string {
  if (session.includes("/"))
    throw new MemdirError("outside", "no notes are taken: the session's id is not a plain name");
  return resolveInside(sessionsDir, `${session}/${FOLDER}/${FILE}`);
}

/** At the turn limit the edits so far are complete and worth keeping; after any other failure they are not trusted. */
function findFailure({ ended, error }: LoopResult, { edits }: NotesDraft): string | null {
  if (ended === "done" || ended === "turns")
    return edits > 0 ? null : "the model edited nothing; the notes are unchanged";
  if (ended === "length") return "the model's answer was cut off; the notes are unchanged";
  return error?.message ?? (ended === "aborted" ? "stopped" : "the model refused; the notes are unchanged");
}

/** Masked, not refused: the rest of the notes is worth keeping. */
function withoutSecrets(before: string, text: string): string {
  const clean = redactSecrets(text);
  const damage = findDamage(before, clean);
  if (damage) throw new MemdirError("secret", `the template contains what looks like a secret: ${damage} without it`);
  return clean;
}

function writeNotes(options: NotesOptions, base: ReturnType<typeof readBase>, text: string): void {
  makeFolders(dirname(placeOf(options)), PRIVATE_FOLDER);
  // Below the folder of the transcripts there must be no link at all, also none that came this moment.
  const folder = openFolderAt(join(realPath(options.sessionsDir), options.session, FOLDER));
  try {
    const target = join(folder.path, FILE);
    // The model took a while: another process or the user may have written in the meantime.
    const isSame = (path: string) => isStill(path, base?.bytes ?? null);
    const bytes = encodeText(text, base?.bom ?? false);
    if (!replaceSame(writeTemporary(folder.path, bytes, PRIVATE_MODE, ".summary"), target, isSame))
      throw new MemdirError("conflict", "the notes were changed in the meantime; that version stays");
  } finally {
    folder.close();
  }
}

export interface NotesDraft {
  text: string;
  /** How many edits were accepted. */
  edits: number;
}

/**
 * Declared as the agent's own Edit: a fork that declares another tool would lose the provider's cache. Nothing is written to disk
 * until the whole run succeeds. Synchronous, so that the calls of one turn do not mix.
 */
export function openNotesEdit(path: string, draft: NotesDraft): Tool {
  const begun = draft.text;
  return {
    name: "Edit",
    description: TOOL_WORDS.Edit.description,
    schema: buildSchema(EDIT_FIELDS, TOOL_WORDS.Edit.inputs),
    run(input) {
      const { file_path, old_string: old, new_string: fresh, replace_all: all = false } = readInput(EDIT_FIELDS, input);
      if (normalize(file_path) !== path) throw new Error(`only ${path} can be edited here`);
      draft.text = edit(draft.text, begun, { old, fresh, all });
      draft.edits++;
      const reminders = buildSizeReminders(measureNotes(draft.text));
      return reminders === "" ? "edited" : `edited\n\n${reminders}`;
    },
  };
}

function edit(text: string, begun: string, wanted: Wanted): string {
  const { old, fresh } = wanted;
  if (old === "") throw new Error("old_string is empty: give the text to replace, or the text to insert after");
  if (old === fresh) throw new Error("old_string and new_string are the same; there is nothing to change");
  if (fresh.includes("\0")) throw new Error("new_string contains a NUL character");
  const changed = applyMatches(text, findClear("the notes", text, wanted));
  const damage = findDamage(begun, changed);
  if (damage) throw new Error(`not edited: ${damage}; headings and the lines in italics below them must stay`);
  if (Buffer.byteLength(changed) > MAX_NOTES_BYTES) {
    throw new Error(`not edited: the notes would be larger than ${MAX_NOTES_BYTES} bytes; shorten other parts first`);
  }
  return changed;
}

export const NO_NOTES = {
  /** The tokens in the model's window now; 0 until they have been counted. */
  contextTokens: 0,
  /** The tokens in it when notes were last taken or tried; null before the first time. */
  notedTokens: null as number | null,
  /** Since then. */
  toolCalls: 0,
  /** Whether the last answer of the model asked for a tool: then the work is in the middle of something. */
  calledInLastTurn: false,
  running: false,
  /** In a row. */
  failures: 0,
};

export type NotesState = typeof NO_NOTES;

/** Those of the client we share the file with: at so many tokens, then after so many more, with this many calls in between. */
const FIRST_TOKENS = 10_000;
const MORE_TOKENS = 5_000;
const TOOL_CALLS = 3;
/** The next one will fail too, and costs money. */
const MAX_FAILURES = 3;

export function shouldTakeNotes(state: NotesState): boolean {
  const { contextTokens, notedTokens, toolCalls, calledInLastTurn, running, failures } = state;
  if (running || failures >= MAX_FAILURES) return false;
  if (contextTokens < (notedTokens === null ? FIRST_TOKENS : notedTokens + MORE_TOKENS)) return false;
  // A pause in the work is a good moment; while work continues, enough must have been done.
  return !calledInLastTurn || toolCalls >= TOOL_CALLS;
}

/** One answer of the model. `contextTokens` is 0 when the provider does not count, and the last known number stays. */
export function countAnswer(state: NotesState, answer: { contextTokens: number; toolCalls: number }): NotesState {
  const contextTokens = answer.contextTokens > 0 ? answer.contextTokens : state.contextTokens;
  return {
    ...state,
    contextTokens,
    // After a compaction the window is smaller than when notes were taken, so growth is counted from there.
    notedTokens: state.notedTokens === null ? null : Math.min(state.notedTokens, contextTokens),
    toolCalls: state.toolCalls + answer.toolCalls,
    calledInLastTurn: answer.toolCalls > 0,
  };
}

export function beginNotes(state: NotesState): NotesState {
  return { ...state, running: true, notedTokens: state.contextTokens, toolCalls: 0 };
}

/** A failed run is not retried before the conversation has grown: it costs as much as a successful one. */
export function endNotes(state: NotesState, ok: boolean): NotesState {
  return { ...state, running: false, failures: ok ? 0 : state.failures + 1 };
}

// --- The form of session notes: their sections, what may not change in them, and the user's own template and prompt.

/** Compaction reads no more than this; all sections at their limit are smaller in any script. */
export const MAX_NOTES_BYTES = 64 * 1024;

/**
 * `configDir`: `session-memory/config` of the user. Must not throw: a file that cannot be used is logged, and the
 * built-in one is used. `template` is what the notes start as, `prompt` the user's own, else null.
 */
export function readNotesForm(configDir: string, log: (message: string) => void) {
  const template = readOwn(join(configDir, "template.md"), log);
  const prompt = readOwn(join(configDir, "prompt.md"), log);
  if (template === null || parseSections(template).length > 0) return { template: template ?? NOTES_TEMPLATE, prompt };
  log(
    `session notes: ${join(configDir, "template.md")} has no line that begins with "# "; the built-in template is used`,
  );
  return { template: NOTES_TEMPLATE, prompt };
}

/** Null if it is missing or empty. Links are followed: it is the user's own folder, and often a link. */
function readOwn(file: string, log: (message: string) => void): string | null {
  try {
    const text = (readWhole(file, { follow: true })?.toString("utf8") ?? "").replace(/^\ufeff/, "");
    return text.trim() === "" ? null : text;
  } catch (error) {
    log(`session notes: ${file} is ignored: ${diskError(error, "read", file).message}`);
    return null;
  }
}

/** In order: headings without the `# `, the line in italics right below each, if there is one. A `# ` inside a fenced block is a comment in code. */
export function parseSections(text: string) {
  const sections: { heading: string; lines: string[] }[] = [];
  let open: string | null = null;
  for (const line of text.split(/\r?\n/)) {
    const mark: string | undefined = FENCE.exec(line)?.[1];
    if (open === null && line.startsWith("# ")) {
      sections.push({ heading: line.slice(2).trim(), lines: [] });
      continue;
    }
    if (open === null) open = mark ?? null;
    else if (mark?.startsWith(open) && line.trim() === mark) open = null;
    sections.at(-1)?.lines.push(line);
  }
  return sections.map(({ heading, lines }) => {
    const hasHint = HINT.test(lines[0] ?? "");
    const body = lines.slice(hasHint ? 1 : 0).join("\n");
    return { heading, hint: hasHint ? (lines[0] as string).trim() : null, body: body.trim() };
  });
}

const FENCE = /^ {0,3}(`{3,}|~{3,})/;

/** One pair of marks around the whole line: bold text is not a hint. */
const HINT = /^\s*(?:_[^_\s].*_|\*[^*\s].*[^*]\*)\s*$/;

/** What an edit did to headings and hints, as a message for its author; null when they are unchanged. */
export function findDamage(before: string, after: string): string | null {
  const [old, fresh] = [parseSections(before), parseSections(after)];
  for (const [i, { heading, hint }] of old.entries()) {
    const now = fresh[i];
    if (now?.heading !== heading) {
      if (!fresh.some((section) => section.heading === heading))
        return `the heading "# ${heading}" is missing or changed`;
      return `the heading "# ${heading}" has moved`;
    }
    if (hint !== null && now.hint !== hint) return `the line in italics below "# ${heading}" is missing or changed`;
  }
  const added = fresh[old.length];
  return added ? `the heading "# ${added.heading}" is new` : null;
}

export function measureNotes(text: string): NotesSize {
  const large = parseSections(text)
    .map(({ heading, body }) => ({ heading, tokens: approximateTokens(body) }))
    .filter(({ tokens }) => tokens > MAX_SECTION_TOKENS)
    .sort((a, b) => b.tokens - a.tokens);
  return { large, totalTokens: approximateTokens(text) };
}
