/** Every memory as a row, files that are not memories, and the order of search results. */

import { join } from "node:path";
import { openBreath } from "../disk/breathe.ts";
import { statOrNull } from "../disk/fence.ts";
import { flag, text } from "../input.ts";
import { openRecallSession } from "../recall/budget.ts";
import { openSearchTexts, scoreFields, searchWords } from "../recall/search.ts";
import { countShown, readSurfaceLog } from "../recall/surface-log.ts";
import { type Row, readRows, type Store } from "../store/store.ts";
import { readAuthors } from "../team/authors.ts";
import { findVerdict, formatVerdict, readVerdicts, type Verdicts } from "../truth/verdicts.ts";
import { get, type KeptText, keyOf, mainOf, type Page, refOf } from "./answer.ts";
import type { MemoryList, MemoryRow, SearchAnswer } from "./api.ts";

export async function answerMemories(page: Page): Promise<{ rows: MemoryRow[]; skipped: MemoryList["skipped"] }> {
  const lists = await Promise.all(
    page.memdir.directories.map(async (directory, at) => {
      const [{ rows, skipped }, toRow] = await Promise.all([directory.rows(), openRows(page, directory, at)]);
      return {
        rows: rows.map(toRow),
        skipped: skipped.map(({ path, reason }) => ({ path: join(directory.path, path), reason })),
      };
    }),
  );
  return { rows: lists.flatMap(({ rows }) => rows), skipped: lists.flatMap(({ skipped }) => skipped) };
}

export const LIST_ROUTES = [
  /** Only what the list shows. */
  get("/api/memories", {}, async (page): Promise<MemoryList> => {
    const { rows, skipped } = await answerMemories(page);
    // A person who sees the list may search it next, so the texts are read in the meantime.
    findTexts(page).catch((error: Error) => page.log(error.message));
    return { rows: rows.map(({ bytes: _, author: __, problems: ___, ...shown }) => shown), skipped };
  }),
  get("/api/search", { q: text(), quick: flag() }, (page, { q = "", quick }) => answerSearch(page, q, quick)),
];

/** Recall is hardly ever sure about more. */
const MAX_SURE = 20;

/**
 * What recall is sure of first, found by words and by meaning; then every memory that contains the words as typed, so
 * that half a word finds something too. `isQuick`: only the words, for searching while typing, because finding the
 * meaning of a query takes longer than a keystroke.
 */
export async function answerSearch(page: Page, words: string, isQuick = false): Promise<SearchAnswer> {
  if (words.trim() === "") return { hits: [] };
  if (isQuick) return { hits: await findByWords(page, words) };
  const { memdir } = page;
  const session = openRecallSession({ maxBytes: Number.POSITIVE_INFINITY });
  const { memories: sure } = await memdir.recall(words, { model: false, limit: MAX_SURE, session });
  const first = sure.map((row) => ({ ...refOf(memdir, row), score: 1 + row.confidence }));
  const isFirst = new Set(first.map(keyOf));
  const holding = await findByWords(page, words);
  return { hits: [...first, ...holding.filter((hit) => !isFirst.has(keyOf(hit)))] };
}

/** Best first: by the number of matching words, then by their fields, then the newest. */
async function findByWords(page: Page, asked: string): Promise<SearchAnswer["hits"]> {
  const words = searchWords(asked);
  if (words.length === 0) return [];
  const found: { text: KeptText; score: number }[] = [];
  for (const text of await findTexts(page)) {
    const score = scoreFields(text.fields, words, ({ text: field }, word) => field.includes(word));
    if (score > 0) found.push({ text, score });
  }
  found.sort((a, b) => b.score - a.score || b.text.mtimeMs - a.text.mtimeMs || (a.text.file < b.text.file ? -1 : 1));
  return found.map(({ text: { directory, file }, score }) => ({ directory, file, score }));
}

/** Kept while the directories are watched and nothing in them changes; otherwise read again each time. */
async function findTexts(page: Page): Promise<readonly KeptText[]> {
  const { kept } = page;
  if (kept.texts && kept.texts.version === kept.version && kept.version !== null) return kept.texts.all;
  const all = readTexts(page);
  kept.texts = { version: kept.version, all };
  // A failure is for the caller; the next one tries again.
  all.catch(() => {
    if (kept.texts?.all === all) delete kept.texts;
  });
  return all;
}

async function readTexts({ memdir, kept }: Page): Promise<KeptText[]> {
  kept.read ??= openSearchTexts();
  const texts: KeptText[] = [];
  const breathe = openBreath();
  for (const [at, directory] of memdir.directories.entries()) {
    for (const { file, unreadable, mtimeMs, bytes } of (await readRows(directory)).rows) {
      const turn = breathe();
      if (turn) await turn;
      const known = unreadable ? null : kept.read.find(directory, { file, mtimeMs, bytes });
      if (known) texts.push({ directory: at, file, mtimeMs, fields: known.fields });
    }
  }
  return texts;
}

/** Facts about a directory's memories that are not in their files are read once for all of them. */
export async function openRows(page: Page, directory: Store, at: number): Promise<(row: Row) => MemoryRow> {
  const verdicts = readVerdicts(directory.path);
  const count = countShown(readSurfaceLog(mainOf(page.memdir).path));
  const authors = await authorsOf(page, directory);
  return (row) => {
    const { file, name, scope, type, description, modified, ageDays, bytes, pinned, problems } = row;
    return {
      ...{ directory: at, file, name, scope, type, description, modified, ageDays, bytes, pinned, problems },
      cues: row.when.length,
      verdict: verdictOf(verdicts, row),
      recalled: count(scope, file),
      author: authors.get(file)?.author || null,
      isReadOnly: page.readOnly || directory.readOnly,
    };
  };
}

/** Only shared memories have authors; the others are the user's own. */
export async function authorsOf(page: Page, directory: Store): ReturnType<typeof readAuthors> {
  if (directory.scope !== "team") return new Map();
  try {
    return await readAuthors(directory, page.env);
  } catch (error) {
    page.log(`the authors are unknown: ${(error as Error).message}`);
    return new Map();
  }
}

function verdictOf(verdicts: Verdicts, { file, path, bytes }: Row): MemoryRow["verdict"] {
  if (!verdicts.has(file)) return null;
  const mtimeMs = statOrNull(path)?.mtimeMs ?? 0;
  const kept = findVerdict(verdicts, file, { bytes, mtimeMs });
  return kept && { state: kept.verdict, says: formatVerdict(kept) };
}
