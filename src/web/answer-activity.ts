/** What happened when: changes, recalls, extractions, dreams and syncs of all directories, newest first; and past conversations. */

import { MemdirError } from "../errors.ts";
import { number, text } from "../input.ts";
import { SPENT_KINDS, type SpentKind, startOfDay } from "../learn/ledger.ts";
import type { Memdir } from "../memdir.ts";
import type { Message } from "../model/ask.ts";
import { openLearning } from "../open-learn.ts";
import { isSessionHere } from "../project/scopes.ts";
import { readSurfaceLog, type SurfacedMemory } from "../recall/surface-log.ts";
import type { SessionRow as Listed } from "../session/sessions.ts";
import { readTranscript } from "../session/transcripts.ts";
import { type Entry, findJournal, isMemoryFile, lastUndoable, readJournals, type Store } from "../store/store.ts";
import { hashOf } from "../text/hash.ts";
import { localDay } from "../text/local-day.ts";
import { redactSecrets } from "../text/secrets.ts";
import { findOne, sessions } from "../verbs/sessions.ts";
import { clip, contextOf, get, mainOf, NAME, type Page, TIME, titleOf } from "./answer.ts";
import { answerMemories, type FindTitle, findTitles } from "./answer-memories.ts";
import type { TimelineEvent } from "./shapes.ts";

/** Half a year fits on a page; older days are on the next pages. */
const MAX_DAYS = 183;
/** Only the first files of a large import are named. */
const MAX_MEMORIES = 12;
const MAX_SAYS = 400;

/** More than people scroll through. */
const MAX_LISTED = 500;
const MAX_HITS = 50;
const MAX_MESSAGES = 400;
const MAX_BYTES = 400 * 1024;
/** People rarely search for tool output. */
const MAX_TOOL_CHARS = 2_000;
/** With room for a secret that begins in what is shown. */
const MAX_LOOKED_AT = MAX_TOOL_CHARS + 20_000;

const DEFAULT_EVENTS = 100;
/** The page asks for what it shows and more: as far as people scroll. */
const MAX_EVENTS = 10_000;

export const ACTIVITY_ROUTES = [
  get("/api/last", {}, findLastChange),
  get("/api/timeline", { before: TIME, limit: number() }, viewTimeline),
  get("/api/sessions", { q: text() }, viewSessions),
  get("/api/session", { id: NAME }, viewSession),
];

/** What `undo` without an id would undo; null if there is nothing. */
export async function findLastChange(page: Page) {
  const { directories } = page.memdir;
  const entry = lastUndoable(readJournals(directories));
  if (!entry) return null;
  const { id, at, by } = entry;
  const place = directories.indexOf(findJournal(directories, id));
  const { says, memories } = changeOf(entry, place, await findTitles(page));
  return { id, at, by, says: memories.length === 1 ? `${says} “${memories[0]?.name}”` : says };
}

/** `before` as ISO: only what came before it. */
export async function viewTimeline(
  page: Page,
  { before, limit = DEFAULT_EVENTS }: Partial<{ before: string; limit: number }>,
) {
  const all = (await readEvents(page)).sort((a, b) => b.ms - a.ms);
  const earlier = before === undefined ? all : all.filter(({ ms }) => ms < Date.parse(before));
  const end = Math.min(limit, MAX_EVENTS);
  return {
    events: earlier.slice(0, end).map(({ event }) => event),
    /** Counts by day over the last half year, oldest first. */
    days: countDays(all, page.now()),
    /** Over all of it. */
    counts: countKinds(all),
    hasMore: end < earlier.length && end < MAX_EVENTS,
  };
}

/** Newest first; with words the best first. */
export async function viewSessions(page: Page, { q: words = "" }: { q?: string }, signal: AbortSignal) {
  const search = words.trim() === "" ? { limit: MAX_LISTED } : { action: "search", words, limit: MAX_HITS };
  const rows = await sessions.run(page.memdir, search, contextOf(page, signal));
  const shown = readSurfaceLog(mainOf(page.memdir).path);
  const known = (await answerMemories(page)).rows;
  return {
    sessions: rows.map((row) => ({
      ...rowOf(row, row.line),
      recalls: shown.filter(({ session }) => session === row.id).length,
      learnt: known.filter(({ session }) => session === row.id).length,
    })),
  };
}

export async function viewSession(page: Page, { id }: { id: string }) {
  const found = await findHere(page, id);
  const { messages, prompts } = await readTranscript(found.path);
  const times = new Map(prompts.map(({ index, at }) => [index, at === "" ? null : at]));
  const said = messages.flatMap((message, at) => saidIn(message, times.get(at) ?? null));
  const { kept, isCut } = cut(said);
  const traces = await traceOf(page, found.id, kept);
  const masked = kept.map((one) => ({ ...one, text: redactSecrets(one.text) }));
  return { row: rowOf(found), messages: masked, isCut, ...traces };
}

