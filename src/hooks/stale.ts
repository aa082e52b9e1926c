/** Files that the recall cache does not know as they are: digested for this one prompt (`dist/hook-stale.cjs`). */

import { lstatSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { digestMemory } from "../recall/digest.ts";
import type { Entry } from "../recall/entry.ts";
import { isMemorySized } from "./memory-size.ts";

/** Null for a link, a giant, and for what cannot be read. */
export function digestFile(directory: string, file: string, inRepository = false): Entry | null {
  try {
    const path = join(directory, file);
    const stat = lstatSync(path);
    if (!isMemorySized(stat)) return null;
    const entry = digestMemory(file, readFileSync(path), stat);
    // As the shelf has it: the times of a checkout say nothing; private files are as old as their last touch.
    if (!inRepository) entry.saidMs = Math.max(entry.saidMs, stat.mtimeMs);
    return entry;
  } catch {
    return null;
  }
}
