/** Names in a folder that a wrong one may have meant. */

import { readdirSync } from "node:fs";
import { basename, dirname, extname } from "node:path";
import { openFolderAt } from "./file.ts";

const MAX_NAMES = 3;

/** More entries are not compared: the folder is then full of names like it anyway. */
const MAX_ENTRIES = 5000;

/** Best first; null when there is no such folder. */
export function findNearNames(real: string): string[] | null {
  let entries: string[];
  try {
    const folder = openFolderAt(dirname(real));
    try {
      entries = readdirSync(folder.path).slice(0, MAX_ENTRIES);
    } finally {
      folder.close();
    }
  } catch {
    return null;
  }
  const wanted = basename(real).toLowerCase();
  return entries
    .map((name) => ({ name, far: distance(name.toLowerCase(), wanted) }))
    .filter(({ far }) => far <= Math.max(2, Math.floor(wanted.length / 4)))
    .sort((a, b) => a.far - b.far || (a.name < b.name ? -1 : 1))
    .slice(0, MAX_NAMES)
    .map(({ name }) => name);
}

/** Letters to change; another ending alone counts as one. */
function distance(a: string, b: string): number {
  if (a === b) return 0;
  const stem = (name: string) => name.slice(0, name.length - extname(name).length);
  if (stem(a) === stem(b)) return 1;
  // Names that differ this much in length are not meant, and long ones would take long.
  if (Math.abs(a.length - b.length) > 8) return Number.POSITIVE_INFINITY;
  let row = Array.from({ length: b.length + 1 }, (_, i) => i);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const swap = (row[j - 1] as number) + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min(swap, (row[j] as number) + 1, (next[j - 1] as number) + 1));
    }
    row = next;
  }
  return row[b.length] as number;
}
