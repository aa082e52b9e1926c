/**
 * Brings MEMORY.md in step with a change while others may write it too. Editors and agents do not take our lock, so every
 * write looks at what it replaced: if that is not what was read, it starts again from theirs.
 */

import { lstatSync, statSync } from "node:fs";
import { join } from "node:path";
import { moveInto, removeQuietly, writeTemporary } from "../disk/atomic.ts";
import { MemdirError } from "../errors.ts";
import { sha256 } from "../text/hash.ts";
import { lazily } from "../text/lazy.ts";
import { ageInDays } from "./age.ts";
import { type Directory, INDEX_FILE, modeFor, OVERFLOW_FILE, statePath } from "./directory.ts";
import { type Base, indexPath, readBase, writeBase } from "./index-base.ts";
import { peekIndex, readCurrent, replaceIndex } from "./index-file.ts";
import { fitIndex } from "./index-fit.ts";
import { hiddenLines, mendForeign, retiredLines } from "./index-foreign.ts";
import { formatIndexLine, parseIndexLine } from "./index-line.ts";
import { addNewcomers, findNewcomers, stampFolders } from "./index-newcomers.ts";
import { applyEdits, dropDoubles, type LineEdit, moreOf, type Pages, sweepLines } from "./index-pages.ts";
import { linkedFiles, type RemovedLine, splitLines } from "./index-text.ts";
import type { PageHashes } from "./journal.ts";
import type { Header } from "./memory.ts";
import { readHeader } from "./read.ts";

export interface IndexSync {
  /** Files whose lines went to the overflow page. */
  moved: string[];
  notices: string[];
}

export interface IndexRequest {
  edits: readonly LineEdit[];
  /** The memory that is being written: its line moves to the overflow page last. */
  saved?: Header;
  /** Every memory gets a line, and lines that point to nothing go. */
  rebuild?: boolean;
  /** A writer died between the two pages: a line may stand in both. */
  mend?: boolean;
  /** What the index becomes once the edits are in it, before it is brought under the cap. */
  arrange?: (index: string) => string;
  /** Both pages as they were, in place of everything else, if they are still what these hashes say. */
  restore?: { index: string; more: string; onlyIf: PageHashes };
}

const MAX_ATTEMPTS = 50;

/**
 * The lock must be held. `commit` moves the memories themselves into place; it runs once both pages lie ready beside the
 * old ones, so that a full disk is noticed before anything has changed.
 */
export function syncIndex(directory: Directory, request: IndexRequest, commit: () => void = () => {}): IndexSync {
  const path = indexPath(directory);
  const base = readBase(directory);
  const wasLink = lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() === true;
  const current = readCurrent(path, base.text);
  const readMore = lazily(() => readOverflow(directory));
  const newcomers = findNewcomers(directory, base, current, readMore, request.rebuild === true);
  const hidden = [...base.hidden];
  let source = current ?? base.text ?? "";
  let expected = current;
  let known = base.text ?? "";
  let commitOnce: (() => void) | null = commit;

  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
    const readNow = () => (attempt === 0 ? readMore() : readOverflow(directory));
    const back = request.restore && isStill(request.restore.onlyIf, source, readNow) ? request.restore : null;
    const mended = source === known ? source : mendForeign(source, known, { ...base, hidden }, lookupIn(directory));
    let pages: Pages = {
      index: mended,
      more: null,
      readMore: readNow,
    };
    pages = addNewcomers(directory, pages, newcomers.files);
    if (!back) pages = applyEdits(pages, request.edits);
    if (source !== known || request.mend || request.rebuild) pages = dropDoubles(pages);
    if (request.rebuild) pages = sweepLines(pages, (file) => findName(directory, file) !== null);
    if (request.arrange) pages = { ...pages, index: request.arrange(pages.index) };
    const fitted = back
      ? { pages: { ...pages, index: back.index, more: back.more }, moved: [], notices: [] }
      : fitPages(directory, pages, request);

    const prepared = preparePages(directory, fitted.pages, expected);
    try {
      commitOnce?.();
    } catch (error) {
      prepared.discard();
      throw error;
    }
    commitOnce = null;
    prepared.moveMore();
    const theirs = prepared.index === null ? null : replaceIndex(prepared.index, path, expected);
    if (theirs === null) {
      const retired = retiredLines(known, fitted.pages.index, base.retired);
      const folders = newcomers.waiting ? null : stampFolders(directory, newcomers.folders);
      writeBase(directory, { text: fitted.pages.index, folders, hidden, retired });
      const link = wasLink
        ? [`MEMORY.md was a symbolic link: it is a file now, and what it pointed to is unchanged`]
        : [];
      return { moved: fitted.moved, notices: [...link, ...fitted.notices] };
    }
    source = theirs.text;
    expected = theirs.inPlace ? theirs.text : fitted.pages.index;
    if (theirs.inPlace) continue;
    hidden.push(...hiddenLines(theirs.text, fitted.pages.index, directory.now().getTime()));
    known = fitted.pages.index;
  }
  throw new MemdirError(
    "disk",
    `${path} is being rewritten all the time by another program: close it and run \`memdir index --rebuild\``,
  );
}

function isStill(pages: PageHashes, index: string, readMore: () => string): boolean {
  return sha256(index) === pages.index && sha256(readMore()) === pages.more;
}

interface Prepared {
  /** The temporary file with the new index; null when it stays as it is. */
  index: string | null;
  moveMore: () => void;
  discard: () => void;
}

