/** All headers of a directory, from a cache where the file's times, size and inode say that it is unchanged. */

import { readFileSync, type Stats, statSync } from "node:fs";
import { join } from "node:path";
import { writeCacheFile } from "../disk/atomic.ts";
import { type Directory, statePath } from "./directory.ts";
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

/** What is kept per file: the stamp, then the header without its file name. */
type CacheRow = [mtimeMs: number, ctimeMs: number, size: number, ino: number, header: Omit<Header, "file">];

interface Cache {
  version: number;
  rows: Record<string, CacheRow>;
}

/** Raised whenever the header's shape changes: an older cache is then ignored. */
const VERSION = 1;

/** A file changed this shortly before it was read may change again within the same tick of the clock. */
const TICK_MS = 50;

/** Rewriting the cache for a handful of files costs more than reading them again. */
const WORTH_WRITING = 20;

export function scan(directory: Directory): Scan {
  const walked = walk(directory.path, directory.recursive);
  const cache = walked.files.length > 0 ? readCache(directory) : {};
  const fresh: Record<string, CacheRow> = {};
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
    const row = cache[file];
    let header: Header;
    if (row && row[0] === stat.mtimeMs && row[1] === stat.ctimeMs && row[2] === stat.size && row[3] === stat.ino) {
      header = { file, ...row[4] };
      fresh[file] = row;
    } else {
      header = readHeader(directory, file);
      changed++;
      const { file: _, ...rest } = header;
      if (directory.now().getTime() - stat.ctimeMs > TICK_MS) {
        fresh[file] = [stat.mtimeMs, stat.ctimeMs, stat.size, stat.ino, rest];
      }
    }
    memories.push({ header, mtimeMs: stat.mtimeMs, bytes: stat.size });
  }
  for (const file of walked.links) memories.push({ header: unreadable(file, "ELOOP"), mtimeMs: 0, bytes: 0 });
  if (changed >= Math.max(WORTH_WRITING, memories.length / 50)) writeCache(directory, fresh);
  return { memories, skipped: walked.skipped };
}

function readCache(directory: Directory): Record<string, CacheRow> {
  try {
    const cache = JSON.parse(readFileSync(statePath(directory, "headers.json"), "utf8")) as Cache;
    return cache.version === VERSION ? cache.rows : {};
  } catch {
    return {};
  }
}

/** Only a cache: where it cannot be written, reading goes on without it. */
function writeCache(directory: Directory, rows: Record<string, CacheRow>): void {
  if (directory.readOnly) return;
  try {
    const cache: Cache = { version: VERSION, rows };
    writeCacheFile(statePath(directory, "tmp"), statePath(directory, "headers.json"), JSON.stringify(cache));
  } catch (error) {
    directory.log(`the header cache of ${directory.path} was not written: ${(error as Error).message}`);
  }
}
