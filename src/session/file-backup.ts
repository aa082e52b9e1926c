/** Copies of files in a folder of their own: made before a change, restored whole or not at all, recorded in lines of the transcript. */

import { chmodSync, existsSync, lstatSync, unlinkSync } from "node:fs";
import { dirname, isAbsolute, join, relative, resolve } from "node:path";
import {
  isWithin,
  makeFolders,
  moveInto,
  readRegular,
  removeQuietly,
  syncDirectory,
  writeTemporary,
} from "../disk/fence.ts";
import { isObject, MemdirError, onDisk } from "../errors.ts";
import { sha256 } from "../text/hash.ts";
import { type FileStatus, statusAt, statusAtReal } from "./file-state.ts";
import { textOrNull } from "./transcript-line.ts";

/** A file at one moment. `content: null` means that it did not exist. */
export interface Backup {
  version: number;
  /** When it was made, ISO. */
  at: string;
  content: BackupContent | null;
  /** How many folders above the file were missing, too: creating the file creates them. */
  missingFolders: number;
}

export interface BackupContent {
  /** The copy's file name. */
  name: string;
  hash: string;
  /** The original's mode; only the owner can read the copy. */
  mode: number;
  size: number;
}

/**
 * Copies what is at a real path now. Throws a MemdirError when that is not possible: a link, a directory, a full disk.
 * Version names that are taken, by a writer that died before it recorded its copy, are skipped.
 */
export function keepBackup(dir: string, path: string, version: number, at: string): Backup {
  const status = statusAtReal(path);
  if (status.kind === "other") {
    const message = `cannot keep a copy of ${path}, so it is not changed: there is ${status.what}; move it away or choose another file`;
    throw new MemdirError("disk", message);
  }
  if (status.kind === "absent") return { version, at, content: null, missingFolders: countMissing(path) };
  return onDisk("keep a copy, so nothing is changed, of", path, () => {
    makeFolders(dir, 0o700);
    let free = version;
    while (existsSync(join(dir, backupName(path, free)))) free++;
    const name = backupName(path, free);
    const bytes = readRegular(path);
    if (!bytes) throw meddled(path);
    moveInto(writeTemporary(dir, bytes, (status.mode & 0o700) | 0o400, "copy"), join(dir, name));
    // The mode is the original's; the rest describes what was really copied, in case someone writes meanwhile.
    const content = { name, hash: sha256(bytes), mode: status.mode, size: bytes.length };
    return { version: free, at, content, missingFolders: 0 };
  });
}

/** Whether a file is as it was then, including its mode. */
export function isAsKept({ content }: Backup, status: FileStatus): boolean {
  if (!content) return status.kind === "absent";
  return status.kind === "file" && status.hash === content.hash && status.mode === content.mode;
}

/** Why a backup cannot be restored, or null. */
export function findDamage(dir: string, { content }: Backup): string | null {
  if (!content) return null;
  const status = statusAt(join(dir, content.name));
  if (status.kind === "absent") return `its copy ${content.name} is missing`;
  if (status.kind === "other") return `in the place of its copy ${content.name} there is ${status.what}`;
  return status.hash === content.hash ? null : `its copy ${content.name} is damaged`;
}

/** Cheaper than `findDamage`, for every file at every prompt: whether the copy exists in its full size. */
export function isStillKept(dir: string, { content }: Backup): boolean {
  if (!content) return true;
  const stat = lstatSync(join(dir, content.name), { throwIfNoEntry: false });
  return stat?.isFile() === true && stat.size === content.size;
}

/**
 * Replaces `path` with a copy, recreating missing folders. Throws a MemdirError and changes nothing when the copy is
 * damaged or `isExpected`, called right before the rename, returns false.
 */
export function restoreBackup(dir: string, path: string, content: BackupContent, isExpected: () => boolean): void {
  onDisk("restore", path, () => {
    const bytes = readRegular(join(dir, content.name));
    if (!bytes) throw new MemdirError("broken", `its copy ${content.name} is missing`);
    if (sha256(bytes) !== content.hash) throw new MemdirError("broken", `its copy ${content.name} is damaged`);
    makeFolders(dirname(path));
    const temporary = writeTemporary(dirname(path), bytes, content.mode, ".memdir-restore");
    // What the user's umask took away.
    chmodSync(temporary, content.mode);
    if (isExpected()) return moveInto(temporary, path);
    removeQuietly(temporary);
    throw meddled(path);
  });
}

