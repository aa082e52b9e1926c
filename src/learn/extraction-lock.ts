/** One extraction of a session at a time on a machine, whoever began it: an agent, a hook's child, `memdir extract`. */

import type { Native } from "../disk/atomic.ts";
import { type Directory, openState, prepareDirectory } from "../store/store.ts";
import { sha256 } from "../text/hash.ts";

/** A function that releases it, or null while another process has it. Throws when the disk refuses. */
export function takeExtractionLock(directory: Directory, session: string, native?: Native | null): (() => void) | null {
  prepareDirectory(directory);
  return openState(directory.path).lock(lockFile(session), native).try();
}

/** A session is called what its host likes: only a hash of it becomes a file name. */
export function lockFile(session: string): string {
  return `extract-${sha256(session).slice(0, 16)}`;
}
