/**
 * What MEMORY.md becomes: `reconcile` takes the index and its overflow page as they are, what memdir last left and what
 * changed, and returns the new pages. It reads nothing and writes nothing, and applied to its own result changes nothing.
 */

import { INDEX_FILE, OVERFLOW_FILE } from "../project/locate.ts";
import { blankComments, eolOf, splitLines } from "../text/lines.ts";
import type { PlacedLine } from "./directory.ts";
import {
  type CapOptions,
  cleanOverflow,
  fileKey,
  fitPages,
  formatIndexLine,
  insertAt,
  isEntry,
  isOver,
  isPointer,
  type Keys,
  keysOf,
  linkedFiles,
  linkOverflow,
  measureIndex,
  nameKey,
  names,
  openListing,
  type Pages,
  parseIndexLine,
  pointedFiles,
  putOverflowLink,
  type Reference,
  readReferences,
  retarget,
  some,
  withoutBreak,
} from "./index-line.ts";
import { type Header, stemOf } from "./memory.ts";

/** What memdir last left: how the edits of others are told from its own. */
export interface Left {
  /** MEMORY.md; null when memdir has not written it yet. */
  text: string | null;
  /** Whether the overflow page is still what memdir left. */
  sameMore: boolean;
  /** Lines that memdir replaced or removed, newest last: an editor with an older text may bring them back. */
  retired: readonly string[];
  /** Lines by hand that were out of sight for a moment, because memdir's text was in their place. */
  hidden: readonly PlacedLine[];
}

/** A memory before and after; null where there is none. Another file afterwards: it was renamed. */
export interface HeaderChange {
  file: string;
  before: Header | null;
  after: Header | null;
}

/** What a change means for the index. */
export interface PageRequest {
  changes: readonly HeaderChange[];
  /** The file that is being saved: its line moves to the overflow page last. */
  saved?: string | undefined;
  /** What the pages become apart from the lines of the changes; asked again if another program wrote them meanwhile. */
  plan?: ((pages: Pages) => Plan) | undefined;
  /** Also list every memory, and take out lines that point to nothing. */
  rebuild?: boolean | undefined;
}

/** The pages that somebody wants, and what is left to do for them. */
export interface Plan {
  pages: Pages;
  /** In place of the change's own. */
  changes?: readonly HeaderChange[];
  /** Exactly these pages: nothing is added, removed or moved. */
  exact?: boolean;
}

export interface ReconcileOptions extends CapOptions, Omit<PageRequest, "changes"> {
  /** Every memory: a missing index is made from them. */
  all: () => Header[];
}

export interface Reconciled {
  /** The pages that the change started from: as they were, with the lines that an editor's older text lacked. */
  start: Pages;
  pages: Pages;
  /** Files whose lines moved to the overflow page. */
  moved: string[];
  notices: string[];
  retired: string[];
}

export function reconcile(
  pages: Pages,
  left: Left,
  changes: readonly HeaderChange[],
  options: ReconcileOptions,
): Reconciled {
  const start = restoreLines(pages, left, options.find);
  const plan = options.plan?.(start) ?? { pages: start };
  const wanted = plan.changes ?? changes;
  const notices: string[] = [];
  let next = plan.pages;
  let moved: string[] = [];
  if (!plan.exact) {
    const added = start.index === null && wanted.some(({ after }) => after) ? listAll(options.all(), wanted) : [];
    next = applyChanges(next, [...wanted, ...added], options.find, notices);
    if (options.rebuild) next = rebuild(next, options, notices);
    next = linkOverflow(next, start);
    // What others brought over the cap is theirs to shorten: their words move only when asked for.
    const wasOver = !options.rebuild && isOver(measureIndex(pages.index ?? ""), options.limits);
    ({ pages: next, moved } = fitPages(next, options, wasOver, notices));
    if (plan.pages.index === null && next.index === "") next = { ...next, index: null };
  }
  return { start, pages: next, moved, notices, retired: retiredLines(pages, start, next, left, options.find) };
}

function listAll(all: readonly Header[], changes: readonly HeaderChange[]): HeaderChange[] {
  if (all.length === 0) return [];
  const known = new Set(changes.flatMap(({ before, after }) => [before?.file, after?.file]));
  return all.filter(({ file }) => !known.has(file)).map((after) => ({ file: after.file, before: null, after }));
}

// --- What others wrote without knowing what memdir had written meanwhile.

type Find = ReconcileOptions["find"];

