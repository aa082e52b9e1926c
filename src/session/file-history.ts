/** Every file that we change, as it was at each prompt of the session: copies on disk, lines in the transcript, nothing in any prompt. */

import { join } from "node:path";
import { realPath, removeQuietly } from "../disk/fence.ts";
import { diskError, messageOf } from "../errors.ts";
import { redactSecrets } from "../text/secrets.ts";
import type { World } from "../world.ts";
import {
  type Backup,
  formatMoment,
  type HistoryLine,
  isAsKept,
  isStillKept,
  keepBackup,
  type Moment,
  parseHistoryLine,
} from "./file-backup.ts";
import { type FileStatus, statusAtReal } from "./file-state.ts";

/** Copies of the files that an agent changes, so that they can be rewound. */
export interface FileHistory {
  /** Where the copies are. */
  readonly dir: string;
  /** Called when a prompt begins. Tracked files that changed since their last backup, whoever changed them, are copied again. */
  checkpoint(messageId: string, label: string): void;
  /** Called before we change a file: copies it, once per file and checkpoint. Throws when it cannot; then the change must not be made. */
  before(path: string): void;
  /** Called after the change: remembers the hash, to recognise outside edits. Must not throw. */
  after(...paths: string[]): void;
  /** Oldest first. */
  checkpoints(): Checkpoint[];
  /** What each tracked file was at a checkpoint, by real path; null for an unknown checkpoint. */
  wanted(id: string): ReadonlyMap<string, Wanted> | null;
  /** The hash of what we last left at a real path; null for no file. */
  lastWritten(path: string): string | null | undefined;
  /** Adds a checkpoint before a rewind to `target`. No older one is dropped for it until `trim`, since it may be the target. */
  keepPresent(target: string): Moment;
  /** Drops the oldest checkpoints beyond the limit, and the copies that only they need. */
  trim(): void;
}

/** `files`: how many tracked files differ now from what they were then. */
export type Checkpoint = Omit<Moment, "backups" | "unkept"> & { files: number };

export type Wanted = { backup: Backup } | { problem: string };

interface FileHistoryOptions {
  /** Where the copies are. */
  dir: string;
  cwd: string;
  /** Appends a line to the transcript. */
  note: (line: HistoryLine) => void;
}

/** More prompts than anyone rewinds. */
const MAX_MOMENTS = 100;
/** Enough to recognise a prompt; a whole pasted file would make long lines. */
const MAX_LABEL = 200;

/** `from` has the lines of a resumed session; other types and invalid ones are skipped. */
export function openFileHistory(
  { dir, cwd, note }: FileHistoryOptions,
  world: Pick<World, "now" | "log">,
  from: readonly Record<string, unknown>[] = [],
): FileHistory {
  const history: History = { dir, cwd: realPath(cwd), note, world, moments: [], latest: new Map(), written: new Map() };
  for (const line of from) takeIn(history, line);
  history.moments.splice(0, Math.max(0, history.moments.length - MAX_MOMENTS));

  return {
    dir,
    checkpoint(id, label) {
      if (history.moments.some((moment) => moment.id === id)) return;
      keepMoment(history, "prompt", id, label);
      trim(history);
    },
    before(path) {
      if (history.moments.length === 0) keepMoment(history, "prompt", "start", "");
      keepFile(history, realPath(path));
    },
    after: (...paths) => rememberWritten(history, paths),
    checkpoints: () => countChanges(history),
    wanted(id) {
      const at = history.moments.findIndex((moment) => moment.id === id);
      return at < 0 ? null : collectWanted(history.moments.slice(at));
    },
    lastWritten: (path) => history.written.get(path),
    keepPresent(target) {
      const label = history.moments.find(({ id }) => id === target)?.label ?? "";
      let number = 1;
      while (history.moments.some(({ id }) => id === `before-rewind-${number}`)) number++;
      return keepMoment(history, "rewind", `before-rewind-${number}`, `before going back to: ${label}`);
    },
    trim: () => trim(history),
  };
}

interface History extends FileHistoryOptions {
  world: Pick<World, "now" | "log">;
  /** Oldest first. */
  moments: Moment[];
  /** The newest backup of every tracked file, by real path. */
  latest: Map<string, Backup>;
  /** The hash of what we last left at each path. */
  written: Map<string, string | null>;
}

function takeIn(history: History, line: unknown): void {
  const parsed = parseHistoryLine(line, history.dir, history.cwd);
  if (!parsed) return;
  const { moment, isUpdate, written } = parsed;
  const at = history.moments.findIndex(({ id }) => id === moment.id);
  const old = history.moments[at];
  if (old && isUpdate) {
    history.moments[at] = { ...old, backups: new Map([...old.backups, ...moment.backups]), unkept: moment.unkept };
  } else {
    if (old) history.moments.splice(at, 1);
    history.moments.push(moment);
  }
  for (const [path, backup] of moment.backups) track(history, path, backup);
  for (const [path, hash] of written) history.written.set(path, hash);
}