type Dated = { ms: number; event: TimelineEvent };

export async function readEvents(page: Page): Promise<Dated[]> {
  const find = await findTitles(page);
  const events = [...changes(page, find), ...recalls(page, find), ...extractions(page), ...proposals(page)];
  return events.flatMap((event) => {
    const ms = Date.parse(event.at);
    return Number.isNaN(ms)
      ? []
      : [{ ms, event: { ...event, says: clip(event.says, MAX_SAYS), by: clip(event.by, MAX_SAYS) } }];
  });
}

const DONE: Readonly<Record<Entry["action"], string>> = {
  save: "Saved",
  forget: "Forgot",
  rename: "Renamed",
  edit: "Edited",
  undo: "Undid a change of",
  adopt: "Adopted",
  import: "Imported",
  prune: "Pruned",
  dream: "Tidied up",
  sync: "Synced",
  index: "Rebuilt the index",
};

function changes({ memdir }: Page, find: FindTitle): TimelineEvent[] {
  return memdir.directories.flatMap((directory, place) =>
    entriesOf(directory).map((entry): TimelineEvent => {
      const { at, action, by, reason } = entry;
      const where = place === 0 ? "" : `, ${directory.scope}`;
      const why = reason === "" ? "" : `: ${reason}`;
      const kind = action === "dream" || action === "sync" ? action : "change";
      return { at, kind, by: `${by}${where}${why}`, ...changeOf(entry, place, find) };
    }),
  );
}

/** A change in words, and its memories. */
function changeOf({ action, files: changed }: Entry, place: number, find: FindTitle) {
  const files = [...new Set(changed.map(({ file }) => file))].filter(isMemoryFile);
  return {
    says: `${DONE[action] ?? action}${files.length < 2 ? "" : ` ${files.length} memories`}`,
    memories: files.slice(0, MAX_MEMORIES).map((file) => find(place, file)),
  };
}

/** One journal that cannot be read does not hide the others. */
function entriesOf(directory: Store): Entry[] {
  try {
    return directory.history();
  } catch (error) {
    directory.log((error as Error).message);
    return [];
  }
}

function recalls({ memdir }: Page, find: FindTitle): TimelineEvent[] {
  return readSurfaceLog(mainOf(memdir).path).map(({ at, door, session, memories }) => ({
    at,
    kind: "recall",
    says: "Recalled",
    by: door,
    ...(session !== null && { session }),
    memories: titlesOf(memdir, find, memories.slice(0, MAX_MEMORIES)).map(titleOf),
  }));
}

/** Of several directories of a scope the first is the one that is written to. */
function titlesOf({ directories }: Memdir, find: FindTitle, shown: readonly SurfacedMemory[]) {
  return shown.flatMap(({ scope, file, why }) => {
    const directory = directories.findIndex((each) => each.scope === scope);
    return directory < 0 ? [] : [{ ...find(directory, file), why: [...why] }];
  });
}

const WORK: Readonly<Record<SpentKind, string>> = {
  extraction: "Learnt from a session",
  notes: "Took notes of a session",
  dream: "Planned a tidy-up",
  enrich: "Added cues",
  recall: "Chose memories",
  check: "Tried the model",
};

/** Work that was skipped is not an event. */
function extractions({ memdir }: Page): TimelineEvent[] {
  const { ledger } = openLearning(memdir);
  return ledger
    .entries()
    .filter(({ skipped, kind }) => skipped === null && kind !== "recall" && SPENT_KINDS.includes(kind))
    .map(({ at, kind, produced, model, session }) => ({
      at,
      kind: kind === "dream" ? "dream" : "extraction",
      says: [WORK[kind], produced].filter((part) => part !== "").join(": "),
      by: model,
      ...(session !== null && { session }),
      memories: [],
    }));
}

function proposals({ memdir }: Page): TimelineEvent[] {
  const { inbox } = openLearning(memdir);
  return inbox.list().map(({ at, from, name, session }) => ({
    at,
    kind: "extraction",
    says: `Proposed “${name}”, which waits for review`,
    by: from,
    ...(session !== null && { session }),
    memories: [],
  }));
}

const NONE: Record<TimelineEvent["kind"], number> = { change: 0, recall: 0, extraction: 0, dream: 0, sync: 0 };

function countKinds(events: readonly Dated[]) {
  const counts = { ...NONE };
  for (const { event } of events) counts[event.kind]++;
  return counts;
}

/** A single day across the whole width of a chart says nothing. */
const LEAST_DAYS = 30;