/** Lines of ours that an editor's older text lacks come back, lines that we replaced get their new words, hidden lines reappear. */
function restoreLines(pages: Pages, left: Left, find: Find): Pages {
  if (pages.index === null) return { ...pages, index: left.text };
  if (pages.index === left.text && left.sameMore) return pages;
  const fresh = refreshRetired(pages.index, left.retired, find);
  const restored = keepEntries(fresh, left.text ?? "", pages.more, find);
  const there = new Set(trimmedLines(restored));
  const hidden = left.hidden.filter(({ text }) => !there.has(text.trimEnd()));
  return dropDoubles({ ...pages, index: placeLines(restored, hidden) });
}

/** `text` with the entries that `before` had for memories that `text` and the overflow page do not name. */
export function keepEntries(text: string, before: string, more: string, find: Find): string {
  if (before === "" || text === before) return text;
  const isListed = openListing(text, more);
  const lines = splitLines(before);
  const seen = splitLines(blankComments(before));
  const there = new Set(trimmedLines(text));
  const lost = lines.flatMap((line, at): PlacedLine[] => {
    if (there.has(line.trimEnd())) return [];
    const references = readReferences(seen[at] as string);
    if (references.length === 0 || !isEntry(line, references)) return [];
    const alive = references.flatMap((reference) => findNamed(reference, find) ?? []);
    if (alive.length === 0 || alive.some(isListed)) return [];
    return [{ text: line, at, after: at === 0 ? null : (lines[at - 1] as string).trimEnd() }];
  });
  return placeLines(text, lost);
}

function findNamed({ kind, target }: Reference, find: Find): Header | null {
  if (target === INDEX_FILE || target === OVERFLOW_FILE) return null;
  if (kind !== "wiki" || /\.md$/i.test(target)) return find(target);
  return find(`${target}.md`) ?? find(`${target.replace(/[\s-]+/g, "_")}.md`);
}

function refreshRetired(text: string, retired: readonly string[], find: Find): string {
  if (retired.length === 0) return text;
  const old = new Set(retired);
  const lines = splitLines(text).flatMap((line) => {
    const bare = line.trimEnd();
    const [reference] = old.has(bare) ? readReferences(line) : [];
    if (!reference) return [line];
    const header = findNamed(reference, find);
    if (header === null) return [];
    return parseIndexLine(line) ? [formatIndexLine(header) + line.slice(bare.length)] : [line];
  });
  return lines.join("");
}

/** Text by hand that was in `theirs` and out of sight while `ours` was in its place. What names a memory comes back by itself. */
export function hiddenLines(theirs: string, ours: string): PlacedLine[] {
  const there = new Set(trimmedLines(ours));
  const lines = splitLines(theirs);
  return lines.flatMap((text, at) => {
    const bare = text.trimEnd();
    if (bare === "" || there.has(bare) || parseIndexLine(text) !== null) return [];
    return [{ text, at, after: at === 0 ? null : (lines[at - 1] as string).trimEnd() }];
  });
}

/**
 * Entries that this change took out or reworded, after those of earlier ones that are still out. Somebody's own words are
 * among them only if memdir removed them: else a person could not go back to words of an earlier day.
 */
function retiredLines(pages: Pages, start: Pages, next: Pages, left: Left, find: Find): string[] {
  const there = new Set(trimmedLines(next.index ?? ""));
  // A line that moved to the overflow page is not out: whoever brings it back brings its words back.
  if (next.more !== pages.more) for (const line of trimmedLines(next.more)) there.add(line);
  const isOut = (line: string) =>
    !there.has(line) && parseIndexLine(line) !== null && !line.includes(`(${OVERFLOW_FILE})`);
  const seen = new Set([...trimmedLines(pages.index ?? ""), ...trimmedLines(start.index ?? "")]);
  const replaced = trimmedLines(left.text ?? "").filter((line) => {
    if (seen.has(line) || !isOut(line)) return false;
    const header = find(parseIndexLine(line)?.file ?? "");
    return header !== null && there.has(formatIndexLine(header));
  });
  return [...new Set([...left.retired.filter((line) => !there.has(line)), ...replaced, ...[...seen].filter(isOut)])];
}

/** Takes lines out of the overflow page whose memories the index names: an older text or a dead writer left them in both. */
function dropDoubles(pages: Pages): Pages {
  if (pages.more === "") return pages;
  const inIndex = new Set(splitLines(blankComments(pages.index ?? "")).flatMap(pointedFiles));
  const kept = splitLines(pages.more).filter((line) => !inIndex.has(fileKey(parseIndexLine(line)?.file ?? "")));
  const more = cleanOverflow(kept.join(""));
  return { index: putOverflowLink(pages.index ?? "", linkedFiles(more).size), more };
}

