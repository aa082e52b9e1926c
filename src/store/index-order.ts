/** The index in the order of what its lines are worth, and the lines that point to nothing. */

import { splitLines } from "../text/lines.ts";
import { type Directory, readHeader } from "./directory.ts";
import { findName, indexPath, peekIndex } from "./index-file.ts";
import { formatIndexLine, parseIndexLine, readReferences } from "./index-line.ts";
import { type Header, type MemoryType, parseHeader } from "./memory.ts";

/** Files that the index points to but that do not exist. */
export function findDeadLines(directory: Directory): string[] {
  const findHeader = openHeaders(directory);
  return splitLines(peekIndex(indexPath(directory))).flatMap((line) => {
    const file = parseIndexLine(line)?.file;
    return file !== undefined && isDead(line, findHeader) ? [file] : [];
  });
}

/** Headers as they will be after the changes: the new files are not in place yet when the index is written. */
export function openHeaders(directory: Directory, changes: ReadonlyMap<string, string | null> = new Map()) {
  return (file: string): Header | null => {
    const name = changes.has(file) ? file : findName(directory, file);
    const text = name === null ? null : changes.get(name);
    if (typeof text === "string") return parseHeader(file, text);
    return name === null || text === null ? null : readHeader(directory, name);
  };
}

/**
 * The index in order: lines that point to nothing go, and every run of lines in our own words is sorted by what they are worth,
 * as a client that cannot load all of it leaves out the end. What was written by hand stays where it is.
 */
export function arrangeIndex(index: string, findHeader: (file: string) => Header | null): string {
  const lines = splitLines(index).flatMap((line) => {
    const file = parseIndexLine(line)?.file;
    const header = file === undefined ? null : findHeader(file);
    const own = header !== null && formatIndexLine(header) === line.trimEnd() ? header : null;
    return file !== undefined && header === null && isDead(line, findHeader) ? [] : [{ line, own }];
  });
  const arranged: string[] = [];
  for (let at = 0; at < lines.length; ) {
    let end = at;
    while (lines[end]?.own) end++;
    const run = lines.slice(at, end) as { line: string; own: Header }[];
    const sorted = run.map(({ own }) => own).sort(byWorth);
    // Line ends stay in their places: the last line of a file may have none.
    arranged.push(...run.map(({ line }, i) => formatIndexLine(sorted[i]!) + line.slice(line.trimEnd().length)));
    if (end < lines.length) arranged.push(lines[end]!.line);
    at = end + 1;
  }
  return arranged.join("");
}

/** Whether everything it names is gone; the target of a wiki link is not certain. */
function isDead(line: string, findHeader: (file: string) => Header | null): boolean {
  return readReferences(line).every(({ kind, target }) => kind !== "wiki" && findHeader(target) === null);
}

/** Corrections first: having to repeat one is the most annoying. */
const WORTH: Record<MemoryType, number> = { feedback: 0, user: 1, project: 2, reference: 3 };

function byWorth(a: Header, b: Header): number {
  if (a.pinned !== b.pinned) return a.pinned ? -1 : 1;
  if (a.type !== b.type) return WORTH[a.type] - WORTH[b.type];
  if ((a.modified ?? "") !== (b.modified ?? "")) return (a.modified ?? "") < (b.modified ?? "") ? 1 : -1;
  return a.file < b.file ? -1 : 1;
}
