/** Forgetting several memories at once, when the user says so: one journal entry, which one undo reverts. */

import { applyChange, type Directory, listMemories, type MemoryType, type Row, withDirectory } from "../store/store.ts";

/** By age, or those that are named. */
export type PruneRequest = AgeRequest | ChosenRequest;

export interface AgeRequest {
  type: MemoryType;
  olderThanDays: number;
  dryRun: boolean;
}

export interface ChosenRequest {
  files: readonly { file: string; reason: string }[];
  dryRun: boolean;
}

export interface PruneResult {
  memories: Row[];
  undo: string | null;
}

/** Of a journal's line; `memdir history` shows it. */
const MAX_REASON_CHARS = 500;

/** Corrections and pinned memories never go this way, nor does what cannot be read: also when they are named. */
export async function pruneMemories(directory: Directory, request: PruneRequest): Promise<PruneResult> {
  const { rows } = await listMemories(directory);
  const { isMeant, reason } = "files" in request ? chosen(request) : aged(request);
  const memories = rows.filter(
    (row) => isMeant(row) && row.type !== "feedback" && !row.pinned && row.problems.length === 0,
  );
  if (request.dryRun || memories.length === 0) return { memories, undo: null };
  return withDirectory(directory, (directory) => {
    const applied = applyChange(directory, {
      action: "prune",
      reason,
      writes: new Map(memories.map(({ file }) => [file, null])),
    });
    return { memories, undo: applied.entry.id };
  });
}

interface Wish {
  isMeant: (row: Row) => boolean;
  reason: string;
}

function aged({ type, olderThanDays }: AgeRequest): Wish {
  return {
    isMeant: (row) => row.type === type && row.ageDays > olderThanDays,
    reason: `${type} memories older than ${olderThanDays} days`,
  };
}

function chosen({ files }: ChosenRequest): Wish {
  const reasons = new Map(files.map(({ file, reason }) => [file, reason]));
  const all = files.map(({ file, reason }) => `${file}: ${reason}`).join("; ");
  const reason = all.length > MAX_REASON_CHARS ? `${all.slice(0, MAX_REASON_CHARS).toWellFormed()}…` : all;
  return { isMeant: (row) => reasons.has(row.file), reason };
}
