/** Memories as rows: what every listing shows, with their age from the best evidence there is. */

import { join } from "node:path";
import { lastCommitTimes } from "../project/commits.ts";
import { type Age, ageInDays, ageName } from "./age.ts";
import { type Bulk, findBulks, isBulkTime } from "./bulk.ts";
import type { Directory } from "./directory.ts";
import type { Header, Memory, MemoryType } from "./memory.ts";
import { readMemory } from "./read.ts";
import { type Scan, type Scanned, scan } from "./scan.ts";

export interface Row {
  file: string;
  path: string;
  scope: string;
  type: MemoryType;
  typeExplicit: boolean;
  name: string;
  description: string;
  /** ISO time that the age counts from. */
  modified: string;
  ageDays: number;
  age: Age;
  bytes: number;
  pinned: boolean;
  when: string[];
  problems: string[];
  /** A link or a file without permission: there is only its name. */
  unreadable: boolean;
}

export interface ShownMemory extends Row {
  body: string;
  metadata: Memory["metadata"];
}

export interface Listing {
  rows: Row[];
  /** What lies in the directory and is no memory, with the reason. */
  skipped: Scan["skipped"];
}

export async function listMemories(directory: Directory): Promise<Listing> {
  const { memories, skipped } = scan(directory);
  const times = await commitTimes(directory, memories);
  const now = directory.now().getTime();
  const bulks = findBulks(memories.map(({ mtimeMs }) => mtimeMs));
  return { rows: memories.map((memory) => rowOf(directory, memory, times, now, bulks)), skipped };
}

export async function showMemory(directory: Directory, file: string): Promise<ShownMemory> {
  const memory = readMemory(directory, file);
  const scanned = scan(directory).memories.filter(({ header }) => header.file === file);
  const times = await commitTimes(directory, scanned);
  const stamp = scanned[0] ?? { header: memory, mtimeMs: directory.now().getTime(), bytes: 0 };
  const row = rowOf(directory, { ...stamp, header: memory }, times, directory.now().getTime());
  return { ...row, body: memory.body, metadata: memory.metadata };
}

/** `times` are commit times, where a checkout has reset those of the files; `bulks` times that a copy has set. */
export function rowOf(
  directory: Directory,
  memory: Scanned,
  times: ReadonlyMap<string, number>,
  nowMs: number,
  bulks: readonly Bulk[] = [],
): Row {
  const { header, mtimeMs, bytes } = memory;
  const stamp = isBulkTime(bulks, mtimeMs)
    ? stampOfCopy(directory, header, mtimeMs, times)
    : stampOf(directory, header, mtimeMs, times);
  const ageDays = ageInDays(stamp, nowMs);
  return {
    file: header.file,
    path: join(directory.path, header.file),
    scope: directory.scope,
    type: header.type,
    typeExplicit: header.typeExplicit,
    name: header.name,
    description: header.description,
    modified: new Date(stamp).toISOString(),
    ageDays,
    age: ageName(ageDays, directory.ageDays),
    bytes,
    pinned: header.pinned,
    when: header.when,
    problems: header.problems,
    unreadable: header.unreadable,
  };
}

/**
 * A private file counts from its latest stamp, so that `touch` works. In a repository a checkout resets file times: there
 * only the stamps in the file count, else its last commit.
 */
function stampOf(directory: Directory, header: Header, mtimeMs: number, times: ReadonlyMap<string, number>): number {
  const stamps = [header.modified, header.verified].flatMap((iso) => (iso ? [Date.parse(iso)] : []));
  if (!directory.inRepository) return Math.max(mtimeMs, ...stamps);
  if (stamps.length > 0) return Math.max(...stamps);
  return times.get(header.file) ?? (header.created ? Date.parse(header.created) : mtimeMs);
}

/** A copied file says of itself how old it is, if anything does. */
const stampOfCopy: typeof stampOf = (directory, header, mtimeMs, times) => {
  const said = [header.modified, header.verified, header.created].flatMap((iso) => (iso ? [Date.parse(iso)] : []));
  return said.length > 0 ? Math.max(...said) : stampOf(directory, header, mtimeMs, times);
};

async function commitTimes(directory: Directory, memories: readonly Scanned[]): Promise<Map<string, number>> {
  const needed = directory.inRepository && memories.some(({ header }) => !header.modified && !header.verified);
  return needed ? lastCommitTimes(directory.path) : new Map();
}