function track({ latest, written }: History, path: string, backup: Backup): void {
  latest.set(path, backup);
  // Until we change it, what we found counts as ours: anything else is an outside edit.
  if (!written.has(path)) written.set(path, backup.content?.hash ?? null);
}

/** A file whose copy or line fails is left out of this moment; rewinding to it is then refused for this file. */
function keepMoment(history: History, kind: Moment["kind"], id: string, label: string): Moment {
  const { dir, world, latest } = history;
  const at = world.now().toISOString();
  const backups = new Map<string, Backup>();
  const unkept = new Map<string, string>();
  for (const [path, last] of latest) {
    const status = statusAtReal(path);
    if (status.kind === "other") unkept.set(path, `there was ${status.what}`);
    else if (isAsKept(last, status) && isStillKept(dir, last)) backups.set(path, last);
    else {
      try {
        backups.set(path, keepBackup(dir, path, last.version + 1, at));
      } catch (error) {
        unkept.set(path, messageOf(error));
        world.log(`file history: ${messageOf(error)}`);
      }
    }
  }
  const shown = redactSecrets(label).slice(0, MAX_LABEL).toWellFormed();
  const moment: Moment = { id, kind, at, label: shown, backups, unkept };
  noteMoment(history, moment, null);
  history.moments.push(moment);
  for (const [path, backup] of backups) track(history, path, backup);
  return moment;
}

function keepFile(history: History, path: string): void {
  const { dir, world, moments, latest } = history;
  const current = moments.at(-1);
  if (!current || current.backups.has(path)) return;
  const version = (latest.get(path)?.version ?? 0) + 1;
  const backup = keepBackup(dir, path, version, world.now().toISOString());
  const backups = new Map(current.backups).set(path, backup);
  const unkept = new Map([...current.unkept].filter(([other]) => other !== path));
  const updated = { ...current, backups, unkept };
  noteMoment(history, updated, [path]);
  moments[moments.length - 1] = updated;
  track(history, path, backup);
}

/** What is not in the transcript would be lost on resume: then the new copies are removed, too, as if nothing had happened. */
function noteMoment(history: History, moment: Moment, news: readonly string[] | null): void {
  const { dir, cwd, note, latest, written } = history;
  try {
    note(formatMoment(moment, news, written, cwd));
  } catch (error) {
    const known = new Set([...latest.values()].map(({ content }) => content?.name));
    for (const { content } of moment.backups.values()) {
      if (content && !known.has(content.name)) removeQuietly(join(dir, content.name));
    }
    throw diskError(error, "note in the transcript what was kept in", dir);
  }
}

function rememberWritten(history: History, paths: readonly string[]): void {
  const { world, moments, latest, written } = history;
  const current = moments.at(-1);
  const news: string[] = [];
  for (const path of paths.map((each) => realPath(each))) {
    const status = statusAtReal(path);
    const hash = status.kind === "file" ? status.hash : null;
    if (status.kind === "other" || !latest.has(path) || written.get(path) === hash) continue;
    written.set(path, hash);
    news.push(path);
  }
  if (!current || news.length === 0) return;
  try {
    noteMoment(history, current, news);
  } catch (error) {
    // The change is made; after a resume it will look like an outside edit, which is reported and harmless.
    world.log(`file history: ${messageOf(error)}`);
  }
}

/** The state at the first of the moments: the entry made then, or for a file tracked later the first one after it. */
function collectWanted(moments: readonly Moment[]): Map<string, Wanted> {
  const wanted = new Map<string, Wanted>();
  for (const moment of moments.toReversed()) putWanted(wanted, moment);
  return wanted;
}

function putWanted(wanted: Map<string, Wanted>, { backups, unkept }: Pick<Moment, "backups" | "unkept">): void {
  for (const [path, backup] of backups) wanted.set(path, { backup });
  for (const [path, problem] of unkept) if (!backups.has(path)) wanted.set(path, { problem });
}

/** Newest to oldest, so that each moment only adds to what the next one needs. */
function countChanges({ moments, latest }: History): Checkpoint[] {
  const statuses = new Map<string, FileStatus>([...latest.keys()].map((path) => [path, statusAtReal(path)]));
  const wanted = new Map<string, Wanted>();
  const isChanged = ([path, then]: [string, Wanted]) => {
    const status = statuses.get(path);
    return status !== undefined && "backup" in then && !isAsKept(then.backup, status);
  };
  const counted = moments.toReversed().map(({ id, kind, at, label, ...kept }) => {
    putWanted(wanted, kept);
    return { id, kind, at, label, files: [...wanted].filter(isChanged).length };
  });
  return counted.reverse();
}

function trim({ dir, moments }: History): void {
  const dropped = moments.splice(0, Math.max(0, moments.length - MAX_MOMENTS));
  if (dropped.length === 0) return;
  const needed = new Set(moments.flatMap(namesOf));
  for (const name of new Set(dropped.flatMap(namesOf))) if (!needed.has(name)) removeQuietly(join(dir, name));
}

function namesOf({ backups }: Moment): string[] {
  return [...backups.values()].flatMap(({ content }) => content?.name ?? []);
}
