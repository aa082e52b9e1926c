/** The lines of MEMORY.md: written in one form, read in every form that real indexes have, and as many as the client loads. */

import { attempt } from "../errors.ts";
import { INDEX_FILE, OVERFLOW_FILE } from "../project/locate.ts";
import { blankComments, eolOf, splitLines, stripForClient } from "../text/lines.ts";
import { redactSecrets } from "../text/secrets.ts";
import type { IndexLimits } from "./directory.ts";
import { type Header, type MemoryType, stemOf } from "./memory.ts";

/** A place in a line that names a memory. */
export interface Reference {
  /** `[Title](file.md)`, `[[name]]`, or a plain `file.md` in the text. */
  kind: "link" | "wiki" | "file";
  /** A path below the directory; for a wiki link a path, a file's stem or a memory's name. Composed (NFC). */
  target: string;
  title: string;
  /** Where the target is, without `./` and anchor: what a rename replaces. */
  start: number;
  end: number;
  /** Where all of it is, with brackets. */
  from: number;
  to: number;
}

export interface Pages {
  /** MEMORY.md; null when there is none. */
  index: string | null;
  /** The overflow page; "" when there is none. */
  more: string;
}

/** What a line points to, if it is there for one memory. */
export interface IndexLine {
  file: string;
  title: string;
  hook: string;
}

/** `- [Title](file.md) — hook`. Nothing is cut: a long line is a matter for lint. */
export function formatIndexLine(header: Pick<Header, "file" | "name" | "description">): string {
  const hook = tame(header.description);
  const title = tame(header.name).replaceAll("[", "(").replaceAll("]", ")").replace(/\\+$/, "");
  return `- [${title || "memory"}](${formatTarget(header.file)})${hook === "" ? "" : ` — ${hook}`}`;
}

/** One line without secrets, that opens no code span, HTML tag, comment or escape that could swallow the link. */
function tame(text: string): string {
  return redactSecrets(text)
    .replace(/\s+/g, " ")
    .trim()
    .replaceAll("`", "'")
    .replace(/<(?=[a-z/!?])/gi, "< ")
    .replaceAll("-->", "-- >");
}

/** Only what would end or change the link is encoded, so that names stay readable. */
function formatTarget(file: string): string {
  return file.replace(/[\s\p{Cc}()<>[\]%#\\`:~?&*]/gu, (c) => {
    const encoded = encodeURIComponent(c);
    return encoded === c ? `%${c.charCodeAt(0).toString(16).toUpperCase()}` : encoded;
  });
}

/** With its check box. */
const BULLET = /^[ \t]*(?:[-*+]|\d{1,9}[.)])[ \t]+(?:\[[ xX]\][ \t]+)?/;

