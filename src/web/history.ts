/** What became of a memory over time: its journal entries as differences, and which of them can be taken back. */

import { type Directory, type Entry, type FileChange, findBytes, readImage, readJournal } from "../store/store.ts";
import { sha256 } from "../text/hash.ts";
import type { HistoryRow } from "./api.ts";
import { diffTexts } from "./diff.ts";

/** The newest: each costs two files to read. */
const MAX_ROWS = 50;

/** Newest first. `sign` makes an entry's id one that `Memdir.undo` takes. */
export function readHistory(directory: Directory, file: string, sign: (id: string) => string): HistoryRow[] {
  const all = readJournal(directory);
  const undone = findUndone(all);
  const isThere = openNow(directory);
  return all
    .filter(({ files }) => files.some((change) => change.file === file))
    .slice(-MAX_ROWS)
    .reverse()
    .map((entry) => {
      const isUndone = undone.has(entry.id);
      const change = entry.files.find((each) => each.file === file) as FileChange;
      return {
        id: sign(entry.id),
        at: entry.at,
        by: entry.by,
        action: entry.action,
        reason: entry.reason,
        diff: diffOf(directory, change),
        canUndo: !directory.readOnly && !isUndone && !entry.purged && entry.files.every(isThere),
        undone: isUndone,
      };
    });
}

/** Taken back, and that not taken back in turn. */
function findUndone(entries: readonly Entry[]): Set<string> {
  const undone = new Set<string>();
  for (const { id, undoes } of entries.toReversed()) if (undoes && !undone.has(id)) undone.add(undoes);
  return undone;
}

/** Whether a file still is what the change made of it, and what it was before is kept. */
function openNow(directory: Directory): (change: FileChange) => boolean {
  const hashes = new Map<string, string | null>();
  return ({ file, before, after }) => {
    if (!hashes.has(file)) hashes.set(file, hashNow(directory, file));
    return hashes.get(file) === after && (before === null || readImage(directory, before) !== null);
  };
}

function hashNow(directory: Directory, file: string): string | null {
  try {
    const bytes = findBytes(directory, file);
    return bytes ? sha256(bytes) : null;
  } catch {
    return "unreadable";
  }
}

/** [] where one of the two texts is no longer kept. */
function diffOf(directory: Directory, { file, before, after }: FileChange): HistoryRow["diff"] {
  const [old, fresh] = [before, after].map((hash) => (hash === null ? "" : textOf(directory, file, hash)));
  return old == null || fresh == null ? [] : diffTexts(old, fresh);
}

function textOf(directory: Directory, file: string, hash: string): string | null {
  const image = readImage(directory, hash);
  if (image) return image.toString("utf8");
  try {
    const bytes = findBytes(directory, file);
    return bytes && sha256(bytes) === hash ? bytes.toString("utf8") : null;
  } catch {
    return null;
  }
}
