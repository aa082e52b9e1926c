/**
 * What was done to which file, written before it is done: whatever happens in between, `uninstall` finds each file in a state
 * that it knows.
 */

import { readdirSync, rmdirSync } from "node:fs";
import { join } from "node:path";
import { moveInto, PRIVATE_MODE, removeQuietly, writeTemporary } from "../disk/atomic.ts";
import { readRegular } from "../disk/fence.ts";
import { acquireLock, type Lock } from "../disk/lock.ts";
import { diskError, MemdirError } from "../errors.ts";
import { claudeFolder } from "./claude-code.ts";
import { isPart, type Part } from "./part.ts";
import { hashText, makeFolders, removeFolders } from "./user-file.ts";
import type { WiringWorld } from "./world.ts";

export interface Entry {
  client: string;
  /** As the client names it. */
  file: string;
  /** ISO time of the last change. */
  at: string;
  /** Hash of the file without anything of ours; null when there was none. */
  before: string | null;
  /** Hashes of the file with nothing but our changes: from each of them the way back is the backup. */
  states: string[];
  /** Name of the copy in the folder of backups; null when there was no file. */
  backup: string | null;
  /** Folders that were made for it, outermost first. */
  folders: string[];
  /** What was put in, now and by earlier runs. */
  parts: Part[];
  /** JSON containers that were made for it. */
  made: string[];
}

export interface Receipt {
  version: typeof VERSION;
  /** Folders that were made to keep this in, outermost first. */
  folders: string[];
  entries: Entry[];
}

const VERSION = 1;
/** Enough for the states of one file after moves of the installation; each is one hash. */
const MAX_STATES = 16;

/** No entries when there is none, or one that nobody can read: what is ours is then found by how it looks. */
export function readReceipt(world: WiringWorld): Receipt {
  const empty: Receipt = { version: VERSION, folders: [], entries: [] };
  const file = receiptFile(world);
  try {
    const text = readRegular(file)?.toString("utf8");
    if (text === undefined) return empty;
    const { version, folders, entries } = JSON.parse(text);
    const isKnown = version === VERSION && isTexts(folders) && Array.isArray(entries) && entries.every(isEntry);
    if (isKnown) return { version, folders, entries };
    world.log(`${file} is no receipt that this version knows`);
  } catch (error) {
    world.log(`${file} cannot be read: ${(error as Error).message}`);
  }
  return empty;
}

export function writeReceipt(world: WiringWorld, receipt: Receipt): void {
  const file = receiptFile(world);
  try {
    makeFolders(claudeFolder(world));
    const text = `${JSON.stringify(receipt, null, 2)}\n`;
    moveInto(writeTemporary(backupFolder(world), text, PRIVATE_MODE), file);
  } catch (error) {
    throw diskError(error, "write", file);
  }
}

/** The entry with its place in the receipt taken over; `entry` stands for all earlier ones of the file. */
export function noteEntry(receipt: Receipt, entry: Entry): Receipt {
  const others = receipt.entries.filter(({ file }) => file !== entry.file);
  return { ...receipt, entries: [...others, { ...entry, states: entry.states.slice(-MAX_STATES) }] };
}

/** Keeps a copy of the text, as private as a file can be; the name says of what and in which state. */
export function writeBackup(world: WiringWorld, file: string, text: string): string {
  const name = `${hashText(file).slice(0, 16)}-${hashText(text).slice(0, 16)}`;
  const path = join(backupFolder(world), name);
  try {
    if (readBackup(world, name) !== text) moveInto(writeTemporary(backupFolder(world), text, PRIVATE_MODE), path);
  } catch (error) {
    throw diskError(error, "back up a file to", path);
  }
  return name;
}

export function readBackup(world: WiringWorld, name: string): string | null {
  if (!/^[0-9a-f]{16}-[0-9a-f]{16}$/.test(name)) return null;
  return readRegular(join(backupFolder(world), name))?.toString("utf8") ?? null;
}

/** One wiring at a time on this machine. The work is given the receipt as it is; what it makes of it, it writes itself. */
export async function withLock<T>(world: WiringWorld, work: (receipt: Receipt) => T): Promise<T> {
  refuseNewer(world);
  const { lock, made } = await takeLock(backupFolder(world));
  const receipt = readReceipt(world);
  const folders = [...new Set([...receipt.folders, ...made])];
  try {
    return work({ ...receipt, folders });
  } finally {
    lock.release();
    if (readReceipt(world).entries.length === 0) clearAway(world, folders);
  }
}

/** What a later version wrote down, and only it can take back, is neither overwritten nor cleared away. */
export function refuseNewer(world: WiringWorld): void {
  const file = receiptFile(world);
  if (!(versionOf(file) > VERSION)) return;
  throw new MemdirError(
    "conflict",
    `${file} was written by a later version of memdir; use that one, or remove the file`,
  );
}

/** NaN for what cannot be read: then there is no later version to be heeded. */
function versionOf(file: string): number {
  try {
    return Number(JSON.parse(readRegular(file)?.toString("utf8") ?? "null")?.version);
  } catch {
    return Number.NaN;
  }
}

async function takeLock(folder: string): Promise<{ lock: Lock; made: string[] }> {
  for (let round = 0; ; round++) {
    try {
      return { made: makeFolders(folder), lock: await acquireLock(folder) };
    } catch (error) {
      // Another run took the folder away while we waited for it.
      const isGone = ((error as Error).cause as NodeJS.ErrnoException | undefined)?.code === "ENOENT";
      if (!isGone || round >= 3) throw diskError(error, "use", folder);
    }
  }
}

/** Without entries nothing needs the receipt, the backups or their folder. */
function clearAway(world: WiringWorld, folders: readonly string[]): void {
  const folder = backupFolder(world);
  removeQuietly(receiptFile(world));
  try {
    for (const name of readdirSync(folder)) removeQuietly(join(folder, name));
    rmdirSync(folder);
  } catch (error) {
    world.log(`${folder} stays: ${(error as Error).message}`);
  }
  removeFolders(folders);
}

function receiptFile(world: WiringWorld): string {
  return join(claudeFolder(world), "memdir-receipt.json");
}

function backupFolder(world: WiringWorld): string {
  return join(claudeFolder(world), "memdir-backups");
}

function isEntry(value: unknown): value is Entry {
  const entry = value as Partial<Record<keyof Entry, unknown>> | null;
  return (
    typeof entry === "object" &&
    entry !== null &&
    [entry.client, entry.file, entry.at].every(isText) &&
    [entry.before, entry.backup].every((field) => field === null || isText(field)) &&
    [entry.states, entry.folders, entry.made].every(isTexts) &&
    Array.isArray(entry.parts) &&
    entry.parts.every(isPart)
  );
}

function isText(value: unknown): value is string {
  return typeof value === "string";
}

function isTexts(value: unknown): value is string[] {
  return Array.isArray(value) && value.every(isText);
}