/** Emphasis, emoji, arrows: anything but words, a heading or a cell. */
const MARKS_ONLY = /^[^\p{L}\p{N}#|]*$/u;

/** Read from a list item or a row of a table that begins with a link, or a list item that ends in `[file.md]`. Null for all else. */
export function parseIndexLine(line: string): IndexLine | null {
  if (!/\.md/i.test(line)) return null;
  const bullet = BULLET.exec(line)?.[0];
  const isRow = isTableRow(line);
  if (bullet === undefined && !isRow) return null;
  const references = readReferences(line);
  const first = references.find(({ kind }) => kind === "link");
  if (first && (isRow || MARKS_ONLY.test(line.slice(bullet?.length ?? 0, first.from)))) {
    return {
      file: first.target,
      title: first.title,
      // Most want to know the file only, of thousands of lines.
      get hook() {
        return hookBehind(line, first);
      },
    };
  }
  const last = references.at(-1);
  const isAtEnd = last?.kind === "file" && line[last.from] === "[" && line.slice(last.to).trim() === "";
  if (!last || !isAtEnd || bullet === undefined) return null;
  const title = line.slice(bullet.length, last.from).trim();
  return { file: last.target, title, hook: title };
}

function hookBehind(line: string, { to }: Reference): string {
  return line
    .slice(to)
    .trim()
    .replace(/^\*\*/, "")
    .replace(/^\s*\((?:user|feedback|project|reference)\)/, "")
    .replace(/^\s*[—–:|-]+\s*/, "")
    .replace(/\s*\|$/, "")
    .trim();
}

/** A list item, a row of a table, or a line that is a link and its description: it is there for what it names. */
export function isEntry(line: string, references: readonly Reference[]): boolean {
  if (BULLET.test(line) || isTableRow(line)) return true;
  const [first] = references;
  return (
    first !== undefined &&
    MARKS_ONLY.test(line.slice(0, first.from)) &&
    /^[\s*_~]*(?:$|[—–:(-])/.test(line.slice(first.to))
  );
}

/** Whether an entry points to this place of it. A plain file name among other words is only mentioned. */
export function isPointer(line: string, { kind, from, to }: Reference): boolean {
  if (kind !== "file") return true;
  const before = line.slice(BULLET.exec(line)?.[0].length ?? 0, from);
  return MARKS_ONLY.test(before.replace(/\|/g, "")) || (line[from] === "[" && line.slice(to).trim() === "");
}

function isTableRow(line: string): boolean {
  return /^[ \t]*\|/.test(line);
}

/** Longer than any path or title. A bound keeps giant lines without an end to a bracket from taking the square of their length. */
const MAX_CHARS = 1000;

/** A line in our own form whose description names nothing, the usual case: read at a tenth of the price of the others. */
const OWN = /^- \[([^[\]\\]*)\]\(((?!\.)[\w.-]+(?:\/[\w.-]+)*\.md)\)(?! *\()((?: — .*)?)$/;

/** Every place that names a memory, in order. */
export function readReferences(line: string): Reference[] {
  const [, title = "", target, rest = ""] = OWN.exec(line.trimEnd()) ?? [];
  if (target !== undefined && !/\.md|\[\[/i.test(rest) && !target.includes("..")) {
    const start = title.length + 5;
    const end = start + target.length;
    return [{ kind: "link", target, title, start, end, from: 2, to: end + 1 }];
  }
  const found = line.includes("[[") ? readWikis(line) : [];
  if (/\.md/i.test(line)) {
    found.push(...readLinks(line));
    found.push(...readFiles(line, found));
  }
  return found.sort((a, b) => a.from - b.from);
}

function readLinks(line: string): Reference[] {
  const links: Reference[] = [];
  for (let at = line.indexOf("]("); at >= 0; at = line.indexOf("](", at + 1)) {
    if (line[at - 1] === "\\") continue;
    const end = closing(line, at + 1);
    const from = end < 0 ? -1 : opening(line, at);
    const target = from < 0 ? null : parseTarget(line.slice(at + 2, end));
    if (target === null) continue;
    links.push({
      kind: "link",
      target: target.file,
      title: line.slice(from + 1, at),
      start: at + 2 + target.start,
      end: at + 2 + target.end,
      from,
      to: end + 1,
    });
    at = end;
  }
  return links;
}

/** The `)` of a link's target, with inner pairs and escapes passed over; -1 if there is none. */
function closing(line: string, open: number): number {
  let depth = 0;
  const limit = Math.min(line.length, open + MAX_CHARS);
  for (let i = open; i < limit; i++) {
    const c = line[i];
    if (c === "\\") i++;
    else if (c === "(") depth++;
    else if (c === ")" && --depth === 0) return i;
  }
  return -1;
}

/** The `[` of a link's title, from its `]` backwards; -1 if there is none. */
function opening(line: string, close: number): number {
  let depth = 0;
  for (let i = close; i >= 0 && i > close - MAX_CHARS; i--) {
    if (i > 0 && line[i - 1] === "\\" && i !== close) continue;
    if (line[i] === "]") depth++;
    else if (line[i] === "[" && --depth === 0) return i;
  }
  return -1;
}

/** The file of a link's target and where it is in it; null when it leads elsewhere. */
function parseTarget(target: string): { file: string; start: number; end: number } | null {
  const trimmed = target.trim();
  const inner = /^<(.*)>$/.exec(trimmed)?.[1] ?? trimmed.replace(/\s+(?:"[^"]*"|'[^']*')$/, "");
  const path = inner.replace(/^(?:\.\/)+/, "").replace(/#.*$/, "");
  const file = decode(path);
  if (isElsewhere(path) || leadsUp(file) || !/\.md$/i.test(file)) return null;
  // Angle brackets are part of what a rename replaces: the new target is encoded instead.
  const [start, end] =
    inner === trimmed || !trimmed.startsWith("<")
      ? [target.indexOf(path), target.indexOf(path) + path.length]
      : [target.indexOf("<"), target.lastIndexOf(">") + 1];
  return { file: file.normalize("NFC"), start, end };
}

function isElsewhere(path: string): boolean {
  return /^[a-z][a-z0-9+.-]*:|^[/~\\]|(^|\/)\.\.(\/|$)/i.test(path);
}

/** Encoded, it may still lead out of the directory. */
function leadsUp(file: string): boolean {
  return /(^|\/)\.\.(\/|$)|^\//.test(file);
}

/** A percent sign that encodes nothing is part of the name. */
function decode(text: string): string {
  return attempt(() => decodeURIComponent(text), text);
}

const PATH_CHARACTER = /[\p{L}\p{N}\p{M}_.~%+/-]/u;

/** Plain file names, alone, in code marks or in brackets. */
function readFiles(line: string, others: readonly Reference[]): Reference[] {
  const files: Reference[] = [];
  for (const match of line.matchAll(/\.md(?![\p{L}\p{N}_/-]|\.\w)/giu)) {
    const end = match.index + 3;
    if (others.some(({ from, to }) => match.index >= from && match.index < to)) continue;
    const close = line[end];
    // Between marks a name may have spaces.
    const open = close === "]" ? "[" : close === "`" ? "`" : null;
    const opened = open === null ? -1 : line.lastIndexOf(open, match.index);
    const inner = opened < 0 || end - opened > MAX_CHARS ? null : line.slice(opened + 1, end);
    const isMarked = inner !== null && !/[[\]`|]/.test(inner) && line[opened - 1] !== "[" && line[end + 1] !== "(";
    let start = isMarked ? opened + 1 : match.index;
    if (!isMarked)
      while (start > 0 && end - start < MAX_CHARS && PATH_CHARACTER.test(line[start - 1] as string)) start--;
    if (!isMarked && /[@=#?&\\]/.test(line[start - 1] ?? "")) continue;
    const path = line.slice(start, end).replace(/^(?:\.\/)+/, "");
    const file = decode(path);
    if (file.length <= 3 || isElsewhere(path) || leadsUp(file)) continue;
    const from = isMarked ? opened : start;
    const to = isMarked ? end + 1 : end;
    files.push({ kind: "file", target: file.normalize("NFC"), title: "", start: end - path.length, end, from, to });
  }
  return files;
}

const WIKI = /\[\[([^[\]|#\n]{1,300})(?:#[^[\]|\n]{0,300})?(?:\|([^[\]\n]{0,300}))?\]\]/g;

function readWikis(line: string): Reference[] {
  return [...line.matchAll(WIKI)].map((match) => {
    const inner = match[1] as string;
    const bare = inner.trim().replace(/^(?:\.\/)+/, "");
    const start = match.index + 2 + inner.indexOf(bare);
    const span = { start, end: start + bare.length, from: match.index, to: match.index + match[0].length };
    return { kind: "wiki", target: bare.normalize("NFC"), title: (match[2] ?? bare).trim(), ...span };
  });
}

/** By what a reference can mean a memory: its file; for wiki links its path, its stem and its name. */
export interface Keys {
  file: string;
  names: ReadonlySet<string>;
}

export function keysOf({ file, name }: Pick<Header, "file" | "name">): Keys {
  return { file: fileKey(file), names: new Set([file, stemOf(file), name].map(nameKey)) };
}

/** Names are compared without case, as some disks do. */
export function fileKey(file: string): string {
  return file.normalize("NFC").toLowerCase();
}

/** In wiki links blanks, `_` and `-` are alike. */
export function nameKey(name: string): string {
  return fileKey(name)
    .replace(/\.md$/, "")
    .trim()
    .replace(/[\s_-]+/g, "-");
}

export function names({ kind, target }: Reference, keys: Keys): boolean {
  return kind === "wiki" ? keys.names.has(nameKey(target)) : fileKey(target) === keys.file;
}

/** The line with every reference to one memory pointed to another; words, anchors and titles stay. */
export function retarget(line: string, from: Pick<Header, "file" | "name">, to: Pick<Header, "file" | "name">): string {
  const [old, next] = [keysOf(from), keysOf(to)];
  let out = line;
  for (const reference of readReferences(line).toReversed()) {
    if (!names(reference, old) || names(reference, next)) continue;
    out = out.slice(0, reference.start) + targetFor(reference, from, to) + out.slice(reference.end);
  }
  return out;
}

/** What stands in the place of `target` once `from` is `to`: by path, file name, stem or name, as it was. */
export function targetFor(
  { kind, target }: Pick<Reference, "kind" | "target">,
  from: Pick<Header, "file" | "name">,
  to: Pick<Header, "file" | "name">,
): string {
  // A memory beside it may be named without the folder.
  const file = fileKey(target) === fileKey(from.file) ? to.file : `${stemOf(to.file)}.md`;
  if (kind === "link") return formatTarget(file);
  if (kind === "file") return file;
  const suffix = /\.md$/i.test(target) ? ".md" : "";
  const key = nameKey(target);
  if (key === nameKey(from.file) && from.file.includes("/")) return to.file.replace(/\.md$/, "") + suffix;
  const stem = stemOf(from.file);
  if (key === nameKey(stem) && (target !== from.name || target === stem)) return stemOf(to.file) + suffix;
  // Signs that end a wiki link cannot be part of one.
  return /[[\]|#]/.test(to.name) ? stemOf(to.file) : to.name;
}

// --- What the pages name.

/** The files that a text links to or names, as they are spelled there. Wiki links count with a file's name only. */
export function linkedFiles(text: string): Set<string> {
  const files = new Set<string>();
  for (const line of splitLines(blankComments(text))) {
    for (const { kind, target } of readReferences(line)) {
      if (target === INDEX_FILE || target === OVERFLOW_FILE) continue;
      if (kind !== "wiki" || /\.md$/i.test(target)) files.add(target);
    }
  }
  return files;
}

/** The files that an entry is there for, not those that it only mentions. */
export function pointedFiles(line: string): string[] {
  const references = readReferences(line);
  if (!isEntry(line, references)) return [];
  return references.filter((reference) => isPointer(line, reference)).map(({ target }) => fileKey(target));
}

/** Whether any of the texts names a memory, in whatever shape, outside of comments. */
export function openListing(...texts: readonly string[]): (header: Pick<Header, "file" | "name">) => boolean {
  const files = new Set<string>();
  const wikis = new Set<string>();
  for (const text of texts) {
    for (const line of splitLines(blankComments(text))) {
      for (const { kind, target } of readReferences(line)) {
        if (kind === "wiki") wikis.add(nameKey(target));
        else files.add(fileKey(target));
      }
    }
  }
  return (header) => {
    const keys = keysOf(header);
    return files.has(keys.file) || [...keys.names].some((name) => wikis.has(name));
  };
}

/** A text whose last line has no break keeps it that way: then only one line is new. */
export function insertAt(lines: string[], at: number, line: string): void {
  const eol = eolOf(lines);
  const before = lines[at - 1];
  const isOpen = before !== undefined && !before.endsWith("\n");
  if (isOpen) lines[at - 1] = before + eol;
  lines.splice(at, 0, isOpen ? line : line + eol);
}

export function withoutBreak(line: string): string {
  return line.replace(/\r?\n$/, "");
}

// --- The cap: how much the client loads, counted as it counts, and which lines move to the overflow page when it is full.

/** What Claude Code 2.1 was observed to load: lines, and UTF-16 units, after frontmatter and block comments are gone. */
export const CLIENT_LIMITS: IndexLimits = { maxLines: 200, maxChars: 25_000 };

export type IndexSize = ReturnType<typeof measureIndex>;

export function measureIndex(text: string) {
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
