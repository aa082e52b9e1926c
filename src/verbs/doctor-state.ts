/** The state folder of a directory: locks of dead processes, leftovers, caches that cannot be read, what others may read. */

import { chmodSync, lstatSync } from "node:fs";
import { isAlive } from "../disk/process.ts";
import {
  checkState,
  type Directory,
  type Kept,
  needsRecovery,
  openState,
  repairDirectory,
  type State,
  statePath,
} from "../store/store.ts";
import { type Check, check, MEND_COMMAND, names } from "./check.ts";

/** Nothing is fixed, nor looked for, behind a link in the place of the folder. */
export function examineState(directory: Directory, at: string): Check[] {
  const state = openState(directory.path);
  let entries: Kept[];
  try {
    checkState(directory);
    entries = state.list();
  } catch (error) {
    return [check("state", false, `${at}${(error as Error).message}`, `remove ${statePath(directory)}`)];
  }
  return [
    examineRecovery(directory, at),
    examineStaleLocks(state, at, entries),
    examineLeftovers(state, directory.now(), at, entries),
    examineCaches(state, at, entries),
    ...(process.platform === "win32" ? [] : [examineModes(directory, at, entries)]),
  ];
}

function examineRecovery(directory: Directory, at: string): Check {
  const mend = async () => {
    await repairDirectory(directory);
    return "the interrupted change was finished or reverted";
  };
  const isLeft = needsRecovery(directory);
  const detail = isLeft ? "an interrupted change or its temporary files are left" : "no interrupted change is left";
  return check("recovery", !isLeft, `${at}${detail}`, MEND_COMMAND, mend);
}

/** A lock is a file, and one beside it with the holder's number. It is taken as any writer would take it, and released. */
function examineStaleLocks(state: State, at: string, entries: readonly Kept[]): Check {
  const stale = entries
    .filter(({ name, kind, stat }) => kind === "lock" && name.endsWith(".pid") && stat.isFile() && !isHeld(state, name))
    .map(({ name }) => name.replace(/\.pid$/, ""));
  const mend = () => {
    const freed = stale.filter((name) => {
      const release = state.lock(name).try();
      release?.();
      return release !== null;
    });
    return `freed ${names(freed)}`;
  };
  const detail = stale.length === 0 ? "no lock of a dead process" : `locks of dead processes: ${names(stale)}`;
  return check("stale-locks", stale.length === 0, `${at}${detail}`, MEND_COMMAND, mend);
}

function isHeld(state: State, name: string): boolean {
  const pid = Number(state.text(name).read()?.split(" ")[0]);
  // One that is just being written has no number yet.
  return !Number.isInteger(pid) || pid <= 0 || isAlive(pid);
}

/** Of a writer that is alive they are younger. */
const LEFT_MS = 60_000;

/** Those in `tmp` are found as part of an interrupted change. */
function examineLeftovers(state: State, now: Date, at: string, entries: readonly Kept[]): Check {
  const left = entries
    .filter(({ kind, stat }) => kind === "temporary" && stat.isFile() && now.getTime() - stat.mtimeMs > LEFT_MS)
    .map(({ name }) => name);
  const mend = () => {
    for (const name of left) state.text(name).remove();
    return `removed ${names(left)}`;
  };
  const detail = left.length === 0 ? "no leftovers" : `leftovers: ${names(left)}`;
  return check("leftovers", left.length === 0, `${at}${detail}`, MEND_COMMAND, mend);
}

/** What is whole but of another version is passed over and made anew when it is needed. */
function examineCaches(state: State, at: string, entries: readonly Kept[]): Check {
  const broken = entries.filter((entry) => entry.kind === "cache" && isBroken(state, entry)).map(({ name }) => name);
  const mend = () => {
    // A folder in a cache's place is not removed: there may be something in it.
    for (const name of broken) state.text(name).remove();
    return `removed ${names(broken)}: made anew when needed`;
  };
  const detail = broken.length === 0 ? "caches can be read" : `caches that cannot be read: ${names(broken)}`;
  return check("caches", broken.length === 0, `${at}${detail}`, MEND_COMMAND, mend);
}

function isBroken(state: State, { name, stat, minBytes }: Kept): boolean {
  if (minBytes !== null) return !stat.isFile() || stat.size < minBytes;
  const key = name.replace(/\.json$/, "");
  const maxBytes = Number.POSITIVE_INFINITY;
  return state.record(key, (value) => (typeof value === "object" ? value : null), { maxBytes }).read() === null;
}

const OTHERS = 0o077;

/** What is remembered of a user's work is theirs alone. Files further in are behind the folder's own mode. */
function examineModes(directory: Directory, at: string, entries: readonly Kept[]): Check {
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

/** Looked at again: what was fixed before may have removed it. */
function close(file: string): void {
  const stat = lstatSync(file, { throwIfNoEntry: false });
  if (stat?.isFile() || stat?.isDirectory()) chmodSync(file, stat.isDirectory() ? 0o700 : 0o600);
}
