/** MEMORY.md as text: finds, adds, updates and removes single lines; every other byte stays. */

import { formatIndexLine, formatTarget, parseIndexLine, targetSpan } from "./index-line.ts";
import type { Header } from "./memory.ts";

/** A line that was taken out and where it stood, so that undo can put it back in its place. */
export interface RemovedLine {
  /** With its line break, if it had one. */
  text: string;
  at: number;
  /** The line before it, without trailing space; null for the first. */
  after: string | null;
}

/** Lines with their breaks. */
export function splitLines(text: string): string[] {
  return text.match(/[^\n]*\n|[^\n]+$/g) ?? [];
}

/** The files that the index points to. */
export function linkedFiles(text: string): Set<string> {
  const files = new Set<string>();
  for (const line of splitLines(text)) {
    const parsed = parseIndexLine(line);
    if (parsed) files.add(parsed.file);
  }
  return files;
}

/** Whether a line points to the file. */
export function hasLine(text: string, file: string): boolean {
  return takeLines(text, file).lines.length > 0;
}

/**
 * The lines that point to the file, and the text without them. A page may have thousands of lines: only those that name the
 * file are looked at.
 */
export function takeLines(text: string, file: string): { text: string; lines: string[] } {
  if (!/^[\w./-]+$/.test(file)) {
    const { text: rest, removed } = removeLines(text, file);
    return { text: rest, lines: removed.map((line) => line.text) };
  }
  const lines: string[] = [];
  let rest = "";
  let from = 0;
  for (let at = text.indexOf(file); at >= 0; ) {
    const start = text.lastIndexOf("\n", at) + 1;
    const newline = text.indexOf("\n", at);
    const end = newline < 0 ? text.length : newline + 1;
    const line = text.slice(start, end);
    if (isLineOf(line, file)) {
      lines.push(line);
      rest += text.slice(from, start);
      from = end;
    }
    at = text.indexOf(file, end);
  }
  return { text: rest + text.slice(from), lines };
}

/**
 * Makes the index point to a memory. A line that memdir wrote for `previous` is replaced; one in other words is left as it
 * is, since somebody chose them. `restore` puts removed lines back where they stood.
 */
export function putLine(
  text: string,
  header: Header,
  previous: Header | null,
  restore: readonly RemovedLine[] = [],
): string {
  const line = formatIndexLine(header);
  const own = previous ? formatIndexLine(previous) : null;
  let found = false;
  const kept = splitLines(text).filter((existing) => {
    if (!isLineOf(existing, header.file)) return true;
    const bare = existing.trimEnd();
    // Our own line: the first one stays and gets the new words, a second one (from a merge) goes.
    const again = found && (bare === own || bare === line);
    found = true;
    return !again;
  });
  if (!found) return restore.length > 0 ? restoreRemoved(kept, restore) : insertLine(kept, line, header);
  return kept
    .map((existing) => (own !== null && existing.trimEnd() === own ? line + existing.slice(own.length) : existing))
    .join("");
}

function insertLine(lines: string[], line: string, header: Header): string {
  const at = sectionEnd(lines, header.type) ?? lines.length;
  return insertAt(lines, at, line + eolOf(lines)).join("");
}

/** Ends the line before it, if it has no break of its own. */
function insertAt(lines: string[], at: number, line: string): string[] {
  const before = lines[at - 1];
  if (before !== undefined && !before.endsWith("\n")) lines[at - 1] = before + eolOf(lines);
  lines.splice(at, 0, at < lines.length && !line.endsWith("\n") ? line + eolOf(lines) : line);
  return lines;
}

export function eolOf(lines: readonly string[]): string {
  return lines[0]?.endsWith("\r\n") ? "\r\n" : "\n";
}

/** Each line at its old number if the line before it is still the same, else behind that line, else at the end. */
export function restoreRemoved(lines: string[], removed: readonly RemovedLine[]): string {
  const top = frontmatterEnd(lines);
  for (const { text, at, after } of removed) {
    const isBefore = (line: string | undefined) => (line === undefined ? null : line.trimEnd()) === after;
    const behind = after === null ? 0 : lines.findIndex(isBefore) + 1 || lines.length;
    const place = at >= 0 && at <= lines.length && isBefore(lines[at - 1]) ? at : behind;
    insertAt(lines, Math.max(top, place), text);
  }
  return lines.join("");
}

/** Nothing goes above a frontmatter that somebody gave the index. */
function frontmatterEnd(lines: readonly string[]): number {
  if (lines[0]?.trim() !== "---") return 0;
  return lines.findIndex((line, at) => at > 0 && line.trim() === "---") + 1;
}

/** Behind the last entry under a heading named like the type, for an index that is kept in sections. */
function sectionEnd(lines: readonly string[], type: string): number | null {
  const named = (pattern: string) => lines.findIndex((l) => new RegExp(pattern, "i").test(l));
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

/** Takes out every line that points to the file. */
export function removeLines(text: string, file: string): { text: string; removed: RemovedLine[] } {
  const lines = splitLines(text);
  const removed: RemovedLine[] = [];
  const kept = lines.filter((line, at) => {
    if (!isLineOf(line, file)) return true;
    removed.push({ text: line, at, after: at === 0 ? null : (lines[at - 1] as string).trimEnd() });
    return false;
  });
  return { text: kept.join(""), removed };
}

/** Points every line of one file to another; its words stay unless memdir wrote them. */
export function moveLine(text: string, previous: Header, next: Header): string {
  const old = formatIndexLine(previous);
  return splitLines(text)
    .map((line) => {
      if (!isLineOf(line, previous.file)) return line;
      if (line.trimEnd() === old) return formatIndexLine(next) + line.slice(old.length);
      const { start, end, isLink } = targetSpan(line);
      return line.slice(0, start) + (isLink ? formatTarget(next.file) : next.file) + line.slice(end);
    })
    .join("");
}

function isLineOf(line: string, file: string): boolean {
  return parseIndexLine(line)?.file === file.normalize("NFC");
}
