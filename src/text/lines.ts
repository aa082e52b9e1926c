/** Markdown line by line: split so that joining gives the same bytes, with code and comments blanked, and as Claude Code shows it. */

export function splitLines(text: string): string[] {
  return text.match(/[^\n]*\n|[^\n]+$/g) ?? [];
}

/** The offset after the break of the line at `at`. */
export function lineEnd(text: string, at: number): number {
  const newline = text.indexOf("\n", at);
  return newline < 0 ? text.length : newline + 1;
}

/** Blanks in the place of HTML comments, line breaks kept: what is in a comment is there for no reader. */
export function blankComments(text: string): string {
  return replaceComments(text, blank);
}

/** Blanks in the place of code, blocks and spans, line breaks kept: what looks like a link in code is none. */
export function blankCode(text: string, { onlyFences = false } = {}): string {
  let fence = "";
  let [isBlock, isList, isAfterBlank] = [false, false, true];
  const lines = splitLines(text).map((line) => {
    const mark = FENCE.exec(line)?.[1] ?? "";
    const isInside = fence !== "";
    if (!isInside) fence = mark;
    else if (mark.startsWith(fence) && line.trimEnd().endsWith(mark)) fence = "";
    if (isInside || mark !== "") return blank(line);
    if (onlyFences) return line;
    // What is indented below a list item belongs to the item.
    const isDeep = /^(?: {4}| {0,3}\t)/.test(line);
    if (/^\S/.test(line) || (!isDeep && ITEM.test(line))) isList = ITEM.test(line);
    isBlock = isDeep && !isList && (isBlock || isAfterBlank);
    isAfterBlank = line.trim() === "";
    return isBlock ? blank(line) : line.replace(SPAN, blank);
  });
  return lines.join("");
}

const ITEM = /^\s*(?:[-*+]|\d{1,9}[.)])\s/;
const FENCE = /^[ \t>]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)*(`{3,}(?=[^`]*$)|~{3,})/;
const SPAN = /(?<!`)(`+)(?!`)[^\n]*?(?<!`)\1(?!`)/g;

function blank(text: string): string {
  return text.replace(/[^\r\n]/g, " ");
}

/** A comment that is not closed stays. */
function replaceComments(text: string, replace: (comment: string) => string): string {
  let out = "";
  for (let at = 0; ; ) {
    const open = text.indexOf("<!--", at);
    const close = open < 0 ? -1 : text.indexOf("-->", open + 4);
    if (close < 0) return out + text.slice(at);
    out += text.slice(at, open) + replace(text.slice(open, close + 3));
    at = close + 3;
  }
}

/** The line break that a text uses. */
export function eolOf(lines: readonly string[]): string {
  return lines[0]?.endsWith("\r\n") ? "\r\n" : "\n";
}

/** From the only match of `begin` to the end of the only one of `end`; null without either. Throws `broken` for marks that are not one pair. */
export function findMarked(
  text: string,
  begin: RegExp,
  end: RegExp,
  broken: Error,
): { from: number; to: number } | null {
  const [first, ...others] = text.matchAll(begin);
  const [last, ...more] = text.matchAll(end);
  if (!first && !last) return null;
  if (!first || !last || others.length + more.length > 0 || last.index < first.index) throw broken;
  return { from: first.index, to: last.index + last[0].length };
}

/** `lines` in the place of what was found, or behind everything else; every other byte stays. */
export function putMarked(text: string, found: ReturnType<typeof findMarked>, lines: string): string {
  const eol = text.includes("\r\n") ? "\r\n" : "\n";
  const fresh = lines.replaceAll("\n", eol);
  if (found) return text.slice(0, found.from) + fresh + text.slice(found.to);
  const gap = text === "" ? "" : text.endsWith("\n") ? eol : `${eol}${eol}`;
  return `${text}${gap}${fresh}${eol}`;
}

// --- What Claude Code removes from a Markdown file before the model sees it: frontmatter and block comments, as observed.

/** The text as the client counts and shows it, not yet trimmed. */
export function stripForClient(text: string): string {
  return stripBlockComments(stripFrontmatter(text.startsWith("\uFEFF") ? text.slice(1) : text));
}

/** Ends at the first `---` followed by white space, even inside a value: that is what the client does. */
export function stripFrontmatter(text: string): string {
  const match = /^---[ \t]*\r?\n(?:[\s\S]*?)---(?:\s+|$)/.exec(text);
  return match ? text.slice(match[0].length) : text;
}

const BLOCK_FENCE = /^ {0,3}(`{3,}|~{3,})/;
const COMMENT = /^ {0,3}<!--/;
const LIST_ITEM = /^ {0,3}(?:[-*+]|\d{1,9}[.)]) +/;
const RAW_HTML = /^ {0,3}<(script|pre|style|textarea)\b/i;
const HTML_BLOCK = /^ {0,3}<\/?[a-z][a-z0-9-]*(\s|\/?>|$)/i;

