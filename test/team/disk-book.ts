/** What a shared folder knows of its memories: revisions, tombstones, every version. `.memdir-store/` beside them. */

import { existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { moveInto, readRegular, SHARED_MODE, writeTemporary } from "../../src/disk/fence.ts";
import { MemdirError } from "../../src/errors.ts";
import { sha256 } from "../../src/text/hash.ts";

export const STORE_FOLDER = ".memdir-store";

export interface Line {
  path: string;
  hash: string;
  /** Counts up over the whole folder. */
  revision: number;
  deleted: boolean;
  author: string;
  at: string;
  /** Time and size of the file as we left it, so that a change by others is seen; null: it has yet to be written or removed. */
  stamp: string | null;
  /** Only on the way in. */
  text?: string | null;
}

export interface Book {
  folder: string;
  id: string;
  lines: Map<string, Line>;
  /** Set while files are written, kept by `saveStamps`. */
  stamps: Map<string, string>;
  saveStamps(): void;
  /** The last moment at which a writer that was taken for dead must notice it. */
  check(): void;
  path(...names: string[]): string;
}

interface Page {
  id: string;
  lines: Line[];
}

/** The lock must be held. */
export function openBook(folder: string, random: () => string, check: () => void): Book {
  const path = (...names: string[]) => join(folder, STORE_FOLDER, ...names);
  for (const name of ["texts", "versions"]) mkdirSync(path(name), { recursive: true });
  const page = readPage(path("book.json"));
  const book: Book = {
    folder,
    id: page?.id ?? `folder:${random()}`,
    lines: new Map(page?.lines.map((line) => [line.path, line])),
    stamps: new Map(),
    saveStamps: () => {
      if (book.stamps.size === 0) return;
      for (const [file, stamp] of book.stamps) {
        const line = book.lines.get(file);
        if (line) line.stamp = stamp;
      }
      book.stamps.clear();
      savePage(book);
    },
    check,
    path,
  };
  if (!page) savePage(book);
  return book;
}

/** New versions. They count once the book is saved; their files are not touched. */
export function noteVersions(book: Book, lines: readonly Line[]): void {
  let last = lastRevision(book);
  for (const { text, ...line } of lines) {
    if (text != null) keepText(book, line.hash, text);
    const version = { ...line, revision: ++last };
    // What a killed writer left behind the last acknowledged version never happened.
    const log = [...readVersions(book, line.path), version].map(({ stamp: _, ...kept }) => `${JSON.stringify(kept)}\n`);
    replace(book, versionsFile(book, line.path), log.join(""));
    book.lines.set(line.path, version);
  }
}

/** Acknowledged ones, oldest first. */
export function readVersions(book: Book, path: string): Line[] {
  const until = book.lines.get(path)?.revision ?? 0;
  const text = readRegular(versionsFile(book, path))?.toString("utf8") ?? "";
  return text
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as Line)
    .filter(({ revision }) => revision <= until);
}

export function readText(book: Book, hash: string): string | null {
  const bytes = /^[0-9a-f]{64}$/.test(hash) ? readRegular(book.path("texts", hash)) : null;
  return bytes && sha256(bytes) === hash ? bytes.toString("utf8") : null;
}

function keepText(book: Book, hash: string, text: string): void {
  const path = book.path("texts", hash);
  if (!existsSync(path)) replace(book, path, text);
}

function versionsFile(book: Book, path: string): string {
  return book.path("versions", `${sha256(path)}.jsonl`);
}

/** Tombstones stay in the book, so that no number is given twice. */
function lastRevision({ lines }: Book): number {
  return Math.max(0, ...[...lines.values()].map(({ revision }) => revision));
}

/** Everything that was noted counts from now on. */
export function savePage(book: Book): void {
  const page: Page = { id: book.id, lines: [...book.lines.values()] };
  replace(book, book.path("book.json"), `${JSON.stringify(page)}\n`);
}

function replace(book: Book, target: string, text: string): void {
  const temporary = writeTemporary(book.path("tmp"), text, SHARED_MODE);
  book.check();
  moveInto(temporary, target);
}

/** Null when there is none. One that cannot be read is nobody's to write over. */
function readPage(path: string): Page | null {
  const bytes = readRegular(path);
  if (!bytes) return null;
  try {
    const page = JSON.parse(bytes.toString("utf8")) as Page;
    if (typeof page.id === "string" && Array.isArray(page.lines)) return page;
  } catch {
    // Said below.
  }
  throw new MemdirError("broken", `${path} cannot be read: restore it from a backup, or move it away to begin anew`);
}
