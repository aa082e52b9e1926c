/** What happened when: changes, recalls, extractions, dreams and syncs of all directories, newest first. */

import { SPENT_KINDS, type SpentKind } from "../learn/ledger.ts";
import { openLearning } from "../open-learn.ts";
import { readSurfaceLog } from "../recall/surface-log.ts";
import { type Action, type Entry, isMemoryFile, readJournal } from "../store/store.ts";
import { localDay } from "../text/local-day.ts";
import { daysUntil } from "./answer-overview.ts";
import type { MemoryTitle, Timeline, TimelineEvent } from "./api.ts";
import { type Desk, mainOf, numberOfScope, openTitles } from "./desk.ts";

/** Half a year fits a page; what is older is reached by going back. */
const MAX_DAYS = 183;
/** Of an import of hundreds the first are named. */
const MAX_MEMORIES = 12;
const MAX_SAYS = 400;
/** Events of one moment are not torn apart, unless they are this many. */
const MAX_AT_ONCE = 1_000;

export interface TimelinePage {
  /** ISO; only what came before it. */
  before: string | null;
  limit: number;
}

export async function answerTimeline(desk: Desk, { before, limit }: TimelinePage): Promise<Timeline> {
  const all = readEvents(desk).sort((a, b) => b.ms - a.ms);
  const earlier = before === null ? all : all.filter(({ ms }) => ms < Date.parse(before));
  let end = Math.min(limit, earlier.length);
  // The next page begins before the last moment of this one.
  const most = Math.min(earlier.length, limit + MAX_AT_ONCE);
  while (end > 0 && end < most && earlier[end]?.ms === earlier[end - 1]?.ms) end++;
  return {
    events: earlier.slice(0, end).map(({ event }) => event),
    days: countDays(all, desk.now()),
    hasMore: end < earlier.length,
  };
}

interface Dated {
  ms: number;
  event: TimelineEvent;
}

function readEvents(desk: Desk): Dated[] {
  const titleOf = openTitles(desk);
  const events = [...changes(desk, titleOf), ...recalls(desk, titleOf), ...extractions(desk), ...proposals(desk)];
  return events.flatMap((event) => {
    const ms = Date.parse(event.at);
    return Number.isNaN(ms) ? [] : [{ ms, event: { ...event, says: event.says.slice(0, MAX_SAYS).toWellFormed() } }];
  });
}

type TitleOf = (directory: number, file: string) => MemoryTitle;

const DONE: Readonly<Record<Action, string>> = {
  save: "saved",
  forget: "forgot",
  rename: "renamed",
  edit: "edited",
  undo: "undid",
  adopt: "took over",
  import: "imported",
  prune: "pruned",
  dream: "dreamt",
  sync: "synced",
  index: "rebuilt the index",
};

function changes(desk: Desk, titleOf: TitleOf): TimelineEvent[] {
  return desk.memdir.directories.flatMap((directory, at) =>
    entriesOf(desk, at).map((entry): TimelineEvent => {
      const { action, by, reason } = entry;
      const files = [...new Set(entry.files.map(({ file }) => file))].filter(isMemoryFile);
      const where = at === 0 ? "" : ` (${directory.scope})`;
      const count = files.length === 1 ? "" : ` ${files.length} memories`;
      const why = reason === "" ? "" : `: ${reason}`;
      return {
        at: entry.at,
        kind: action === "dream" || action === "sync" ? action : "change",
        says: `${DONE[action] ?? action}${count} by ${by}${where}${why}`,
        memories: files.slice(0, MAX_MEMORIES).map((file) => titleOf(at, file)),
      };
    }),
  );
}

function entriesOf(desk: Desk, at: number): Entry[] {
  try {
    const entries = readJournal(desk.memdir.directories[at]!);
    // Lines of a journal that somebody edited may lack anything.
    return entries.filter(({ at, files }) => typeof at === "string" && Array.isArray(files));
  } catch (error) {
    desk.log((error as Error).message);
    return [];
  }
}

function recalls(desk: Desk, titleOf: TitleOf): TimelineEvent[] {
  return readSurfaceLog(mainOf(desk).path).map(({ at, door, session, memories }) => ({
    at,
    kind: "recall",
    says: `recalled by ${door}`,
    ...(session !== null && { session }),
    memories: memories.slice(0, MAX_MEMORIES).flatMap(({ scope, file }) => {
      const directory = numberOfScope(desk, scope);
      return directory === null ? [] : [titleOf(directory, file)];
    }),
  }));
}

const WORK: Readonly<Record<SpentKind, string>> = {
  extraction: "looked through a session",
  notes: "took notes of a session",
  dream: "planned a dream",
  enrich: "looked for cues",
  recall: "chose memories",
};

/** What did not run for some reason is no event. */
function extractions(desk: Desk): TimelineEvent[] {
  const { ledger } = openLearning(desk.memdir);
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

function proposals(desk: Desk): TimelineEvent[] {
  const { inbox } = openLearning(desk.memdir);
  return inbox.list().map(({ at, from, name }) => ({
    at,
    kind: "extraction",
    says: `proposed by ${from}, waits in the inbox: ${name}`,
    memories: [],
  }));
}

/** Without gaps, from the first day on which anything happened. */
function countDays(events: readonly Dated[], now: Date): Timeline["days"] {
  const oldest = new Date(now.getFullYear(), now.getMonth(), now.getDate() - MAX_DAYS + 1);
  const counted = events.filter(({ ms }) => ms >= oldest.getTime() && ms <= now.getTime() + DAY_MS);
  if (counted.length === 0) return [];
  const firstMs = counted.reduce((least, { ms }) => Math.min(least, ms), Number.POSITIVE_INFINITY);
  const days = new Map(
    daysUntil(new Date(firstMs), now).map((day) => [
      day,
      { day, change: 0, recall: 0, extraction: 0, dream: 0, sync: 0 },
    ]),
  );
  for (const { ms, event } of counted) {
    const day = days.get(localDay(new Date(ms)));
    if (day) day[event.kind]++;
  }
  return [...days.values()];
}

const DAY_MS = 86_400_000;
