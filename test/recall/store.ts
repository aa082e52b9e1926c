/** Memories for tests of recall: as texts, as entries without a disk, and a deterministic stand-in for the model of meaning. */

import { runAtOnce } from "../../src/disk/turns.ts";
import type { Memdir } from "../../src/memdir.ts";
import type { OpenOptions } from "../../src/open.ts";
import { type Evidence, type Ranked, rank } from "../../src/recall/rank.ts";
import type { RecallResult } from "../../src/recall/recall.ts";
import { type Digest, type News, refresh } from "../../src/recall/refresh.ts";
import { addEntry, openResident } from "../../src/recall/resident.ts";
import { newestOf, type Resident } from "../../src/recall/resident-rows.ts";
import { queryTerms, type Signals } from "../../src/recall/score.ts";
import { digestMemory, type Embed, embedTexts } from "../../src/store/digest.ts";
import type { Directory } from "../../src/store/directory.ts";
import type { MemoryType } from "../../src/store/memory.ts";
import { appendEntries, type CacheNotes, noteInHead, writeInPieces } from "../../src/store/row-cache.ts";
import { DIMENSIONS, type RowEntry } from "../../src/store/row-entry.ts";
import { digestFile, rewriteCache } from "../../src/store/rows.ts";
import { makeWorld, START, type World } from "../world.ts";

export const NOW_MS = Date.parse(START);

/** The whole cache anew, at once; with an index from so many entries on. */
export function writeEntries(
  directory: Directory,
  entries: Iterable<RowEntry>,
  notes: CacheNotes,
  indexFrom?: number,
): boolean {
  return runAtOnce(writeInPieces(directory, entries, notes, null, indexFrom)) === true;
}

export interface Fields {
  type?: MemoryType;
  name?: string;
  description?: string;
  body?: string;
  when?: readonly string[];
  links?: readonly string[];
  supersedes?: readonly string[];
  modified?: string;
}

/** A memory file's text. */
export function memoryText({ type = "project", body = "", ...fields }: Fields): string {
  const lines = Object.entries({ type, ...fields }).flatMap(([key, value]) =>
    Array.isArray(value) ? [`${key}:`, ...value.map((item) => `  - ${item}`)] : [`${key}: ${value}`],
  );
  return `---\n${lines.join("\n")}\n---\n\n${body}\n`;
}

/** An entry as if the file had been read on the day the clock stands at. */
export function entryOf(file: string, fields: Fields, more: { embed?: Embed; ageMs?: number } = {}): RowEntry {
  const bytes = Buffer.from(memoryText(fields));
  const thenMs = NOW_MS - (more.ageMs ?? 0);
  const entry = digestMemory(
    file,
    bytes,
    { mtimeMs: thenMs, ctimeMs: thenMs, size: bytes.length, ino: 1 },
    NOW_MS + 1000,
  );
  if (more.embed) entry.ranking.vectors = embedTexts(file, bytes, more.embed);
  return entry;
}

export function directoryAt(path: string, more: Partial<Directory> = {}): Directory {
  return {
    ...{ path, scope: "project", inRepository: false, readOnly: false, recursive: true, by: "test", log: () => {} },
    ...{ limits: { maxLines: 200, maxChars: 25_000 }, ageDays: { recent: 2, stale: 8, old: 31 } },
    now: () => new Date(NOW_MS),
    ...more,
  };
}

/** Rows of directories, as a hook opens them for its first prompt, and how what is new is kept. There is time for so many files. */
export function openRows(
  directories: readonly Directory[],
  files = Number.POSITIVE_INFINITY,
): { resident: Resident; news: News[]; keep: () => void } {
  const resident = openResident(directories);
  let left = files;
  const digest: Digest = (...file) => {
    try {
      return left-- > 0 ? digestFile(...file) : null;
    } catch {
      return null;
    }
  };
  const looking = { digest, positions: (owner: number) => newestOf(resident, owner) };
  const news = directories.map((_, owner) => runAtOnce(refresh(resident, owner, looking)));
  const keep = () => {
    for (const [owner, { entries, folders }] of news.entries()) {
      const directory = directories[owner] as Directory;
      if (entries.length > 0 && appendEntries(directory, entries) === 0) rewriteCache(directory, entries, null);
      if (folders) noteInHead(directory, { folders });
    }
  };
  return { resident, news, keep };
}

/** Rows of a directory that is not on disk. */
export function rowsOf(...entries: RowEntry[]): Resident {
  const resident = openResident([directoryAt("/nowhere", { readOnly: true })]);
  for (const entry of entries) addEntry(resident, 0, entry);
  return resident;
}

export interface Asking extends Signals {
  limit?: number;
  embed?: Embed;
  nowMs?: number;
}

export type Explained = Ranked & ReturnType<Evidence>;

export function rankFor(rows: Resident, prompt: string, asking: Asking = {}): Explained[] {
  const { limit = 100, embed, nowMs = NOW_MS, ...signals } = asking;
  const meaning = embed ? { vector: embed(prompt) } : null;
  const { order } = rank(rows, { terms: queryTerms(prompt, signals), meaning, foreign: 0 }, { nowMs, limit });
  return order.map((ranked) => ({ ...ranked, ...ranked.evidence() }));
}

export const filesOf = (ranked: readonly { entry: { file: string } }[]) => ranked.map(({ entry }) => entry.file);

export interface FakeEmbed extends Embed {
  /** Every text that was asked for, in order. */
  asked: string[];
}

/** A direction for each word; the words of one group share theirs. Enough to tell near from far. */
export function fakeEmbed(...groups: string[]): FakeEmbed {
  const directions = new Map(groups.flatMap((group, at) => group.split(" ").map((word) => [word, at] as const)));
  const embed = (text: string) => {
    embed.asked.push(text);
    const vector = new Float32Array(DIMENSIONS);
    for (const word of text.toLowerCase().match(/[a-z]+/g) ?? []) {
      (vector[directions.get(word) ?? spread(word)] as number) += directions.has(word) ? 3 : 0.3;
    }
    const length = Math.hypot(...vector) || 1;
    return vector.map((value) => value / length);
  };
  embed.asked = [] as string[];
  return embed;
}

/** Words of no group lie in the upper half. */
function spread(word: string): number {
  let sum = 7;
  for (const letter of word) sum = (sum * 31 + letter.charCodeAt(0)) % 192;
  return 192 + sum;
}

export interface Store {
  world: World;
  memdir: Memdir;
}

/** A directory with these memories, written by another program and settled long ago, and a Memdir opened on it. */
export async function openStore(
  files: Readonly<Record<string, Fields | string>>,
  options: Partial<OpenOptions> = {},
): Promise<Store> {
  const world = makeWorld();
  setLater(world);
  for (const [file, content] of Object.entries(files)) put(world, file, content);
  return { world, memdir: await world.open({ embed: null, ...options }) };
}

/** The disk has its own clock. An hour after it, no file counts as written this moment. */
export function setLater(world: World): void {
  world.now = new Date(performance.timeOrigin + performance.now() + 3_600_000);
}

export function put(world: World, file: string, content: Fields | string): void {
  world.write(file, typeof content === "string" ? content : memoryText(content));
}

export const recalled = ({ memories }: Pick<RecallResult, "memories">) => memories.map(({ file }) => file);

/** What a model answers that chooses these files. */
export const choosing = (...files: string[]) => JSON.stringify({ selected_memories: files });
