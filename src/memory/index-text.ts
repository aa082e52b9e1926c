/** MEMORY.md as text: finds, adds, updates and removes single lines; every other byte stays. */

import { formatIndexLine, parseIndexLine } from "./index-line.ts";
import type { Header } from "./memory.ts";

/** A line that was taken out and the line it stood behind, so that undo can put it back in its place. */
export interface RemovedLine {
  text: string;
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

/**
 * Makes the index point to a memory. A line that memdir wrote for `previous` is replaced; one in other words is left as it
 * is, since somebody chose them. `restore` puts a removed line back where it stood.
 */
export function putLine(text: string, header: Header, previous: Header | null, restore?: RemovedLine): string {
  const lines = splitLines(text);
  const file = header.file.normalize("NFC");
  const line = restore?.text ?? formatIndexLine(header);
  const own = previous ? formatIndexLine(previous) : null;
  let found = false;
  const kept = lines.filter((existing) => {
    if (parseIndexLine(existing)?.file !== file) return true;
    const bare = existing.trimEnd();
    if (bare !== own && bare !== line) {
      found = true;
      return true;
    }
    // Our own line: the first one stays and gets the new words, a second one (from a merge) goes.
    const first = !found;
    found = true;
    return first;
  });
  if (!found) return insertLine(kept, line, header, restore);
  return kept
    .map((existing) => (own !== null && existing.trimEnd() === own ? line + existing.slice(own.length) : existing))
    .join("");
}

function insertLine(lines: string[], line: string, header: Header, restore?: RemovedLine): string {
  const eol = lines[0]?.endsWith("\r\n") ? "\r\n" : "\n";
  const before = restore ? positionAfter(lines, restore.after) : sectionEnd(lines, header.type);
  const at = before ?? lines.length;
  const previous = lines[at - 1];
  if (previous !== undefined && !previous.endsWith("\n")) lines[at - 1] = previous + eol;
  lines.splice(at, 0, line + eol);
  return lines.join("");
}

function positionAfter(lines: readonly string[], after: string | null): number | null {
  if (after === null) return 0;
  const at = lines.findIndex((l) => l.trimEnd() === after);
  return at < 0 ? null : at + 1;
}

/** Behind the last entry under a heading named like the type, for an index that is kept in sections. */
function sectionEnd(lines: readonly string[], type: string): number | null {
  const heading = new RegExp(`^#{1,6}\\s+${type}s?\\b`, "i");
  const start = lines.findIndex((l) => heading.test(l));
  if (start < 0) return null;
  let last = start;
  for (let i = start + 1; i < lines.length && !/^#{1,6}\s/.test(lines[i] as string); i++) {
    if ((lines[i] as string).trim() !== "") last = i;
  }
  return last + 1;
}

/** Takes out every line that points to the file. */
export function removeLines(text: string, file: string): { text: string; removed: RemovedLine | null } {
  const lines = splitLines(text);
  let removed: RemovedLine | null = null;
  const kept = lines.filter((line, i) => {
    if (parseIndexLine(line)?.file !== file.normalize("NFC")) return true;
    removed ??= { text: line.trimEnd(), after: i === 0 ? null : (lines[i - 1] as string).trimEnd() };
    return false;
  });
  return { text: kept.join(""), removed };
}

/** Points every line of one file to another; its words stay unless memdir wrote them. */
export function moveLine(text: string, previous: Header, next: Header): string {
  const target = formatIndexLine({ ...next, name: "x", description: "" }).slice("- [x](".length, -1);
  const old = formatIndexLine(previous);
  return splitLines(text)
    .map((line) => {
      const parsed = parseIndexLine(line);
      if (parsed?.file !== previous.file.normalize("NFC")) return line;
      if (line.trimEnd() === old) return formatIndexLine(next) + line.slice(old.length);
      return line.replace(/\]\([^)]*\)|\[[^[\]]+\.md\](?=\s*$)/, (m) =>
        m.startsWith("](") ? `](${target})` : `[${next.file}]`,
      );
    })
    .join("");
}
