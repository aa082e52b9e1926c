/** Forgetting old memories at one stroke, on the user's explicit word: one journal entry that undo takes back. */

import { applyChange, withDirectory } from "./change.ts";
import type { Directory } from "./directory.ts";
import { findLines } from "./forget.ts";
import { listMemories, type Row } from "./list.ts";
import type { MemoryType } from "./type.ts";

export interface PruneRequest {
  type: MemoryType;
  olderThanDays: number;
  dryRun: boolean;
}

export interface PruneResult {
  memories: Row[];
  undo: string | null;
}

/** Corrections and pinned memories never go this way. */
export async function pruneMemories(directory: Directory, request: PruneRequest): Promise<PruneResult> {
  const { rows } = await listMemories(directory);
  const memories = rows.filter(
    (row) =>
      row.type === request.type &&
      row.type !== "feedback" &&
      !row.pinned &&
      row.problems.length === 0 &&
      row.ageDays > request.olderThanDays,
  );
  if (request.dryRun || memories.length === 0) return { memories, undo: null };
  return withDirectory(directory, (directory) => {
    const files = memories.map((row) => row.file);
    const lines = Object.fromEntries(files.map((file) => [file, findLines(directory, file)]));
    const applied = applyChange(directory, {
      action: "prune",
      reason: `${request.type} memories older than ${request.olderThanDays} days`,
      writes: new Map(files.map((file) => [file, null])),
      lines,
      index: { edits: files.map((file) => ({ kind: "drop", file })) },
    });
    return { memories, undo: applied.entry.id };
  });
}
