/** The daily log: one line per event in a file per day, which a dream distils later. */

import { readdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { appendLines, makeFolders, type Pin, pinFolder, readRegular, resolveInside } from "../disk/fence.ts";
import { diskError, MemdirError, onDisk } from "../errors.ts";
import { fileMode, prepareDirectory, type Store } from "../store/store.ts";
import { isDay, localDay } from "../text/local-day.ts";
import { findSecrets } from "../text/secrets.ts";

export interface DayLog {
  /** YYYY-MM-DD. */
  day: string;
  path: string;
  text: string;
}

/** An entry is a note, and must fit into one write. */
const MAX_ENTRY_BYTES = 64 * 1024;

/** Enough for a day of many agents; a larger file was not written line by line. */
const MAX_LOG_BYTES = 4 * 1024 * 1024;

/** Where the log of a day is; days are local. */
export function logPath(directory: Store, at: Date): string {
  return join(directory.path, ...relativePath(at).split("/"));
}

/**
 * Throws if the text is empty, too long or contains a secret; the index is not touched. Gives the line as written, without its line
 * break; further lines are indented.
 */
export async function appendLog(directory: Store, text: string, world: { now: () => Date }) {
  const at = world.now();
  const line = formatEntry(text, at);
  refuseSecrets(line);
  prepareDirectory(directory);
  const path = logPath(directory, at);
  onDisk("write to", path, () => {
    const folder = openFolder(directory, relativePath(at));
    try {
      appendLines(join(folder.path, `${localDay(at)}.md`), `${line}\n`, { mode: fileMode(directory) });
    } finally {
      folder.close();
    }
  });
  return { path, line };
}

function formatEntry(text: string, at: Date): string {
  const [first, ...rest] = text.toWellFormed().replace(/\r\n?/g, "\n").replaceAll("\0", "").trim().split("\n");
  if (!first) throw new MemdirError("usage", "there is nothing to log: give a text, as in `memdir log TEXT`");
  // Indented, so that no line of the text looks like a separate entry.
  const more = rest.map((line) => (line.trim() === "" ? "" : `  ${line.trimEnd()}`));
  const line = [`- ${at.toTimeString().slice(0, 5)} ${first.trimEnd()}`, ...more].join("\n");
  if (Buffer.byteLength(line) <= MAX_ENTRY_BYTES) return line;
  const problem = `the text is longer than ${MAX_ENTRY_BYTES} bytes: log what matters, and where the rest is`;
  throw new MemdirError("usage", problem);
}

function refuseSecrets(line: string): void {
  const details = findSecrets(line).map(({ rule, line: number }) => `${rule} on line ${number}`);
  if (details.length === 0) return;
  const what = details.slice(0, 5).join(", ");
  const problem = `nothing was logged: the text contains what looks like a secret (${what}); remove it`;
  throw new MemdirError("secret", problem, { details });
}

/** Created if missing, and kept open; a link in the path is refused. */
function openFolder(directory: Store, file: string): Pin {
  const folder = dirname(resolveInside(directory.path, file));
  makeFolders(folder, directory.inRepository ? 0o755 : 0o700);
  resolveInside(directory.path, file);
  return pinFolder(folder);
}

/**
 * All logs from a day on, oldest first: `logs/YYYY/MM/YYYY-MM-DD.md`, and one file for each session in
 * `logs/YYYY/MM/DD/`. Links are not followed; files that cannot be read are logged and skipped.
 */
export function readLogs(directory: Store, options: { since?: string } = {}): DayLog[] {
  const logs: DayLog[] = [];
  for (const { day, file } of findLogs(directory)) {
    if (options.since !== undefined && day < options.since) continue;
    const path = join(directory.path, file);
    try {
      const bytes = readRegular(resolveInside(directory.path, file), { maxBytes: MAX_LOG_BYTES });
      if (bytes) logs.push({ day, path, text: bytes.toString("utf8").replace(/^\ufeff/, "") });
      else directory.log(`the log ${path} is skipped: it is missing or larger than ${MAX_LOG_BYTES} bytes`);
    } catch (error) {
      directory.log(diskError(error, "read the log", path).message);
    }
  }
  return logs;
}

/** By day, then by name. */
function findLogs(directory: Store): { day: string; file: string }[] {
  const found = listFiles(directory, "logs").flatMap((file) => {
    const [, year, month, ofMonth, ofSession] = LOG_FILE.exec(file) ?? [];
    const day = `${year}-${month}-${ofMonth ?? ofSession}`;
    return isDay(day) ? [{ day, file }] : [];
  });
  return found.sort((a, b) => (`${a.day} ${a.file}` < `${b.day} ${b.file}` ? -1 : 1));
}

const FOLDER = /^logs\/\d{4}(?:\/\d{2}){0,2}$/;
/** Hidden files are temporary. */
const LOG_FILE = /^logs\/(\d{4})\/(\d{2})\/(?:\1-\2-(\d{2})\.md|(\d{2})\/[^./][^/]*\.md)$/;

function listFiles(directory: Store, folder: string): string[] {
  try {
    return readdirSync(resolveInside(directory.path, folder), { withFileTypes: true }).flatMap((entry) => {
      const path = `${folder}/${entry.name}`;
      if (entry.isDirectory()) return FOLDER.test(path) ? listFiles(directory, path) : [];
      return entry.isFile() ? [path] : [];
    });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code !== "ENOENT") directory.log(diskError(error, "read the logs in", join(directory.path, folder)).message);
    return [];
  }
}

function relativePath(at: Date): string {
  const day = localDay(at);
  return `logs/${day.slice(0, -6)}/${day.slice(-5, -3)}/${day}.md`;
}
