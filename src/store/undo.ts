/** Taking a journal entry back, whole: refused if any of its files changed since. */

import { MemdirError } from "../errors.ts";
import { sha256 } from "../text/hash.ts";
import { applyChange, withDirectory } from "./change.ts";
import type { Directory } from "./directory.ts";
import type { LineEdit } from "./index-pages.ts";
import type { IndexRequest } from "./index-sync.ts";
import { openLines } from "./index-sync.ts";
import { type Entry, lastUndoable, readImage, readJournal } from "./journal.ts";
import { type Header, parseHeader } from "./memory.ts";
import { findBytes } from "./read.ts";
import { isMemoryFile } from "./walk.ts";

export interface UndoResult {
  /** The entry that was taken back. */
  undone: string;
  action: Entry["action"];
  files: string[];
  /** The new entry, which can be undone in turn. */
  undo: string;
  notices: string[];
}

/** Without an id: the last entry that is neither an undo nor undone. */
export async function undoEntry(directory: Directory, id?: string): Promise<UndoResult> {
  return withDirectory(directory, (directory) => {
    const entry = findEntry(readJournal(directory), id);
    const writes = new Map(
      entry.files.map(({ file, before, after }) => [file, restored(directory, entry.id, file, before, after)]),
    );
    const memories = [...writes].filter(([file]) => isMemoryFile(file));
    const headers = memories.map(([file, data]) => ({
      file,
      next: data ? parseHeader(file, data.toString("utf8")) : null,
      previous: currentHeader(directory, file),
    }));
    const lines = removedLines(directory, headers);
    const applied = applyChange(directory, {
      action: "undo",
      reason: `undo of ${entry.action} ${entry.id}`,
      undoes: entry.id,
      writes,
      ...(lines ? { lines } : {}),
      ...(entry.pages ? { keepPages: true } : {}),
      index: {
        ...restoredPages(directory, entry),
        edits: renamedBack(entry, headers) ?? headers.map((change) => editFor(change, entry)),
      },
    });
    return {
      undone: entry.id,
      action: entry.action,
      files: [...writes.keys()],
      undo: applied.entry.id,
      notices: applied.notices,
    };
  });
}

interface Restored {
  file: string;
  next: Header | null;
  previous: Header | null;
}

/** The pages whole, where nobody has written them since; else line by line. */
function restoredPages(directory: Directory, { pages }: Entry): Pick<IndexRequest, "restore"> {
  const index = pages?.after && readImage(directory, pages.before.index);
  const more = pages?.after && readImage(directory, pages.before.more);
  if (!pages?.after || !index || !more) return {};
  return { restore: { index: index.toString("utf8"), more: more.toString("utf8"), onlyIf: pages.after } };
}

/** The line of a renamed memory stays where it is and points back. */
function renamedBack(entry: Entry, headers: readonly Restored[]): LineEdit[] | null {
  const from = headers.find(({ next }) => next === null)?.previous;
  const to = headers.find(({ previous }) => previous === null)?.next;
  return headers.length === 2 && !entry.pages && from && to ? [{ kind: "move", from, to }] : null;
}

function editFor({ file, next, previous }: Restored, entry: Entry): LineEdit {
  if (next === null) return { kind: "drop", file };
  return { kind: "put", header: next, previous, restore: entry.lines?.[file] ?? [] };
}

/** The undo of this undo puts these back. */
function removedLines(directory: Directory, headers: readonly Restored[]): Entry["lines"] {
  const gone = headers.filter(({ next }) => next === null);
  const findLines = openLines(directory);
  return Object.fromEntries(gone.map(({ file }) => [file, findLines(file)]));
}

function findEntry(entries: readonly Entry[], id: string | undefined): Entry {
  const entry = id === undefined ? lastUndoable(entries) : entries.find((e) => e.id === id);
  if (!entry) {
    throw new MemdirError(
      "not-found",
      id === undefined ? "there is nothing to undo" : `the journal has no entry ${id}: \`memdir history\` lists them`,
    );
  }
  if (entry.purged) throw new MemdirError("conflict", `entry ${entry.id} was purged: its content was removed for good`);
  return entry;
}

function restored(
  directory: Directory,
  id: string,
  file: string,
  before: string | null,
  after: string | null,
): Buffer | null {
  const current = findBytes(directory, file);
  if ((current ? sha256(current) : null) !== after) {
    throw new MemdirError(
      "conflict",
      `entry ${id} is not undone: ${file} changed since; undo the later change first, or edit the file by hand`,
    );
  }
  if (before === null) return null;
  const data = readImage(directory, before);
  if (!data)
    throw new MemdirError(
      "conflict",
      `entry ${id} cannot be undone: the earlier content of ${file} is no longer in the journal`,
    );
  return data;
}

function currentHeader(directory: Directory, file: string) {
  const data = findBytes(directory, file);
  return data ? parseHeader(file, data.toString("utf8")) : null;
}