export function removeFile(path: string, isExpected: () => boolean): void {
  if (!isExpected()) throw meddled(path);
  onDisk("remove", path, () => {
    unlinkSync(path);
    syncDirectory(dirname(path));
  });
}

/** A line may name nothing else: it becomes a path. */
const BACKUP_NAME = /^[0-9a-f]{16}@v[1-9][0-9]{0,8}$/;

function backupName(path: string, version: number): string {
  return `${sha256(path).slice(0, 16)}@v${version}`;
}

function countMissing(path: string): number {
  let count = 0;
  for (let at = dirname(path); !existsSync(at) && dirname(at) !== at; at = dirname(at)) count++;
  return count;
}

function meddled(path: string): MemdirError {
  return new MemdirError("conflict", `${path} was changed by someone else just now; run it again`);
}

/** A moment to rewind to: every file tracked so far, as it was. */
export interface Moment {
  /** The id of the message that began it. */
  id: string;
  /** "rewind" was kept before a rewind, to undo it; no message has its id. */
  kind: "prompt" | "rewind";
  /** ISO time. */
  at: string;
  label: string;
  /** By real path. */
  kept: ReadonlyMap<string, Kept>;
}

/** What is known of a file at a moment: its backup, or why it could not be kept. */
export type Kept = Backup | { problem: string };

/** What we last left at each path: a hash, or null for no file. */
type Written = ReadonlyMap<string, string | null>;

const SNAPSHOT = "file-history-snapshot";

/** The line of a moment, or of the files added to it since: listing all files each time would grow quadratically. Paths are relative to `cwd`, a real path. */
export function formatMoment(moment: Moment, news: readonly string[] | null, written: Written, cwd: string) {
  const { id, at, kept } = moment;
  const backups = [...kept].flatMap(([path, backup]) => {
    if ("problem" in backup || (news !== null && !news.includes(path))) return [];
    const left = written.has(path) ? written.get(path) : (backup.content?.hash ?? null);
    return [[keyOf(path, cwd), { ...formatBackup(backup), written: left }]];
  });
  const unkept = [...kept].flatMap(([path, one]) => ("problem" in one ? [[keyOf(path, cwd), one.problem]] : []));
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

/** Null for lines of other types and for invalid ones; invalid entries are left out. */
export function parseHistoryLine(line: unknown, dir: string, cwd: string) {
  if (!isObject(line)) return null;
  const { snapshot } = line;
  if (line.type !== SNAPSHOT || !isObject(snapshot) || !isObject(snapshot.trackedFileBackups)) return null;
  const id = line.messageId ?? snapshot.messageId;
  if (typeof id !== "string" || id === "") return null;
  const kept = new Map<string, Kept>();
  const written = new Map<string, string | null>();
  for (const [key, value] of Object.entries(snapshot.trackedFileBackups)) {
    const path = pathOf(key, cwd);
    const backup = path ? parseBackup(value, dir) : null;
    if (!path || !backup) continue;
    kept.set(path, backup);
    const left = (value as Record<string, unknown>).written;
    if (left === null || isHash(left)) written.set(path, left);
  }
  for (const [key, reason] of Object.entries(isObject(line.unkept) ? line.unkept : {})) {
    const path = pathOf(key, cwd);
    if (path && typeof reason === "string" && !kept.has(path)) kept.set(path, { problem: reason });
  }
  const kind = line.kind === "rewind" ? "rewind" : "prompt";
  const [at, label] = [textOrNull(snapshot.timestamp) ?? "", textOrNull(line.label) ?? ""];
  const moment: Moment = { id, kind, at, label, kept };
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
  const backup = { version, at: textOrNull(backupTime) ?? "", missingFolders: 0 };
  if (name === null) return { ...backup, content: null, missingFolders: isCount(missingFolders) ? missingFolders : 0 };
  if (typeof name !== "string" || !BACKUP_NAME.test(name)) return null;
  if (hash === undefined) {
    // Claude Code does not describe the content. A missing copy stays listed, so that rewinding to it is refused.
    const copy = statusAt(join(dir, name));
    const { hash, mode, size } = copy.kind === "file" ? copy : { hash: "", mode: 0o600, size: 0 };
    return { ...backup, content: { name, hash, mode, size } };
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