/** Without gaps, from the first day on which anything happened or a month ago. */
function countDays(events: readonly Dated[], now: Date): ({ day: string } & typeof NONE)[] {
  const oldest = startOfDay(now, 1 - MAX_DAYS);
  const counted = events.filter(({ ms }) => ms >= oldest.getTime() && ms <= now.getTime() + DAY_MS);
  if (counted.length === 0) return [];
  const monthAgo = startOfDay(now, 1 - LEAST_DAYS).getTime();
  const firstMs = counted.reduce((least, { ms }) => Math.min(least, ms), monthAgo);
  const days = daysUntil(new Date(firstMs), now).map((day) => ({ day, ...NONE }));
  const byDay = new Map(days.map((counts) => [counts.day, counts]));
  for (const { ms, event } of counted) {
    const day = byDay.get(localDay(new Date(ms)));
    if (day) day[event.kind]++;
  }
  return days;
}

/** Every calendar day from the first to the last. */
export function daysUntil(first: Date, last: Date): string[] {
  const days: string[] = [];
  for (let at = 0; ; at++) {
    const day = startOfDay(first, at);
    if (day.getTime() > last.getTime()) return days;
    days.push(localDay(day));
  }
}

const DAY_MS = 86_400_000;

// --- Past conversations: found by what was said in them, and read again.

/** `recalls`: how often memories were shown in it; `learnt`: how many memories come from it. */
function rowOf({ id, at, title, messages }: Listed, excerpt: string | null = null) {
  return { id, at, title, messages, excerpt, recalls: 0, learnt: 0 };
}

/** A session of this project, whose folder may be another one's as well. */
export async function findHere({ memdir }: Page, id: string): Promise<Listed> {
  const found = await findOne(memdir, id, "Activity");
  if (isSessionHere(found, memdir.config, memdir.location.project)) return found;
  throw new MemdirError("not-found", `the session ${found.id} is another project's`);
}

/** What the session was shown, at which of its prompts, and what was learnt from it. */
async function traceOf(page: Page, id: string, said: readonly Said[]) {
  const find = await findTitles(page);
  const prompts = new Map(said.flatMap(({ role, text }, at) => (role === "user" ? [[hashOf(text), at] as const] : [])));
  const log = readSurfaceLog(mainOf(page.memdir).path).filter(({ session }) => session === id);
  const shown = log.map(({ at, prompt, memories }) => ({
    at,
    // The log has no words: equal prompts are known by their number, others by the time.
    message:
      prompts.get(prompt) ?? said.findLastIndex((each) => each.role === "user" && each.at !== null && each.at <= at),
    memories: titlesOf(page.memdir, find, memories),
  }));
  const { rows } = await answerMemories(page);
  const proposed = openLearning(page.memdir)
    .inbox.list()
    .filter(({ session }) => session === id);
  return {
    /** Memories that it was shown, at which of its messages (-1: unknown). */
    shown,
    /** Memories that were learnt from it, and names of proposals that wait. */
    learnt: rows.filter(({ session }) => session === id).map(titleOf),
    proposed: proposed.map(({ name }) => name),
  };
}

interface Said {
  role: "user" | "assistant" | "tool" | "note";
  at: string | null;
  text: string;
}

/** A message may contain text, tool calls and results: each becomes a separate one. Thinking is omitted. */
function saidIn({ role, content }: Message, at: string | null): Said[] {
  return content.flatMap((block): Said[] => {
    if (block.type === "opaque") return [];
    if (block.type === "tool_result") return [{ role: "tool", at, text: clipTool(block.content) }];
    if (block.type === "tool_use")
      return [{ role: "tool", at, text: clipTool(`${block.name} ${JSON.stringify(block.input)}`) }];
    if (block.text.trim() === "") return [];
    return [{ role: block.attachment === undefined ? role : "note", at, text: block.text.toWellFormed() }];
  });
}

function clipTool(text: string): string {
  // Masked before it is cut: half a secret is not recognised.
  const shown = redactSecrets(text.slice(0, MAX_LOOKED_AT)).slice(0, MAX_TOOL_CHARS).toWellFormed();
  return text.length > MAX_TOOL_CHARS ? `${shown}\n… ${text.length - MAX_TOOL_CHARS} more characters` : shown;
}

/** From the beginning, as it was said. */
function cut(said: readonly Said[]): { kept: Said[]; isCut: boolean } {
  const kept: Said[] = [];
  let left = MAX_BYTES;
  for (const one of said.slice(0, MAX_MESSAGES)) {
    left -= Buffer.byteLength(one.text);
    if (left < 0) break;
    kept.push(one);
  }
  const [first] = said;
  // One that is too long on its own is shown as far as it goes.
  if (first && kept.length === 0) kept.push({ ...first, text: clip(first.text, MAX_BYTES / 4) });
  return { kept, isCut: kept.length < said.length || left < 0 };
}
