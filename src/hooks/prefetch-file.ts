/** What a model finds beside a turn: `.memdir/prefetch/`, a file per session, written by another process and taken once. */

import { lstatSync, mkdirSync, readdirSync, unlinkSync } from "node:fs";
import { isAbsolute, join } from "node:path";
import { removeQuietly, writeCacheFile } from "../disk/atomic.ts";
import { pinFolder } from "../disk/pin.ts";
import { readRegular } from "../disk/regular.ts";
import { hashOf } from "../text/fnv.ts";

/** An answer that takes longer finds the turn over: whoever looks for it gives up then. */
export const PREFETCH_MS = 30_000;

/** Five paths; what is larger was not written by us. */
const MAX_BYTES = 64 * 1024;
/** Sessions end without a word: of more than this, all are nobody's any more. */
const MAX_FILES = 64;

/**
 * `id` is that of the prompt. False where nothing may be looked for: nothing can be written, or somebody still looks for an
 * earlier prompt, whose answer then comes too late.
 */
export function awaitPrefetch(
  directory: string,
  session: string,
  { id, nowMs }: { id: string; nowMs: number },
): boolean {
  const before = read(directory, session);
  const isAtWork = before?.paths === null && Math.abs(nowMs - before.atMs) < PREFETCH_MS;
  if (isAtWork) write(directory, session, { ...before, id: "" });
  return !isAtWork && write(directory, session, { id, atMs: nowMs, paths: null });
}

/** The paths of memories, best first. False when the session has gone on meanwhile. */
export function finishPrefetch(directory: string, session: string, id: string, paths: readonly string[]): boolean {
  const before = read(directory, session);
  if (!before || before.paths !== null || (before.id !== id && before.id !== "")) return false;
  const isWanted = before.id === id;
  // Also when nobody wants it any more: from now on something may be looked for again.
  return write(directory, session, { ...before, paths: isWanted ? paths : [] }) && isWanted;
}

/** The answer, once, when it is there. Must not throw. */
export function takePrefetch(directory: string, session: string): readonly string[] {
  const paths = read(directory, session)?.paths ?? null;
  if (paths === null) return [];
  removeQuietly(fileOf(directory, session));
  return paths;
}

interface Prefetched {
  id: string;
  atMs: number;
  /** Null while it is looked for. */
  paths: readonly string[] | null;
}

function read(directory: string, session: string): Prefetched | null {
  try {
    if (!folders(directory).every((folder) => lstatSync(folder).isDirectory())) return null;
    const bytes = readRegular(fileOf(directory, session), { maxBytes: MAX_BYTES });
    const { id, atMs, paths } = JSON.parse(bytes?.toString("utf8") ?? "null") as Record<string, unknown>;
    if (typeof id !== "string" || typeof atMs !== "number") return null;
    const isList = Array.isArray(paths) && paths.every((path) => typeof path === "string" && isAbsolute(path));
    return { id, atMs, paths: isList ? paths : null };
  } catch {
    return null; // nothing is looked for, or nothing that can be read
  }
}

function write(directory: string, session: string, value: Prefetched): boolean {
  try {
    // Never through a link that somebody put there: looked at before anything is made below it.
    for (const folder of folders(directory)) {
      if (!lstatSync(folder, { throwIfNoEntry: false })) mkdirSync(folder, { mode: 0o700 });
      if (!lstatSync(folder).isDirectory()) return false;
    }
    const pin = pinFolder(prefetchFolder(directory));
    try {
      sweep(pin.path);
      writeCacheFile(pin.path, join(pin.path, nameOf(session)), JSON.stringify(value));
    } finally {
      pin.close();
    }
    return true;
  } catch {
    return false;
  }
}

function sweep(folder: string): void {
  const names = readdirSync(folder);
  if (names.length > MAX_FILES) for (const name of names) unlinkSync(join(folder, name));
}

function folders(directory: string): string[] {
  return [join(directory, ".memdir"), prefetchFolder(directory)];
}

export function prefetchFolder(directory: string): string {
  return join(directory, ".memdir", "prefetch");
}

function fileOf(directory: string, session: string): string {
  return join(prefetchFolder(directory), nameOf(session));
}

/** The name of a session is the host's business: only its hash becomes a file name. */
function nameOf(session: string): string {
  return `${hashOf(session).toString(36)}-${session.length}.json`;
}
