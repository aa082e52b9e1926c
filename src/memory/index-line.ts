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

/** One line that cannot open a comment, a code span or a second line. */
function tame(text: string): string {
  return text.replace(/\s+/g, " ").trim().replaceAll("`", "'").replaceAll("<!--", "<! --").replaceAll("-->", "-- >");
}

/** Only what would end or break the link is encoded, so that names stay readable. */
function formatTarget(file: string): string {
  return file.replace(/[\s()<>[\]%]/g, (c) => `%${c.charCodeAt(0).toString(16).toUpperCase().padStart(2, "0")}`);
}

const BULLET = /^\s*(?:[-*+]|\d+[.)])\s+(.*)$/;
/** `[Title](file.md) — hook`, and with `**[…](…)** (type)` around and behind. */
const LINK = /^(?:\*\*)?\[((?:\\.|[^\]\\])*)\]\(<?([^()<>]*?(?:\([^()]*\)[^()<>]*?)*)>?\)(?:\*\*)?(.*)$/;
/** `text [file.md]`. */
const TRAILING = /^(.*?)\s*\[([^[\]()]+\.md)\]\s*$/;

/** Reads the formats of all seeds; null for a heading, prose, or a link to something else than a Markdown file here. */
export function parseIndexLine(line: string): IndexLine | null {
  const content = BULLET.exec(line.trimEnd())?.[1];
  if (content === undefined) return null;
  const link = LINK.exec(content);
  if (link) {
    const file = parseTarget(link[2] ?? "");
    const hook = (link[3] ?? "")
      .replace(/^\s*\((?:user|feedback|project|reference)\)/, "")
      .replace(/^\s*[—–:-]+\s*/, "");
    return file === null ? null : { file, title: link[1] ?? "", hook: hook.trim() };
  }
  const trailing = TRAILING.exec(content);
  const file = trailing ? parseTarget(trailing[2] ?? "") : null;
  return file === null ? null : { file, title: trailing?.[1] ?? "", hook: trailing?.[1] ?? "" };
}

function parseTarget(target: string): string | null {
  let file = target.trim().replace(/^\.\//, "").replace(/#.*$/, "");
  try {
    file = decodeURIComponent(file);
  } catch {
    // A percent sign that encodes nothing is part of the name.
  }
  const elsewhere = /^[a-z][a-z0-9+.-]*:|^[/~\\]|(^|\/)\.\.(\/|$)/i.test(file);
  return elsewhere || !file.endsWith(".md") ? null : file.normalize("NFC");
}
