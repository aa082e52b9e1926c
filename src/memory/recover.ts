/** Mends what a killed writer left: an unfinished journal entry, an index without its line, temporary files. */

import { existsSync, lstatSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { moveInto, removeQuietly, writeTemporary } from "../disk/atomic.ts";
import { resolveInside } from "../disk/fence.ts";
import { type Directory, fileMode, INDEX_FILE, statePath } from "./directory.ts";
import { parseIndexLine } from "./index-line.ts";
import { readBase, removeFromOverflow, syncIndex } from "./index-sync.ts";
import { putLine, removeLines, splitLines } from "./index-text.ts";
import { type Entry, endEntry, type FileChange, findUnfinished, hashOf, readImage } from "./journal.ts";
import { parseHeader } from "./memory.ts";
import { findBytes, readHeader } from "./read.ts";

/** A temporary file of a living writer is younger than this. */
const TEMPORARY_MS = 60_000;

/** Cheap: is there anything that `recover` would do? Asked at every opening, without the lock. */
export function needsRecovery(directory: Directory): boolean {
  return (
    existsSync(statePath(directory)) &&
    (findUnfinished(directory) !== null || indexLostLines(directory) || leftovers(directory).length > 0)
  );
}

/** The lock must be held. */
export function recover(directory: Directory): void {
  const unfinished = findUnfinished(directory);
  if (unfinished) finish(directory, unfinished);
  sweep(directory);
  if (indexLostLines(directory)) syncIndex(directory, { change: (text) => text });
}

/** Every file of an entry is either moved or not; the hashes tell. All moved: the index follows. Some: they are moved back. */
function finish(directory: Directory, entry: Entry): void {
  const happened = entry.files.filter(({ file, before }) => currentHash(directory, file) !== before);
  const complete = happened.length === entry.files.length || entry.purged === true;
  if (happened.length > 0)
    directory.log(`${complete ? "finishing" : "taking back"} the interrupted ${entry.action} ${entry.id}`);
  if (!complete) for (const change of happened) moveBack(directory, change);
  for (const { file } of happened) if (!isFile(directory, file)) removeFromOverflow(directory, file);
  if (happened.length > 0)
    syncIndex(directory, {
      change: (text) => happened.reduce((out, change) => followFile(directory, out, change), text),
    });
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

function followFile(directory: Directory, index: string, { file, before }: FileChange): string {
  if (!isFile(directory, file)) return removeLines(index, file).text;
  const image = before === null ? null : readImage(directory, before);
  return putLine(index, readHeader(directory, file), image ? parseHeader(file, image) : null);
}

function currentHash(directory: Directory, file: string): string | null {
  const data = findBytes(directory, file);
  return data ? hashOf(data) : null;
}

function isFile(directory: Directory, file: string): boolean {
  return lstatSync(join(directory.path, file), { throwIfNoEntry: false })?.isFile() === true;
}

/** A line of ours whose memory exists is gone from MEMORY.md: an editor wrote an older text over it. */
function indexLostLines(directory: Directory): boolean {
  const base = readBase(directory).text;
  if (base === null) return false;
  let current: string;
  try {
    current = readFileSync(join(directory.path, INDEX_FILE), "utf8");
  } catch {
    return false;
  }
  if (current === base) return false;
  const linked = new Set(splitLines(current).map((line) => parseIndexLine(line)?.file));
  return splitLines(base).some((line) => {
    const file = parseIndexLine(line)?.file;
    return file !== undefined && !linked.has(file) && existsSync(join(directory.path, file));
  });
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
    if (pid === process.pid) return false;
    if (Number.isInteger(pid) && !isAlive(pid)) return true;
    const stat = lstatSync(statePath(directory, "tmp", name), { throwIfNoEntry: false });
    return stat !== undefined && directory.now().getTime() - stat.mtimeMs > TEMPORARY_MS;
  });
}

/** A writer killed between swapping and looking leaves another program's index here: its hand-written lines go back. */
function rescueLines(directory: Directory, path: string): void {
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch {
    return;
  }
  const known = new Set(splitLines(readBase(directory).text ?? "").map((line) => line.trimEnd()));
  const own = splitLines(text).filter(
    (line) => line.trim() !== "" && !known.has(line.trimEnd()) && parseIndexLine(line) === null,
  );
  if (own.length === 0) return;
  syncIndex(directory, {
    change: (current) => {
      const there = new Set(splitLines(current).map((line) => line.trimEnd()));
      const missing = own.map((line) => line.trimEnd()).filter((line) => !there.has(line));
      const gap = current === "" || current.endsWith("\n") ? "" : "\n";
      return missing.length === 0 ? current : `${current}${gap}${missing.join("\n")}\n`;
    },
  });
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}
