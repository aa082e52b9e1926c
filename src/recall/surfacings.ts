/** What the log of surfaced memories says about single ones: when they were shown, how often, and which never. */

import type { Directory } from "../store/store.ts";
import { type Door, readSurfaceLog, type Surfacing } from "./surface-log.ts";

export interface Shown {
  at: string;
  session: string | null;
  door: Door;
  why: readonly string[];
}

/** Every time that this memory was shown, oldest first. */
export function findShown(log: readonly Surfacing[], file: string, scope: string): Shown[] {
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
