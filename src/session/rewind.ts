/** Rewinds every tracked file to a checkpoint, after keeping the present so that this can be undone. */

import { rmdirSync } from "node:fs";
import { dirname } from "node:path";
import { attempt, MemdirError, messageOf } from "../errors.ts";
import { type Backup, findDamage, isAsKept, removeFile, restoreBackup } from "./file-backup.ts";
import type { FileHistory, Wanted } from "./file-history.ts";
import { statusAtReal } from "./file-state.ts";

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
  const wanted = [...wantedAt(history, id)].sort(([a], [b]) => (a < b ? -1 : 1));
  return wanted.map(([path, then]) => planStep(history, path, then));
}

/** A file that cannot be restored stays as it is, is reported as refused, and does not stop the others. */
export function rewindFiles(history: FileHistory, id: string): RewindReport {
  const wanted = wantedAt(history, id);
  const plan = planRewind(history, id);
  if (!plan.some(isChange)) return { steps: plan, undo: null };
  const present = history.keepPresent(id);
  const steps = plan.map((step) => {
    const then = wanted.get(step.path);
    if (!then || "problem" in then || !isChange(step)) return step;
    const now = present.backups.get(step.path);
    if (!now)
      return refuse(step, `what is there now could not be kept: ${present.unkept.get(step.path) ?? "it is new"}`);
    return applyStep(history, step, then.backup, now);
  });
  removeFolders(steps.flatMap(({ path, action }) => (action === "remove" ? foldersOf(path, wanted.get(path)) : [])));
  history.after(...steps.filter(isChange).map(({ path }) => path));
  history.trim();
  return { steps, undo: present.id };
}

function wantedAt(history: FileHistory, id: string): ReadonlyMap<string, Wanted> {
  const wanted = history.wanted(id);
  if (wanted) return wanted;
  const message = `there is no checkpoint "${id}"; only the newest are kept: choose one that is listed`;
  throw new MemdirError("not-found", message);
}

function planStep(history: FileHistory, path: string, wanted: Wanted): RewindStep {
  const status = statusAtReal(path);
  const hash = status.kind === "file" ? status.hash : null;
  const outside = status.kind === "other" || hash !== history.lastWritten(path);
  const step: RewindStep = { path, action: "none", outside };
  if (status.kind === "other") return refuse(step, `there is ${status.what}`);
  if ("problem" in wanted) return refuse(step, `it could not be kept at that time: ${wanted.problem}`);
  if (isAsKept(wanted.backup, status)) return step;
  const damage = findDamage(history.dir, wanted.backup);
  if (damage) return refuse(step, damage);
  return { ...step, action: wanted.backup.content ? "restore" : "remove" };
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
function foldersOf(path: string, wanted: Wanted | undefined): string[] {
  const folders: string[] = [];
  const count = wanted && "backup" in wanted ? wanted.backup.missingFolders : 0;
  for (let at = dirname(path); folders.length < count && dirname(at) !== at; at = dirname(at)) folders.push(at);
  return folders;
}

/** Removed at the end, when no other removed file is left in them. */
function removeFolders(folders: readonly string[]): void {
  const deepestFirst = [...new Set(folders)].sort((a, b) => b.length - a.length);
  // If something else is in one, it stays.
  for (const folder of deepestFirst) attempt(() => rmdirSync(folder), null);
}
