/** Mends what a killed writer left: an unfinished journal entry, an index without its line, temporary files. */

import { lstatSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { moveInto, removeQuietly, writeTemporary } from "../disk/atomic.ts";
import { resolveInside } from "../disk/fence.ts";
import { isAlive } from "../disk/process.ts";
import { sha256 } from "../text/hash.ts";
import { type Directory, fileMode, statePath } from "./directory.ts";
import { indexPath, readBase } from "./index-base.ts";
import { readText } from "./index-file.ts";
import { formatIndexLine, parseIndexLine } from "./index-line.ts";
import type { LineEdit } from "./index-pages.ts";
import { lostLines, ownMark, syncIndex } from "./index-sync.ts";
import { splitLines } from "./index-text.ts";
import { type Entry, endEntry, type FileChange, findUnfinished, readImage } from "./journal.ts";
import { parseHeader } from "./memory.ts";
import { findBytes, readHeader } from "./read.ts";
import { isMemoryFile } from "./walk.ts";

/** A temporary file of a living writer is younger than this. */
const TEMPORARY_MS = 60_000;

/** Cheap: is there anything that `recover` or `mendIndex` would do? Asked at every opening, without the lock. */
export function needsRecovery(directory: Directory): boolean {
  return findUnfinished(directory) !== null || indexLostLines(directory) || leftovers(directory).length > 0;
}

/** The lock must be held. */
export function recover(directory: Directory): void {
  const unfinished = findUnfinished(directory);
  if (unfinished) finish(directory, unfinished);
  sweep(directory);
}

/** The lock must be held. Every change does this on its way; an opening that only reads does nothing else. */
export function mendIndex(directory: Directory): void {
  if (indexLostLines(directory)) syncIndex(directory, { edits: [], mend: true });
}

/** Every file of an entry is either moved or not; the hashes tell. All moved: the index follows. Some: they are moved back. */
function finish(directory: Directory, entry: Entry): void {
  const happened = entry.files.filter(({ file, before }) => currentHash(directory, file) !== before);
  const complete = happened.length === entry.files.length || entry.purged === true;
  if (happened.length > 0)
    directory.log(`${complete ? "finishing" : "taking back"} the interrupted ${entry.action} ${entry.id}`);
  if (!complete) for (const change of happened) moveBack(directory, change);
  const memories = happened.filter(({ file }) => isMemoryFile(file));
  if (happened.length > 0)
    syncIndex(directory, { edits: memories.map((change) => editFor(directory, change)), mend: true });
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

function editFor(directory: Directory, { file, before }: FileChange): LineEdit {
  if (!isFile(directory, file)) return { kind: "drop", file };
  const image = before === null ? null : readImage(directory, before);
  // Looked for on the overflow page too: it may have been written before the writer died.
  return {
    kind: "put",
    header: readHeader(directory, file),
    previous: image ? parseHeader(file, image) : null,
    restore: [],
  };
}

function currentHash(directory: Directory, file: string): string | null {
  const data = findBytes(directory, file);
  return data ? sha256(data) : null;
}

function isFile(directory: Directory, file: string): boolean {
  return lstatSync(join(directory.path, file), { throwIfNoEntry: false })?.isFile() === true;
}

/** Somebody removed the index, or wrote an older text over lines of ours. */
function indexLostLines(directory: Directory): boolean {
  const stat = lstatSync(indexPath(directory), { throwIfNoEntry: false });
  // Removed: deleting MEMORY.md loses nothing.
  if (!stat) return (readBase(directory).text ?? "") !== "";
  return stat.isFile() && lostLines(directory, readText(indexPath(directory)) ?? "");
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
  const { text, retired } = readBase(directory);
  const current = readText(indexPath(directory)) ?? "";
  const known = new Set(
    [...splitLines(text ?? ""), ...splitLines(current)].map((line) => line.trimEnd()).concat(retired),
  );
  const edits = splitLines(theirs).flatMap((line): LineEdit[] => {
    const bare = line.trimEnd();
    if (bare === "" || known.has(bare)) return [];
    const file = parseIndexLine(line)?.file;
    if (file === undefined) return [{ kind: "text", lines: [bare] }];
    if (!isFile(directory, file)) return [];
    const header = readHeader(directory, file);
    const isOwn = bare === formatIndexLine(header);
    return isOwn ? [] : [{ kind: "reword", header, line: bare }];
  });
  if (edits.length > 0) syncIndex(directory, { edits });
}
