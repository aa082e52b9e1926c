/** Memories as rows: found by words and by meaning, filtered, sorted, a page at a time; and what is done to several at once. */

import { join } from "node:path";
import { openBreath } from "../disk/turns.ts";
import { choice, flag, list, number, required, text } from "../input.ts";
import { findByRef } from "../memory/memories.ts";
import { openRecallSession } from "../recall/injection.ts";
import { findLine, fold, openSearchTexts, type Searchable, scoreFields, searchWords } from "../recall/search.ts";
import { countShown, readSurfaceLog } from "../recall/surface-log.ts";
import { type FullRow, peekRows, readAuthors, readRows, type Store, signEntry, stemOf } from "../store/store.ts";
import { localDay } from "../text/local-day.ts";
import { findVerdict, formatVerdict, readVerdicts, type Verdicts } from "../truth/verdicts.ts";
import { countMemories } from "../verb.ts";
import { get, type Known, type KnownRow, mainOf, type Page, post, refOf, workBeside } from "./answer.ts";
import { countFacets, orderRows, readAsked } from "./memory-order.ts";
import { FILTERS, keyOf, type ListedMemory, type MemoryList, type MemoryTitle, type Ref } from "./shapes.ts";

/** Two screens. */
const DEFAULT_ROWS = 60;
const MAX_ROWS = 500;
/** More memories than this are not looked at one by one before the first of them are shown, nor read for the first search. */
const MANY = 2_000;

const FILTER = text();

export const LIST_ROUTES = [
  get(
    "/api/memories",
    {
      ...{ q: text(), quick: flag(), sort: text(), reversed: flag(), offset: number(), limit: number() },
      ...{ type: FILTER, scope: FILTER, verdict: FILTER, age: FILTER, cues: FILTER, author: FILTER },
    },
    async (page, { q = "", quick = false, offset = 0, limit = DEFAULT_ROWS, ...more }): Promise<MemoryList> => {
      const words = q.trim();
      const asked = readAsked(more, words !== "");
      const most = Math.min(limit, MAX_ROWS);
      const isPlain = words === "" && offset === 0 && asked.sort === "age" && !asked.isReversed;
      const early =
        isPlain && FILTERS.every((name) => asked.filters[name] === undefined) ? peekNewest(page, most) : null;
      if (early) return early;
      const known = await answerMemories(page);
      const { rows, skipped } = known;
      const found = words === "" ? rows : await findRows(page, known, words, quick);
      const ordered = orderRows(found, asked);
      const shown = ordered.slice(offset, offset + most);
      recheckSoon(page, shown);
      return {
        rows: shown.map((row) => listed(row, words === "" ? "" : lineOf(page, row, words))),
        ...{ total: rows.length, found: ordered.length, facets: countFacets(found, asked) },
        skipped: offset === 0 ? skipped : [],
      };
    },
  ),
  post("/api/bulk", { action: required(choice(["forget"])), memories: required(list()) }, forgetSeveral),
];

/** One change in each store. */
export async function forgetSeveral({ memdir }: Page, { memories }: { memories: string[] }) {
  const found = memories.map((key) => findByRef(memdir.directories, readKey(key)));
  const entries: string[] = [];
  for (const directory of new Set(found.map((each) => each.directory))) {
    const files = found.filter((each) => each.directory === directory).map(({ file }) => file);
    const writes = new Map(files.map((file) => [file, null]));
    const change = { action: "forget", reason: "", writes, trust: "user" } as const;
    const { entry } = await directory.change((open) => open.apply(change));
    entries.push(signEntry(memdir.directories, directory, entry.id));
  }
  return { message: `Forgot ${countMemories(found.length)}`, entries };
}

function readKey(key: string): Ref {
  const slash = key.indexOf("/");
  return { directory: Number(key.slice(0, slash)), file: key.slice(slash + 1) };
}

/** Every row, kept while the directories are watched, nothing in them changes, and the day is the same. */
export async function answerMemories(page: Page): Promise<Known> {
  const { kept, now } = page;
  const of = `${kept.version} ${localDay(now())}`;
  if (kept.version !== null && kept.rows?.of === of) return kept.rows.known;
  const known = readAll(page);
  kept.rows = { of, known };
  // A failure is for the caller; the next one tries again.
  known.catch(() => {
    if (kept.rows?.known === known) delete kept.rows;
  });
  return known;
}

