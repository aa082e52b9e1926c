/** Looking at what stands somewhere, where anything may have been asked for. */

import { type Stats, statSync } from "node:fs";

/** Links followed; null also for a loop of links, a file in place of a folder, a name that is too long or none at all. */
export function statOrNull(path: string): Stats | null {
  try {
    return statSync(path, { throwIfNoEntry: false }) ?? null;
  } catch {
    return null;
  }
}
