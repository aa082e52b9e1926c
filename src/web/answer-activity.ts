/** What happened when: changes, recalls, extractions, dreams and syncs of all directories, newest first; and past conversations. */

import { MemdirError } from "../errors.ts";
import { checked, number, text } from "../input.ts";
import { SPENT_KINDS, type SpentKind } from "../learn/ledger.ts";
import type { Message } from "../model/ask.ts";
import { openLearning } from "../open-learn.ts";
import { isSessionHere, sessionPlaces } from "../project/sessions-folder.ts";
import { readSurfaceLog } from "../recall/surface-log.ts";
import { findSession, type SessionRow as Listed } from "../session/sessions.ts";
import { readTranscript } from "../session/transcripts.ts";
import { type Action, type Entry, isMemoryFile, type Store } from "../store/store.ts";
import { localDay } from "../text/local-day.ts";
import { sessions } from "../verbs/sessions.ts";
import { clip, contextOf, get, mainOf, NAME, openTitles, type Page } from "./answer.ts";
import { daysUntil } from "./answer-overview.ts";
import type { SessionList, SessionRow, SessionView, Timeline, TimelineEvent } from "./api.ts";

/** Half a year fits on a page; older days are on the next pages. */
const MAX_DAYS = 183;
/** Only the first files of a large import are named. */
const MAX_MEMORIES = 12;
const MAX_SAYS = 400;
/** Events of one moment stay on one page, up to this many. */
const MAX_AT_ONCE = 1_000;

/** More than people scroll through. */
const MAX_LISTED = 500;
const MAX_HITS = 50;
const MAX_MESSAGES = 400;
const MAX_BYTES = 400 * 1024;
/** People rarely search for tool output. */
const MAX_TOOL_CHARS = 2_000;

const DEFAULT_EVENTS = 100;
const MAX_EVENTS = 500;

const TIME = checked(text(), (given) => !Number.isNaN(Date.parse(given)), "must be a time");

export const ACTIVITY_ROUTES = [
  /** `before` as ISO: only what came before it. */
  get("/api/timeline", { before: TIME, limit: number() }, async (page, { before, limit = DEFAULT_EVENTS }) => {
    const all = readEvents(page).sort((a, b) => b.ms - a.ms);
    const earlier = before === undefined ? all : all.filter(({ ms }) => ms < Date.parse(before));
    let end = Math.min(limit, MAX_EVENTS, earlier.length);
    // The next page begins before the last moment of this one.
    const most = Math.min(earlier.length, end + MAX_AT_ONCE);
    while (end > 0 && end < most && earlier[end]?.ms === earlier[end - 1]?.ms) end++;
    return {
      events: earlier.slice(0, end).map(({ event }) => event),
      days: countDays(all, page.now()),
      hasMore: end < earlier.length,
    } satisfies Timeline;
  }),
  /** Newest first; with words the best first. */
  get("/api/sessions", { q: text() }, async (page, { q: words = "" }, signal): Promise<SessionList> => {
    const search = words.trim() === "" ? { limit: MAX_LISTED } : { action: "search", words, limit: MAX_HITS };
    const rows = await sessions.run(page.memdir, search, contextOf(page, signal));
    return { sessions: rows.map((row) => rowOf(row, row.line)) };
  }),
  get("/api/session", { id: NAME }, async ({ memdir: { config, location } }, { id }): Promise<SessionView> => {
    const found = await findSession(sessionPlaces(config, location.project), id);
    const shown = JSON.stringify(id.slice(0, 40));
    if (found && "ambiguous" in found)
      throw new MemdirError("ambiguous", `several session ids begin with ${shown}; give a longer prefix`);
    if (!found || !isSessionHere(found, config, location.project))
      throw new MemdirError("not-found", `there is no session ${shown} in this project`);
    const { messages, prompts } = await readTranscript(found.path);
    const times = new Map(prompts.map(({ index, at }) => [index, at === "" ? null : at]));
    const said = messages.flatMap((message, at) => saidIn(message, times.get(at) ?? null));
    const kept = cut(said);
    const isCut = kept.length < said.length || kept.some(({ text }, at) => text !== said[at]?.text);
    return { row: rowOf(found), messages: kept, isCut };
  }),
];

type Dated = { ms: number; event: TimelineEvent };

function readEvents(page: Page): Dated[] {
  const find = openTitles(page.memdir);
  const events = [...changes(page, find), ...recalls(page, find), ...extractions(page), ...proposals(page)];
  return events.flatMap((event) => {
    const ms = Date.parse(event.at);
    return Number.isNaN(ms) ? [] : [{ ms, event: { ...event, says: event.says.slice(0, MAX_SAYS).toWellFormed() } }];
  });
}

const DONE: Readonly<Record<Action, string>> = {
  save: "saved",
  forget: "forgot",
  rename: "renamed",
  edit: "edited",
  undo: "undid",
  adopt: "adopted",
  import: "imported",
  prune: "pruned",
  dream: "dreamt",
  sync: "synced",
  index: "rebuilt the index",
};

