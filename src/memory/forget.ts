/** Forgetting a memory. It never looks at the body: a poisoned memory must be removable unread. */

import { chmodSync, lstatSync, readdirSync, readlinkSync, rmSync, unlinkSync } from "node:fs";
import { join } from "node:path";
import { removeQuietly } from "../disk/fence.ts";
import { attempt, MemdirError } from "../errors.ts";
import {
  imagePath,
  isOfType,
  keepRecord,
  keysOf,
  type MemoryType,
  names,
  ROWS_FILE,
  type Row,
  readRecord,
  readReferences,
  rewriteCache,
  type Store,
  statePath,
  type Trust,
} from "../store/store.ts";
import { plainLine } from "../text/sanitise.ts";
import { redactSecrets } from "../text/secrets.ts";

/** Options of a forget. */
export interface ForgetOptions {
  /** A note for the journal. */
  reason?: string | undefined;
  /** Also removes earlier versions from the journal. This cannot be undone. */
  purge?: boolean | undefined;
  /** How far the caller is trusted: only the user can remove the user's own words. */
  trust?: Trust | undefined;
}

/** The result of a forget. */
export interface ForgetResult {
  /** Path below the directory of the memory that was removed. */
  file: string;
  action: "removed";
  /** The entry that brings it back; null after a purge, and for a symbolic link. */
  undo: string | null;
  /** For example, lines of the index that still mention it. */
  notices: string[];
}

const OWNER_READS = 0o400;

/**
 * `purge` also removes every before-image of the file: for content that must not stay anywhere. `trust` says how far whoever asks is
 * trusted: an enforced rule only the user removes. `isForgotten`: it is gone already, and what is purged is its past.
 */
export async function forgetMemory(
  directory: Store,
  file: string,
  { purge, trust = "user", isForgotten = false, ...options }: ForgetOptions & { isForgotten?: boolean } = {},
): Promise<ForgetResult> {
  // A forget is never refused: a secret in its reason is masked.
  const reason = redactSecrets(options.reason ?? "");
  return directory.change(async (directory) => {
    const path = join(directory.path, file);
    const stat = lstatSync(path, { throwIfNoEntry: false });
    if (!stat && !isForgotten) throw new MemdirError("not-found", `${file} is gone already`);
    // A link is not a memory of this directory: only the link goes.
    const link = stat?.isSymbolicLink() ? redactSecrets(plainLine(readlinkSync(path))) : null;
    if (link !== null) unlinkSync(path);
    // What its owner has closed is opened, so that undo can bring it back; of another's file the journal would have nothing.
    else if (stat && (stat.mode & OWNER_READS) === 0) attempt(() => chmodSync(path, stat.mode | OWNER_READS), null);
    const { entry, notices } = await directory.apply({
      action: "forget",
      reason,
      writes: new Map([[file, null]]),
      trust,
      ...(purge ? { purge: true } : {}),
      ...(link === null ? {} : { link }),
    });
    if (purge) purgeTraces(directory, file);
    if (link !== null) notices.push(`it was a symbolic link to ${link}: only the link is gone, undo cannot restore it`);
    return { file, action: "removed", undo: purge || link !== null ? null : entry.id, notices };
  });
}

/** All but the contents of other files: a kept page of the index may describe it, and undo then goes line by line. */
function purgeImages(directory: Store, file: string): void {
  const history = directory.history();
  const own = new Set([file]);
  // Also under the names that it had before.
  for (const { renames = [] } of history.toReversed()) for (const [from, to] of renames) if (own.has(to)) own.add(from);
  const others = new Set(
    history.flatMap(({ files }) => files.filter((each) => !own.has(each.file)).map(({ before }) => before)),
  );
  for (const hash of readdirSync(statePath(directory, "images"))) {
    if (!others.has(hash)) rmSync(imagePath(directory, hash), { force: true });
  }
}

/** Its earlier contents, its row in the cache, its line among those that are remembered. */
function purgeTraces(directory: Store, file: string): void {
  purgeImages(directory, file);
  if (!rewriteCache(directory, [], null)) removeQuietly(statePath(directory, ROWS_FILE));
  const keys = keysOf({ file, name: file });
  const record = readRecord(directory);
  const retired = record.retired.filter((line) => !readReferences(line).some((each) => names(each, keys)));
  keepRecord(directory, { ...record, retired });
}

// --- Forgetting several memories at once, when the user says so: one journal entry, which one undo reverts.

/** Prune by age, or prune the memories that are named. */
export type PruneRequest = AgeRequest | ChosenRequest;

export interface AgeRequest {
  type: MemoryType;
  olderThanDays: number;
  /** Only says what would go. */
  dryRun: boolean;
}

export interface ChosenRequest {
  files: readonly { file: string; reason: string }[];
  dryRun: boolean;
}

/** What was forgotten, or would be forgotten. */
export interface PruneResult {
  /** The memories as they were before. */
  memories: Row[];
  /** The change to give to `undo`; null when nothing changed. */
  undo: string | null;
}

/** Of a journal's line; `memdir history` shows it. */
const MAX_REASON_CHARS = 500;

/** Corrections and pinned memories never go this way, nor does what cannot be read: also when they are named. */
export async function pruneMemories(directory: Store, request: PruneRequest): Promise<PruneResult> {
  const { rows } = await directory.rows();
  const { isMeant, reason } = "files" in request ? chosen(request) : aged(request);
  const memories = rows.filter(
    (row) => isMeant(row) && row.type !== "feedback" && !row.pinned && row.problems.length === 0,
  );
  if (request.dryRun || memories.length === 0) return { memories, undo: null };
  return directory.change(async (directory) => {
    const applied = await directory.apply({
      action: "prune",
      reason,
      writes: new Map(memories.map(({ file }) => [file, null])),
    });
    return { memories, undo: applied.entry.id };
  });
}

function aged({ type, olderThanDays }: AgeRequest) {
  return {
    isMeant: (row: Row) => isOfType(row, type) && row.ageDays > olderThanDays,
    reason: `${type} memories older than ${olderThanDays} days`,
  };
}

function chosen({ files }: ChosenRequest) {
  const reasons = new Map(files.map(({ file, reason }) => [file, reason]));
  const all = files.map(({ file, reason }) => `${file}: ${reason}`).join("; ");
  const reason = all.length > MAX_REASON_CHARS ? `${all.slice(0, MAX_REASON_CHARS).toWellFormed()}…` : all;
  return { isMeant: (row: Row) => reasons.has(row.file), reason };
}
