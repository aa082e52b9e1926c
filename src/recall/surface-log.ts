/**
 * Which memories were shown: to each session (`.memdir/surfaced/`), so that none comes twice, and when, through which client and
 * why (`.memdir/surfaced.jsonl`), which answers "why did it say that?" and shows what never helps. Nothing here throws.
 */

import { type Directory, openState, quietly, type StateLog, type StateRecord, sessionKey } from "../store/store.ts";
import { hashOf } from "../text/hash.ts";
import { openRecallSession, type RecallSession } from "./injection.ts";

export type Door = "agent" | "hook" | "mcp" | "cli";

export interface SurfacedMemory {
  /** Below its own directory, which is known by its scope. */
  file: string;
  scope: string;
  why: readonly string[];
}

export interface Surfacing {
  /** ISO time. */
  at: string;
  /** Null for a client without sessions. */
  session: string | null;
  door: Door;
  /** Never its text: a number by which equal prompts are known. */
  prompt: number;
  memories: readonly SurfacedMemory[];
}

const MAX_WHY = 6;
const MAX_WHY_CHARS = 160;
const MAX_NAME_CHARS = 300;

/** `directory` is the one that is written to, whatever scope a memory is of. Costs one append. */
export function logSurfaced(
  directory: string,
  { at, prompt, ...shown }: Omit<Surfacing, "at" | "prompt"> & { at: Date; prompt: string },
): void {
  if (shown.memories.length === 0) return;
  const clip = (text: string, length: number) => text.slice(0, length).toWellFormed();
  const memories = shown.memories.map(({ file, scope, why }) => {
    return { file, scope, why: why.slice(0, MAX_WHY).map((reason) => clip(reason, MAX_WHY_CHARS)) };
  });
  const session = shown.session === null ? null : clip(shown.session, MAX_NAME_CHARS);
  const entry = { at: at.toISOString(), session, door: shown.door, prompt: hashOf(prompt), memories };
  // A directory that cannot be written to is recalled from all the same.
  quietly(() => logOf(directory).append([entry]));
}

/** Oldest first; [] when there is none. Lines that cannot be read are passed over. */
export function readSurfaceLog(directory: string): Surfacing[] {
  return logOf(directory).read();
}

function logOf(directory: string): StateLog<Surfacing> {
  return openState(directory).log("surfaced.jsonl", parseSurfacing);
}

const DOORS: ReadonlySet<unknown> = new Set(["agent", "hook", "mcp", "cli"]);

function parseSurfacing(value: unknown): Surfacing | null {
  const { at, session, door, prompt, memories } = value as Surfacing;
  if (typeof at !== "string" || Number.isNaN(Date.parse(at)) || !DOORS.has(door) || !Array.isArray(memories))
    return null;
  const known = memories.flatMap(({ file, scope, why }): SurfacedMemory[] => {
    if (typeof file !== "string" || typeof scope !== "string" || !Array.isArray(why)) return [];
    return [{ file, scope, why: why.filter((reason) => typeof reason === "string") }];
  });
  const name = typeof session === "string" ? session : null;
  return { at, session: name, door, prompt: Number(prompt) || 0, memories: known };
}

/** Every time that this memory was shown, oldest first. */
export function findShown(log: readonly Surfacing[], file: string, scope: string) {
  return log.flatMap(({ at, session, door, memories }) => {
    const found = memories.find((memory) => memory.file === file && memory.scope === scope);
    return found ? [{ at, session, door, why: found.why }] : [];
  });
}

/** How often each was shown, by scope and file. */
export function countShown(log: readonly Surfacing[]): (scope: string, file: string) => number {
  const counts = new Map<string, number>();
  const keyOf = (scope: string, file: string) => `${scope}\0${file}`;
  for (const { memories } of log) {
    for (const { scope, file } of memories) counts.set(keyOf(scope, file), (counts.get(keyOf(scope, file)) ?? 0) + 1);
  }
  return (scope, file) => counts.get(keyOf(scope, file)) ?? 0;
}

/** Which files of a directory were shown, and since when that is known; null without a log. */
export function findSurfacedFiles({ path, scope }: Directory): { since: string; files: Set<string> } | null {
  const log = readSurfaceLog(path);
  const [first] = log;
  if (!first) return null;
  const ours = log.flatMap(({ memories }) => memories.filter((memory) => memory.scope === scope));
  return { since: first.at, files: new Set(ours.map(({ file }) => file)) };
}

/** A session without a name, or whose file is lost or broken, has seen nothing. */
export function readSurfaced(directory: string, session: string | null): RecallSession {
  const opened = openRecallSession();
  const kept = session === null ? null : recordOf(directory, session).read();
  for (const path of kept?.paths ?? []) opened.surfaced.add(path);
  opened.bytes = kept?.bytes ?? 0;
  return opened;
}

/** Whether it is kept. Only a convenience: where it cannot be written, a memory may be shown twice. */
export function writeSurfaced(directory: string, session: string | null, { surfaced, bytes }: RecallSession): boolean {
  if (session === null) return false;
  return quietly(() => recordOf(directory, session).write({ paths: [...surfaced], bytes }));
}

/** Call it after a clear or compact: the model no longer has any of the memories. */
export function clearSurfaced(directory: string, session: string): void {
  quietly(() => recordOf(directory, session).remove());
}

function recordOf(directory: string, session: string): StateRecord<ReturnType<typeof parseSurfaced>> {
  return openState(directory, { parents: true }).record(`surfaced/${sessionKey(session)}`, parseSurfaced);
}

function parseSurfaced(value: unknown) {
  const { paths, bytes } = value as { paths: unknown[]; bytes: unknown };
  return {
    paths: paths.filter((path) => typeof path === "string"),
    bytes: Number.isFinite(bytes) ? Math.max(0, bytes as number) : 0,
  };
}