type FindTitle = ReturnType<typeof openTitles>;

function changes({ memdir }: Page, find: FindTitle): TimelineEvent[] {
  return memdir.directories.flatMap((directory, at) =>
    entriesOf(directory).map((entry): TimelineEvent => {
      const { action, by, reason } = entry;
      const files = [...new Set(entry.files.map(({ file }) => file))].filter(isMemoryFile);
      const where = at === 0 ? "" : ` (${directory.scope})`;
      const count = files.length === 1 ? "" : ` ${files.length} memories`;
      const why = reason === "" ? "" : `: ${reason}`;
      return {
        at: entry.at,
        kind: action === "dream" || action === "sync" ? action : "change",
        says: `${DONE[action] ?? action}${count} by ${by}${where}${why}`,
        memories: files.slice(0, MAX_MEMORIES).map((file) => find(at, file)),
      };
    }),
  );
}

function entriesOf(directory: Store): Entry[] {
  try {
    // Lines of a journal that was edited by hand may lack anything.
    return directory.history().filter(({ at, files }) => typeof at === "string" && Array.isArray(files));
  } catch (error) {
    directory.log((error as Error).message);
    return [];
  }
}

function recalls({ memdir }: Page, find: FindTitle): TimelineEvent[] {
  return readSurfaceLog(mainOf(memdir).path).map(({ at, door, session, memories }) => ({
    at,
    kind: "recall",
    says: `recalled by ${door}`,
    ...(session !== null && { session }),
    memories: memories.slice(0, MAX_MEMORIES).flatMap(({ scope, file }) => {
      // Of several directories of a scope the first is the one that is written to.
      const directory = memdir.directories.findIndex((each) => each.scope === scope);
      return directory < 0 ? [] : [find(directory, file)];
    }),
  }));
}

const WORK: Readonly<Record<SpentKind, string>> = {
  extraction: "extracted from a session",
  notes: "took session notes",
  dream: "planned a dream",
  enrich: "generated cues",
  recall: "chose memories",
  check: "tried the model",
};

/** Work that was skipped is not an event. */
function extractions({ memdir }: Page): TimelineEvent[] {
  const { ledger } = openLearning(memdir);
  return ledger
    .entries()
    .filter(({ skipped, kind }) => skipped === null && kind !== "recall" && SPENT_KINDS.includes(kind))
    .map(({ at, kind, produced, model }) => ({
      at,
      kind: kind === "dream" ? "dream" : "extraction",
      says: [WORK[kind], produced, model].filter((part) => part !== "").join(", "),
      memories: [],
    }));
}

function proposals({ memdir }: Page): TimelineEvent[] {
  const { inbox } = openLearning(memdir);
  return inbox.list().map(({ at, from, name }) => ({
    at,
    kind: "extraction",
    says: `proposed by ${from}, waiting in the inbox: ${name}`,
    memories: [],
  }));
}

/** Without gaps, from the first day on which anything happened. */
function countDays(events: readonly Dated[], now: Date): Timeline["days"] {
  const oldest = new Date(now.getFullYear(), now.getMonth(), now.getDate() - MAX_DAYS + 1);
  const counted = events.filter(({ ms }) => ms >= oldest.getTime() && ms <= now.getTime() + DAY_MS);
  if (counted.length === 0) return [];
  const firstMs = counted.reduce((least, { ms }) => Math.min(least, ms), Number.POSITIVE_INFINITY);
  const days = daysUntil(new Date(firstMs), now).map((day) => {
    return { day, change: 0, recall: 0, extraction: 0, dream: 0, sync: 0 };
  });
  const byDay = new Map(days.map((counts) => [counts.day, counts]));
  for (const { ms, event } of counted) {
    const day = byDay.get(localDay(new Date(ms)));
    if (day) day[event.kind]++;
  }
  return days;
}

const DAY_MS = 86_400_000;

// --- Past conversations: found by what was said in them, and read again.

function rowOf({ id, at, title, messages }: Listed, excerpt: string | null = null): SessionRow {
  return { id, at, title, messages, excerpt };
}

type Said = SessionView["messages"][0];

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
  const shown = text.slice(0, MAX_TOOL_CHARS).toWellFormed();
  return text.length > MAX_TOOL_CHARS ? `${shown}\n… ${text.length - MAX_TOOL_CHARS} more characters` : shown;
}

/** From the beginning, as it was said. */
function cut(said: readonly Said[]): Said[] {
  const kept: Said[] = [];
  let left = MAX_BYTES;
  for (const one of said.slice(0, MAX_MESSAGES)) {
    left -= Buffer.byteLength(one.text);
    if (left < 0 && kept.length > 0) break;
    kept.push(left < 0 ? { ...one, text: clip(one.text, MAX_BYTES / 4) } : one);
    if (left < 0) break;
  }
  return kept;
}