/** Both pages written aside and flushed. */
function preparePages(directory: Directory, pages: Pages, expected: string | null): Prepared {
  const morePath = join(directory.path, OVERFLOW_FILE);
  const write = (text: string, file: string, kind: string, mark = "") =>
    writeTemporary(statePath(directory, "tmp"), text, modeFor(directory, file), kind, true, mark);
  // An overflow page without a line is of no use to anybody.
  const moreText = pages.more !== null && /\.md[)\]]/.test(pages.more) ? pages.more : null;
  const more = moreText === null ? null : write(moreText, OVERFLOW_FILE, "file");
  let index: string | null = null;
  try {
    // A change of other files makes no index where there was none.
    if (pages.index !== (expected ?? "")) index = write(pages.index, INDEX_FILE, "index", ownMark(pages.index));
  } catch (error) {
    if (more) removeQuietly(more);
    throw error;
  }
  return {
    index,
    moveMore: () => {
      if (more) moveInto(more, morePath);
      else if (pages.more !== null) removeQuietly(morePath);
    },
    discard: () => {
      for (const temporary of [index, more]) if (temporary) removeQuietly(temporary);
    },
  };
}

/** In the name of a temporary index: a leftover whose text still fits its name was never swapped with the index. */
export function ownMark(text: string): string {
  return `-${sha256(text).slice(0, 16)}`;
}

function fitPages(directory: Directory, pages: Pages, request: IndexRequest): IndexSync & { pages: Pages } {
  const now = directory.now().getTime();
  // Memories of this change are not on disk yet.
  const coming = new Map(request.edits.flatMap(headerOf).map((header) => [header.file.normalize("NFC"), header]));
  const fitted = fitIndex(
    pages.index,
    () => moreOf(pages),
    directory.limits,
    (file, line) => {
      const name = findName(directory, file) ?? file;
      const stat = statSync(join(directory.path, name), { throwIfNoEntry: false });
      const header = coming.get(file) ?? (stat ? readHeader(directory, name) : null);
      if (header === null) return null;
      const stamp = header.modified ? Date.parse(header.modified) : (stat?.mtimeMs ?? now);
      return {
        type: header.type,
        pinned: header.pinned,
        ageDays: ageInDays(stamp, now),
        own: line === formatIndexLine(header),
      };
    },
    request.saved?.file.normalize("NFC") ?? null,
  );
  const notices: string[] = [];
  if (fitted.moved.length > 0) {
    const some = fitted.moved.slice(0, 3).join(", ");
    const more = fitted.moved.length > 3 ? ` and ${fitted.moved.length - 3} more` : "";
    notices.push(`MEMORY.md was full: the lines of ${some}${more} moved to ${OVERFLOW_FILE}`);
  }
  if (fitted.stillOver)
    notices.push("MEMORY.md is over the client's limit by hand-written text alone: shorten it, its end is not loaded");
  const more = fitted.overflow ?? pages.more;
  return { pages: { ...pages, index: fitted.text, more }, moved: fitted.moved, notices };
}

function headerOf(edit: LineEdit): Header[] {
  if (edit.kind === "put") return [edit.header];
  return edit.kind === "move" ? [edit.to] : [];
}

function lookupIn(directory: Directory) {
  const inMore = lazily(() => linkedFiles(readOverflow(directory)));
  return {
    findHeader: (file: string) => {
      const name = findName(directory, file);
      return name === null ? null : readHeader(directory, name);
    },
    isInMore: (file: string) => inMore().has(file),
  };
}

export function readOverflow(directory: Directory): string {
  return peekIndex(join(directory.path, OVERFLOW_FILE));
}

/** Whether an editor's older text lies over lines of ours, so that the next opening should mend it. */
export function lostLines(directory: Directory, current: string): boolean {
  const base: Base = readBase(directory);
  if (base.text === null || base.text === current) return false;
  return mendForeign(current, base.text, base, lookupIn(directory)) !== current;
}

/** The file as it is spelled on disk: index lines are compared composed (NFC), a disk may hold the other form. */
export function findName(directory: Directory, file: string): string | null {
  const isFile = (name: string) => lstatSync(join(directory.path, name), { throwIfNoEntry: false })?.isFile() === true;
  return [file, file.normalize("NFD")].find(isFile) ?? null;
}

/** Its lines in the index, else on the overflow page, for undo. */
export function findLines(directory: Directory, file: string): RemovedLine[] {
  return openLines(directory)(file);
}

/** The same for many files: both pages are read once. */
export function openLines(directory: Directory): (file: string) => RemovedLine[] {
  const group = (lines: readonly string[], keep: (text: string, at: number) => RemovedLine) => {
    const groups = new Map<string, RemovedLine[]>();
    for (const [at, text] of lines.entries()) {
      const file = parseIndexLine(text)?.file;
      if (file !== undefined) groups.set(file, [...(groups.get(file) ?? []), keep(text, at)]);
    }
    return groups;
  };
  const lines = splitLines(peekIndex(indexPath(directory)));
  const inIndex = group(lines, (text, at) => ({
    text,
    at,
    after: at === 0 ? null : (lines[at - 1] as string).trimEnd(),
  }));
  let inMore: Map<string, RemovedLine[]> | null = null;
  return (file) => {
    const name = file.normalize("NFC");
    const found = inIndex.get(name);
    if (found) return found;
    inMore ??= group(splitLines(readOverflow(directory)), (text) => ({ text, at: -1, after: "" }));
    return inMore.get(name) ?? [];
  };
}
