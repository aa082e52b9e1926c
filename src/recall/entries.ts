/** What recall knows of a directory's memories, for whoever only wants to look: nothing is written. */

import { type Directory, walk } from "../store/store.ts";
import { readCache } from "./cache.ts";
import type { Entry } from "./entry.ts";
import { digestFile } from "./shelf.ts";

/** Every readable memory as it is now; vectors only where they were made before. */
export function listEntries(directory: Directory): Entry[] {
  const { entries } = readCache(directory);
  return walk(directory.path, directory.recursive).files.flatMap((file) => {
    const known = entries.get(file) ?? null;
    const found = digestFile(directory, file, known, 0, null);
    return (found === "same" ? known : found) ?? [];
  });
}
