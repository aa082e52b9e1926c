/** Splits a text into lines that keep their line breaks, so that joining them gives the same bytes. */

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
export function blankCode(text: string): string {
  let fence = "";
  let [isBlock, isList, isAfterBlank] = [false, false, true];
  const lines = splitLines(text).map((line) => {
    const mark = FENCE.exec(line)?.[1] ?? "";
    const isInside = fence !== "";
    if (!isInside) fence = mark;
    else if (mark.startsWith(fence) && line.trimEnd().endsWith(mark)) fence = "";
    if (isInside || mark !== "") return blank(line);
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
export function replaceComments(text: string, replace: (comment: string) => string): string {
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
