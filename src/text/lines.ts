/** Splits a text into lines that keep their line breaks, so that joining them gives the same bytes. */

export function splitLines(text: string): string[] {
  return text.match(/[^\n]*\n|[^\n]+$/g) ?? [];
}

/** Blanks in the place of HTML comments, line breaks kept: what is in a comment is there for no reader. */
export function blankComments(text: string): string {
  return replaceComments(text, (comment) => comment.replace(/[^\r\n]/g, " "));
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
