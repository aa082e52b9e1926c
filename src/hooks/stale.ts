/** Files that the recall cache does not know as they are: digested for this one prompt (`dist/hook-stale.cjs`). */

import { lstatSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { digestMemory } from "../recall/digest.ts";
import type { Entry } from "../recall/entry.ts";

/** Null for a link, and for what cannot be read. */
export function digestFile(directory: string, file: string): Entry | null {
  try {
    const path = join(directory, file);
    const stat = lstatSync(path);
    return stat.isFile() ? digestMemory(file, readFileSync(path), stat) : null;
  } catch {
    return null;
  }
}
