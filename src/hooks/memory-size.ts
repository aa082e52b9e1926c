/** How large a memory's file may be for a hook: one giant in a folder, a repository's own among them, must not cost every prompt seconds. */

import type { Stats } from "node:fs";

/** A book of five hundred pages; what is larger was put there by mistake or to do harm. */
const MAX_BYTES = 1024 * 1024;

/** An ordinary file of ordinary size. */
export function isMemorySized(stat: Stats): boolean {
  return stat.isFile() && stat.size <= MAX_BYTES;
}