/** Each line at its old number if the line before it is still the same, else behind that line, else at the end. */
function placeLines(text: string, placed: readonly PlacedLine[]): string {
  if (placed.length === 0) return text;
  const lines = splitLines(text);
  const top = frontmatterEnd(lines);
  for (const { text: line, at, after } of placed) {
    const isBefore = (each: string | undefined) => (each === undefined ? null : each.trimEnd()) === after;
    const behind = after === null ? 0 : lines.findIndex(isBefore) + 1 || lines.length;
    const place = at >= 0 && at <= lines.length && isBefore(lines[at - 1]) ? at : behind;
    insertAt(lines, Math.max(top, place), withoutBreak(line));
  }
  return lines.join("");
}

/** With a line that is not there yet at the end. */
export function addLine(text: string, line: string): string {
  const lines = splitLines(text);
  if (lines.some((each) => each.trimEnd() === line.trimEnd())) return text;
  insertAt(lines, lines.length, line.trimEnd());
  return lines.join("");
}

/** Nothing goes above a frontmatter that somebody gave the index. */
function frontmatterEnd(lines: readonly string[]): number {
  if (lines[0]?.trim() !== "---") return 0;
  return lines.findIndex((line, at) => at > 0 && line.trim() === "---") + 1;
}

// --- The lines of what changed.

interface Line {
  /** "" once it is taken out. */
  text: string;
  references: Reference[];
}

interface Page {
  /** For notices. */
  name: string;
  lines: Line[];
  /** By file, and by what wiki links say. */
  files: Map<string, Line[]>;
  wikis: Map<string, Line[]>;
}

/** More new lines than this are simply appended, without looking for a section of their type. */
const FEW = 100;

function applyChanges(pages: Pages, changes: readonly HeaderChange[], find: Find, notices: string[]): Pages {
  if (changes.length === 0) return pages;
  const mentions = mentionPattern(changes);
  const index = openPage(INDEX_FILE, pages.index ?? "", mentions);
  const more = openPage(OVERFLOW_FILE, pages.more, mentions);
  const fresh: Header[] = [];
  for (const { file, before, after } of changes) {
    if (after === null)
      for (const page of [index, more]) dropLines(page, before ?? { file, name: file }, find, notices);
    else if (before !== null && before.file !== after.file) moveLines([index, more], before, after, fresh);
    else putLine(index, more, before, after, fresh);
  }
  insertFresh(index, fresh);
  const text = joinPage(index);
  return { index: pages.index === null && text === "" ? null : text, more: cleanOverflow(joinPage(more)) };
}

/** Makes the index name a memory. Our own line gets the new words; a line in other words stays, since somebody chose them. */
function putLine(index: Page, more: Page, before: Header | null, after: Header, fresh: Header[]): void {
  const found = linesNaming(index, after, before);
  const there = found.length > 0 ? [] : linesNaming(more, after, before);
  if (found.length + there.length === 0) {
    fresh.push(after);
    return;
  }
  const own = formatIndexLine(before ?? after);
  const line = formatIndexLine(after);
  if (found.length === 0) {
    const moved = there.filter(({ text, references }) => isEntry(text, references));
    const worded = moved.map(({ text }) => withoutBreak(text)).filter((text) => text.trimEnd() !== own);
    if (worded.length === 0 && moved.length === there.length) fresh.push(after);
    for (const each of moved) setText(more, each, "");
    for (const text of worded) insertLine(index, before ? retarget(text, before, after) : text, after);
    return;
  }
  let isFirst = true;
  for (const each of found) {
    const bare = each.text.trimEnd();
    if (bare !== own && bare !== line) {
      if (before) setText(index, each, retarget(each.text, before, after));
      continue;
    }
    // The first one of ours stays and gets the new words; a second one, from a merge, goes.
    setText(index, each, isFirst && bare === own ? line + each.text.slice(own.length) : isFirst ? each.text : "");
    isFirst = false;
  }
}

/** Points every line of one file to another; its words stay unless memdir wrote them. */
function moveLines(pages: readonly Page[], before: Header, after: Header, fresh: Header[]): void {
  const own = formatIndexLine(before);
  let isFound = false;
  for (const page of pages) {
    for (const line of linesNaming(page, before)) {
      const isOwn = line.text.trimEnd() === own;
      setText(
        page,
        line,
        isOwn ? formatIndexLine(after) + line.text.slice(own.length) : retarget(line.text, before, after),
      );
      isFound = true;
    }
  }
  if (!isFound && pages.every((page) => linesNaming(page, after).length === 0)) fresh.push(after);
}

