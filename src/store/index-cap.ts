/** The cap of MEMORY.md: how much of it the client loads, counted as it counts, and which lines move to the overflow page when it is full. */

import { blankComments, splitLines, stripForClient } from "../text/lines.ts";
import { type IndexLimits, OVERFLOW_FILE } from "./directory.ts";
import {
  fileKey,
  formatIndexLine,
  insertAt,
  isTableRow,
  linkedFiles,
  type Pages,
  parseIndexLine,
  readReferences,
  withoutBreak,
} from "./index-line.ts";
import type { Header, MemoryType } from "./memory.ts";

/** What Claude Code 2.1 was observed to load: lines, and UTF-16 units, after frontmatter and block comments are gone. */
export const CLIENT_LIMITS: IndexLimits = { maxLines: 200, maxChars: 25_000 };

export interface IndexSize {
  lines: number;
  chars: number;
}

export function measureIndex(text: string): IndexSize {
  const seen = stripForClient(text).trim();
  return { lines: seen === "" ? 0 : seen.split("\n").length, chars: seen.length };
}

export function isOver(size: IndexSize, limits: IndexLimits): boolean {
  return size.lines > limits.maxLines || size.chars > limits.maxChars;
}

export interface CapOptions {
  limits: IndexLimits;
  /** A memory as it is once the change is made; null when there is no such file. */
  find: (file: string) => Header | null;
  ageDays: (header: Header) => number;
  /** The file that was just saved: its line moves to the overflow page last. */
  saved?: string | undefined;
}

/** Once the cap is reached, this much is kept: room for the next saves, so that not every one of them has to move a line. */
const KEEP_SHARE = 0.85;

const OVERFLOW_HEAD = `# More memories

Lines that no longer fit into MEMORY.md. The memories themselves are unchanged and recall still finds them.

`;

interface Movable {
  at: number;
  line: string;
  file: string;
  /** In memdir's own words. */
  isOwn: boolean;
  rank: readonly number[];
}

/** Keeps the index under the client's cap: its least valuable lines move to the overflow page, word for word. */
export function fitPages(
  pages: Pages,
  options: CapOptions,
  wasOver: boolean,
  notices: string[],
): { pages: Pages; moved: string[] } {
  const { limits } = options;
  const text = pages.index ?? "";
  const size = measureIndex(text);
  if (!isOver(size, limits)) return { pages, moved: [] };
  const all = findMovable(text, options);
  const movable = wasOver ? all.filter(({ isOwn, file }) => isOwn && file !== options.saved) : all;
  const full = { lines: size.lines + 1, chars: size.chars + overflowLink(99_999).length };
  const room = {
    maxLines: Math.floor(limits.maxLines * KEEP_SHARE),
    maxChars: Math.floor(limits.maxChars * KEEP_SHARE),
  };
  // Where hand-written text fills the index, room cannot be made: then only what must go goes.
  const moving = takeUntil(movable, full, room) ?? takeUntil(movable, full, limits) ?? (wasOver ? [] : movable);
  const gone = new Set(moving.map(({ at }) => at));
  const more = moving.length === 0 ? pages.more : addToOverflow(pages.more, moving);
  const kept = splitLines(text).filter((_, at) => !gone.has(at));
  const index = moving.length === 0 ? text : putOverflowLink(kept.join(""), linkedFiles(more).size);
  const moved = moving.map(({ file }) => file);
  if (moved.length > 0) notices.push(`MEMORY.md was full: the lines of ${some(moved)} moved to ${OVERFLOW_FILE}`);
  if (isOver(measureIndex(index), limits))
    notices.push(
      wasOver && all.length > (options.saved ? 1 : 0)
        ? `MEMORY.md is over the client's limit, as it was before: its end is not loaded; shorten it, or let \`memdir index --rebuild\` move lines to ${OVERFLOW_FILE}`
        : "MEMORY.md is over the client's limit by hand-written text alone: shorten it, its end is not loaded",
    );
  return { pages: { index, more }, moved };
}

