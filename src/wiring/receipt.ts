/**
 * What was done to which file, written before it is done: whatever happens in between, `uninstall` finds each file in a state
 * that the receipt describes.
 */

import { readdirSync, rmdirSync } from "node:fs";
import { join } from "node:path";
import * as v from "valibot";
import { makeFolders, moveInto, PRIVATE_MODE, readRegular, removeQuietly, writeTemporary } from "../disk/fence.ts";
import { acquireLock, type Lock } from "../disk/turns.ts";
import { diskError, MemdirError, onDisk } from "../errors.ts";
import { sha256 } from "../text/hash.ts";
import { claudeFolder } from "./clients.ts";
import type { Machine } from "./machine.ts";
import { PART } from "./parts.ts";
import { removeFolders } from "./user-file.ts";

const texts = v.array(v.string());
const VERSION = 1;
/** `server`: through the server where the client can; `command`: a process for each event. */
export const HOOK_CHOICES = ["server", "command"] as const;

const ENTRY = v.object({
  client: v.string(),
  /** As the client names it. */
  file: v.string(),
  /** ISO time of the last change. */
  at: v.string(),
  /** Hash of the file without anything of ours; null when there was none. */
  before: v.nullable(v.string()),
  /** Hashes of the file with nothing but our changes: from each of them the way back is the backup. */
  states: texts,
  /** Name of the copy in the folder of backups; null when there was no file. */
  backup: v.nullable(v.string()),
  /** Folders that were made for it, outermost first. */
  folders: texts,
  /** What was added, now and by earlier runs. */
  parts: v.array(PART),
  /** JSON containers that were made for it. */
  made: texts,
});

const RECEIPT = v.object({
  version: v.literal(VERSION),
  /** Those that were made to keep this in, outermost first. */
  folders: texts,
  entries: v.array(ENTRY),
  /** How the user wants hooks to be wired, if they said so. */
  hooks: v.optional(v.picklist(HOOK_CHOICES)),
});

export type Entry = v.InferOutput<typeof ENTRY>;
export type Receipt = v.InferOutput<typeof RECEIPT>;

/** Enough for the states of one file after moves of the installation; each is one hash. */
const MAX_STATES = 16;

/** Without entries when there is none or it cannot be read: memdir's parts are then recognised by their form. */
export function readReceipt(machine: Machine): Receipt {
  const value = parseReceipt(machine);
  if (v.is(RECEIPT, value)) return value;
  if (value !== null) machine.log(`${receiptFile(machine)} is not a receipt that this version can read`);
  return { version: VERSION, folders: [], entries: [] };
}

/** Null when there is none, or what is there cannot be read. */
function parseReceipt(machine: Machine): { version?: unknown } | null {
  const file = receiptFile(machine);
  try {
    return JSON.parse(readRegular(file)?.toString("utf8") ?? "null");
  } catch (error) {
    machine.log(`${file} cannot be read: ${(error as Error).message}`);
    return null;
  }
}

export function writeReceipt(machine: Machine, receipt: Receipt): void {
  const file = receiptFile(machine);
  onDisk("write", file, () => {
    makeFolders(claudeFolder(machine), 0o700);
    const text = `${JSON.stringify(receipt, null, 2)}\n`;
    moveInto(writeTemporary(backupFolder(machine), text, PRIVATE_MODE), file);
  });
}

/** The receipt with `entry` in place of all earlier ones of its file. */
export function noteEntry(receipt: Receipt, entry: Entry): Receipt {
  const others = receipt.entries.filter(({ file }) => file !== entry.file);
  return { ...receipt, entries: [...others, { ...entry, states: entry.states.slice(-MAX_STATES) }] };
}

/** Keeps a copy of the text, as private as a file can be; the name says of what and in which state. */
export function writeBackup(machine: Machine, file: string, text: string): string {
  const name = `${sha256(file).slice(0, 16)}-${sha256(text).slice(0, 16)}`;
  const path = join(backupFolder(machine), name);
  onDisk("back up a file to", path, () => {
    if (readBackup(machine, name) !== text) moveInto(writeTemporary(backupFolder(machine), text, PRIVATE_MODE), path);
  });
  return name;
}

export function readBackup(machine: Machine, name: string): string | null {
  if (!/^[0-9a-f]{16}-[0-9a-f]{16}$/.test(name)) return null;
  return readRegular(join(backupFolder(machine), name))?.toString("utf8") ?? null;
}

/** One wiring at a time on this machine. The work gets the receipt as it is, and writes the new one itself. */
export async function withLock<T>(machine: Machine, work: (receipt: Receipt) => T): Promise<T> {
  refuseNewer(machine);
  const { lock, made } = await takeLock(backupFolder(machine));
  const receipt = readReceipt(machine);
  const folders = [...new Set([...receipt.folders, ...made])];
  try {
    return work({ ...receipt, folders });
  } finally {
    lock.release();
    if (readReceipt(machine).entries.length === 0) clearAway(machine, folders);
  }
}

/** What a later version recorded, and only that version can undo, is neither overwritten nor removed. */
export function refuseNewer(machine: Machine): void {
  if (!(Number(parseReceipt(machine)?.version) > VERSION)) return;
  throw new MemdirError(
    "conflict",
    `${receiptFile(machine)} was written by a later version of memdir; use that one, or remove the file`,
  );
}

async function takeLock(folder: string): Promise<{ lock: Lock; made: string[] }> {
  for (let round = 0; ; round++) {
    try {
      return { made: makeFolders(folder, 0o700), lock: await acquireLock(folder) };
    } catch (error) {
      // Another run removed the folder while we waited for it.
      const isGone = ((error as Error).cause as NodeJS.ErrnoException | undefined)?.code === "ENOENT";
      if (!isGone || round >= 3) throw diskError(error, "use", folder);
    }
  }
}

/** Without entries nothing needs the receipt, the backups or their folder. */
function clearAway(machine: Machine, folders: readonly string[]): void {
  const folder = backupFolder(machine);
  removeQuietly(receiptFile(machine));
  try {
    for (const name of readdirSync(folder)) removeQuietly(join(folder, name));
    rmdirSync(folder);
  } catch (error) {
    machine.log(`${folder} stays: ${(error as Error).message}`);
  }
  removeFolders(folders);
}

function receiptFile(machine: Machine): string {
  return join(claudeFolder(machine), "memdir-receipt.json");
}

function backupFolder(machine: Machine): string {
  return join(claudeFolder(machine), "memdir-backups");
}
