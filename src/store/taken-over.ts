/** Whether another directory's memories have all been adopted: then it is neither listed nor offered again. */

import { sha256 } from "../text/hash.ts";
import type { Directory } from "./directory.ts";
import { findUndone, readJournal } from "./journal.ts";
import { findBytes } from "./read.ts";
import { walk } from "./walk.ts";

/** By the content that was adopted: it stays taken over when the copy here is edited later, not when the adoption is undone. */
export function isTakenOver(directory: Directory, from: Pick<Directory, "path" | "recursive">): boolean {
  const entries = readJournal(directory);
  const undone = findUndone(entries);
  const adoptions = entries.filter((entry) => entry.action === "adopt" && !undone.has(entry.id));
  if (adoptions.length === 0) return false;
  const taken = new Set(adoptions.flatMap((entry) => entry.files.map(({ after }) => after)));
  return walk(from.path, from.recursive).files.every((file) => {
    const there = findBytes({ ...directory, path: from.path }, file);
    const here = findBytes(directory, file);
    return there === null || taken.has(sha256(there)) || (here !== null && sha256(here) === sha256(there));
  });
}
