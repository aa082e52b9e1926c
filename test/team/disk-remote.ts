/** A folder that several machines share, on a network drive or a synchronised disk, as a Store. The memories lie in it as they are. */

import { randomUUID } from "node:crypto";
import { lstatSync, mkdirSync, type Stats } from "node:fs";
import { dirname, join } from "node:path";
import {
  moveInto,
  readRegular,
  removeQuietly,
  resolveInside,
  SHARED_MODE,
  writeTemporary,
} from "../../src/disk/fence.ts";
import { diskError, MemdirError } from "../../src/errors.ts";
import { walk } from "../../src/project/locate.ts";
import { findEntryProblem, LIMITS, type RemoteEntry } from "../../src/team/protocol.ts";
import type { Remote, RemoteChange, RemoteListing, RemoteOutcome, RemoteVersion } from "../../src/team/remote.ts";
import { sha256 } from "../../src/text/hash.ts";
import {
  type Book,
  type Line,
  noteVersions,
  openBook,
  readText,
  readVersions,
  STORE_FOLDER,
  savePage,
} from "./disk-book.ts";
import { withFolderLock } from "./disk-lock.ts";
import { findLostIn } from "./memory-remote.ts";

export interface DiskRemoteOptions {
  /** Absolute path. Made when it is not there; the folder that it lies in must be. */
  folder: string;
  who: string;
  now: () => Date;
  /** The id of a remote that is made now. */
  random?: () => string;
}

export function openDiskRemote(options: DiskRemoteOptions): Remote {
  const { folder } = options;
  const locked = async <T>(signal: AbortSignal | undefined, work: (book: Book) => T): Promise<T> => {
    signal?.throwIfAborted();
    try {
      prepare(folder);
      return await withFolderLock(join(folder, STORE_FOLDER), signal, (check) => {
        const book = openBook(folder, options.random ?? randomUUID, check);
        takeIn(book, options.now());
        return work(book);
      });
    } catch (error) {
      throw signal?.aborted ? error : unreachable(error, folder);
    }
  };
  return {
    name: folder,
    list: (signal) => locked(signal, listEntries),
    fetch: async (entries, signal) => {
      signal?.throwIfAborted();
      return entries.length === 0 ? new Map() : locked(signal, (book) => fetchTexts(book, entries));
    },
    apply: async (changes, signal) => {
      signal?.throwIfAborted();
      return changes.length === 0 ? [] : locked(signal, (book) => applyChanges(book, changes, options));
    },
    findLost: (had, signal) => locked(signal, (book) => findLostIn(had, (path) => listVersions(book, path))),
    versions: (path, signal) => locked(signal, (book) => listVersions(book, path)),
  };
}

/** The parent is not made: a drive that is not mounted must not become an empty folder of that name. */
function prepare(folder: string): void {
  for (const path of [folder, join(folder, STORE_FOLDER), join(folder, STORE_FOLDER, "tmp")]) {
    mkdirIfMissing(path);
    const stat = lstatSync(path);
    if (!stat.isDirectory() && path !== folder)
      throw new MemdirError("outside", `${path} is a link or no folder: nothing was written; remove it`);
  }
}

