/** File history as lines of the transcript, in Claude Code's shape; what it does not know of are extra fields. */

import { isAbsolute, relative, resolve } from "node:path";
import { isWithin } from "../disk/fence.ts";
import { BACKUP_NAME, type Backup, examineBackup } from "./file-backup.ts";

export type HistoryLine = { type: string } & Record<string, unknown>;

/** A moment to go back to: every file tracked so far, as it was. */
export interface Moment {
  id: string;
  kind: "prompt" | "rewind";
  at: string;
  label: string;
  /** By real path. */
  backups: ReadonlyMap<string, Backup>;
  /** Files that could not be kept at that moment, and why. */
  unkept: ReadonlyMap<string, string>;
}

/** Where paths of lines start, and where the copies lie. */
export interface HistoryPlace {
  dir: string;
  /** A real path. */
  cwd: string;
}

/** What we last left at each path: a hash, or null for no file. */
type Written = ReadonlyMap<string, string | null>;

const SNAPSHOT = "file-history-snapshot";

/** The line of a moment, or of the files that came to it since: lines with all files for each file would grow with their square. */
export function formatMoment(
  moment: Moment,
  news: readonly string[] | null,
  written: Written,
  { cwd }: HistoryPlace,
): HistoryLine {
  const { id, at } = moment;
  const shown = news === null ? [...moment.backups] : [...moment.backups].filter(([path]) => news.includes(path));
  const backups = shown.map(([path, backup]) => [
    keyOf(path, cwd),
    { ...formatBackup(backup), written: written.has(path) ? written.get(path) : (backup.content?.hash ?? null) },
  ]);
  const unkept = [...moment.unkept].map(([path, reason]) => [keyOf(path, cwd), reason]);
  return {
    type: SNAPSHOT,
    messageId: id,
    // A file may be called "__proto__": fromEntries makes it a field like any other.
    snapshot: { messageId: id, trackedFileBackups: Object.fromEntries(backups), timestamp: at },
    isSnapshotUpdate: news !== null,
    kind: moment.kind,
    label: moment.label,
    ...(unkept.length > 0 && { unkept: Object.fromEntries(unkept) }),
  };
}

/** Null for lines of other types and for those that make no sense; entries that make none are left out. */
export function parseHistoryLine(
  line: unknown,
  place: HistoryPlace,
): { moment: Moment; isUpdate: boolean; written: Written } | null {
  if (!isObject(line)) return null;
  const { snapshot } = line;
  if (line.type !== SNAPSHOT || !isObject(snapshot) || !isObject(snapshot.trackedFileBackups)) return null;
  const id = line.messageId ?? snapshot.messageId;
  if (typeof id !== "string" || id === "") return null;
  const backups = new Map<string, Backup>();
  const written = new Map<string, string | null>();
  for (const [key, value] of Object.entries(snapshot.trackedFileBackups)) {
    const path = pathOf(key, place.cwd);
    const backup = path ? parseBackup(value, place.dir) : null;
    if (!path || !backup) continue;
    backups.set(path, backup);
    const left = (value as Record<string, unknown>).written;
    if (left === null || isHash(left)) written.set(path, left);
  }
  const unkept = new Map<string, string>();
  for (const [key, reason] of Object.entries(isObject(line.unkept) ? line.unkept : {})) {
    const path = pathOf(key, place.cwd);
    if (path && typeof reason === "string") unkept.set(path, reason);
  }
  const moment: Moment = {
    id,
    kind: line.kind === "rewind" ? "rewind" : "prompt",
    at: typeof snapshot.timestamp === "string" ? snapshot.timestamp : "",
    label: typeof line.label === "string" ? line.label : "",
    backups,
    unkept,
  };
  return { moment, isUpdate: line.isSnapshotUpdate === true, written };
}

function formatBackup({ version, at, content, missingFolders }: Backup): Record<string, unknown> {
  return {
    backupFileName: content?.name ?? null,
    version,
    backupTime: at,
    ...(content && { hash: content.hash, mode: content.mode, size: content.size }),
    ...(missingFolders > 0 && { missingFolders }),
  };
}

function parseBackup(value: unknown, dir: string): Backup | null {
  if (!isObject(value)) return null;
  const { backupFileName: name, version, backupTime, hash, mode, size, missingFolders } = value;
  if (!isCount(version)) return null;
  const backup = { version, at: typeof backupTime === "string" ? backupTime : "", missingFolders: 0 };
  if (name === null) return { ...backup, content: null, missingFolders: isCount(missingFolders) ? missingFolders : 0 };
  if (typeof name !== "string" || !BACKUP_NAME.test(name)) return null;
  if (hash === undefined) {
    // Claude Code says nothing of the content. A copy that is gone stays listed, so that going back to it is refused.
    return { ...backup, content: examineBackup(dir, name) ?? { name, hash: "", mode: 0o600, size: 0 } };
  }
  if (!isHash(hash) || !isCount(mode) || !isCount(size)) return null;
  return { ...backup, content: { name, hash, mode: mode & 0o777, size } };
}

function keyOf(path: string, cwd: string): string {
  return isWithin(cwd, path) ? relative(cwd, path) : path;
}

function pathOf(key: string, cwd: string): string | null {
  if (key === "" || key.includes("\0")) return null;
  return isAbsolute(key) ? resolve(key) : resolve(cwd, key);
}

function isHash(value: unknown): value is string {
  return typeof value === "string" && /^[0-9a-f]{64}$/.test(value);
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