async function readAll(page: Page): Promise<Known> {
  const lists = await Promise.all(
    page.memdir.directories.map(async (directory, at) => {
      const [{ rows, skipped }, toRow] = await Promise.all([readRows(directory), openRows(page, directory, at)]);
      return {
        rows: rows.map(toRow),
        skipped: skipped.map(({ path, reason }) => ({ path: join(directory.path, path), reason })),
      };
    }),
  );
  const rows = lists.flatMap(({ rows }) => rows);
  const byKey = new Map(rows.map((row) => [keyOf(row), row]));
  return { rows, byKey, skipped: lists.flatMap(({ skipped }) => skipped) };
}

export type FindTitle = (directory: number, file: string) => MemoryTitle;

/** Names of memories; one that no longer exists is called by its file. */
export async function findTitles(page: Page): Promise<FindTitle> {
  const { byKey } = await answerMemories(page);
  return (directory, file) => ({ directory, file, name: byKey.get(keyOf({ directory, file }))?.name ?? wordsOf(file) });
}

/** "project_deploy_to_staging.md" was called "deploy to staging", nearly. */
function wordsOf(file: string): string {
  return stemOf(file.replace(/^.*\//, ""))
    .replace(/^(?:user|feedback|project|reference)_/, "")
    .replaceAll("_", " ");
}

/** The newest of very many as the cache has them, once; null after that, when all files are looked at. */
function peekNewest(page: Page, limit: number): MemoryList | null {
  const { kept, memdir } = page;
  if (kept.version === null || kept.rows || kept.isPeeked) return null;
  const peeked = memdir.directories.map((directory) => peekRows(directory, limit));
  const total = peeked.reduce((sum, each) => sum + (each?.total ?? 0), 0);
  if (total <= MANY) return null;
  kept.isPeeked = true;
  const shown = peeked.flatMap((each, at) => {
    const unknown = { directory: at, verdict: null, recalled: 0, author: null, isReadOnly: mayNotChange(page, at) };
    return each?.rows.map((row) => ({ ...row, ...unknown })) ?? [];
  });
  const facets = countFacets([], { filters: {} });
  const rows = orderRows(shown, { filters: {}, sort: "age", isReversed: false }).slice(0, limit);
  return { rows: rows.map((row) => listed(row)), total, found: total, facets, skipped: [], isEarly: true };
}

function mayNotChange({ readOnly, memdir }: Page, at: number): boolean {
  return readOnly || memdir.directories[at]?.readOnly === true;
}

/** Only what a list shows. */
export function listed(row: Omit<KnownRow, "mtimeMs" | "session">, line = ""): ListedMemory {
  const { directory, file, name, scope, type, description, modified, pinned, verdict, recalled, author } = row;
  return {
    ...{ directory, file, name, scope, type, description, modified, pinned, verdict, recalled, author },
    ...{ cues: row.when.length, isReadOnly: row.isReadOnly },
    ...(line !== "" && { line }),
  };
}

/** Recall is hardly ever sure about more. */
const SURE = 20;

/**
 * What recall is sure of first, found by words and by meaning; then every memory that contains the words as typed, so
 * that half a word finds something too. `isQuick`: only the words, for searching while typing, because finding the
 * meaning of a query takes longer than a keystroke.
 */
async function findRows(page: Page, { rows, byKey }: Known, words: string, isQuick: boolean): Promise<KnownRow[]> {
  if (searchWords(words).length === 0) return [];
  // Of very many the texts are read beside the first search; until then recall finds the words in them.
  const isRead = rows.length <= MANY || page.kept.readRows === rows;
  if (!isRead) readSoon(page, rows);
  const first = isQuick && isRead ? [] : await rankRows(page, byKey, words, isRead ? SURE : MAX_ROWS);
  return [...new Set([...first, ...findByWords(page, rows, words, isRead)])];
}

async function rankRows({ memdir }: Page, byKey: Known["byKey"], words: string, limit: number): Promise<KnownRow[]> {
  const session = openRecallSession({ maxBytes: Number.POSITIVE_INFINITY });
  const { memories } = await memdir.recall(words, { model: false, limit, session });
  return memories.flatMap((memory) => byKey.get(keyOf(refOf(memdir, memory))) ?? []);
}

function readSoon(page: Page, rows: KnownRow[]): void {
  workBeside(page, "the texts could not be read", async () => {
    const breathe = openBreath();
    for (const row of rows) {
      const turn = breathe();
      if (turn) await turn;
      textOf(page, row);
    }
    page.kept.readRows = rows;
  });
}

/** Best first: by the number of matching words, then by their fields, then the newest. */
function findByWords(page: Page, rows: readonly KnownRow[], asked: string, withBodies: boolean): KnownRow[] {
  const words = searchWords(asked);
  const found = rows.flatMap((row) => {
    const fields = (withBodies && textOf(page, row)?.fields) || headOf(row);
    const score = scoreFields(fields, words, ({ text: field }, word) => field.includes(word));
    return score > 0 ? [{ row, score }] : [];
  });
  found.sort((a, b) => b.score - a.score || b.row.mtimeMs - a.row.mtimeMs || (a.row.file < b.row.file ? -1 : 1));
  return found.map(({ row }) => row);
}

/** What a row knows of a memory whose file was not read yet, or cannot be. */
function headOf({ name, description, when, file }: KnownRow): Searchable["fields"] {
  const texts = { name, description, when: when.join("\n"), file };
  return Object.entries(texts).map(([field, text]) => ({ name: field as keyof typeof texts, text: fold(text) }));
}

/** A memory's file as a search compares it, read once. */
function textOf({ memdir, kept }: Page, row: KnownRow): Searchable | null {
  const directory = memdir.directories[row.directory];
  kept.texts ??= openSearchTexts();
  return row.unreadable || !directory ? null : kept.texts.find(directory, row);
}

/** A line is shown beside the description, not instead of the memory. */
const MAX_LINE_CHARS = 240;

/** The line that matches, "" where the name or the description do. */
function lineOf(page: Page, row: KnownRow, asked: string): string {
  const shown = fold(`${row.name}\n${row.description}`);
  const text = searchWords(asked).every((word) => shown.includes(word)) ? null : textOf(page, row);
  if (text === null) return "";
  const line = findLine(text.memory, asked);
  return line === row.name || line === row.description ? "" : line.slice(0, MAX_LINE_CHARS).toWellFormed();
}

/** Facts about a directory's memories that are not in their files are read once for all of them. */
export async function openRows(page: Page, directory: Store, at: number): Promise<(row: FullRow) => KnownRow> {
  const verdicts = readVerdicts(directory.path);
  const count = countShown(readSurfaceLog(mainOf(page.memdir).path));
  const authors = await authorsOf(page, directory);
  const isReadOnly = mayNotChange(page, at);
  return ({ header, rule: _, day: __, ...row }) => ({
    ...row,
    ...{ directory: at, isReadOnly, session: header.source?.session ?? null },
    verdict: verdictOf(verdicts, row),
    recalled: count(row.scope, row.file),
    author: authors.get(row.file)?.author || null,
  });
}

/** Only shared memories have authors; the others are the user's own. */
export async function authorsOf({ env }: Page, directory: Store): ReturnType<typeof readAuthors> {
  return directory.scope === "team" ? readAuthors(directory, env) : new Map();
}

function verdictOf(verdicts: Verdicts, row: Pick<FullRow, "file" | "bytes" | "mtimeMs">): KnownRow["verdict"] {
  const kept = findVerdict(verdicts, row.file, row);
  if (!kept) return null;
  const state = kept.verdict === "doubtful" ? worstOf(kept.says) : kept.verdict === "holds" ? "holds" : "no claims";
  return { state, says: formatVerdict(kept) };
}

/** The reason says what kind of doubt it is. */
function worstOf(says: string): "gone" | "expired" | "moved" {
  if (says.includes("which has passed")) return "expired";
  return /\bmoved to\b/.test(says) && !says.includes("gone") ? "moved" : "gone";
}

/** At a time: checking asks git. */
const MAX_RECHECKED = 20;

/** Memories that were checked before and have changed since: the list must say what the memory itself would. */
function recheckSoon(page: Page, rows: readonly KnownRow[]): void {
  const { kept, memdir, readOnly } = page;
  if (readOnly || kept.version === null) return;
  const known = memdir.directories.map((directory) => readVerdicts(directory.path));
  const stale = rows.filter((row) => row.verdict === null && !row.isReadOnly && known[row.directory]?.has(row.file));
  if (stale.length === 0) return;
  workBeside(page, "the claims could not be checked", async () => {
    for (const { directory, file } of stale.slice(0, MAX_RECHECKED)) await memdir.verify({ directory, file });
  });
}
