/** Where wanted words stand in the files of a project: every file is read once, for all of them. */

import { openFileReader } from "./file-reader.ts";
import { type Hit, isSource, judgeHit } from "./hit.ts";
import type { Tree } from "./tree.ts";
import { openScan } from "./words.ts";

export interface Place {
  file: string;
  line: number;
  hit: Hit;
  /** Stands behind `--` or right after a quote: an option's name. */
  isOption: boolean;
}

/** The best hits of a word, one or a few for each file. */
export type Occurrences = ReadonlyMap<string, readonly Place[]>;

export interface Search {
  found: Occurrences;
  notes: string[];
}

/** Source is smaller; what is larger is data. */
const MAX_FILE_BYTES = 1 << 20;
/** More of one word in one file tells nothing new. */
const MAX_PER_FILE = 4;
const MAX_PLACES = 400;
/** What all files together may hold before it is no longer a look but a wait. */
const MAX_TOTAL_BYTES = 1 << 30;
const MAX_LINE = 1_000;
/** Lines of made code are much longer than those that people write. */
const MINIFIED_LINE = 500;

export async function searchTree(
  tree: Tree,
  words: Iterable<string>,
  onFile?: (done: number) => void,
): Promise<Search> {
  const found = new Map<string, Place[]>();
  for (const word of words) found.set(word, []);
  const notes: string[] = [];
  if (found.size === 0) return { found, notes };
  const scan = openScan(found.keys());
  const readInto = openFileReader(tree.root);
  const buffer = Buffer.allocUnsafe(MAX_FILE_BYTES + 1);
  let total = 0;
  let done = 0;
  for (const file of tree.files) {
    // Others get their turn.
    if (++done % 256 === 0) {
      onFile?.(done);
      await new Promise((next) => setImmediate(next));
    }
    if (!isSource(file)) continue;
    const size = readInto(file, buffer);
    if (size <= 0 || isMade(buffer, size)) continue;
    total += size;
    if (total > MAX_TOTAL_BYTES) {
      notes.push("the project is too large to be read whole: names may stand in files that were not read");
      break;
    }
    searchFile(file, buffer, size, scan, found);
  }
  return { found, notes };
}

/** Binary, or written by a program. */
function isMade(buffer: Buffer, size: number): boolean {
  const head = buffer.subarray(0, Math.min(size, 8_000));
  if (head.includes(0)) return true;
  if (head.length <= 4_000) return false;
  const most = head.length / MINIFIED_LINE;
  let lines = 1;
  for (let at = head.indexOf(10); at >= 0 && lines < most; at = head.indexOf(10, at + 1)) lines++;
  return lines < most;
}

function searchFile(
  file: string,
  buffer: Buffer,
  size: number,
  scan: ReturnType<typeof openScan>,
  found: Map<string, Place[]>,
): void {
  const seen = new Map<string, number>();
  let counted = { at: 0, line: 1 };
  scan.scan(buffer, 0, size, (word, at, end) => {
    const places = found.get(word) as Place[];
    const times = seen.get(word) ?? 0;
    if (times >= MAX_PER_FILE || places.length >= MAX_PLACES) return;
    seen.set(word, times + 1);
    for (let next = buffer.indexOf(10, counted.at); next >= 0 && next < at; next = buffer.indexOf(10, next + 1)) {
      counted = { at: next + 1, line: counted.line + 1 };
    }
    const start = Math.max(counted.at, at - MAX_LINE);
    const newline = buffer.indexOf(10, end);
    const stop = Math.min(newline < 0 || newline > size ? size : newline, end + MAX_LINE);
    places.push({
      file,
      line: counted.line,
      ...judgeLine(file, buffer.toString("latin1", start, stop), at - start, end - at),
    });
  });
}

export function judgeLine(file: string, line: string, column: number, length: number): Pick<Place, "hit" | "isOption"> {
  const before = line.slice(Math.max(0, column - 2), column);
  return { hit: judgeHit(file, line, column, length), isOption: before === "--" || /["'`]$/.test(before) };
}
