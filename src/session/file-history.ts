/** Every file that we change, as it was at each prompt of the session: copies on disk, lines in the transcript, nothing in any prompt. */

import { realPath } from "../disk/fence.ts";
import { diskError } from "../errors.ts";
import { type Backup, dropBackup, isAsKept, isStillKept, keepBackup } from "./file-backup.ts";
import {
  formatMoment,
  type HistoryLine,
  type HistoryPlace,
  type Moment,
  parseHistoryLine,
} from "./file-history-line.ts";
import { type Look, lookAtReal } from "./file-status.ts";

export interface FileHistory {
  /** Where the copies lie. */
  readonly dir: string;
  /** A user prompt begins. Files tracked so far that changed since their last backup, whoever did it, are kept again. */
  checkpoint(messageId: string, label: string): void;
  /** Before each change of a file by us: keeps what is there now, once per file and checkpoint. Throws when it cannot: then the change must not be made. */
  before(path: string): void;
  /** After it: remembers the hash, to tell outside edits from ours. Must not throw. */
  after(...paths: string[]): void;
  /** Oldest first. */
  checkpoints(): Checkpoint[];
  /** What each tracked file was at a checkpoint, by real path; null for an unknown one. */
  wanted(id: string): ReadonlyMap<string, Wanted> | null;
  /** Hash of what we last left at a real path; null: no file. */
  lastWritten(path: string): string | null | undefined;
  /** A checkpoint of its own before a rewind to `target`. No older one is dropped for it until `trim`: it may be the one to go back to. */
  keepPresent(target: string): Moment;
  trim(): void;
}

export interface Checkpoint {
  /** Of the message that began it. */
  id: string;
  /** "rewind": kept before a rewind, to take it back; no message has its id. */
  kind: "prompt" | "rewind";
  /** ISO time. */
  at: string;
  label: string;
  /** How many tracked files are not now what they were then. */
  files: number;
}

export type Wanted = { backup: Backup } | { problem: string };

interface FileHistoryWorld {
  now: () => Date;
  /** Appends a line to the transcript. */
  note: (line: HistoryLine) => void;
  log: (message: string) => void;
}

/** As many prompts as anybody goes back. */
const MAX_MOMENTS = 100;
/** Enough to recognise a prompt by; lines with all of a pasted file would be long. */
const MAX_LABEL = 200;

/** `from`: lines of the session that is resumed; those of other types and garbled ones are skipped. */
export function openFileHistory(
  place: { dir: string; cwd: string },
  world: FileHistoryWorld,
  from: readonly Record<string, unknown>[] = [],
): FileHistory {
  const desk: Desk = {
    place: { dir: place.dir, cwd: realPath(place.cwd) },
    world,
    moments: [],
    latest: new Map(),
    written: new Map(),
  };
  for (const line of from) takeIn(desk, line);
  desk.moments.splice(0, Math.max(0, desk.moments.length - MAX_MOMENTS));

  return {
    dir: place.dir,
    checkpoint(id, label) {
      if (desk.moments.some((moment) => moment.id === id)) return;
      keepMoment(desk, "prompt", id, label);
      trim(desk);
    },
    before(path) {
      if (desk.moments.length === 0) keepMoment(desk, "prompt", "start", "");
      keepFile(desk, realPath(path));
    },
    after: (...paths) =>
      rememberWritten(
        desk,
        paths.map((path) => realPath(path)),
      ),
    checkpoints: () => countChanges(desk),
    wanted(id) {
      const at = desk.moments.findIndex((moment) => moment.id === id);
      return at < 0 ? null : collectWanted(desk.moments.slice(at));
    },
    lastWritten: (path) => desk.written.get(path),
    keepPresent(target) {
      const label = desk.moments.find(({ id }) => id === target)?.label ?? "";
      let number = 1;
      while (desk.moments.some(({ id }) => id === `before-rewind-${number}`)) number++;
      return keepMoment(desk, "rewind", `before-rewind-${number}`, `before going back to: ${label}`);
    },
    trim: () => trim(desk),
  };
}

interface Desk {
  place: HistoryPlace;
  world: FileHistoryWorld;
  /** Oldest first. */
  moments: Moment[];
  /** The newest backup of every tracked file, by real path. */
  latest: Map<string, Backup>;
  /** What we last left there. */
  written: Map<string, string | null>;
}

function takeIn(desk: Desk, line: unknown): void {
  const parsed = parseHistoryLine(line, desk.place);
  if (!parsed) return;
  const { moment, isUpdate, written } = parsed;
  const at = desk.moments.findIndex(({ id }) => id === moment.id);
  const old = desk.moments[at];
  if (old && isUpdate) {
    desk.moments[at] = { ...old, backups: new Map([...old.backups, ...moment.backups]), unkept: moment.unkept };
  } else {
    if (old) desk.moments.splice(at, 1);
    desk.moments.push(moment);
  }
  for (const [path, backup] of moment.backups) track(desk, path, backup);
  for (const [path, hash] of written) desk.written.set(path, hash);
}

