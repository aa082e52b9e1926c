/** The state folder of a directory: locks of the dead, leftovers, caches that cannot be read, what others may read. All of it can be mended. */

import { chmodSync, lstatSync, readdirSync, rmSync, type Stats } from "node:fs";
import { removeQuietly } from "../disk/atomic.ts";
import { tryLock } from "../disk/lock.ts";
import { loadNative } from "../disk/native.ts";
import { readRegular } from "../disk/regular.ts";
import {
  checkState,
  type Directory,
  FILE_HEAD_BYTES,
  needsRecovery,
  ROWS_FILE,
  repairDirectory,
  statePath,
} from "../store/store.ts";
import { type Check, check, MEND_COMMAND, names } from "./check.ts";

/** Nothing is mended, nor looked for, behind a link that somebody put in the place of the folder. */
export function examineState(directory: Directory, at: string): Check[] {
  try {
    checkState(directory);
  } catch (error) {
    return [check("state", false, `${at}${(error as Error).message}`, `remove ${statePath(directory)}`)];
  }
  const entries = listState(directory);
  return [
    examineRecovery(directory, at),
    examineStaleLocks(directory, at, entries),
    examineLeftovers(directory, at, entries),
    examineCaches(directory, at, entries),
    ...(process.platform === "win32" ? [] : [examineModes(directory, at, entries)]),
  ];
}

interface StateEntry {
  name: string;
  stat: Stats;
}

function listState(directory: Directory): StateEntry[] {
  try {
    return readdirSync(statePath(directory)).flatMap((name) => {
      const stat = lstatSync(statePath(directory, name), { throwIfNoEntry: false });
      return stat ? [{ name, stat }] : [];
    });
  } catch {
    return []; // not made yet
  }
}

function examineRecovery(directory: Directory, at: string): Check {
  const mend = async () => {
    await repairDirectory(directory);
    return "the interrupted change was finished or taken back";
  };
  const isLeft = needsRecovery(directory);
  const detail = isLeft ? "an interrupted change or its temporary files are left" : "no interrupted change is left";
  return check("recovery", !isLeft, `${at}${detail}`, MEND_COMMAND, mend);
}

/** A lock is a file, and one beside it with the holder's number; that of an extraction goes when it is given back. */
function examineStaleLocks(directory: Directory, at: string, entries: readonly StateEntry[]): Check {
  const stale = entries
    .filter(({ name, stat }) => name.endsWith(".pid") && stat.isFile() && !isHeld(statePath(directory, name)))
    .map(({ name }) => name.replace(/\.pid$/, ""));
  const mend = () => {
    const freed = stale.filter((name) => free(statePath(directory, name), name !== "lock"));
    return `freed ${names(freed)}`;
  };
  const detail = stale.length === 0 ? "no lock of a dead process" : `locks of dead processes: ${names(stale)}`;
  return check("stale-locks", stale.length === 0, `${at}${detail}`, MEND_COMMAND, mend);
}

/** Taken as any writer would take it, and given back: whoever is alive keeps it. */
function free(path: string, remove: boolean): boolean {
  const lock = tryLock(path, loadNative());
  if (!lock) return false;
  if (remove) removeQuietly(path);
  lock.release();
  return true;
}

function isHeld(file: string): boolean {
  const pid = Number(readText(file)?.split(" ")[0]);
  // One that is just being written has no number yet.
  if (!Number.isInteger(pid) || pid <= 0) return true;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== "ESRCH";
  }
}

/** Of a writer that is alive they are younger. */
const LEFT_MS = 60_000;
const LEFTOVER = /^surfaced\.jsonl\.new$|\.pid\.clear$/;