function mkdirIfMissing(path: string): void {
  try {
    mkdirSync(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  }
}

/** To whoever syncs, a drive is a network: it may be back in a minute. */
function unreachable(error: unknown, folder: string): MemdirError {
  const { code, message } = diskError(error, "use the shared folder", folder);
  return code === "outside" ? (error as MemdirError) : new MemdirError("network", message, { cause: error });
}

/**
 * What others did in the folder with their own programs since the last look: a new or changed file is a new version by
 * nobody in particular. A file that is missing is put back: only a tombstone removes, and a half-copied folder is none.
 */
function takeIn(book: Book, now: Date): void {
  const found: Line[] = [];
  const onDisk = walk(book.folder).files.filter((path) => findEntryProblem(path) === null);
  const seen = new Set(onDisk);
  for (const path of onDisk) {
    const line = book.lines.get(path);
    const stat = lstatSync(join(book.folder, path), { throwIfNoEntry: false });
    if (!stat || (line?.stamp != null && line.stamp === stampOf(stat))) continue;
    // Its writer died, or another one of ours is not done: the book is right.
    if (line && line.stamp === null) continue;
    const text = readMemoryText(join(book.folder, path));
    if (text === null) continue;
    const hash = sha256(text);
    if (line && line.hash === hash) {
      book.stamps.set(path, stampOf(stat));
      continue;
    }
    found.push({
      path,
      hash,
      text,
      deleted: false,
      author: "",
      at: now.toISOString(),
      stamp: stampOf(stat),
      revision: 0,
    });
  }
  if (found.length > 0) {
    noteVersions(book, found);
    savePage(book);
  }
  const missing = [...book.lines.values()].filter(
    ({ deleted, path, stamp }) => !deleted && (stamp === null || !seen.has(path)),
  );
  writeFiles(
    book,
    missing.map(({ path }) => path),
  );
  // A tombstone whose file was not removed yet.
  for (const { path, deleted, stamp } of book.lines.values()) {
    if (deleted && stamp === null) removeFile(book, path);
  }
  book.saveStamps();
}

function listEntries(book: Book): RemoteListing {
  return { id: book.id, entries: [...book.lines.values()].map(entryOf) };
}

function entryOf({ path, hash, revision, deleted, author, at }: Line): RemoteEntry {
  return { path, hash: deleted ? "" : hash, revision: String(revision), deleted, author, at };
}

function fetchTexts(book: Book, entries: readonly RemoteEntry[]): Map<string, string> {
  const texts = new Map<string, string>();
  for (const { path, revision } of entries) {
    const line = book.lines.get(path);
    if (!line || line.deleted || String(line.revision) !== revision) continue;
    const text = readText(book, line.hash);
    if (text !== null) texts.set(path, text);
  }
  return texts;
}

/** All that can be done is committed at once by one write of the book; the files follow. */
function applyChanges(book: Book, changes: readonly RemoteChange[], options: DiskRemoteOptions): RemoteOutcome[] {
  const at = options.now().toISOString();
  const outcomes: RemoteOutcome[] = [];
  const changed = new Set<string>();
  for (const change of changes) {
    const outcome = decide(book, change);
    if (outcome !== null) {
      outcomes.push(outcome);
      continue;
    }
    const { path } = change;
    const text = change.kind === "put" ? change.text : null;
    const hash = text === null ? "" : sha256(text);
    noteVersions(book, [
      { path, hash, text, deleted: text === null, author: options.who, at, stamp: null, revision: 0 },
    ]);
    outcomes.push({ kind: "done", path, revision: String(book.lines.get(path)?.revision) });
    changed.add(path);
  }
  if (changed.size > 0) savePage(book);
  for (const path of changed) {
    if (book.lines.get(path)?.deleted) removeFile(book, path);
    else writeFiles(book, [path]);
  }
  book.saveStamps();
  return outcomes;
}

/** The outcome of a change that writes nothing; null for one that has to be done. */
function decide(book: Book, change: RemoteChange): RemoteOutcome | null {
  const { path, expected } = change;
  const problem = findEntryProblem(path) ?? findPlaceProblem(book, path);
  if (problem) return { kind: "refused", path, reason: problem };
  const line = book.lines.get(path);
  const live = line && !line.deleted ? line : null;
  if (change.kind === "remove") {
    if (!live) return { kind: "done", path, revision: line ? String(line.revision) : "" };
  } else {
    if (Buffer.byteLength(change.text) > LIMITS.memoryBytes)
      return { kind: "refused", path, reason: `it is larger than ${LIMITS.memoryBytes} bytes` };
    if (live?.hash === sha256(change.text)) return { kind: "done", path, revision: String(live.revision) };
  }
  if ((live ? String(live.revision) : null) === expected) return null;
  return { kind: "stale", path };
}

/** A link or a folder in its place, or a file in the place of one of its folders. */
function findPlaceProblem({ folder }: Book, path: string): string | null {
  try {
    const stat = lstatSync(resolveInside(folder, path), { throwIfNoEntry: false });
    return stat && !stat.isFile() ? "something else lies in its place" : null;
  } catch {
    return "something else lies in its place";
  }
}

function listVersions(book: Book, path: string): RemoteVersion[] {
  return readVersions(book, path).map(({ revision, author, at, deleted, hash }) => ({
    revision: String(revision),
    author,
    at,
    text: deleted ? null : readText(book, hash),
  }));
}

function writeFiles(book: Book, paths: readonly string[]): void {
  for (const path of paths) {
    const line = book.lines.get(path);
    const text = line && readText(book, line.hash);
    if (text == null || findPlaceProblem(book, path) !== null) continue;
    const target = resolveInside(book.folder, path);
    mkdirSync(dirname(target), { recursive: true });
    moveInto(writeTemporary(book.path("tmp"), text, SHARED_MODE), target);
    book.stamps.set(path, stampOf(lstatSync(target)));
  }
}

function removeFile(book: Book, path: string): void {
  if (findPlaceProblem(book, path) === null) removeQuietly(resolveInside(book.folder, path));
  book.stamps.set(path, "");
}

function stampOf({ mtimeMs, size }: Stats): string {
  return `${mtimeMs} ${size}`;
}

/** Null for what is no text, or too large: it is left alone. */
function readMemoryText(path: string): string | null {
  const bytes = readRegular(path, { maxBytes: LIMITS.memoryBytes });
  const text = bytes?.toString("utf8") ?? null;
  return text !== null && !text.includes("\0") && Buffer.from(text).equals(bytes as Buffer) ? text : null;
}
