/** What the model has seen of files, so that it changes none that it has not read as it is now. */

import { realPath } from "../disk/fence.ts";
import {
  countLines,
  formatLines,
  type LineEdit,
  type LineRange,
  mergeRanges,
  missingLines,
  shiftRanges,
} from "./file-lines.ts";
import { hashBytes, lookAt } from "./file-status.ts";

/** A file is known by its real path: a link and what it leads to are one. */
export interface FileState {
  /** After a Read, and after our own write: what the model now knows. `bytes` is the whole file; `lines: null` means all of it. */
  note(path: string, seen: { bytes: Uint8Array; lines: LineRange | null }): void;
  /** After our own edit of a file read in part: the lines around it stay known under their new numbers. */
  noteEdit(path: string, edited: { bytes: Uint8Array; edits: readonly LineEdit[] }): void;
  /** Why a change is refused, with the advice to read (again); null when it may be made. Reads the disk now; must not throw. */
  check(path: string, change: FileChange): string | null;
  forget(path: string): void;
  /** For a fork: from here on neither notices what the other reads. */
  clone(): FileState;
  /** What was read, newest first: for re-attaching after compaction. */
  capture(): SeenFile[];
  clear(): void;
  readonly entries: number;
  /** An estimate of the memory kept. */
  readonly bytes: number;
}

type FileChange = { kind: "write" } | { kind: "edit"; lines: LineRange | readonly LineRange[] };

export interface SeenFile {
  path: string;
  /** Null: the whole file. */
  lines: LineRange[] | null;
  /** Grows with every read. */
  at: number;
}

interface FileStateLimits {
  maxEntries?: number;
  maxBytes?: number;
}

/** More files than a session reads; what falls out must only be read again. */
const MAX_ENTRIES = 4096;
/** Some 2 KB for each of them: only files read in very many pieces come near. */
const MAX_BYTES = 8 << 20;

export function openFileState(limits: FileStateLimits = {}): FileState {
  return makeState(new Map(), 0, limits);
}

/** Never changed once made, so that clones can share it. */
interface Entry {
  hash: string;
  total: number;
  /** Merged; null: all lines. */
  ranges: readonly LineRange[] | null;
  at: number;
}

/** A Map keeps the order of insertion: the first entry is the one noted longest ago. */
function makeState(seen: Map<string, Entry>, counter: number, limits: FileStateLimits): FileState {
  const { maxEntries = MAX_ENTRIES, maxBytes = MAX_BYTES } = limits;
  let bytes = 0;
  for (const [real, entry] of seen) bytes += sizeOf(real, entry);

  const forget = (real: string) => {
    const entry = seen.get(real);
    if (!entry) return;
    bytes -= sizeOf(real, entry);
    seen.delete(real);
  };
  const put = (real: string, content: Uint8Array, hash: string, ranges: readonly LineRange[] | null) => {
    forget(real);
    const total = countLines(content);
    const merged = ranges && mergeRanges(ranges, total);
    const isWhole = !merged || missingLines({ from: 1, to: total }, merged).length === 0;
    const entry = { hash, total, ranges: isWhole ? null : merged, at: ++counter };
    seen.set(real, entry);
    bytes += sizeOf(real, entry);
    for (const oldest of seen.keys()) {
      if (seen.size <= maxEntries && bytes <= maxBytes) break;
      forget(oldest);
    }
  };

  return {
    note(path, { bytes: content, lines }) {
      const real = realPath(path);
      const hash = hashBytes(content);
      const old = seen.get(real);
      // What was read of another version is worth nothing now.
      const known = old?.hash === hash ? old.ranges : [];
      put(real, content, hash, lines && known && [...known, lines]);
    },
    noteEdit(path, { bytes: content, edits }) {
      const real = realPath(path);
      const old = seen.get(real);
      const known = old ? old.ranges : [];
      put(real, content, hashBytes(content), known && shiftRanges(known, edits));
    },
    check(path, change) {
      const real = realPath(path);
      return findRefusal(path, real, seen.get(real), change);
    },
    forget: (path) => forget(realPath(path)),
    clone: () => makeState(new Map(seen), counter, limits),
    capture: () =>
      [...seen]
        .filter(([, { ranges }]) => ranges?.length !== 0)
        .map(([path, { ranges, at }]) => ({ path, lines: ranges?.map((range) => ({ ...range })) ?? null, at }))
        .reverse(),
    clear() {
      seen.clear();
      bytes = 0;
    },
    get entries() {
      return seen.size;
    },
    get bytes() {
      return bytes;
    },
  };
}

function findRefusal(path: string, real: string, entry: Entry | undefined, change: FileChange): string | null {
  const look = lookAt(real);
  if (look.kind === "other")
    return `${path} is not changed: there is ${look.what}; find the right file and read it first`;
  if (look.kind === "absent") {
    if (change.kind === "write") return null;
    const since = entry ? "is gone since it was read" : "does not exist";
    return `${path} ${since}; find the right file and read it first, or write a new one`;
  }
  if (!entry) return `${path} has not been read yet; read it first, then change it`;
  if (entry.hash !== look.hash) return `${path} has changed since it was read; read it again, then change it`;
  if (!entry.ranges) return null;
  const missing = missingOf(change, entry.ranges, entry.total);
  if (missing.length === 0) return null;
  const were = missing.length === 1 && missing[0]?.from === missing[0]?.to ? "was" : "were";
  return `${formatLines(missing)} of ${path} ${were} not read; read them first, then change it`;
}

function missingOf(change: FileChange, known: readonly LineRange[], total: number): LineRange[] {
  if (change.kind === "write") return missingLines({ from: 1, to: total }, known);
  const lines = "from" in change.lines ? [change.lines] : change.lines;
  // Text added behind the end joins the last line: that one must be known.
  const inside = lines.map(({ from, to }) => ({
    from: Math.min(from, total),
    to: Math.min(Math.max(from, to), total),
  }));
  return mergeRanges(inside, total).flatMap((range) => missingLines(range, known));
}

/** Two bytes per character, the hash, and what a Map entry, an object and each range weigh, roughly. */
function sizeOf(real: string, { hash, ranges }: Entry): number {
  return 160 + 2 * real.length + hash.length + 40 * (ranges?.length ?? 0);
}
