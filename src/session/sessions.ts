/** The sessions of a project: Claude Code's and ours, and those of seed 001's layout. */

import { lstatSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { type SessionRow, scanSession } from "./session-scan.ts";

export type { SessionRow } from "./session-scan.ts";

export interface SessionPlaces {
  /** Folders of `projects/`. */
  dirs: readonly string[];
  /** Seed 001's folder of sessions, each a folder with a `transcript.jsonl`. */
  older: string | null;
}

interface ListOptions {
  onProgress?: (done: number, total: number) => void;
  signal?: AbortSignal;
}

/** Newest first; those in which nothing was said are left out. Reads every file, one at a time. */
export async function listSessions(places: SessionPlaces, options: ListOptions = {}): Promise<SessionRow[]> {
  const rows: SessionRow[] = [];
  await eachSession(
    places,
    options,
    (file) => scanSession(file.path, file.mtimeMs, options),
    (row) => rows.push(row),
  );
  return rows.sort(byTime);
}

/** By its id, the beginning of it, or "latest". An id that is whole is never ambiguous. */
export async function findSession(
  places: SessionPlaces,
  wanted: string,
): Promise<SessionRow | null | { ambiguous: SessionRow[] }> {
  const files = findFiles(places);
  if (wanted === "latest") return findLatest(files);
  const prefix = wanted.toLowerCase();
  if (prefix === "") return null;
  const rows: SessionRow[] = [];
  for (const file of files.filter(({ id }) => id.toLowerCase().startsWith(prefix))) {
    const row = await scanSession(file.path, file.mtimeMs);
    if (row) rows.push(row);
  }
  const whole = rows.filter(({ id }) => id.toLowerCase() === prefix);
  const [first, ...others] = (whole.length > 0 ? whole : rows).sort(byTime);
  if (!first) return null;
  // The same session in two places, as after a project was moved: the one that went on is meant.
  return others.every(({ id }) => id === first.id) ? first : { ambiguous: [first, ...others] };
}

export interface SessionFile {
  id: string;
  path: string;
  mtimeMs: number;
}

/** Visits each session, telling how far it is; `look` gives null for what is none. */
export async function eachSession<T>(
  places: SessionPlaces,
  { onProgress = () => {}, signal }: ListOptions,
  look: (file: SessionFile) => Promise<T | null>,
  take: (found: T) => void,
): Promise<void> {
  const files = findFiles(places);
  for (const [done, file] of files.entries()) {
    if (signal?.aborted) return;
    onProgress(done, files.length);
    const found = await look(file);
    if (found !== null) take(found);
  }
  onProgress(files.length, files.length);
}

export function byTime(a: SessionRow, b: SessionRow): number {
  if (a.at !== b.at) return a.at < b.at ? 1 : -1;
  return a.id < b.id ? -1 : 1;
}

/** Beside sessions lie transcripts of sub-agents and others' files; only these names are sessions. */
const SESSION_FILE = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\.jsonl$/i;

/** The name of a folder is an id there; nothing that a terminal could take for something else. */
const OLDER_ID = /^[\w.-]{1,128}$/;

function findFiles({ dirs, older }: SessionPlaces): SessionFile[] {
  const files = dirs.flatMap((dir) =>
    namesIn(dir).flatMap((name) => (SESSION_FILE.test(name) ? fileAt(join(dir, name), name.slice(0, -6)) : [])),
  );
  if (older === null) return files;
  const others = namesIn(older).flatMap((name) =>
    OLDER_ID.test(name) ? fileAt(join(older, name, "transcript.jsonl"), name) : [],
  );
  return [...files, ...others];
}

function namesIn(dir: string): string[] {
  try {
    return readdirSync(dir).sort();
  } catch {
    return []; // none, or not for us
  }
}

function fileAt(path: string, id: string): SessionFile[] {
  try {
    const stat = lstatSync(path);
    return stat.isFile() ? [{ id, path, mtimeMs: stat.mtimeMs }] : [];
  } catch {
    return [];
  }
}

/** What was said last in a file is not newer than the file: the rest need not be read once it is older than the best. */
async function findLatest(files: readonly SessionFile[]): Promise<SessionRow | null> {
  let best: SessionRow | null = null;
  for (const { path, mtimeMs } of [...files].sort((a, b) => b.mtimeMs - a.mtimeMs)) {
    if (best && mtimeMs < Date.parse(best.at)) break;
    const row: SessionRow | null = await scanSession(path, mtimeMs);
    if (row && (!best || byTime(row, best) < 0)) best = row;
  }
  return best;
}
