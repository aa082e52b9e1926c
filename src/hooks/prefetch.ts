/** The search for memories by a model beside a turn: how it is started (`dist/hook-prefetch.cjs`), and `.memdir/prefetch/`, where it leaves what it found, a file per session, taken once. */

import { closeSync, openSync } from "node:fs";
import { isAbsolute, join } from "node:path";
import { PRIVATE_MODE, removeQuietly, writeTemporary } from "../disk/atomic.ts";
import { openState, quietly, type StateRecord, sessionKey } from "../store/store.ts";

export interface PrefetchStart {
  /** The memory directory that keeps the session's state. */
  directory: string;
  cwd: string;
  session: string;
  prompt: string;
  nowMs: number;
}

/** In a session of its own: it outlives us. One at a time for each session. */
export function startPrefetch({ directory, cwd, session, prompt, nowMs }: PrefetchStart): void {
  const id = `${process.pid}-${process.hrtime.bigint().toString(36)}`;
  if (!awaitPrefetch(directory, session, { id, nowMs })) return;
  const input = openInput(directory, JSON.stringify({ session, id, prompt }));
  const { spawn } = process.getBuiltinModule("node:child_process");
  const child = spawn(process.execPath, [join(__dirname, "cli.js"), "prefetch"], {
    cwd,
    detached: true,
    stdio: [input, "ignore", "ignore"],
    windowsHide: true,
  });
  child.on("error", () => {});
  child.unref();
  closeSync(input);
}

/** A prompt neither fits into arguments nor belongs where everybody sees them; a pipe would be gone with us before it is read. */
function openInput(directory: string, text: string): number {
  const file = writeTemporary(prefetchFolder(directory), text, PRIVATE_MODE, "prompt", false);
  try {
    return openSync(file, "r");
  } finally {
    removeQuietly(file);
  }
}

/** An answer that takes longer finds the turn over: whoever looks for it gives up then. */
export const PREFETCH_MS = 30_000;

/** Five paths; what is larger was not written by us. */
const MAX_BYTES = 64 * 1024;

/**
 * `id` is that of the prompt. False where no search may begin: nothing can be written, or the search for an earlier prompt still
 * runs, whose answer then comes too late.
 */
export function awaitPrefetch(
  directory: string,
  session: string,
  { id, nowMs }: { id: string; nowMs: number },
): boolean {
  const record = recordOf(directory, session);
  const before = record.read();
  const isAtWork = before?.paths === null && Math.abs(nowMs - before.atMs) < PREFETCH_MS;
  const isKept = quietly(() => record.write(isAtWork ? { ...before, id: "" } : { id, atMs: nowMs, paths: null }));
  return isKept && !isAtWork;
}

/** The paths of memories, best first. False when the session has gone on meanwhile. */
export function finishPrefetch(directory: string, session: string, id: string, paths: readonly string[]): boolean {
  const record = recordOf(directory, session);
  const before = record.read();
  if (!before || before.paths !== null || (before.id !== id && before.id !== "")) return false;
  const isWanted = before.id === id;
  // Also when it is not wanted any more: from now on another search may begin.
  return quietly(() => record.write({ ...before, paths: isWanted ? paths : [] })) && isWanted;
}

/** The answer, once, when it is there. Must not throw. */
export function takePrefetch(directory: string, session: string): readonly string[] {
  const record = recordOf(directory, session);
  const paths = record.read()?.paths ?? null;
  if (paths === null) return [];
  quietly(record.remove);
  return paths;
}

interface Prefetched {
  id: string;
  atMs: number;
  /** Null while the search runs. */
  paths: readonly string[] | null;
}

function recordOf(directory: string, session: string): StateRecord<Prefetched> {
  return openState(directory).record(`prefetch/${sessionKey(session)}`, parse, { maxBytes: MAX_BYTES });
}

function parse(value: unknown): Prefetched | null {
  const { id, atMs, paths } = value as Record<string, unknown>;
  if (typeof id !== "string" || typeof atMs !== "number") return null;
  const isList = Array.isArray(paths) && paths.every((path) => typeof path === "string" && isAbsolute(path));
  return { id, atMs, paths: isList ? paths : null };
}

export function prefetchFolder(directory: string): string {
  return join(directory, ".memdir", "prefetch");
}
