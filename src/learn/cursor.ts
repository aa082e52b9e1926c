/** How far a session has been learnt from: the last message that was handled, beside the memories. */

import { lstatSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { moveInto, PRIVATE_MODE, writeCacheFile, writeTemporary } from "../disk/atomic.ts";
import { type Pin, pinFolder } from "../disk/pin.ts";
import { readRegular } from "../disk/regular.ts";
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
  try {
    // A link in the place of a folder would lead away from what we wrote.
    if (!FOLDERS.every((names) => lstatSync(join(dir, ...names)).isDirectory())) return null;
    const bytes = readRegular(join(dir, ".memdir", "cursors", fileOf(session)), { maxBytes: MAX_BYTES });
    const value: unknown = bytes && JSON.parse(bytes.toString("utf8"));
    if (typeof value !== "object" || value === null) return null;
    const { message, at } = value as Record<string, unknown>;
    return typeof message === "string" && message !== "" ? { message, at: typeof at === "string" ? at : "" } : null;
  } catch {
    return null;
  }
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
  mkdirSync(dir, { recursive: true, mode: 0o700 });
  withFolder(dir, (folder) => {
    const temporary = writeTemporary(folder, `${JSON.stringify(to)}\n`, PRIVATE_MODE, "tmp", false);
    moveInto(temporary, join(folder, fileOf(session)), false);
  });
  return true;
}

const FOLDERS = [[".memdir"], [".memdir", "cursors"]] as const;

/** Held open one after the other, so that a link in their place is refused. */
function withFolder(dir: string, work: (folder: string) => void): void {
  const pins: Pin[] = [];
  try {
    const base = hold(join(dir, ".memdir"), pins);
    // As every change of a memory does; this may come before the first one.
    const ignore = join(base, ".gitignore");
    if (!lstatSync(ignore, { throwIfNoEntry: false })) writeCacheFile(base, ignore, "*\n");
    work(hold(join(base, "cursors"), pins));
  } finally {
    for (const pin of pins) pin.close();
  }
}

function hold(folder: string, pins: Pin[]): string {
  try {
    mkdirSync(folder, { mode: 0o700 });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  }
  if (!lstatSync(folder).isDirectory()) throw new Error(`${folder} is a link or no folder; remove it`);
  const pin = pinFolder(folder);
  pins.push(pin);
  return pin.path;
}

/** Sessions are named by UUIDs. Whatever else a host calls them must neither lead elsewhere nor be a name that a system reserves. */
function fileOf(session: string): string {
  return /^[a-z0-9][a-z0-9-]{7,99}$/.test(session) ? `${session}.json` : `_${sha256(session).slice(0, 32)}.json`;
}
