/** How far a session has been learnt from: the last message that was handled, beside the memories. */

import { openState, type StateRecord } from "../store/store.ts";
import { sha256 } from "../text/hash.ts";

export interface Cursor {
  /** The id of the last message that was handled. */
  message: string;
  /** ISO time. */
  at: string;
}

/** Two short values; what is larger was not written by us. */
const MAX_BYTES = 4096;

/** Null when there is none, or nothing that can be read: then everything counts as new. Must not throw. */
export function readCursor(dir: string, session: string): Cursor | null {
  return recordOf(dir, session).read();
}

/** The messages behind the cursor; all of them when it is lost, or when compaction took the message that it names. */
export function sinceCursor<T extends { id: string }>(messages: readonly T[], cursor: Cursor | null): readonly T[] {
  return messages.slice(messages.findLastIndex(({ id }) => id === cursor?.message) + 1);
}

export interface CursorMove {
  /** What was read when the work began. */
  from: Cursor | null;
  to: Cursor;
  /** All messages of the session, in order. */
  ids: readonly string[];
}

/**
 * Only to be called when everything up to `to` was handled. False when another process has meanwhile moved it as far or
 * farther; the moment between looking and moving can only cause a second look. Throws when the disk refuses.
 */
export function moveCursor(dir: string, session: string, { from, to, ids }: CursorMove): boolean {
  const now = readCursor(dir, session);
  if (now && now.message !== from?.message) {
    const at = ids.lastIndexOf(now.message);
    // One that we do not know is of a conversation that went on without us.
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