/** Takes out the lines that are there for this memory alone. A line with other words or other memories stays, and is reported. */
function dropLines(page: Page, header: Pick<Header, "file" | "name">, find: Find, notices: string[]): void {
  const keys = keysOf(header);
  const own = "description" in header ? formatIndexLine(header as Header) : null;
  for (const line of linesNaming(page, header)) {
    if (line.text.trimEnd() === own || isOnlyFor(line, keys, find)) setText(page, line, "");
    else {
      const at = page.lines.filter(({ text }) => text !== "").indexOf(line) + 1;
      notices.push(`line ${at} of ${page.name} still names ${header.file} among other words: edit it by hand`);
    }
  }
}

function isOnlyFor({ text, references }: Line, keys: Keys, find: Find): boolean {
  if (!isEntry(text, references)) return false;
  const mine = references.filter((reference) => names(reference, keys));
  const others = references.filter((reference) => !names(reference, keys));
  return (
    mine.some((reference) => isPointer(text, reference)) &&
    // A wiki link may name a memory by its name, which cannot be looked up here.
    others.every((reference) => reference.kind !== "wiki" && findNamed(reference, find) === null)
  );
}

/** Where the section of its type ends, else at the end. */
function insertFresh(page: Page, fresh: readonly Header[]): void {
  if (fresh.length <= FEW) {
    for (const header of fresh) insertLine(page, formatIndexLine(header), header);
    return;
  }
  const eol = eolOf(page.lines.map(({ text }) => text));
  const last = page.lines.findLast(({ text }) => text !== "");
  if (last && !last.text.endsWith("\n")) last.text += eol;
  for (const header of fresh) page.lines.push({ text: formatIndexLine(header) + eol, references: [] });
}

function insertLine(page: Page, line: string, { type }: Header): void {
  page.lines = page.lines.filter(({ text }) => text !== "");
  const texts = page.lines.map(({ text }) => text);
  const at = sectionEnd(texts, type) ?? texts.length;
  insertAt(texts, at, line);
  if (at > 0) (page.lines[at - 1] as Line).text = texts[at - 1] as string;
  const inserted: Line = { text: "", references: [] };
  page.lines.splice(at, 0, inserted);
  setText(page, inserted, texts[at] as string);
}

/** Behind the last entry under a heading named like the type, for an index that is kept in sections. */
function sectionEnd(lines: readonly string[], type: string): number | null {
  const named = (pattern: string) => lines.findIndex((line) => new RegExp(pattern, "i").test(line));
  // "# Project Memory" is the title of the whole, not a section, unless there is nothing better.
  const exact = named(`^#{1,6}\\s+${type}s?\\s*$`);
  const start = exact >= 0 ? exact : named(`^#{2,6}\\s+${type}s?\\b`);
  if (start < 0) return null;
  let last = start;
  for (let i = start + 1; i < lines.length && !/^#{1,6}\s/.test(lines[i] as string); i++) {
    if ((lines[i] as string).trim() !== "") last = i;
  }
  return last + 1;
}

/** Only lines that may mention what changes are looked at; null for all of them. */
function openPage(name: string, text: string, mentions: RegExp | null): Page {
  const page: Page = { name, lines: [], files: new Map(), wikis: new Map() };
  const isNamed = mentions?.test(text) ?? true;
  const seen = splitLines(blankComments(text));
  page.lines = splitLines(text).map((line, at) => ({
    text: line,
    references: isNamed && (mentions?.test(line) ?? true) ? readReferences(seen[at] as string) : [],
  }));
  for (const line of page.lines) enter(page, line);
  return page;
}

/**
 * What a line has to hold to name one of these memories: letters and digits of its file's or its own name, in order, however
 * what is between them is spelled; or a spelling that cannot be searched for. It finds more than that, never less, in a text
 * and in its UTF-8 bytes alike. Null where it would be of no use.
 */
export function mentionPattern(changes: readonly HeaderChange[]): RegExp | null {
  if (changes.length > FEW) return null;
  const headers = changes.flatMap(({ file, before, after }) => [before, after, { file, name: file }]);
  const names = new Set(headers.flatMap((header) => (header ? [stemOf(header.file), stemOf(header.name)] : [])));
  const patterns = [...names].map(spellingsOf);
  return patterns.includes(null) ? null : new RegExp([...patterns, ...ODD_SPELLINGS].join("|"), "i");
}

