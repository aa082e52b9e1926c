/** Before an extraction: how far the session has been handled, whether the turn that just ended is worth a call, and one process at a time. */

import type { Native } from "../disk/fence.ts";
import { openState, prepareDirectory, type StateRecord, type Store } from "../store/store.ts";
import { sha256 } from "../text/hash.ts";
import type { LearnMode } from "./proposal.ts";

export interface GateState {
  /** The user's switch for extraction. */
  enabled: boolean;
  isSubAgent: boolean;
  /** False once the user has turned memory off. */
  isWanted?: boolean;
  mode: LearnMode;
  /** Since the cursor. */
  newMessages: number;
  /** Turns that nothing was extracted from yet, including this one. */
  turnsSince: number;
  /** Every how many turns it may run. */
  everyTurns: number;
  /** By the agent or the user. */
  memoryWrittenInTurn: boolean;
  budget: { ok: true } | { ok: false; reason: string };
  /** The user said "remember this", in whatever words. */
  explicit: boolean;
}

export const SWITCHED_OFF = "memory was turned off in this session";
/** Why a session that was read to its end is skipped. */
export const NOTHING_NEW = "nothing is new since the last time";

/**
 * An explicit request by the user bypasses the switch, the throttle and the check for a memory written in this turn,
 * but not a scope in which nothing may be saved or a budget that is used up.
 */
export function checkGates(state: GateState) {
  if (state.isWanted === false) return stop(SWITCHED_OFF);
  if (state.mode === "off") return stop("learning is off in this scope");
  if (state.mode === "read-only") return stop("memories are read-only in this scope");
  if (state.isSubAgent) return stop("this is a sub-agent's turn");
  if (!state.enabled && !state.explicit) return stop("extraction is off");
  if (state.newMessages <= 0) return stop(NOTHING_NEW);
  if (!state.explicit) {
    if (state.memoryWrittenInTurn) return stop("a memory was written in this turn", true);
    const { turnsSince: turn, everyTurns: every } = state;
    if (turn < every) return stop(`turn ${turn} of ${every}: extraction runs every ${every} turns`);
  }
  if (!state.budget.ok) return stop(state.budget.reason);
  return { go: true as const };
}

/** `advance`: the messages count as handled. */
function stop(reason: string, advance = false) {
  return { go: false as const, reason, advance };
}

export interface Cursor {
  /** The id of the last message that was handled. */
  message: string;
  /** ISO time. */
  at: string;
}

/** Two short values; we never write a larger file. */
const MAX_BYTES = 4096;

/** Null if it is missing or cannot be read; then everything counts as new. Must not throw. */
export function readCursor(dir: string, session: string): Cursor | null {
  return recordOf(dir, session).read();
}

/** The messages after the cursor; all of them if there is no cursor or compaction removed its message. */
export function sinceCursor<T extends { id: string }>(messages: readonly T[], cursor: Cursor | null): readonly T[] {
  return messages.slice(messages.findLastIndex(({ id }) => id === cursor?.message) + 1);
}

/**
 * `from` is what was read when the work began, `ids` are all messages of the session, in order. Only call it when everything up to `to` was handled. False if another process has already moved it as far or further;
 * a race between reading and moving only causes a second look. Throws on disk errors.
 */
export function moveCursor(
  dir: string,
  session: string,
  { from, to, ids }: { from: Cursor | null; to: Cursor; ids: readonly string[] },
): boolean {
  const now = readCursor(dir, session);
  if (now && now.message !== from?.message) {
    const at = ids.lastIndexOf(now.message);
    // An unknown id belongs to a conversation that continued without us.
    if (at < 0 || at >= ids.lastIndexOf(to.message)) return false;
  }
  recordOf(dir, session).write(to);
  return true;
}

/**
 * Sessions are named by UUIDs. Whatever else a host calls them must neither lead elsewhere nor be a name that a system reserves.
 */
function recordOf(dir: string, session: string): StateRecord<Cursor> {
  const key = /^[a-z0-9][a-z0-9-]{7,99}$/.test(session) ? session : `_${sha256(session).slice(0, 32)}`;
  return openState(dir, { parents: true }).record(`cursors/${key}`, parse, { maxBytes: MAX_BYTES });
}

function parse(value: unknown): Cursor | null {
  const { message, at } = value as Record<string, unknown>;
  return typeof message === "string" && message !== "" ? { message, at: typeof at === "string" ? at : "" } : null;
}

/** A function that releases it, or null while another process has it. Throws on disk errors. */
export function takeExtractionLock(directory: Store, session: string, native?: Native | null): (() => void) | null {
  prepareDirectory(directory);
  return directory.state().lock(lockFile(session), native).try();
}

/**
 * If a session has nothing left to extract, nothing else would take the lock again and clean up after a killed process.
 */
export function clearExtractionLock(directory: Store, session: string): void {
  directory.state().lock(lockFile(session)).clear();
}

/** A host can name a session anything, so the file is named by its hash. */
export function lockFile(session: string): string {
  return `extract-${sha256(session).slice(0, 16)}`;
}
