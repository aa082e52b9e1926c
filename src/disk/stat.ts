/** What is at a path, however odd the path. */

import { lstatSync, type Stats, statSync } from "node:fs";

/** Links followed; null also for a loop of links, a file in place of a folder, a name that is too long or none at all. */
export function statOrNull(path: string): Stats | null {
  try {
    return statSync(path, { throwIfNoEntry: false }) ?? null;
  } catch {
    return null;
  }
}

/** The same without following a link. */
export function lstatOrNull(path: string): Stats | null {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) ?? null;
  } catch {
    return null;
  }
}