/**
 * Removes HTML comments that are blocks of their own. Comments in code, lists, quotes, other HTML and in the middle of
 * a line stay. Removing one turns all line breaks into `\n`.
 */
export function stripBlockComments(text: string): string {
  if (!text.includes("<!--")) return text;
  const source = text.replaceAll("\r\n", "\n");
  let out = "";
  let at = 0;
  let removed = false;
  // How far a line must be indented to belong to the list item above it.
  let item = Number.POSITIVE_INFINITY;
  while (at < source.length) {
    const end = lineEnd(source, at);
    const line = source.slice(at, end);
    const indent = line.length - line.trimStart().length;
    if (LIST_ITEM.test(line)) item = LIST_ITEM.exec(line)?.[0].length ?? item;
    else if (line.trim() !== "" && indent < item) item = Number.POSITIVE_INFINITY;
    const starts = COMMENT.test(line) && indent < item;
    // Nothing below closes a comment; searching again for each of them would take quadratic time.
    if (starts && !source.includes("-->", at)) {
      out += source.slice(at);
      break;
    }
    const comment = starts ? commentSpan(source, at) : null;
    if (comment) {
      removed = true;
      out += comment.rest;
      at = comment.end;
      continue;
    }
    const block = COMMENT.test(line) ? end : blockEnd(source, at, line, end);
    out += source.slice(at, block);
    at = block;
  }
  return removed ? out : text;
}

/** The block comment that starts at `at`: where its last line ends, and what is on its lines besides comments. Null if it is none. */
function commentSpan(source: string, at: number): { end: number; rest: string } | null {
  const open = source.indexOf("<!--", at);
  // `<!-->` and `<!--->` end at once and do not count as comments.
  if (/^<!---?>/.test(source.slice(open, open + 6)) && !source.startsWith("<!---->", open)) return null;
  const close = source.indexOf("-->", open + 4);
  if (close < 0) return null;
  const end = lineEnd(source, close);
  const rest = replaceComments(source.slice(at, end), () => "");
  if (rest.trim() !== "") return { end, rest };
  let after = end;
  while (after < source.length && source.slice(after, lineEnd(source, after)).trim() === "")
    after = lineEnd(source, after);
  return { end: after, rest: "" };
}

/** Where the block that starts with this line ends: fences and HTML blocks are passed over whole. */
function blockEnd(source: string, at: number, line: string, end: number): number {
  const fence = BLOCK_FENCE.exec(line)?.[1];
  if (fence) {
    const close = new RegExp(`^ {0,3}${fence[0] === "`" ? "`" : "~"}{${fence.length},}[ \\t]*$`, "m");
    const found = close.exec(source.slice(end));
    return found ? lineEnd(source, end + found.index) : source.length;
  }
  const raw = RAW_HTML.exec(line)?.[1];
  if (raw) {
    const close = source.toLowerCase().indexOf(`</${raw.toLowerCase()}>`, at);
    return close < 0 ? source.length : lineEnd(source, close);
  }
  if (HTML_BLOCK.test(line)) {
    const blank = /\n[ \t]*\n/.exec(source.slice(at));
    return blank ? at + blank.index + 1 : source.length;
  }
  return end;
}