function track({ latest, written }: Desk, path: string, backup: Backup): void {
  latest.set(path, backup);
  // Until we have changed it, what we found counts as left by us: anything else is an outside edit.
  if (!written.has(path)) written.set(path, backup.content?.hash ?? null);
}

/** A copy or a line that cannot be made leaves the file out of this moment; going back to it is then refused for this file. */
function keepMoment(desk: Desk, kind: Moment["kind"], id: string, label: string): Moment {
  const { place, world, latest } = desk;
  const at = world.now().toISOString();
  const backups = new Map<string, Backup>();
  const unkept = new Map<string, string>();
  for (const [path, last] of latest) {
    const look = lookAtReal(path);
    if (look.kind === "other") unkept.set(path, `there was ${look.what}`);
    else if (isAsKept(last, look) && isStillKept(place.dir, last)) backups.set(path, last);
    else {
      try {
        backups.set(path, keepBackup(place.dir, path, last.version + 1, at));
      } catch (error) {
        const reason = error instanceof Error ? error.message : String(error);
        unkept.set(path, reason);
        world.log(`file history: ${reason}`);
      }
    }
  }
  const moment: Moment = { id, kind, at, label: label.slice(0, MAX_LABEL).toWellFormed(), backups, unkept };
  noteMoment(desk, moment, null);
  desk.moments.push(moment);
  for (const [path, backup] of backups) track(desk, path, backup);
  return moment;
}

function keepFile(desk: Desk, path: string): void {
  const { place, world, moments, latest } = desk;
  const current = moments.at(-1);
  if (!current || current.backups.has(path)) return;
  const version = (latest.get(path)?.version ?? 0) + 1;
  const backup = keepBackup(place.dir, path, version, world.now().toISOString());
  const backups = new Map(current.backups).set(path, backup);
  const unkept = new Map([...current.unkept].filter(([other]) => other !== path));
  const updated = { ...current, backups, unkept };
  noteMoment(desk, updated, [path]);
  moments[moments.length - 1] = updated;
  track(desk, path, backup);
}

/** What the transcript does not hold would be lost on resume: then the new copies go too, and nothing has happened. */
function noteMoment(desk: Desk, moment: Moment, news: readonly string[] | null): void {
  const { place, world, latest, written } = desk;
  try {
    world.note(formatMoment(moment, news, written, place));
  } catch (error) {
    const known = new Set([...latest.values()].map(({ content }) => content?.name));
    for (const { content } of moment.backups.values()) {
      if (content && !known.has(content.name)) dropBackup(place.dir, content.name);
    }
    throw diskError(error, "note in the transcript what was kept in", place.dir);
  }
}

function rememberWritten(desk: Desk, paths: readonly string[]): void {
  const { world, moments, latest, written } = desk;
  const current = moments.at(-1);
  const news: string[] = [];
  for (const path of paths) {
    const look = lookAtReal(path);
    const hash = look.kind === "file" ? look.hash : null;
    if (look.kind === "other" || !latest.has(path) || written.get(path) === hash) continue;
    written.set(path, hash);
    news.push(path);
  }
  if (!current || news.length === 0) return;
  try {
    noteMoment(desk, current, news);
  } catch (error) {
    // The change is made; after a resume it will be taken for somebody else's, which is reported and harms nothing.
    world.log(`file history: ${error instanceof Error ? error.message : String(error)}`);
  }
}

/** At the first of the moments: the entry made then, or for a file tracked later the first one after it. */
function collectWanted(moments: readonly Moment[]): Map<string, Wanted> {
  const wanted = new Map<string, Wanted>();
  for (let at = moments.length - 1; at >= 0; at--) putWanted(wanted, moments[at] as Moment);
  return wanted;
}

function putWanted(wanted: Map<string, Wanted>, { backups, unkept }: Moment): void {
  for (const [path, backup] of backups) wanted.set(path, { backup });
  for (const [path, problem] of unkept) if (!backups.has(path)) wanted.set(path, { problem });
}

/** From the newest to the oldest, so that each moment only adds to what is wanted at the next one. */
function countChanges({ moments, latest }: Desk): Checkpoint[] {
  const looks = new Map<string, Look>([...latest.keys()].map((path) => [path, lookAtReal(path)]));
  const wanted = new Map<string, Wanted>();
  const isChanged = ([path, then]: [string, Wanted]) => {
    const look = looks.get(path);
    return look !== undefined && "backup" in then && !isAsKept(then.backup, look);
  };
  return [...moments]
    .reverse()
    .map((moment) => {
      putWanted(wanted, moment);
      const { id, kind, at, label } = moment;
      return { id, kind, at, label, files: [...wanted].filter(isChanged).length };
    })
    .reverse();
}

function trim({ place, moments }: Desk): void {
  const dropped = moments.splice(0, Math.max(0, moments.length - MAX_MOMENTS));
  if (dropped.length === 0) return;
  const needed = new Set(moments.flatMap(namesOf));
  for (const name of new Set(dropped.flatMap(namesOf))) if (!needed.has(name)) dropBackup(place.dir, name);
}

function namesOf({ backups }: Moment): string[] {
  return [...backups.values()].flatMap(({ content }) => content?.name ?? []);
}