/** List items that point to one memory and have nothing below them, the least valuable first. */
function findMovable(text: string, { find, ageDays, saved, limits }: CapOptions): Movable[] {
  const lines = splitLines(text);
  const seen = splitLines(blankComments(text));
  const movable = lines.flatMap((line, at): Movable[] => {
    const file = parseIndexLine(seen[at] as string)?.file;
    if (file === undefined || file === OVERFLOW_FILE || isTableRow(line)) return [];
    if (!isOwnShape(line) && readReferences(line).length > 1) return [];
    const header = indentOf(lines[at + 1] ?? "") > indentOf(line) ? null : find(file);
    if (!header) return [];
    const isGiant = line.length > limits.maxChars * KEEP_SHARE;
    const isOwn = line.trimEnd() === formatIndexLine(header);
    const rank = isGiant
      ? [-1]
      : rankOf(header, ageDays(header), isOwn, saved !== undefined && file === saved.normalize("NFC"));
    return [{ at, line, file, isOwn, rank }];
  });
  return movable.sort((a, b) => compareRanks(a.rank, b.rank));
}

/** In the form that memdir writes: what its description mentions is no second pointer. */
function isOwnShape(line: string): boolean {
  return /^- \[[^\]]*\]\([^)\s]+\)(?: — |\s*$)/.test(line);
}

/** 0 for a blank line: nothing is below it. */
function indentOf(line: string): number {
  return line.trim() === "" ? 0 : line.length - line.trimStart().length;
}

/** The first lines that must go for the rest to keep the limits; null if all of them are not enough. */
function takeUntil(movable: readonly Movable[], size: IndexSize, limits: IndexLimits): readonly Movable[] | null {
  const left = { ...size };
  for (const [at, { line }] of movable.entries()) {
    if (!isOver(left, limits)) return movable.slice(0, at);
    left.lines -= 1;
    left.chars -= line.length;
  }
  return isOver(left, limits) ? null : movable;
}

function addToOverflow(overflow: string, moved: readonly Movable[]): string {
  const files = new Set(moved.map(({ file }) => fileKey(file)));
  const kept = splitLines(overflow === "" ? OVERFLOW_HEAD : overflow).filter(
    (line) => !files.has(fileKey(parseIndexLine(line)?.file ?? "")),
  );
  const body = kept.join("");
  const gap = body === "" || body.endsWith("\n") ? "" : "\n";
  return body + gap + moved.map(({ line }) => `${withoutBreak(line)}\n`).join("");
}

/** Lower goes first: stale project notes, references, other project notes, the user, corrections, pinned, the one just saved. */
function rankOf({ pinned, type }: Header, ageDays: number, isOwn: boolean, isSaved: boolean): readonly number[] {
  const isFresh = type === "project" && ageDays <= FRESH_PROJECT_DAYS;
  const kind = isSaved ? 6 : pinned ? 5 : isFresh ? 2 : KINDS[type];
  return [kind, isOwn ? 0 : 1, -ageDays];
}

/** A project note of this week is likelier to matter than an old reference. */
const FRESH_PROJECT_DAYS = 7;

const KINDS: Record<MemoryType, number> = { project: 0, reference: 1, user: 3, feedback: 4 };

function compareRanks(a: readonly number[], b: readonly number[]): number {
  for (let i = 0; i < Math.min(a.length, b.length); i++) {
    const difference = (a[i] as number) - (b[i] as number);
    if (difference !== 0) return difference;
  }
  return 0;
}

/** The index says how many lines the overflow page has. */
export function linkOverflow(pages: Pages, start: Pages): Pages {
  if (pages.more === start.more) return pages;
  return { ...pages, index: putOverflowLink(pages.index ?? "", linkedFiles(pages.more).size) };
}

/** The line that leads to the overflow page; memdir's own, so its number may change. */
export function putOverflowLink(text: string, count: number): string {
  const lines = splitLines(text);
  const at = lines.findIndex((line) => parseIndexLine(line)?.file === OVERFLOW_FILE);
  if (count === 0) return lines.filter((_, i) => i !== at).join("");
  if (at >= 0) lines[at] = overflowLink(count) + (/\r?\n$/.exec(lines[at] as string)?.[0] ?? "");
  else insertAt(lines, lines.length, overflowLink(count));
  return lines.join("");
}

function overflowLink(count: number): string {
  const description = `${count} further memor${count === 1 ? "y" : "ies"}; look here when nothing above fits`;
  return formatIndexLine({ file: OVERFLOW_FILE, name: "More memories", description });
}

/** An overflow page with nothing but its head is of no use. */
export function cleanOverflow(more: string): string {
  return more.trim() === OVERFLOW_HEAD.trim() || more.trim() === "" ? "" : more;
}

export function some(files: readonly string[]): string {
  const shown = files.slice(0, 3).join(", ");
  return files.length > 3 ? `${shown} and ${files.length - 3} more` : shown;
}
