/** The waist: memories on disk. Everything outside of this folder reads and writes them through here. */

import { existsSync } from "node:fs";
import { runInPieces } from "../disk/turns.ts";
import type { Change, Changed, Staged, Writes } from "./change.ts";
import { checkState, type Directory, isAsLeft, leftovers, readMemory, statePath, withPins } from "./directory.ts";
import { hasLostLines } from "./index-file.ts";
import { type Entry, findUnfinished, readJournal } from "./journal.ts";
import type { Memory } from "./memory.ts";
import { type Listing, listMemories } from "./rows.ts";
import { openState, type State } from "./state.ts";
import type { UndoResult } from "./undo.ts";

export { INDEX_FILE, isDailyLog, isMemoryFile, MAX_DEPTH, OVERFLOW_FILE, walk } from "../project/locate.ts";
// All that these export is for everyone; of the others only what is named.
export * from "./admit.ts";
export * from "./authorship.ts";
export type { Change, Changed, Staged } from "./change.ts";
export type { Embed } from "./digest.ts";
export {
  checkState,
  type Directory,
  fileMode,
  findBytes,
  findText,
  isShared,
  keepRecord,
  makeDirectory,
  prepareDirectory,
  readBytes,
  readHeader,
  readMemory,
  readRecord,
  readStart,
  refuseBroken,
  statePath,
  unreadable,
} from "./directory.ts";
export { addLine, keepEntries, type PageRequest, type Plan } from "./index.ts";
export {
  arrangeIndex,
  findDeadLines,
  findName,
  indexPath,
  isUtf8Text,
  openHeaders,
  peekIndex,
  previewPages,
  readOverflow,
  restoreIndex,
} from "./index-file.ts";
export * from "./index-line.ts";
export * from "./index-load.ts";
export {
  type Action,
  type Entry,
  type FileChange,
  findJournal,
  findUndone,
  imagePath,
  isTakenOver,
  lastUndoable,
  readImage,
  readJournals,
  signEntry,
} from "./journal.ts";
export * from "./memory.ts";
export * from "./row-cache.ts";
export * from "./row-entry.ts";
export * from "./row-index.ts";
export * from "./rows.ts";
export * from "./state.ts";
export type { UndoResult } from "./undo.ts";

/** A directory of memories, and what can be done with it. */
export interface Store extends Directory {
  /** Every memory as a row, and what was skipped with the reason. */
  rows(): Promise<Listing>;
  /** One whole memory. Throws if it does not exist. */
  read(file: string): Memory;
  /** Runs `work` as the only writer. `apply` changes files, all of them or none, and may be called more than once. */
  change<T>(work: (writer: Writer) => T | Promise<T>): Promise<T>;
  /**
   * Writes the contents of a large change to temporary files, faster than `apply` would, for its `staged`. Whatever `apply` has
   * not used must be unstaged.
   */
  stage(writes: Writes): Promise<Staged>;
  /** Removes what was staged but not used. */
  unstage(staged: Staged): Promise<void>;
  /** Every change that took effect, oldest first. */
  history(): Entry[];
  /** Reverts an entry; the last one that can be undone if none is named. `sign` makes the ids of several stores differ. */
  undo(id?: string, sign?: (id: string) => string): Promise<UndoResult>;
  /** What memdir stores besides memories. */
  state(): State;
}

/** The store while its lock is held: what takes one cannot run without it. */
export interface Writer extends Store {
  /** All files of the change, or none. */
  apply(change: Change): Promise<Changed>;
}

/** The verbs work on `this`, so that a copy with another path is a store of that path. Those that write are loaded when they are called. */
export function openStore(directory: Directory): Store {
  return { ...directory, ...VERBS };
}

const VERBS: Pick<Store, "rows" | "read" | "change" | "stage" | "unstage" | "history" | "undo" | "state"> &
  ThisType<Store> = {
  rows() {
    return listMemories(this);
  },
  read(file) {
    return readMemory(this, file);
  },
  async change(work) {
    const { applyChange, stageFiles, withDirectory } = await import("./change.ts");
    return withDirectory(this, (pinned) =>
      work({
        ...this,
        ...pinned,
        apply: (change) => runInPieces(applyChange(pinned, change)),
        stage: (writes) => stageFiles(pinned, writes),
      }),
    );
  },
  async stage(writes) {
    const { stageFiles } = await import("./change.ts");
    return withPins(this, (pinned) => stageFiles(pinned, writes));
  },
  async unstage(staged) {
    const { removeStaged } = await import("./change.ts");
    return withPins(this, (pinned) => removeStaged(pinned, staged));
  },
  history() {
    return readJournal(this);
  },
  async undo(id, sign) {
    return (await import("./undo.ts")).undoEntry(this, id, sign);
  },
  state() {
    return openState(this.path);
  },
};

// --- At every opening: repairs what a killed writer or a stale editor left, if there is anything and no one else is writing.

/** Never throws and never waits: reading works without it. */
export async function repairDirectory(directory: Directory): Promise<void> {
  if (directory.readOnly) return;
  try {
    if (!existsSync(statePath(directory))) return;
    // Before anything is read or swept there: a link may lead to somebody else's files.
    checkState(directory);
    if (needsRecovery(directory)) await (await import("./change.ts")).repair(directory);
  } catch (error) {
    directory.log(`${directory.path} was not repaired: ${(error as Error).message}`);
  }
}

/** Cheap: is there anything to repair? Asked without the lock. */
export function needsRecovery(directory: Directory): boolean {
  const isLost = () => findUnfinished(directory) !== null || hasLostLines(directory);
  return leftovers(directory).length > 0 || (!isAsLeft(directory) && isLost());
}
