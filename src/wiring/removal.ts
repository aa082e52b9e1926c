/** Takes back what was wired: byte for byte where nothing else changed since, else exactly our parts. */

import { diskError, type MemdirError } from "../errors.ts";
import { CLIENTS } from "./clients.ts";
import { isEmpty, takeOut } from "./plan.ts";
import { type Entry, type Receipt, readBackup, readReceipt, refuseNewer, withLock, writeReceipt } from "./receipt.ts";
import { hashText, readUserFile, removeFolders, removeUserFile, replaceUserFile, type UserFile } from "./user-file.ts";
import type { WiringWorld } from "./world.ts";

export interface Removal {
  client: string;
  file: string;
  /** `restored`: every byte as before; `removed`: a file that was ours; `edited`: only our parts were taken out. */
  kind: "restored" | "removed" | "edited" | "unchanged";
  /** Why it was left alone. */
  problem: MemdirError | null;
}

/** Of these clients; null for all. With `dryRun` it only says what it would do. */
export async function unwire(
  world: WiringWorld,
  options: { clients: readonly string[] | null; dryRun?: boolean },
): Promise<Removal[]> {
  const { clients, dryRun = false } = options;
  refuseNewer(world);
  const isMeant = ({ client }: Entry) => clients === null || clients.includes(client);
  if (dryRun)
    return findEntries(world, readReceipt(world))
      .filter(isMeant)
      .map((entry) => takeBack(world, entry, true));
  return withLock(world, (before) => {
    let receipt = before;
    const entries = findEntries(world, receipt).filter(isMeant);
    const removals = entries.map((entry) => {
      const removal = takeBack(world, entry, false);
      if (removal.problem === null && receipt.entries.some(({ file }) => file === entry.file)) {
        receipt = { ...receipt, entries: receipt.entries.filter(({ file }) => file !== entry.file) };
        writeReceipt(world, receipt);
      }
      world.log(`took back ${entry.file}`);
      return removal;
    });
    // Several files may share a folder: only now all of them are gone. An empty one would look like the agent's own.
    removeFolders([...new Set(entries.flatMap(({ folders }) => folders))].sort((a, b) => a.length - b.length));
    return removals;
  });
}

/** The receipt's, and for files that it does not name what would be ours in them. */
function findEntries(world: WiringWorld, receipt: Receipt): Entry[] {
  const named = new Set(receipt.entries.map(({ file }) => file));
  const unnamed = CLIENTS.flatMap((client) => {
    const parts = client.parts(world).filter(({ file }) => !named.has(file));
    return [...new Set(parts.map(({ file }) => file))].map((file) => ({
      client: client.name,
      file,
      at: "",
      before: "",
      states: [],
      backup: null,
      folders: [],
      parts: parts.filter((part) => part.file === file),
      made: [],
    }));
  });
  return [...receipt.entries, ...unnamed];
}

function takeBack(world: WiringWorld, entry: Entry, dryRun: boolean): Removal {
  const { client, file } = entry;
  const isNamed = entry.at !== "";
  try {
    const read = readUserFile(file);
    const after = findWayBack(world, entry, read);
    if (after === read.text) {
      // Also when a run was stopped between making folders and writing into them.
      if (!dryRun && read.text === null) removeFolders(entry.folders);
      return { client, file, kind: "unchanged", problem: null };
    }
    if (!dryRun && after === null) removeUserFile(read, entry.folders);
    if (!dryRun && after !== null) replaceUserFile(read, after);
    const isExact = after !== null && hashText(after) === entry.before;
    return { client, file, kind: after === null ? "removed" : isExact ? "restored" : "edited", problem: null };
  } catch (error) {
    // Nothing tells that a file which the receipt does not name has anything of ours in it.
    const problem = isNamed ? diskError(error, "take memdir out of", file) : null;
    return { client, file, kind: "unchanged", problem };
  }
}

/** The text that the file shall have, null for none. */
function findWayBack(world: WiringWorld, entry: Entry, { text }: UserFile): string | null {
  if (text === null) return null;
  const hash = hashText(text);
  if (hash === entry.before) return text;
  if (entry.states.includes(hash)) {
    if (entry.before === null) return null;
    const backup = entry.backup === null ? null : readBackup(world, entry.backup);
    if (backup !== null && hashText(backup) === entry.before) return backup;
  }
  const left = takeOut(text, entry.parts, entry.at === "" ? null : new Set(entry.made));
  if (left === text) return text;
  return left !== null && entry.before === null && isEmpty(left, entry.parts) ? null : left;
}
