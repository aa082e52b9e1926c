/** The index and its overflow page as one thing: a memory's line stands in one of them. */

import { OVERFLOW_FILE } from "./directory.ts";
import { formatIndexLine, parseIndexLine } from "./index-line.ts";
import {
  eolOf,
  hasLine,
  linkedFiles,
  moveLine,
  putLine,
  type RemovedLine,
  removeLines,
  splitLines,
  takeLines,
} from "./index-text.ts";
import type { Header } from "./memory.ts";

export interface Pages {
  index: string;
  /** The overflow page's new text; null while it is as it was. */
  more: string | null;
  /** The overflow page as it is: read only when it is needed, it may be large. */
  readMore: () => string;
}

/** What a change of memories means for their lines. Applying an edit again changes nothing. */
export type LineEdit =
  | { kind: "put"; header: Header; previous: Header | null; restore?: readonly RemovedLine[] }
  | { kind: "drop"; file: string }
  | { kind: "move"; from: Header; to: Header }
  /** A pointer in somebody's own words takes the place of ours. */
  | { kind: "reword"; header: Header; line: string }
  /** Text of its own that another index had. */
  | { kind: "text"; lines: readonly string[] };

/** More new lines than this are simply appended, without looking for a section of their type. */
export const FEW = 100;

/** All edits of a change. Thousands of memories that come or go at once take one pass, not one for each. */
export function applyEdits(pages: Pages, edits: readonly LineEdit[]): Pages {
  const isFresh = (edit: LineEdit) => edit.kind === "put" && edit.previous === null && edit.restore === undefined;
  const fresh = edits.flatMap((edit) => (edit.kind === "put" && isFresh(edit) ? [edit.header] : []));
  const gone = edits.flatMap((edit) => (edit.kind === "drop" ? [edit.file] : []));
  const isMany = (edit: LineEdit) =>
    edit.kind === "drop" ? gone.length > FEW : isFresh(edit) ? fresh.length > FEW : false;
  let next = edits.filter((edit) => !isMany(edit)).reduce(applyEdit, pages);
  if (gone.length > FEW) next = dropLines(next, new Set(gone.map((file) => file.normalize("NFC"))));
  return fresh.length > FEW ? { ...next, index: appendNew(next.index, fresh) } : next;
}

export function applyEdit(pages: Pages, edit: LineEdit): Pages {
  if (edit.kind === "drop") return dropLine(pages, edit.file);
  if (edit.kind === "reword") return rewordLine(pages, edit.header, edit.line);
  if (edit.kind === "text") return { ...pages, index: appendLines(pages.index, edit.lines) };
  if (edit.kind === "move") {
    if (hasLine(pages.index, edit.from.file)) return { ...pages, index: moveLine(pages.index, edit.from, edit.to) };
    if (hasLine(moreOf(pages), edit.from.file)) return withMore(pages, moveLine(moreOf(pages), edit.from, edit.to));
    return { ...pages, index: putLine(pages.index, edit.to, null) };
  }
  const { header, previous, restore } = edit;
  // A new memory has no line yet; of an older one it may have gone to the overflow page, and comes back.
  const isNew = previous === null && restore === undefined;
  if (isNew || hasLine(pages.index, header.file)) {
    return { ...pages, index: putLine(pages.index, header, previous, restore) };
  }
  const { text, lines } = takeLines(moreOf(pages), header.file);
  if (lines.length === 0) return { ...pages, index: putLine(pages.index, header, previous, restore) };
  const own = previous ? formatIndexLine(previous) : formatIndexLine(header);
  const worded = lines.filter((line) => line.trimEnd() !== own).map((line) => ({ text: line, at: -1, after: "" }));
  return withMore({ ...pages, index: putLine(pages.index, header, previous, restore ?? worded) }, text, lines.length);
}

function rewordLine(pages: Pages, header: Header, line: string): Pages {
  const own = formatIndexLine(header);
  const lines = splitLines(pages.index);
  const at = lines.findIndex((l) => l.trimEnd() === own);
  if (at >= 0) {
    lines[at] = line + (lines[at] as string).slice(own.length);
    return { ...pages, index: lines.join("") };
  }
  return applyEdit(pages, {
    kind: "put",
    header,
    previous: header,
    restore: [{ text: `${line}\n`, at: -1, after: "" }],
  });
}

