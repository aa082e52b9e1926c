/** File names for memories that come in: their own where it is free and plain, else made of type and name. */

import { lstatSync } from "node:fs";
import { join } from "node:path";
import { findNameProblem } from "../disk/fence.ts";
import { type Directory, fileNameFor, INDEX_FILE, isDailyLog, OVERFLOW_FILE } from "../store/store.ts";
import type { Arrival } from "./arrival.ts";

/** Every call takes the name that it returns; none is given twice, not even in other letters of the same word. */
export function openFileNames(directory: Directory): (arrival: Arrival) => string {
  const taken = new Set<string>();
  const isFree = (file: string) =>
    !taken.has(keyOf(file)) && lstatSync(join(directory.path, file), { throwIfNoEntry: false }) === undefined;
  return ({ file, type, name }) => {
    let chosen = file !== null && isPlain(file) && isFree(file) ? file : "";
    for (let number = 1; chosen === ""; number++) {
      const candidate = fileNameFor(type, name, number);
      if (isFree(candidate)) chosen = candidate;
    }
    taken.add(keyOf(chosen));
    return chosen;
  };
}

/** Disks that know no case and no other spelling would put one over the other. */
function keyOf(file: string): string {
  return file.normalize("NFC").toLowerCase();
}

/** Names that every system takes, in folders of ours that are listed. */
function isPlain(file: string): boolean {
  if (findNameProblem(file) !== null || !file.endsWith(".md") || isDailyLog(file)) return false;
  const parts = file.split("/");
  if (parts.length > 4 || parts.slice(0, -1).some((part) => part.endsWith(".md"))) return false;
  if ([INDEX_FILE, OVERFLOW_FILE].some((own) => keyOf(parts.at(-1) as string) === keyOf(own))) return false;
  return parts.every((part) => /^[\p{L}\p{N}_][\p{L}\p{N}\p{M}_.-]{0,99}$/u.test(part) && !RESERVED.test(part));
}

const RESERVED = /^(?:con|prn|aux|nul|com\d|lpt\d)(?:\.|$)/i;