/** Those in `tmp` are found as part of an interrupted change. */
function examineLeftovers(directory: Directory, at: string, entries: readonly StateEntry[]): Check {
  const nowMs = directory.now().getTime();
  const isLeft = (stat: Stats) => stat.isFile() && nowMs - stat.mtimeMs > LEFT_MS;
  const own = entries.filter(({ name, stat }) => LEFTOVER.test(name) && isLeft(stat)).map(({ name }) => [name]);
  const left = [...own, ...leftIn(directory, "surfaced", isLeft)];
  const mend = () => {
    for (const parts of left) removeQuietly(statePath(directory, ...parts));
    return `removed ${names(left.map((parts) => parts.join("/")))}`;
  };
  const detail = left.length === 0 ? "no leftovers" : `leftovers: ${names(left.map((parts) => parts.join("/")))}`;
  return check("leftovers", left.length === 0, `${at}${detail}`, MEND_COMMAND, mend);
}

/** `x.json.1234`: written by 1234, and never moved into its place. */
function leftIn(directory: Directory, folder: string, isLeft: (stat: Stats) => boolean): string[][] {
  try {
    if (!lstatSync(statePath(directory, folder)).isDirectory()) return [];
    return readdirSync(statePath(directory, folder))
      .filter((name) => /\.json\.\d+$/.test(name) && isLeft(lstatSync(statePath(directory, folder, name))))
      .map((name) => [folder, name]);
  } catch {
    return [];
  }
}

const JSON_CACHES: ReadonlySet<string> = new Set(["verdicts.json"]);

/** What is whole but of another version is passed over and made anew by whoever needs it. */
function examineCaches(directory: Directory, at: string, entries: readonly StateEntry[]): Check {
  const broken = entries.filter((entry) => isBrokenCache(directory, entry)).map(({ name }) => name);
  const mend = () => {
    // A folder in a cache's place is only removed when there is nothing in it.
    for (const name of broken) rmSync(statePath(directory, name), { recursive: false, force: true });
    return `removed ${names(broken)}: made anew when needed`;
  };
  const detail = broken.length === 0 ? "caches can be read" : `caches that cannot be read: ${names(broken)}`;
  return check("caches", broken.length === 0, `${at}${detail}`, MEND_COMMAND, mend);
}

function isBrokenCache(directory: Directory, { name, stat }: StateEntry): boolean {
  if (name === ROWS_FILE) return !stat.isFile() || stat.size < FILE_HEAD_BYTES;
  if (!JSON_CACHES.has(name)) return false;
  try {
    const text = readText(statePath(directory, name));
    const value: unknown = text === null ? null : JSON.parse(text);
    return typeof value !== "object" || value === null;
  } catch {
    return true;
  }
}

const OTHERS = 0o077;

/** What is remembered of a user's work is theirs alone. Files further in lie behind the folder's own mode. */
function examineModes(directory: Directory, at: string, entries: readonly StateEntry[]): Check {
  const folder = lstatSync(statePath(directory), { throwIfNoEntry: false });
  const open = [...(folder ? [{ name: ".", stat: folder }] : []), ...entries].filter(
    ({ stat }) => (stat.isFile() || stat.isDirectory()) && (stat.mode & OTHERS) !== 0,
  );
  const shown = names(open.map(({ name }) => (name === "." ? ".memdir" : `.memdir/${name}`)));
  const mend = () => {
    for (const { name } of open) close(statePath(directory, name));
    return `closed ${shown} to others`;
  };
  const detail = open.length === 0 ? "state is the user's alone" : `others can read or write ${shown}`;
  return check("permissions", open.length === 0, `${at}${detail}`, MEND_COMMAND, mend);
}

/** Looked at again: what was mended before may have taken it away. */
function close(file: string): void {
  const stat = lstatSync(file, { throwIfNoEntry: false });
  if (stat?.isFile() || stat?.isDirectory()) chmodSync(file, stat.isDirectory() ? 0o700 : 0o600);
}

function readText(file: string): string | null {
  try {
    return readRegular(file)?.toString("utf8") ?? null;
  } catch {
    return null;
  }
}