function dropLine(pages: Pages, file: string): Pages {
  const index = removeLines(pages.index, file);
  if (index.removed.length > 0) return { ...pages, index: index.text };
  const { text, lines } = takeLines(moreOf(pages), file);
  return withMore(pages, text, lines.length);
}

function dropLines(pages: Pages, files: ReadonlySet<string>): Pages {
  const keep = (text: string) => splitLines(text).filter((line) => !files.has(parseIndexLine(line)?.file ?? ""));
  const index = keep(pages.index).join("");
  return withMore({ ...pages, index }, keep(moreOf(pages)).join(""));
}

/** Memories that no line points to yet, at the end. */
function appendNew(text: string, headers: readonly Header[]): string {
  const linked = linkedFiles(text);
  const missing = headers.filter(({ file }) => !linked.has(file.normalize("NFC")));
  const eol = eolOf(splitLines(text));
  const gap = text === "" || text.endsWith("\n") ? "" : eol;
  return missing.length === 0
    ? text
    : `${text}${gap}${missing.map((header) => formatIndexLine(header) + eol).join("")}`;
}

/** Lines that are not there yet, at the end. */
export function appendLines(text: string, lines: readonly string[]): string {
  const there = new Set(splitLines(text).map((line) => line.trimEnd()));
  const missing = lines.map((line) => line.trimEnd()).filter((line) => !there.has(line));
  const eol = eolOf(splitLines(text));
  const gap = text === "" || text.endsWith("\n") ? "" : eol;
  return missing.length === 0 ? text : `${text}${gap}${missing.join(eol)}${eol}`;
}

/** Takes lines out of the overflow page that stand in the index too: a stale editor or a dead writer left them in both. */
export function dropDoubles(pages: Pages): Pages {
  const more = moreOf(pages);
  const linked = linkedFiles(pages.index);
  const kept = splitLines(more).filter((line) => !linked.has(parseIndexLine(line)?.file ?? ""));
  const next = withMore(pages, kept.join(""));
  // The number in the link may be an old one, too.
  return next === pages ? { ...pages, index: putOverflowLink(pages.index, linkedFiles(more).size) } : next;
}

/** Takes out lines that point to nothing, and a line that stands a second time. */
export function sweepLines(pages: Pages, exists: (file: string) => boolean): Pages {
  const seen = new Set<string>();
  const sweep = (text: string) =>
    splitLines(text)
      .filter((line) => {
        const file = parseIndexLine(line)?.file;
        if (file === undefined || file === OVERFLOW_FILE) return true;
        const keep = exists(file) && !seen.has(line.trimEnd());
        seen.add(line.trimEnd());
        return keep;
      })
      .join("");
  return withMore({ ...pages, index: sweep(pages.index) }, sweep(moreOf(pages)));
}

export function moreOf(pages: Pages): string {
  return pages.more ?? pages.readMore();
}

/** With another overflow page; the index says how many lines it has. `taken` saves counting when only lines were taken out. */
export function withMore(pages: Pages, more: string, taken?: number): Pages {
  if (more === moreOf(pages)) return pages;
  const stated = taken === undefined ? null : statedCount(pages.index);
  const count = stated === null ? linkedFiles(more).size : stated - (taken as number);
  return { ...pages, more, index: putOverflowLink(pages.index, count) };
}

function statedCount(index: string): number | null {
  const line = takeLines(index, OVERFLOW_FILE).lines[0]?.trimEnd();
  const count = Number(/ — (\d+) further/.exec(line ?? "")?.[1]);
  return line === overflowLink(count) ? count : null;
}

/** The line that leads to the overflow page; memdir's own, so its number may change. */
export function putOverflowLink(text: string, count: number): string {
  const line = overflowLink(count);
  const lines = splitLines(text);
  const at = lines.findIndex((l) => parseIndexLine(l)?.file === OVERFLOW_FILE);
  if (count === 0) return lines.filter((_, i) => i !== at).join("");
  const eol = eolOf(lines);
  if (at >= 0) {
    lines[at] = line + eol;
    return lines.join("");
  }
  const gap = text === "" || text.endsWith("\n") ? "" : eol;
  return `${text}${gap}${line}${eol}`;
}

export function overflowLink(count: number): string {
  const description = `${count} further memor${count === 1 ? "y" : "ies"}; look here when nothing above fits`;
  return formatIndexLine({ file: OVERFLOW_FILE, name: "More memories", description });
}
