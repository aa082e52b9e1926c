/** Whether it is time for a dream: asked often and mostly answered no, so the cheapest question comes first. */

import { lstatSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { type Directory, openState, type StateText } from "../store/store.ts";
import { findDreamer, lastDream, type Processes } from "./dream-lock.ts";

/** Once a day is what a night is for. */
const BETWEEN_DREAMS_MS = 24 * 3_600_000;

/** Looking through the sessions costs a call of the system for each. */
const BETWEEN_SCANS_MS = 10 * 60_000;

/** Fewer leave little to distil. */
const MIN_SESSIONS = 5;

export interface GateWorld {
  /** Why dreaming is switched off (a setting, log mode, a remote directory), or null. */
  off: string | null;
  /** How many sessions other than the present one were touched since; see `countSessions`. */
  touchedSince: (sinceMs: number) => number;
  isAlive: Processes["isAlive"];
}

export type Gate = { open: true; sessions: number } | { open: false; reason: string };

/**
 * Never throws: what cannot be looked at keeps the gate closed. The lock itself is taken by whoever goes through.
 * With `onlyLook` the sessions are counted however lately that was done, and nothing is noted.
 */
export function checkDreamGates(world: GateWorld, directory: Directory, options: { onlyLook?: boolean } = {}): Gate {
  const now = directory.now().getTime();
  if (world.off !== null) return closed(world.off);
  if (directory.readOnly) return closed("the directory is only read");
  const last = lastDream(directory);
  const dreamer = findDreamer(directory, world);
  // Its holder set the time, so the next question would only say that it was a moment ago.
  if (dreamer !== null) return closed(`process ${dreamer} is dreaming`);
  if (now - last < BETWEEN_DREAMS_MS) return closed(`the last dream was ${spanOf(now - last)} ago, 24 h must pass`);
  const scanned = scannedAt(directory);
  if (!options.onlyLook && now - scanned < BETWEEN_SCANS_MS)
    return closed(`sessions were counted ${spanOf(now - scanned)} ago`);
  try {
    if (!options.onlyLook) noteScan(directory);
    const sessions = world.touchedSince(last);
    if (sessions >= MIN_SESSIONS) return { open: true, sessions };
    return closed(`${sessions} other sessions since the last dream, ${MIN_SESSIONS} are needed`);
  } catch (error) {
    return closed((error as Error).message);
  }
}

/** Transcripts in a project's folder that were written to since, without the present session's. */
export function countSessions(folder: string, sinceMs: number, present: string | null): number {
  let names: string[];
  try {
    names = readdirSync(folder);
  } catch {
    return 0; // there are none yet
  }
  return names.filter((name) => {
    if (!name.endsWith(".jsonl") || name === "prompts.jsonl" || name === `${present}.jsonl`) return false;
    const stat = lstatSync(join(folder, name), { throwIfNoEntry: false });
    return stat?.isFile() === true && stat.mtimeMs > sinceMs;
  }).length;
}

function closed(reason: string): Gate {
  return { open: false, reason };
}

/** Only its time counts. */
function scanFile(directory: Directory): StateText {
  return openState(directory.path, { parents: true }).text("dream-scan");
}

function scannedAt(directory: Directory): number {
  const ms = scanFile(directory).time()?.getTime() ?? 0;
  // A time to come is no reason to wait: the clock was set back.
  return ms <= directory.now().getTime() ? ms : 0;
}

function noteScan(directory: Directory): void {
  scanFile(directory).write("");
  scanFile(directory).touch(directory.now());
}

function spanOf(ms: number): string {
  const minutes = Math.max(0, Math.floor(ms / 60_000));
  return minutes < 120 ? `${minutes} min` : `${Math.floor(minutes / 60)} h`;
}