/** A plain letter or digit that is encoded; and two letters that become `i` and `k` in lower case, as text, as bytes and encoded. */
const ODD_SPELLINGS = [
  "%(?:3\\d|[46][1-9a-f]|[57][\\da])",
  ...["\u0130", "\xc4\xb0", "%c4%b0"],
  ...["\u212a", "\xe2\x84\xaa", "%e2%84%aa"],
];

/** Between two words: a blank, a `_` or other signs, or the same encoded. It begins no word, so that a text is gone through once. */
const GAP = "(?:%[\\da-f]{2}|[^a-z\\d\\n])+";

/** Of its longest part in plain letters, since others can be spelled in several ways; null when that is too short. */
function spellingsOf(name: string): string | null {
  const parts =
    name
      .normalize("NFC")
      .toLowerCase()
      .match(/[ -~]+/g) ?? [];
  const all = parts.map((part) => part.match(/[a-z\d]+/g) ?? []);
  const words = all.reduce((a, b) => (b.join("").length > a.join("").length ? b : a), []);
  return words.join("").length > 2 ? words.join(GAP) : null;
}

function enter(page: Page, line: Line): void {
  for (const { kind, target } of line.references) {
    const [map, key] = kind === "wiki" ? [page.wikis, nameKey(target)] : [page.files, fileKey(target)];
    const there = map.get(key);
    if (!there) map.set(key, [line]);
    else if (!there.includes(line)) there.push(line);
  }
}

function setText(page: Page, line: Line, text: string): void {
  if (line.text === text) return;
  line.text = text;
  line.references = readReferences(blankComments(text));
  enter(page, line);
}

/** In the order of the page. */
function linesNaming(page: Page, ...headers: readonly (Pick<Header, "file" | "name"> | null)[]): Line[] {
  if (page.files.size + page.wikis.size === 0) return [];
  const found = new Set<Line>();
  for (const header of headers) {
    if (!header) continue;
    const keys = keysOf(header);
    const candidates = [page.files.get(keys.file), ...[...keys.names].map((name) => page.wikis.get(name))];
    for (const line of candidates.flatMap((lines) => lines ?? [])) {
      if (line.text !== "" && line.references.some((reference) => names(reference, keys))) found.add(line);
    }
  }
  return found.size > 1 ? page.lines.filter((line) => found.has(line)) : [...found];
}

function joinPage({ lines }: Page): string {
  return lines.map(({ text }) => text).join("");
}

export function trimmedLines(text: string): string[] {
  return splitLines(text).map((line) => line.trimEnd());
}

// --- Every memory a line.

/** Whether everything that a line names is gone; the target of a wiki link is not certain. */
export function isDead(line: string, find: Find): boolean {
  return readReferences(line).every(({ kind, target }) => kind !== "wiki" && find(target) === null);
}

/** Adds what no line names, and takes out pointers to nothing and lines that are there twice. Files without frontmatter are not added. */
function rebuild(pages: Pages, { find, all }: ReconcileOptions, notices: string[]): Pages {
  const headers = all();
  const known = new Map(headers.map((header) => [fileKey(header.file), header]));
  const removed: string[] = [];
  const seen = new Set<string>();
  const sweep = (text: string) => {
    const seenLines = splitLines(blankComments(text));
    const lines = splitLines(text).filter((line, at) => {
      const file = parseIndexLine(seenLines[at] as string)?.file;
      if (file === undefined || file === OVERFLOW_FILE) return true;
      const bare = line.trimEnd();
      const keep = !seen.has(bare) && !isDead(line, (target) => known.get(fileKey(target)) ?? find(target));
      seen.add(bare);
      if (!keep) removed.push(file);
      return keep;
    });
    return lines.join("");
  };
  const swept = dropDoubles({ index: sweep(pages.index ?? ""), more: sweep(pages.more) });
  const isListed = openListing(swept.index ?? "", swept.more);
  const missing = headers.filter((header) => !isListed(header));
  if (missing.length > 0) notices.push(`added ${some(missing.map(({ file }) => file))}`);
  if (removed.length > 0) notices.push(`removed lines that point to nothing or are there twice: ${some(removed)}`);
  const changes = missing.map((after) => ({ file: after.file, before: null, after }));
  return applyChanges(swept, changes, find, notices);
}
