/** Walks the files below a folder, sorted by name: bounded in time and number, and without following links. */

import { type Dirent, readdirSync } from "node:fs";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { attempt } from "../errors.ts";
import { withFolder } from "./file.ts";

/** `parts` are the names from where the walk began. */
type Found = { path: string; parts: string[]; isLink: boolean };

interface WalkOptions {
  signal: AbortSignal;
  /** Whether to walk into a folder. */
  enter: (parts: readonly string[]) => boolean;
  limits: WalkLimits;
  /** Called with the reason when the walk ends before it has seen everything. */
  onCut: (reason: string) => void;
}

export interface WalkLimits {
  maxEntries: number;
  maxMs: number;
}

/** A large repository is walked completely; a home directory is not, and should not be. */
export const WALK_LIMITS: WalkLimits = { maxEntries: 300_000, maxMs: 20_000 };

/** The event loop runs, and an abort is noticed, at least this often. */
const ENTRIES_PER_TURN = 500;

/** `top` must be a real path. Folders that cannot be read are skipped. */
export async function* walkFiles(top: string, { signal, enter, limits, onCut }: WalkOptions): AsyncGenerator<Found> {
  const started = performance.now();
  const open: string[][] = [[]];
  let entries = 0;
  let turn = 0;
  for (let parts = open.pop(); parts; parts = open.pop()) {
    const folders: string[][] = [];
    for (const entry of listFolder(join(top, ...parts))) {
      if (++entries > limits.maxEntries) return onCut(`after ${limits.maxEntries.toLocaleString("en-US")} entries`);
      if (entries - turn >= ENTRIES_PER_TURN) {
        turn = entries;
        await setImmediate();
        stopIfAborted(signal);
        if (performance.now() - started > limits.maxMs) return onCut(`after ${Math.ceil(limits.maxMs / 1000)} seconds`);
      }
      const below = [...parts, entry.name];
      if (entry.isDirectory()) {
        if (enter(below)) folders.push(below);
      } else if (entry.isFile() || entry.isSymbolicLink()) {
        yield { path: join(top, ...below), parts: below, isLink: entry.isSymbolicLink() };
      }
    }
    stopIfAborted(signal);
    open.push(...folders.reverse());
  }
}

export function stopIfAborted(signal: AbortSignal): void {
  if (signal.aborted) throw new Error("stopped by the user before it was done");
}

function listFolder(path: string): Dirent[] {
  const entries = attempt(() => withFolder(path, (folder) => readdirSync(folder, { withFileTypes: true })), []);
  return entries.sort((a, b) => (a.name < b.name ? -1 : 1));
}
