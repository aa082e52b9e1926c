/** The journals of several directories as one: each entry's id says whose it is. */

import { MemdirError } from "../errors.ts";
import type { Directory } from "./directory.ts";
import { type Entry, lastUndoable, readJournal } from "./journal.ts";

/**
 * What stands before the colon in the ids of a directory's entries; "" for the first one. A team may have two directories, the
 * mirror of its server and the one in the repository: the second is known by where it lies.
 */
export function journalName(directories: readonly Directory[], { path, scope, inRepository }: Directory): string {
  if (directories[0]?.path === path) return "";
  const isSecond = directories.find((other) => other.scope === scope)?.path !== path;
  return isSecond && inRepository ? `${scope}@repository` : scope;
}

export function signEntry(directories: readonly Directory[], directory: Directory, id: string): string {
  const name = journalName(directories, directory);
  return name === "" ? id : `${name}:${id}`;
}

/** All entries, by time. */
export function readJournals(directories: readonly Directory[]): Entry[] {
  const all = directories.flatMap((directory) => {
    const sign = (id: string) => signEntry(directories, directory, id);
    return readJournal(directory).map((entry) => ({
      ...entry,
      id: sign(entry.id),
      ...(entry.undoes ? { undoes: sign(entry.undoes) } : {}),
    }));
  });
  return all.sort((a, b) => (a.at < b.at ? -1 : a.at > b.at ? 1 : 0));
}

/** The directory that an entry's id belongs to. Without an id: where the last change that can be undone was made. */
export function findJournal(
  directories: readonly Directory[],
  id: string | undefined,
): { directory: Directory; entry: string | undefined } {
  if (id === undefined) {
    const lasts = directories.map((directory) => ({ directory, at: lastUndoable(readJournal(directory))?.at ?? "" }));
    const latest = lasts.reduce((a, b) => (b.at > a.at ? b : a));
    return { directory: latest.directory, entry: undefined };
  }
  const colon = id.lastIndexOf(":");
  const name = id.slice(0, Math.max(0, colon));
  const directory = directories.find((each) => journalName(directories, each) === name);
  if (!directory) throw new MemdirError("not-found", `the journal has no entry ${id}: \`memdir history\` lists them`);
  return { directory, entry: id.slice(colon + 1) };
}
