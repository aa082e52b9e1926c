/** Every memory as a row, what is no memory, and the order that a search gives them. */

import { join } from "node:path";
import { statOrNull } from "../disk/fence.ts";
import { openRecallSession } from "../recall/budget.ts";
import { countShown, readSurfaceLog } from "../recall/surface-log.ts";
import { type Directory, type Listing, listMemories, type Row } from "../store/store.ts";
import { readAuthors } from "../team/authors.ts";
import { findVerdict, formatVerdict, readVerdicts, type Verdicts } from "../truth/kept-verdict.ts";
import type { MemoryList, MemoryRow, SearchAnswer } from "./api.ts";
import { type Desk, mainOf } from "./desk.ts";
import { findByWords, findTexts } from "./word-search.ts";

export interface AllMemories {
  rows: MemoryRow[];
  skipped: MemoryList["skipped"];
}

export async function answerMemories(desk: Desk): Promise<AllMemories> {
  const lists = await Promise.all(desk.memdir.directories.map((directory, at) => listDirectory(desk, directory, at)));
  return { rows: lists.flatMap(({ rows }) => rows), skipped: lists.flatMap(({ skipped }) => skipped) };
}

/** More than these nobody is sure about. */
const MAX_SURE = 20;

/** The list shows no more of them. */
export async function answerList(desk: Desk): Promise<MemoryList> {
  const { rows, skipped } = await answerMemories(desk);
  // Whoever looks at the list may search it: the texts are read meanwhile.
  findTexts(desk).catch((error: Error) => desk.log(error.message));
  return { rows: rows.map(({ bytes: _, author: __, problems: ___, ...shown }) => shown), skipped };
}

/**
 * What recall is sure of first, found by words and by meaning; then every memory that holds the words as they stand, so that
 * half a word finds something too. Nothing asked is nothing found. `isQuick`: only the words, for while somebody types, since
 * finding the meaning of what was asked takes longer than a key.
 */
export async function answerSearch(desk: Desk, words: string, isQuick = false): Promise<SearchAnswer> {
  if (words.trim() === "") return { hits: [] };
  if (isQuick) return { hits: await findByWords(desk, words) };
  const { directories, recall } = desk.memdir;
  const session = openRecallSession({ maxBytes: Number.POSITIVE_INFINITY });
  const { memories: sure } = await recall(words, { model: false, limit: MAX_SURE, session });
  const first = sure.flatMap(({ file, path, confidence }) => {
    const directory = directories.findIndex((each) => join(each.path, file) === path);
    return directory < 0 ? [] : [{ directory, file, score: 1 + confidence }];
  });
  const isFirst = new Set(first.map(({ directory, file }) => `${directory}/${file}`));
  const holding = await findByWords(desk, words);
  return { hits: [...first, ...holding.filter(({ directory, file }) => !isFirst.has(`${directory}/${file}`))] };
}

async function listDirectory(desk: Desk, directory: Directory, at: number): Promise<AllMemories> {
  const [listing, toRow] = await Promise.all([listMemories(directory), openRows(desk, directory, at)]);
  return { rows: listing.rows.map(toRow), skipped: skippedIn(directory, listing) };
}

function skippedIn(directory: Directory, { skipped }: Listing): MemoryList["skipped"] {
  return skipped.map(({ path, reason }) => ({ path: join(directory.path, path), reason }));
}

/** What is known of a directory's memories beside their files is read once for all of them. */
export async function openRows(desk: Desk, directory: Directory, at: number): Promise<(row: Row) => MemoryRow> {
  const verdicts = readVerdicts(directory.path);
  const count = countShown(readSurfaceLog(mainOf(desk).path));
  const authors = await authorsOf(desk, directory);
  return (row) => ({
    directory: at,
    file: row.file,
    name: row.name,
    scope: row.scope,
    type: row.type,
    description: row.description,
    modified: row.modified,
    ageDays: row.ageDays,
    bytes: row.bytes,
    cues: row.when.length,
    pinned: row.pinned,
    verdict: verdictOf(desk, verdicts, row),
    recalled: count(row.scope, row.file),
    author: authors.get(row.file)?.author || null,
    isReadOnly: desk.readOnly || directory.readOnly,
    problems: row.problems,
  });
}

/** Only what is shared has authors; the user's own is theirs. */
export async function authorsOf(desk: Desk, directory: Directory): ReturnType<typeof readAuthors> {
  if (directory.scope !== "team") return new Map();
  try {
    return await readAuthors(directory, desk.env);
  } catch (error) {
    desk.log(`who wrote what is not known: ${(error as Error).message}`);
    return new Map();
  }
}

function verdictOf({ now }: Desk, verdicts: Verdicts, { file, path, bytes }: Row): MemoryRow["verdict"] {
  if (!verdicts.has(file)) return null;
  const mtimeMs = statOrNull(path)?.mtimeMs ?? 0;
  const kept = findVerdict(verdicts, file, { bytes, mtimeMs });
  return kept && { state: kept.verdict, says: formatVerdict(kept, now()) };
}
