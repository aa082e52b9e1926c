/** Undoing a journal entry, whole: refused if any of its files changed since. */

import { runInPieces } from "../disk/turns.ts";
import { MemdirError } from "../errors.ts";
import { INDEX_FILE } from "../project/locate.ts";
import { mergeKeeping } from "../text/diff.ts";
import { sha256 } from "../text/hash.ts";
import { plainLine } from "../text/sanitise.ts";
import { applyChange, withDirectory } from "./change.ts";
import { type Directory, findBytes } from "./directory.ts";
import type { HeaderChange, Plan } from "./index.ts";
import { headerChanges, restoreLink } from "./index-file.ts";
import { openListing, type Pages, putOverflowLink } from "./index-line.ts";
import {
  describeKept,
  type Entry,
  type FileChange,
  findPurge,
  findUndone,
  hashPages,
  lastUndoable,
  readImage,
  readJournal,
  readPages,
  type Sign,
} from "./journal.ts";

/** The result of an undo. */
export interface UndoResult {
  /** The entry that was undone. */
  undone: string;
  /** What kind of change the undone entry was. */
  action: Entry["action"];
  /** The files that were restored or removed. */
  files: string[];
  /** The new entry, which can be undone in turn. */
  undo: string;
  /** What could not be restored as it was. */
  notices: string[];
}

/** Without an id: the last entry that is neither an undo nor undone. Ids come and go as `sign` makes them, also in what is refused. */
export async function undoEntry(directory: Directory, id?: string, sign: Sign = (own) => own): Promise<UndoResult> {
  return withDirectory(directory, async (directory) => {
    const entries = readJournal(directory, sign);
    const entry = findEntry(entries, id);
    const current = new Map(entry.files.map(({ file }) => [file, findBytes(directory, file)]));
    checkUnchanged(entry, current);
    const earlier = ({ file, before }: FileChange) => {
      if (before === null) return null;
      const data = readImage(directory, before);
      if (data) return data;
      const gone = `the earlier content of ${file} is no longer in the journal; ${describeKept(directory, entries)}`;
      throw new MemdirError("conflict", `entry ${entry.id} cannot be undone: ${gone}`);
    };
    const writes = new Map(entry.files.map((change) => [change.file, earlier(change)]));
    const renames = new Map((entry.renames ?? []).map(([from, to]) => [to, from] as const));
    const changes = headerChanges(writes, current, renames);
    const own = entry.id.slice(entry.id.lastIndexOf(":") + 1);
    const steps = applyChange(directory, {
      action: "undo",
      reason: `undo of ${entry.action} ${own}`,
      undoes: own,
      trust: null,
      writes,
      times: new Map(entry.files.map(({ file, mtimeMs }) => [file, mtimeMs])),
      renames,
      plan: (pages) => planPages(directory, entry, pages, changes),
    });
    const applied = await runInPieces(steps);
    const { link, index } = entry.pages?.before ?? {};
    if (link !== undefined && applied.entry.pages?.after.index === index) restoreLink(directory, link);
    // A change of the index alone has no other files.
    const files = writes.size === 0 ? [INDEX_FILE] : [...writes.keys()];
    return { undone: entry.id, action: entry.action, files, undo: sign(applied.entry.id), notices: applied.notices };
  });
}

/**
 * The pages as they were before the entry, if nobody has written them since; else a three-way merge, which keeps what was
 * written since. Where both changed the same place, the text stays as it is and only the entry's own lines are corrected.
 */
function planPages(directory: Directory, { pages }: Entry, now: Pages, changes: readonly HeaderChange[]): Plan {
  const before = pages?.after && readPages(directory, pages.before);
  if (!pages || !before) return { pages: now };
  const hashes = hashPages(now);
  if (hashes.index === pages.after.index && hashes.more === pages.after.more)
    return { pages: before, changes: [], exact: true };
  const after = readPages(directory, pages.after);
  if (!after) return { pages: now };
  const merged = mergePages(after, now, before);
  // A line that named the memory before it existed was not part of the change.
  const isListed = openListing(before.index ?? "", before.more);
  return { pages: merged, changes: changes.filter(({ before, after }) => after || !before || !isListed(before)) };
}

/** The link to the overflow page is left out: its number is counted anew. */
function mergePages(base: Pages, ours: Pages, theirs: Pages): Pages {
  const bare = ({ index }: Pages) => putOverflowLink(index ?? "", 0);
  return {
    index: mergeKeeping(bare(base), bare(ours), bare(theirs)),
    more: mergeKeeping(base.more, ours.more, theirs.more),
  };
}

function findEntry(entries: readonly Entry[], id: string | undefined): Entry {
  const entry = id === undefined ? lastUndoable(entries) : entries.find((each) => each.id === id);
  if (!entry) {
    throw new MemdirError(
      "not-found",
      id === undefined ? "there is nothing to undo" : `there is no change ${id}: \`memdir history\` lists them`,
    );
  }
  const purge = findPurge(entries, entry);
  if (purge) {
    const by = purge === entry ? "" : ` by entry ${purge.id}`;
    throw new MemdirError(
      "conflict",
      `entry ${entry.id} was purged${by} and cannot be undone: its content was removed for good`,
    );
  }
  refuseLink(entry);
  const by = findUndone(entries).get(entry.id);
  if (by) {
    const back = `\`memdir undo ${by.id}\` brings the change back`;
    throw new MemdirError("conflict", `${entry.id} was already undone by ${by.id}; nothing was changed (${back})`);
  }
  return entry;
}

/** A link has no content to bring back. Earlier versions did not note where it led. */
function refuseLink({ id, action, files, link }: Entry): void {
  if (action !== "forget" || files.some(({ before }) => before !== null)) return;
  const name = files.map(({ file }) => file).join(", ");
  const where = typeof link === "string" ? ` to ${plainLine(link)}` : "";
  const message = `entry ${id} cannot be undone: ${name} was a symbolic link${where}, and a removed link cannot be restored`;
  throw new MemdirError("conflict", `${message}; nothing was changed, \`memdir history\` lists the other changes`);
}

function checkUnchanged(entry: Entry, current: ReadonlyMap<string, Buffer | null>): void {
  for (const { file, after } of entry.files) {
    const data = current.get(file);
    if ((data ? sha256(data) : null) === after) continue;
    throw new MemdirError(
      "conflict",
      `entry ${entry.id} is not undone: ${file} changed since; undo the later change first, or edit the file by hand`,
    );
  }
}
