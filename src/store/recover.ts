/** Recovers what a killed writer left: an unfinished journal entry, an index without its line, temporary files. */

import { existsSync, lstatSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { isAlive, loadNative, moveInto, removeQuietly, writeTemporary } from "../disk/atomic.ts";
import { resolveInside } from "../disk/fence.ts";
import { tryLock } from "../disk/lock.ts";
import { sha256 } from "../text/hash.ts";
import { splitLines } from "../text/lines.ts";
import { checkState, type Directory, fileMode, findBytes, readHeader, statePath, withPins } from "./directory.ts";
import { addLine } from "./index.ts";
import { hasLostLines, headerChanges, indexPath, ownMark, readRecord, readText, writePages } from "./index-file.ts";
import { formatIndexLine, openListing, type Pages, parseIndexLine } from "./index-line.ts";
import { type Entry, endEntry, type FileChange, findUnfinished, readImage } from "./journal.ts";

/** A temporary file of a living writer is younger than this. */
const TEMPORARY_MS = 60_000;

/** Cheap: is there anything that `recover` or `restoreIndex` would do? Asked at every opening, without the lock. */
export function needsRecovery(directory: Directory): boolean {
  return findUnfinished(directory) !== null || hasLostLines(directory) || leftovers(directory).length > 0;
}

/** The lock must be held. */
export function recover(directory: Directory): void {
  const unfinished = findUnfinished(directory);
  if (unfinished) finish(directory, unfinished);
  sweep(directory);
}

/** The lock must be held. Every change does this on its way; an opening that only reads does nothing else. */
export function restoreIndex(directory: Directory): void {
  if (hasLostLines(directory)) writePages(directory, { changes: [] });
}

/** Every file of an entry is either moved or not; the hashes tell. All moved: the index follows. Some: they are moved back. */
function finish(directory: Directory, entry: Entry): void {
  const happened = entry.files.filter(({ file, before }) => currentHash(directory, file) !== before);
  const complete = happened.length === entry.files.length || entry.purged === true;
  if (happened.length > 0)
    directory.log(`${complete ? "finishing" : "reverting"} the interrupted ${entry.action} ${entry.id}`);
  if (!complete) for (const change of happened) moveBack(directory, change);
  if (happened.length > 0) {
    const read = ({ before }: FileChange) => (before === null ? null : readImage(directory, before));
    const befores = new Map(happened.map((change) => [change.file, read(change)]));
    const now = new Map(
      happened.map(({ file }) => [file, isFile(directory, file) ? findBytes(directory, file) : null]),
    );
    const renames = new Map(complete ? entry.renames : []);
    writePages(directory, { changes: headerChanges(now, befores, renames) });
  }
  endEntry(directory, entry.id, complete && happened.length > 0 ? "done" : "dropped");
}

/** Only what is still exactly what the dead writer left; another program's later edit stays. */
function moveBack(directory: Directory, { file, before, after }: FileChange): void {
  if (currentHash(directory, file) !== after) return;
  const path = resolveInside(directory.path, file);
  const image = before === null ? null : readImage(directory, before);
  if (before === null) removeQuietly(path);
  else if (image) moveInto(writeTemporary(statePath(directory, "tmp"), image, fileMode(directory)), path);
}

function currentHash(directory: Directory, file: string): string | null {
  const data = findBytes(directory, file);
  return data ? sha256(data) : null;
}

function isFile(directory: Directory, file: string): boolean {
  return lstatSync(join(directory.path, file), { throwIfNoEntry: false })?.isFile() === true;
}

function sweep(directory: Directory): void {
  for (const name of leftovers(directory)) {
    const path = statePath(directory, "tmp", name);
    if (name.startsWith("index-")) rescueLines(directory, path);
    removeQuietly(path);
  }
}

/** Temporary files whose writer is dead, or that are too old to be in use. */
function leftovers(directory: Directory): string[] {
  let names: string[];
  try {
    names = readdirSync(statePath(directory, "tmp"));
  } catch {
    return [];
  }
  return names.filter((name) => {
    const pid = Number(/^[a-z]+-(\d+)-/.exec(name)?.[1]);
    const stat = lstatSync(statePath(directory, "tmp", name), { throwIfNoEntry: false });
    // In a container the next writer often has the number of the dead one; its own files are younger than itself.
    if (pid === process.pid) return stat !== undefined && stat.mtimeMs < performance.timeOrigin;
    if (Number.isInteger(pid) && !isAlive(pid)) return true;
    return stat !== undefined && directory.now().getTime() - stat.mtimeMs > TEMPORARY_MS;
  });
}

/** A writer killed between swapping and looking leaves another program's index here: what was worded by hand goes back. */
function rescueLines(directory: Directory, path: string): void {
  const theirs = readText(path) ?? "";
  if (path.endsWith(ownMark(theirs))) return;
  const { text, retired } = readRecord(directory);
  const known = new Set(
    [...splitLines(text ?? ""), ...splitLines(readText(indexPath(directory)) ?? "")].map((line) => line.trimEnd()),
  );
  const lost = splitLines(theirs)
    .map((line) => line.trimEnd())
    .filter((line) => line !== "" && !known.has(line) && !retired.includes(line));
  if (lost.length > 0)
    writePages(directory, {
      changes: [],
      plan: (pages) => ({ pages: lost.reduce((next, line) => putBack(directory, next, line), pages) }),
    });
}

/** Somebody's words for a memory take the place of ours; other text goes to the end. */
function putBack(directory: Directory, pages: Pages, line: string): Pages {
  const file = parseIndexLine(line)?.file;
  if (file === undefined) return { ...pages, index: addLine(pages.index ?? "", line) };
  if (!isFile(directory, file)) return pages;
  const header = readHeader(directory, file);
  const own = formatIndexLine(header);
  if (line === own) return pages;
  const lines = splitLines(pages.index ?? "");
  const at = lines.findIndex((each) => each.trimEnd() === own);
  if (at >= 0) {
    lines[at] = line + (lines[at] as string).slice(own.length);
    return { ...pages, index: lines.join("") };
  }
  const isListed = openListing(pages.index ?? "", pages.more);
  return isListed(header) ? pages : { ...pages, index: addLine(pages.index ?? "", line) };
}

// --- At every opening: repairs what a killed writer or a stale editor left, if there is anything and no one else is writing.

/** Never throws and never waits: whoever holds the lock does the same first, and reading works without it. */
export async function repairDirectory(directory: Directory): Promise<void> {
  if (directory.readOnly) return;
  try {
    if (!existsSync(statePath(directory))) return;
    // Before anything is read or swept there: a link may lead to somebody else's files.
    checkState(directory);
    if (!needsRecovery(directory)) return;
    await withPins(directory, (pinned) => {
      const lock = tryLock(statePath(pinned, "lock"), loadNative());
      if (!lock) return;
      try {
        recover(pinned);
        restoreIndex(pinned);
      } finally {
        lock.release();
      }
    });
  } catch (error) {
    directory.log(`${directory.path} was not repaired: ${(error as Error).message}`);
  }
}
