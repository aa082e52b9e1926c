/** A store: a directory of memories, and everything that can be asked of it. */

import type { Change, Changed } from "./change.ts";
import type { Directory } from "./directory.ts";
import { type Entry, readJournal } from "./journal.ts";
import type { Memory } from "./memory.ts";
import { readMemory } from "./read.ts";
import { type Listing, listMemories } from "./rows.ts";
import { openState, type State } from "./state.ts";
import type { UndoResult } from "./undo.ts";

export interface Store extends Directory {
  /** Every memory as a row, and what was skipped with the reason. */
  rows(): Promise<Listing>;
  /** One memory, whole. Throws when it is not there. */
  read(file: string): Memory;
  /** Runs `work` as the only writer. `apply` changes files, all of them or none, and may be called more than once. */
  change<T>(work: (writer: Writer) => T | Promise<T>): Promise<T>;
  /** Every change that took effect, oldest first. */
  history(): Entry[];
  /** Reverts an entry; the last one that can be undone if none is named. */
  undo(id?: string): Promise<UndoResult>;
  /** What memdir remembers besides memories. */
  state(): State;
}

/** The store while it is held for writing. */
export interface Writer {
  store: Directory;
  apply(change: Change): Changed;
}

/** The verbs work on `this`, so that a copy with another path is a store of that path. Those that write are loaded when they are called. */
export function openStore(directory: Directory): Store {
  return { ...directory, ...VERBS };
}

const VERBS: Pick<Store, "rows" | "read" | "change" | "history" | "undo" | "state"> & ThisType<Store> = {
  rows() {
    return listMemories(this);
  },
  read(file) {
    return readMemory(this, file);
  },
  async change(work) {
    const { applyChange, withDirectory } = await import("./change.ts");
    return withDirectory(this, (store) => work({ store, apply: (change) => applyChange(store, change) }));
  },
  history() {
    return readJournal(this);
  },
  async undo(id) {
    return (await import("./undo.ts")).undoEntry(this, id);
  },
  state() {
    return openState(this.path);
  },
};
