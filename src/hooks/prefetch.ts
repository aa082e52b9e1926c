/** A model's search for memories in the background of a turn: how it is started, and `.memdir/prefetch/`, where it leaves its result, a file per session, read once. */

import { closeSync, openSync } from "node:fs";
import { isAbsolute, join } from "node:path";
import { PRIVATE_MODE, removeQuietly, writeTemporary } from "../disk/fence.ts";
import { openState, quietly, type StateRecord, sessionKey } from "../store/store.ts";
import type { Host } from "./event.ts";

/** One at a time for each session. `directory` is the memory directory that keeps the session's state. */
export function startPrefetch(
  directory: string,
  { cwd, session, prompt }: { cwd: string; session: string; prompt: string },
  { now, start }: Pick<Host, "now" | "start">,
): void {
  const id = `${process.pid}-${process.hrtime.bigint().toString(36)}`;
  if (!awaitPrefetch(directory, session, { id, nowMs: now().getTime() })) return;
  const input = openInput(join(directory, ".memdir", "prefetch"), JSON.stringify({ session, id, prompt }));
  start(["prefetch"], cwd, input);
  closeSync(input);
}

/** A prompt is too long for arguments, which other users can see; and a pipe would close with us before it is read. */
function openInput(folder: string, text: string): number {
  const file = writeTemporary(folder, text, PRIVATE_MODE, "prompt", false);
  try {
    return openSync(file, "r");
  } finally {
    removeQuietly(file);
  }
}

/** A later answer would find the turn over, so that the search gives up then. */
export const PREFETCH_MS = 30_000;

/** Room for five paths; a larger file was not written by us. */
const MAX_BYTES = 64 * 1024;

/**
 * `id` is that of the prompt. False when no search may start: nothing can be written, or the search for an earlier prompt is still
 * running, and its answer will be too late.
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

/** `paths`: of memories, best first. False when the session has moved on meanwhile. */
export function finishPrefetch(directory: string, session: string, id: string, paths: readonly string[]): boolean {
  const record = recordOf(directory, session);
  const before = record.read();
  if (!before || before.paths !== null || (before.id !== id && before.id !== "")) return false;
  const isWanted = before.id === id;
  // Also when it is no longer wanted: another search may start now.
  return quietly(() => record.write({ ...before, paths: isWanted ? paths : [] })) && isWanted;
}

/** The answer, if there is one; only once. Must not throw. */
export function takePrefetch(directory: string, session: string): readonly string[] {
  const record = recordOf(directory, session);
  const paths = record.read()?.paths ?? null;
  if (paths === null) return [];
  quietly(record.remove);
  return paths;
}

function recordOf(directory: string, session: string): StateRecord<Prefetched> {
  return openState(directory).record(`prefetch/${sessionKey(session)}`, parse, { maxBytes: MAX_BYTES });
}

type Prefetched = NonNullable<ReturnType<typeof parse>>;

function parse(value: unknown) {
  const { id, atMs, paths } = value as Record<string, unknown>;
  if (typeof id !== "string" || typeof atMs !== "number") return null;
  const isList = Array.isArray(paths) && paths.every((path) => typeof path === "string" && isAbsolute(path));
  // Null while the search runs.
  return { id, atMs, paths: isList ? (paths as readonly string[]) : null };
}
