/**
 * One extraction of a session at a time on a machine, whoever began it: an agent, a hook's child, `memdir extract`. The lock lies
 * beside the memories, dies with its holder, and leaves nothing behind when it is given back.
 */

import { removeQuietly } from "../disk/atomic.ts";
import { type Lock, tryLock } from "../disk/lock.ts";
import { loadNative } from "../disk/native.ts";
import { type Directory, openPins, prepareDirectory, statePath } from "../store/store.ts";
import { sha256 } from "../text/hash.ts";

/** A holder that is just giving it back takes its file away under us: then it is free, and worth another look. */
const TRIES = 3;

/** A function that gives it back, or null while another process has it. Throws when the disk refuses. */
export function takeExtractionLock(directory: Directory, session: string, native = loadNative()): (() => void) | null {
  prepareDirectory(directory);
  const { pinned, close } = openPins(directory);
  let lock: Lock | null = null;
  const path = statePath(pinned, lockFile(session));
  try {
    for (let i = 0; i < TRIES && !lock; i++) lock = tryLock(path, native);
  } finally {
    if (!lock) close();
  }
  return lock && giveBack(lock, path, close);
}

/** The name of a session is its host's business: only its hash becomes a file name. */
export function lockFile(session: string): string {
  return `extract-${sha256(session).slice(0, 16)}`;
}

function giveBack(lock: Lock, path: string, close: () => void): () => void {
  let done = false;
  return () => {
    if (done) return;
    done = true;
    // While it is still held: whoever has it open already sees that it is gone, and locks nothing with it.
    removeQuietly(path);
    lock.release();
    close();
  };
}
