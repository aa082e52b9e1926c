/** All rules that are enforced, from `.memdir/enforced.json` where no file has changed since: this is asked before every call. */

import { lstatSync, mkdirSync, type Stats } from "node:fs";
import { join } from "node:path";
import { writeCacheFile } from "../disk/atomic.ts";
import { pinFolder } from "../disk/pin.ts";
import { readRegular } from "../disk/regular.ts";
import { type Directory, type Enforced, findEnforced, walk } from "../store/store.ts";
import { hashOf } from "../text/fnv.ts";

export interface Rule extends Enforced {
  /** Of the memory's file. */
  path: string;
  scope: string;
}

/** Raised whenever the shape or the meaning of rules changes. */
const VERSION = 1;
const CACHE_FILE = "enforced.json";
/** Hundreds of rules; what is larger was not written by us. */
const MAX_CACHE_BYTES = 1024 * 1024;
/** A rule is a page, not a book. */
const MAX_MEMORY_BYTES = 256 * 1024;

type Place = Pick<Directory, "path" | "scope" | "recursive" | "inRepository">;

/** `isLate` ends the reading of files; what was found by then counts. Must not throw. */
export function readRules(directories: readonly Place[], isLate: () => boolean = () => false): Rule[] {
  return directories.flatMap((directory) => {
    const rules = readDirectory(directory, isLate);
    return rules.map((rule) => ({ ...rule, path: join(directory.path, rule.file), scope: directory.scope }));
  });
}

function readDirectory(directory: Place, isLate: () => boolean): Enforced[] {
  const { files } = walk(directory.path, directory.recursive);
  if (files.length === 0) return [];
  const print = printOf(directory.path, files);
  const known = readCache(directory.path, print);
  if (known) return known;
  const rules: Enforced[] = [];
  for (const file of files) {
    if (isLate()) return rules;
    rules.push(...readRule(directory.path, file));
  }
  writeCache(directory, print, rules);
  return rules;
}

/** Names, sizes and times of all files as one short text. As numbers: writing a thousand times as text takes longer than asking for them. */
function printOf(dir: string, files: readonly string[]): string {
  const stamps = new Float64Array(files.length * 3);
  for (const [at, file] of files.entries()) {
    const stat = lstatOrNull(`${dir}/${file}`);
    if (stat) stamps.set([stat.size, stat.mtimeMs, stat.ctimeMs], at * 3);
  }
  let hash = hashOf(files.join("\n"));
  for (const part of new Uint32Array(stamps.buffer)) hash = Math.imul(hash ^ part, 0x01000193) ^ (hash >>> 15);
  return `${files.length}-${(hash >>> 0).toString(36)}`;
}

function lstatOrNull(path: string): Stats | null {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) ?? null;
  } catch {
    return null;
  }
}

function readRule(dir: string, file: string): Enforced[] {
  try {
    const bytes = readRegular(join(dir, file), { maxBytes: MAX_MEMORY_BYTES });
    const rule = bytes && findEnforced(file, bytes);
    return rule ? [rule] : [];
  } catch {
    return []; // not readable: `memdir doctor` says so
  }
}

function readCache(dir: string, print: string): Enforced[] | null {
  try {
    const base = join(dir, ".memdir");
    // A link in its place would lead away from what we wrote.
    if (!lstatSync(base, { throwIfNoEntry: false })?.isDirectory()) return null;
    const bytes = readRegular(join(base, CACHE_FILE), { maxBytes: MAX_CACHE_BYTES });
    if (!bytes) return null;
    const cache = JSON.parse(bytes.toString("utf8")) as { version?: unknown; print?: unknown; rules?: unknown };
    if (cache.version !== VERSION || cache.print !== print || !Array.isArray(cache.rules)) return null;
    return cache.rules.every(isEnforced) ? cache.rules : null;
  } catch {
    return null;
  }
}

function isEnforced(value: unknown): value is Enforced {
  if (typeof value !== "object" || value === null) return false;
  const { name, file, tools, pattern, paths, message } = value as Record<string, unknown>;
  return (
    [name, file, message].every((text) => typeof text === "string") &&
    (pattern === null || typeof pattern === "string") &&
    [tools, paths].every((list) => Array.isArray(list) && list.every((text) => typeof text === "string"))
  );
}

/** Only a cache: where it cannot be written, the files are read again. */
function writeCache({ path, inRepository }: Place, print: string, rules: readonly Enforced[]): void {
  const base = join(path, ".memdir");
  try {
    const stat = lstatSync(base, { throwIfNoEntry: false });
    // Nobody who only works in a repository finds a new folder in it.
    if (stat ? !stat.isDirectory() : inRepository) return;
    if (!stat) mkdirSync(base, { mode: 0o700 });
    const pin = pinFolder(base);
    try {
      if (!stat) writeCacheFile(pin.path, join(pin.path, ".gitignore"), "*\n");
      writeCacheFile(pin.path, join(pin.path, CACHE_FILE), JSON.stringify({ version: VERSION, print, rules }));
    } finally {
      pin.close();
    }
  } catch {
    // As said above.
  }
}
