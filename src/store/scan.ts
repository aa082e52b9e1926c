/** All headers of a directory, from a cache where the file's times, size and inode say that it is unchanged. */

import { type Stats, statSync } from "node:fs";
import { join } from "node:path";
import { writeCacheFile } from "../disk/atomic.ts";
import { readRegular } from "../disk/regular.ts";
import { type Directory, openPins, statePath } from "./directory.ts";
import type { Header } from "./memory.ts";
import { readHeader, unreadable } from "./read.ts";
import { walk } from "./walk.ts";

export interface Scanned {
  header: Header;
  mtimeMs: number;
  bytes: number;
}

export interface Scan {
  memories: Scanned[];
  skipped: { path: string; reason: string }[];
}

/** What is kept per file: the stamp, then the header. */
type CacheRow = [mtimeMs: number, ctimeMs: number, size: number, ino: number, header: Header];

interface Cache {
  version: number;
  /** A list, not an object by file: that costs the parser twice as much. */
  rows: CacheRow[];
}

/** Raised whenever the header's shape changes: an older cache is then ignored. */
const VERSION = 3;

/** A file changed this shortly before it was read may change again within the same tick of the clock. */
const TICK_MS = 50;

/** Rewriting the cache for a handful of files costs more than reading them again. */
const WORTH_WRITING = 20;

export function scan(directory: Directory): Scan {
  const walked = walk(directory.path, directory.recursive);
  const cache = walked.files.length > 0 ? readCache(directory) : new Map<string, CacheRow>();
  const fresh: CacheRow[] = [];
  let changed = 0;
  const memories: Scanned[] = [];
  for (const file of walked.files) {
    let stat: Stats | undefined;
    try {
      stat = statSync(join(directory.path, file), { throwIfNoEntry: false });
    } catch (error) {
      memories.push({ header: unreadable(file, (error as NodeJS.ErrnoException).code ?? ""), mtimeMs: 0, bytes: 0 });
      continue;
    }
    // Removed since the walk.
    if (!stat) continue;
    const row = cache.get(file);
    let header: Header;
    if (row && row[0] === stat.mtimeMs && row[1] === stat.ctimeMs && row[2] === stat.size && row[3] === stat.ino) {
      header = row[4];
      fresh.push(row);
    } else {
      header = readHeader(directory, file);
      changed++;
      if (directory.now().getTime() - stat.ctimeMs > TICK_MS) {
        fresh.push([stat.mtimeMs, stat.ctimeMs, stat.size, stat.ino, header]);
      }
    }
    memories.push({ header, mtimeMs: stat.mtimeMs, bytes: stat.size });
  }
  for (const file of walked.links) memories.push({ header: unreadable(file, "ELOOP"), mtimeMs: 0, bytes: 0 });
  if (changed >= Math.max(WORTH_WRITING, memories.length / 50)) writeCache(directory, fresh);
  return { memories, skipped: walked.skipped };
}

function readCache(directory: Directory): Map<string, CacheRow> {
  try {
    const cache = JSON.parse(readRegular(statePath(directory, "headers.json"))?.toString("utf8") ?? "") as Cache;
    return new Map(cache.version === VERSION ? cache.rows.map((row) => [row[4].file, row]) : []);
  } catch {
    return new Map();
  }
}

/** Only a cache: where it cannot be written, reading goes on without it. */
function writeCache(directory: Directory, rows: CacheRow[]): void {
  if (directory.readOnly) return;
  try {
    const cache: Cache = { version: VERSION, rows };
    const { pinned, close } = openPins(directory);
    try {
      writeCacheFile(statePath(pinned, "tmp"), statePath(pinned, "headers.json"), JSON.stringify(cache));
    } finally {
      close();
    }
  } catch (error) {
    directory.log(`the header cache of ${directory.path} was not written: ${(error as Error).message}`);
  }
}
