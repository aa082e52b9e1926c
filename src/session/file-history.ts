/** Every file that we change, as it was at each prompt of the session: copies on disk, lines in the transcript, nothing in any prompt; and back to there. */

import { rmdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { realPath, removeQuietly } from "../disk/fence.ts";
import { attempt, diskError, MemdirError, messageOf } from "../errors.ts";
import { redactSecrets } from "../text/secrets.ts";
import type { World } from "../world.ts";
import {
  type Backup,
  findDamage,
  formatMoment,
  isAsKept,
  isStillKept,
  type Kept,
  keepBackup,
  type Moment,
  parseHistoryLine,
  removeFile,
  restoreBackup,
} from "./file-backup.ts";
import { type FileStatus, statusAtReal } from "./file-state.ts";
import type { TranscriptLine } from "./transcript-line.ts";

/** Copies of the files that an agent changes, so that they can be rewound. */
export type FileHistory = ReturnType<typeof openFileHistory>;

/** `files`: how many tracked files differ now from what they were then. */
export type Checkpoint = Omit<Moment, "kept"> & { files: number };

interface FileHistoryOptions {
  /** Where the copies are. */
  dir: string;
  cwd: string;
  /** Appends a line to the transcript. */
  note: (line: TranscriptLine) => void;
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
) {
  const history: History = { dir, cwd: realPath(cwd), note, world, moments: [], latest: new Map(), written: new Map() };
  for (const line of from) takeIn(history, line);
  history.moments.splice(0, Math.max(0, history.moments.length - MAX_MOMENTS));

  return {
    /** Where the copies are. */
    dir,
    /** Called when a prompt begins. Tracked files that changed since their last backup, whoever changed them, are copied again. */
    checkpoint(messageId: string, label: string): void {
      if (history.moments.some(({ id }) => id === messageId)) return;
      keepMoment(history, "prompt", messageId, label);
      trim(history);
    },
    /** Called before we change a file: copies it, once per file and checkpoint. Throws when it cannot; then the change must not be made. */
    before(path: string): void {
      if (history.moments.length === 0) keepMoment(history, "prompt", "start", "");
      keepFile(history, realPath(path));
    },
    /** Called after the change: remembers the hash, to recognise outside edits. Must not throw. */
    after: (...paths: string[]): void => rememberWritten(history, paths),
    /** Oldest first. */
    checkpoints: (): Checkpoint[] => countChanges(history),
    /** What each tracked file was at a checkpoint, by real path. Throws `not-found` for an unknown one. */
    wanted: (id: string): ReadonlyMap<string, Kept> => wantedAt(history, id),
    /** The hash of what we last left at a real path; null for no file. */
    lastWritten: (path: string): string | null | undefined => history.written.get(path),
    /** Adds a checkpoint before a rewind to `target`. No older one is dropped for it until `trim`, since it may be the target. */
    keepPresent(target: string): Moment {
      const label = history.moments.find(({ id }) => id === target)?.label ?? "";
      let number = 1;
      while (history.moments.some(({ id }) => id === `before-rewind-${number}`)) number++;
      return keepMoment(history, "rewind", `before-rewind-${number}`, `before going back to: ${label}`);
    },
    /** Drops the oldest checkpoints beyond the limit, and the copies that only they need. */
    trim: (): void => trim(history),
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
    history.moments[at] = { ...old, kept: new Map([...old.kept, ...moment.kept]) };
  } else {
    if (old) history.moments.splice(at, 1);
    history.moments.push(moment);
  }
  for (const [path, kept] of moment.kept) track(history, path, kept);
  for (const [path, hash] of written) history.written.set(path, hash);
}

function track({ latest, written }: History, path: string, backup: Kept): void {
  if ("problem" in backup) return;
  latest.set(path, backup);
  // Until we change it, what we found counts as ours: anything else is an outside edit.
  if (!written.has(path)) written.set(path, backup.content?.hash ?? null);
}

/** A file whose copy or line fails is left out of this moment; rewinding to it is then refused for this file. */
function keepMoment(history: History, kind: Moment["kind"], id: string, label: string): Moment {
  const { dir, world, latest } = history;
  const at = world.now().toISOString();
  const kept = new Map<string, Kept>();
  for (const [path, last] of latest) {
    const status = statusAtReal(path);
    if (status.kind === "other") kept.set(path, { problem: `there was ${status.what}` });
    else if (isAsKept(last, status) && isStillKept(dir, last)) kept.set(path, last);
    else {
      try {
        kept.set(path, keepBackup(dir, path, last.version + 1, at));
      } catch (error) {
        kept.set(path, { problem: messageOf(error) });
        world.log(`file history: ${messageOf(error)}`);
      }
    }
  }
  const shown = redactSecrets(label).slice(0, MAX_LABEL).toWellFormed();
  const moment: Moment = { id, kind, at, label: shown, kept };
  noteMoment(history, moment, null);
  history.moments.push(moment);
  for (const [path, one] of kept) track(history, path, one);
  return moment;
}

function keepFile(history: History, path: string): void {
  const { dir, world, moments, latest } = history;
  const current = moments.at(-1);
  const known = current?.kept.get(path);
  if (!current || (known && !("problem" in known))) return;
  const version = (latest.get(path)?.version ?? 0) + 1;
  const backup = keepBackup(dir, path, version, world.now().toISOString());
  const updated = { ...current, kept: new Map(current.kept).set(path, backup) };
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
    for (const name of namesOf(moment)) if (!known.has(name)) removeQuietly(join(dir, name));
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

/** The entry made then, or for a file tracked later the first one after it. */
function wantedAt({ moments }: History, id: string): Map<string, Kept> {
  const at = moments.findIndex((moment) => moment.id === id);
  if (at >= 0)
    return new Map(
      moments
        .slice(at)
        .reverse()
        .flatMap(({ kept }) => [...kept]),
    );
  const message = `there is no checkpoint "${id}"; only the newest are kept: choose one that is listed`;
  throw new MemdirError("not-found", message);
}

function countChanges(history: History): Checkpoint[] {
  const statuses = new Map<string, FileStatus>([...history.latest.keys()].map((path) => [path, statusAtReal(path)]));
  const isChanged = ([path, then]: [string, Kept]) => {
    const status = statuses.get(path);
    return status !== undefined && !("problem" in then) && !isAsKept(then, status);
  };
  // From the newest: what is wanted of a file is the entry made then, or the first one after it.
  const wanted = new Map<string, Kept>();
  const counted = history.moments.toReversed().map(({ kept, ...moment }) => {
    for (const [path, then] of kept) wanted.set(path, then);
    return { ...moment, files: [...wanted].filter(isChanged).length };
  });
  return counted.reverse();
}

function trim({ dir, moments }: History): void {
  const dropped = moments.splice(0, Math.max(0, moments.length - MAX_MOMENTS));
  if (dropped.length === 0) return;
  const needed = new Set(moments.flatMap(namesOf));
  for (const name of new Set(dropped.flatMap(namesOf))) if (!needed.has(name)) removeQuietly(join(dir, name));
}

function namesOf({ kept }: Moment): string[] {
  return [...kept.values()].flatMap((one) => ("problem" in one ? [] : (one.content?.name ?? [])));
}

// --- Rewinds every tracked file to a checkpoint, after keeping the present so that this can be undone.

export interface RewindStep {
  /** A real path. */
  path: string;
  action: "restore" | "remove" | "none" | "refused";
  /** Changed by someone else since our last write. */
  outside: boolean;
  /** Why it was refused. */
  reason?: string;
}

/** What a rewind of files did. */
export interface RewindReport {
  /** What was done, file by file. */
  steps: RewindStep[];
  /** The checkpoint to rewind to in order to undo this; null when there was nothing to do. */
  undo: string | null;
}

/** What a rewind would do now, sorted by path. Throws `not-found` for an unknown checkpoint. */
export function planRewind(history: FileHistory, id: string): RewindStep[] {
  const wanted = [...history.wanted(id)].sort(([a], [b]) => (a < b ? -1 : 1));
  return wanted.map(([path, then]) => planStep(history, path, then));
}

/** A file that cannot be restored stays as it is, is reported as refused, and does not stop the others. */
export function rewindFiles(history: FileHistory, id: string): RewindReport {
  const wanted = history.wanted(id);
  const plan = planRewind(history, id);
  if (!plan.some(isChange)) return { steps: plan, undo: null };
  const present = history.keepPresent(id);
  const steps = plan.map((step) => {
    const then = wanted.get(step.path);
    if (!then || "problem" in then || !isChange(step)) return step;
    const now = present.kept.get(step.path) ?? { problem: "it is new" };
    if ("problem" in now) return refuse(step, `what is there now could not be kept: ${now.problem}`);
    return applyStep(history, step, then, now);
  });
  removeFolders(steps.flatMap(({ path, action }) => (action === "remove" ? foldersOf(path, wanted.get(path)) : [])));
  history.after(...steps.filter(isChange).map(({ path }) => path));
  history.trim();
  return { steps, undo: present.id };
}

function planStep(history: FileHistory, path: string, wanted: Kept): RewindStep {
  const status = statusAtReal(path);
  const hash = status.kind === "file" ? status.hash : null;
  const outside = status.kind === "other" || hash !== history.lastWritten(path);
  const step: RewindStep = { path, action: "none", outside };
  if (status.kind === "other") return refuse(step, `there is ${status.what}`);
  if ("problem" in wanted) return refuse(step, `it could not be kept at that time: ${wanted.problem}`);
  if (isAsKept(wanted, status)) return step;
  const damage = findDamage(history.dir, wanted);
  if (damage) return refuse(step, damage);
  return { ...step, action: wanted.content ? "restore" : "remove" };
}

/** Only what was just kept is ever replaced: an edit in between makes the step fail. */
function applyStep(history: FileHistory, step: RewindStep, then: Backup, now: Backup): RewindStep {
  const { path } = step;
  const isExpected = () => isAsKept(now, statusAtReal(path));
  try {
    if (then.content) restoreBackup(history.dir, path, then.content, isExpected);
    else removeFile(path, isExpected);
  } catch (error) {
    return refuse(step, messageOf(error));
  }
  return step;
}

function isChange({ action }: RewindStep): boolean {
  return action === "restore" || action === "remove";
}

function refuse(step: RewindStep, reason: string): RewindStep {
  return { ...step, action: "refused", reason };
}

/** The folders that did not exist before the file did, deepest first. */
function foldersOf(path: string, wanted: Kept | undefined): string[] {
  const folders: string[] = [];
  const count = wanted && "missingFolders" in wanted ? wanted.missingFolders : 0;
  for (let at = dirname(path); folders.length < count && dirname(at) !== at; at = dirname(at)) folders.push(at);
  return folders;
}

/** Removed at the end, when no other removed file is left in them. */
function removeFolders(folders: readonly string[]): void {
  const deepestFirst = [...new Set(folders)].sort((a, b) => b.length - a.length);
  // If something else is in one, it stays.
  for (const folder of deepestFirst) attempt(() => rmdirSync(folder), null);
}
