/**
 * What was surfaced when, by which door and why: `.memdir/surfaced.jsonl`, one line for each recall that showed something.
 * Answers "why did it say that?" and tells which memories never help. A record only: nothing here throws.
 */

import {
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  mkdirSync,
  openSync,
  readSync,
  renameSync,
  unlinkSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { openRegular } from "../disk/regular.ts";
import { hashOf } from "../text/fnv.ts";

export type Door = "agent" | "hook" | "mcp" | "cli";

export interface SurfacedMemory {
  /** Below its own directory, which is known by its scope. */
  file: string;
  scope: string;
  why: readonly string[];
}

export interface Surfacing {
  /** ISO time. */
  at: string;
  /** Null for a door without sessions. */
  session: string | null;
  door: Door;
  /** Never its text: a number that tells whether two were the same. */
  prompt: number;
  memories: readonly SurfacedMemory[];
}

/** Some five thousand recalls: months of work. The older half goes when there are more. */
const MAX_BYTES = 1 << 20;
const MAX_WHY = 6;
const MAX_WHY_CHARS = 160;
const MAX_NAME_CHARS = 300;
/** Whoever halves the log is done by then, or dead. */
const STALE_MS = 60_000;

/** `directory` is the one that is written to, whatever scope a memory is of. Costs one append. */
export function logSurfaced(
  directory: string,
  surfaced: { at: Date; session: string | null; door: Door; prompt: string; memories: readonly SurfacedMemory[] },
): void {
  if (surfaced.memories.length === 0) return;
  try {
    const folder = `${directory}/.memdir`;
    const state = lstatSync(folder, { throwIfNoEntry: false });
    if (state ? !state.isDirectory() : !makeState(folder)) return;
    const size = append(`${folder}/surfaced.jsonl`, lineOf(surfaced));
    if (size > MAX_BYTES) halve(`${folder}/surfaced.jsonl`, surfaced.at.getTime());
  } catch {
    // A directory that cannot be written to is recalled from all the same.
  }
}

/** Oldest first; [] when there is none. Lines that cannot be read are passed over. */
export function readSurfaceLog(directory: string): Surfacing[] {
  try {
    if (!lstatSync(`${directory}/.memdir`).isDirectory()) return [];
    return readEnd(`${directory}/.memdir/surfaced.jsonl`, 2 * MAX_BYTES)
      .toString("utf8")
      .split("\n")
      .flatMap(parseLine);
  } catch {
    return [];
  }
}

function lineOf({ at, session, door, prompt, memories }: Parameters<typeof logSurfaced>[1]): string {
  const clip = (text: string, length: number) => text.slice(0, length).toWellFormed();
  const line: Surfacing = {
    at: at.toISOString(),
    session: session === null ? null : clip(session, MAX_NAME_CHARS),
    door,
    prompt: hashOf(prompt),
    memories: memories.map(({ file, scope, why }) => ({
      file,
      scope,
      why: why.slice(0, MAX_WHY).map((reason) => clip(reason, MAX_WHY_CHARS)),
    })),
  };
  return JSON.stringify(line);
}

const DOORS: ReadonlySet<unknown> = new Set(["agent", "hook", "mcp", "cli"]);

function parseLine(text: string): Surfacing[] {
  if (!text.startsWith("{")) return [];
  try {
    const { at, session, door, prompt, memories } = JSON.parse(text);
    if (typeof at !== "string" || Number.isNaN(Date.parse(at)) || !DOORS.has(door) || !Array.isArray(memories))
      return [];
    const known = memories.flatMap(({ file, scope, why }): SurfacedMemory[] => {
      if (typeof file !== "string" || typeof scope !== "string" || !Array.isArray(why)) return [];
      return [{ file, scope, why: why.filter((reason) => typeof reason === "string") }];
    });
    const name = typeof session === "string" ? session : null;
    return [{ at, session: name, door, prompt: Number(prompt) || 0, memories: known }];
  } catch {
    return [];
  }
}

/** Hidden from git, as it is when a memory makes it. Another process may make it at the same moment. */
function makeState(folder: string): boolean {
  try {
    mkdirSync(folder, { mode: 0o700 });
    writeFileSync(`${folder}/.gitignore`, "*\n", { flag: "wx", mode: 0o600 });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  }
  return lstatSync(folder).isDirectory();
}

/** A link in the log's place would lead the writing elsewhere; a fifo would hold it up for ever. */
const APPEND =
  constants.O_WRONLY |
  constants.O_APPEND |
  constants.O_CREAT |
  (constants.O_NOFOLLOW ?? 0) |
  (constants.O_NONBLOCK ?? 0);

/** How large the log is afterwards. One write, which systems keep apart from those of other processes. */
function append(file: string, line: string): number {
  const fd = openSync(file, APPEND, 0o600);
  try {
    const stat = fstatSync(fd);
    if (!stat.isFile()) return 0;
    // The break in front keeps this line whole when an earlier writer died in the middle of its own.
    const written = writeSync(fd, `${stat.size > 0 ? "\n" : ""}${line}\n`);
    return stat.size + written;
  } finally {
    closeSync(fd);
  }
}

/** One process at a time: the others append meanwhile, and what they added is taken along. */
function halve(file: string, nowMs: number): void {
  const fresh = `${file}.new`;
  const left = lstatSync(fresh, { throwIfNoEntry: false });
  if (left && nowMs - left.mtimeMs > STALE_MS) unlinkSync(fresh);
  const fd = openSync(fresh, "wx", 0o600);
  try {
    const kept = readEnd(file, MAX_BYTES / 2);
    const before = lstatSync(file).size;
    writeSync(fd, kept.subarray(kept.indexOf(NEWLINE) + 1));
    const added = lstatSync(file).size - before;
    if (added > 0) writeSync(fd, readEnd(file, added));
  } finally {
    closeSync(fd);
  }
  renameSync(fresh, file);
}

const NEWLINE = 10;

function readEnd(file: string, maxBytes: number): Buffer {
  const opened = openRegular(file);
  if (!opened) return Buffer.alloc(0);
  try {
    const bytes = Buffer.alloc(Math.min(opened.size, maxBytes));
    const count = readSync(opened.fd, bytes, 0, bytes.length, opened.size - bytes.length);
    return bytes.subarray(0, count);
  } finally {
    closeSync(opened.fd);
  }
}
