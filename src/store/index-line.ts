/** A line of MEMORY.md: written in one form, read in all that are known. */

import type { Header } from "./memory.ts";

export interface IndexLine {
  /** The linked file, relative to the directory. */
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

/** One line that opens no code span, HTML tag, comment or escape that could swallow the link. */
function tame(text: string): string {
  return text
    .replace(/\s+/g, " ")
    .trim()
    .replaceAll("`", "'")
    .replace(/<(?=[a-z/!?])/gi, "< ")
    .replaceAll("-->", "-- >");
}

/** Only what would end or change the link is encoded, so that names stay readable. */
export function formatTarget(file: string): string {
  return file.replace(/[\s\p{Cc}()<>[\]%#\\`:~?&*]/gu, (c) => {
    const encoded = encodeURIComponent(c);
    return encoded === c ? `%${c.charCodeAt(0).toString(16).toUpperCase()}` : encoded;
  });
}

const BULLET = /^[ \t]*(?:[-*+]|\d{1,9}[.)])[ \t]+/;

/** A line in our own form, the usual case: read at a tenth of the price of the others. */
const OWN = /^- \[([^[\]\\]*)\]\(([\w.-]+(?:\/[\w.-]+)*\.md)\)(?: — (.*))?$/;

/** Reads the formats of all seeds; null for a heading, prose, or a link to something else than a Markdown file here. */
export function parseIndexLine(line: string): IndexLine | null {
  const own = OWN.exec(line.trimEnd());
  if (own && !own[2]?.includes(".."))
    return { file: own[2] as string, title: own[1] as string, hook: own[3]?.trim() ?? "" };
  const target = findTarget(line);
  const file = target ? parseTarget(line.slice(target.start, target.end)) : null;
  if (!target || file === null) return null;
  if (!target.isLink) return { file, title: target.title, hook: target.title };
  const hook = line
    .slice(target.after)
    .trim()
    .replace(/^\*\*/, "")
    .replace(/^\s*\((?:user|feedback|project|reference)\)/, "")
    .replace(/^\s*[—–:-]+\s*/, "");
  return { file, title: target.title, hook: hook.trim() };
}

/** Where the line's target stands; only for lines that have one. */
export function targetSpan(line: string): { start: number; end: number; isLink: boolean } {
  const target = findTarget(line);
  if (!target) throw new Error("the line has no target");
  return target;
}

interface Target {
  start: number;
  end: number;
  /** Where the text behind the link begins. */
  after: number;
  isLink: boolean;
  title: string;
}

/** `[Title](file.md)` at the start of the item, also in `**…**`; else `[file.md]` at its end. */
function findTarget(line: string): Target | null {
  const bullet = BULLET.exec(line)?.[0];
  if (bullet === undefined) return null;
  let at = bullet.length;
  if (line.startsWith("**", at)) at += 2;
  const title = line[at] === "[" ? closing(line, at, "[", "]") : -1;
  if (title > 0 && line[title + 1] === "(") {
    const end = closing(line, title + 1, "(", ")");
    if (end > 0) return { start: title + 2, end, after: end + 1, isLink: true, title: line.slice(at + 1, title) };
  }
  const text = line.trimEnd();
  const open = text.endsWith(".md]") ? text.lastIndexOf("[") : -1;
  if (open < bullet.length) return null;
  return {
    start: open + 1,
    end: text.length - 1,
    after: text.length,
    isLink: false,
    title: text.slice(bullet.length, open).trim(),
  };
}

/** The bracket that closes the one at `open`, with inner pairs and escapes passed over; -1 if there is none. */
function closing(line: string, open: number, left: string, right: string): number {
  let depth = 0;
  for (let i = open; i < line.length; i++) {
    const c = line[i];
    if (c === "\\") i++;
    else if (c === left) depth++;
    else if (c === right && --depth === 0) return i;
  }
  return -1;
}

function parseTarget(target: string): string | null {
  const bare = target
    .trim()
    .replace(/^<(.*)>$/, "$1")
    .replace(/^\.\//, "")
    .replace(/#.*$/, "");
  const elsewhere = /^[a-z][a-z0-9+.-]*:|^[/~\\]|(^|\/)\.\.(\/|$)/i.test(bare);
  const file = decode(bare);
  return elsewhere || !file.endsWith(".md") || /(^|\/)\.\.(\/|$)|^\//.test(file) ? null : file.normalize("NFC");
}

/** A percent sign that encodes nothing is part of the name. */
function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
