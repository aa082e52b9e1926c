/** What a session was shown, kept between the processes of its hooks: `.memdir/surfaced/`, one small file per session. */

import { lstatSync, mkdirSync, readdirSync, readFileSync, renameSync, unlinkSync, writeFileSync } from "node:fs";
import { hashOf } from "../text/fnv.ts";
import { openRecallSession, type RecallSession } from "./budget.ts";

/** Sessions end without a word: of more than this, the older half is nobody's any more. */
const MAX_FILES = 64;

/** A session without a name, or whose file is lost or broken, has seen nothing. */
export function readSurfaced(directory: string, session: string | null): RecallSession {
  const opened = openRecallSession();
  if (session === null) return opened;
  try {
    const { paths, bytes } = JSON.parse(readFileSync(fileOf(directory, session), "utf8"));
    for (const path of paths) if (typeof path === "string") opened.surfaced.add(path);
    opened.bytes = Number.isFinite(bytes) ? Math.max(0, bytes) : 0;
  } catch {
    // Nothing was shown yet.
  }
  return opened;
}

/** Whether it is kept. Only a convenience: where it cannot be written, a memory may be shown twice. */
export function writeSurfaced(directory: string, session: string | null, { surfaced, bytes }: RecallSession): boolean {
  if (session === null) return false;
  try {
    const folder = folderOf(directory);
    // Never through a link that somebody put there: looked at before anything is made below it.
    for (const path of [`${directory}/.memdir`, folder]) {
      mkdirSync(path, { recursive: true, mode: 0o700 });
      if (!lstatSync(path).isDirectory()) return false;
    }
    const file = fileOf(directory, session);
    const temporary = `${file}.${process.pid}`;
    const isNew = lstatSync(file, { throwIfNoEntry: false }) === undefined;
    writeFileSync(temporary, JSON.stringify({ paths: [...surfaced], bytes }), { mode: 0o600, flag: "wx" });
    renameSync(temporary, file);
    if (isNew) sweep(folder);
    return true;
  } catch {
    return false; // as said above
  }
}

/** After clear and compact the model has none of it any more. */
export function clearSurfaced(directory: string, session: string): void {
  try {
    unlinkSync(fileOf(directory, session));
  } catch {
    // There was nothing.
  }
}

/** When a session begins, the oldest make room. */
function sweep(folder: string): void {
  const files = readdirSync(folder);
  if (files.length <= MAX_FILES) return;
  const byAge = files
    .map((name) => ({ file: `${folder}/${name}`, ms: lstatSync(`${folder}/${name}`).mtimeMs }))
    .sort((a, b) => a.ms - b.ms);
  for (const { file } of byAge.slice(0, files.length - MAX_FILES / 2)) unlinkSync(file);
}

function folderOf(directory: string): string {
  return `${directory}/.memdir/surfaced`;
}

/** The name of a session is the host's business: only its hash becomes a file name. */
function fileOf(directory: string, session: string): string {
  return `${folderOf(directory)}/${hashOf(session).toString(36)}-${session.length}.json`;
}
